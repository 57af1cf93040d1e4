"""Bodies of a robot that are more than rigid."""
