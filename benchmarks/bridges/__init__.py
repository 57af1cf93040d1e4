"""Bridges beside what their tools offer themselves, on Panda: ``python -m benchmarks bridges``."""
