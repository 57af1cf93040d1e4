"""Loops of a robot: from its file, from Gepetto's robot.yaml, and what they must be like."""
