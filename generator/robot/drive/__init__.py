"""Limits, drive, friction and spring of a joint."""
