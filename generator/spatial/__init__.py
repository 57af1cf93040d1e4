"""Vectors, rotations, matrices and inertias in space, over the values of a graph."""
