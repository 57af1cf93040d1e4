"""Commands about a robot itself: write, list, check, derive, verify."""
