"""The expected values of every emitted function, family by family."""
