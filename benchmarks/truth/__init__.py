"""How far results are right."""
