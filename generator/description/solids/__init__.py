"""Flexible links by meshes: what a robot file says about them, and how they become standard data."""
