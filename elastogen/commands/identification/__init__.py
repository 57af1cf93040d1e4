"""Commands about measurements of a robot."""
