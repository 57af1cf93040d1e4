"""The real-time loop, driven from Python."""
