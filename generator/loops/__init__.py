"""Closed loops: their rows, what they leave free, and the maps from few velocities to all."""
