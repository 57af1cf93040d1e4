"""What users write in SymPy: own terms, own functions, their symbols and their checks."""
