"""Loops of a robot: from its file or Gepetto's robot.yaml, and their checks."""
