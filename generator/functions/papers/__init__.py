"""Functions in the papers' own notation: matrix exponentials, matrices of single elements."""
