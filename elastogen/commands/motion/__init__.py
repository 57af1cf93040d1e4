"""Commands about its motion: simulate, draw, run."""
