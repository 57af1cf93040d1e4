"""Motions over time: trajectories, profiles, splines, input shaping."""
