"""Straight-line programs: a hash-consed graph of scalar operations, its derivatives, its optimization."""
