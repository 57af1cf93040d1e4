"""What every emitted function must give, family by family."""
