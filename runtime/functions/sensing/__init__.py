"""Readings of sensors, and the estimation of the state from them by Kalman filters."""
