"""Integrators and the real-time loop."""
