"""Projects around the C of a robot, for the tools that use it."""
