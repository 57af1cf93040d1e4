"""Functions in the papers' notation: matrix exponentials, matrices of single elements."""
