"""A robot as others see it: a table in a notebook, and coordinates in the order of Pinocchio."""
