"""Whole projects around the C of a robot, for the tools that take it in."""
