"""The user's SymPy in the equations: own terms, own functions, calls of the catalogue."""
