"""The user's SymPy: own terms, own functions, their symbols and checks."""
