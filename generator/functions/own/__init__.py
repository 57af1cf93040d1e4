"""What users write in SymPy, inside the equations: own terms, own functions, calls of the catalogue."""
