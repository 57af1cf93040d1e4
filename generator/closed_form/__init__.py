"""Closed forms for people: SymPy matrices and LaTeX."""
