"""Solutions of M x = b: by factorization along the tree, or by articulated bodies."""
