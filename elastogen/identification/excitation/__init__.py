"""Motions that show the parameters: Fourier series of the most information inside the limits."""
