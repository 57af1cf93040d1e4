"""Commands about the motion of a robot: simulate, draw, run."""
