"""Loops for parts of a function that have one pattern: branches of a robot, columns of a solution."""
