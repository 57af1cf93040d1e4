"""Measured runs: reading tables, matching their columns with a robot, cleaning, filtering."""
