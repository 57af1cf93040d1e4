"""elastogen: fast, dependency-free C for robot dynamics, rigid and flexible, from a robot description."""

__version__ = "0.1.0"
