"""Closed forms to read: SymPy matrices and LaTeX."""
