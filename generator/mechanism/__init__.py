"""The mechanism behind a robot: its moving frames, and the inertia each of them carries."""
