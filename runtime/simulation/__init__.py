"""Simulation in C, its inputs and its results."""
