"""Kinematics by matrix exponentials (paper 001)."""
