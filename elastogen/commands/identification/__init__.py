"""Commands that measure a robot."""
