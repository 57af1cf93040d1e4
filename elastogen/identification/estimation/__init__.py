"""Least squares: free, with bodies that can exist, with instruments; which laws of friction and which low pass."""
