"""Lagrange's equations from the description of a robot alone, with which the programs of the recursions are judged."""
