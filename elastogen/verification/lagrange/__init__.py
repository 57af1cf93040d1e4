"""Lagrange's equations of a robot from its description alone: what judges the programs of the recursions."""
