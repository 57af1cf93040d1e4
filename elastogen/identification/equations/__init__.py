"""Measured and computed forces: bodies, friction, and the derivatives by everything that is estimated."""
