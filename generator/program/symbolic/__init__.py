"""The recursions carried by SymPy: values that are SymPy expressions, equations with names, and their way into a graph."""
