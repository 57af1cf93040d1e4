"""Mutated robot files, which may be refused and may not do anything worse."""
