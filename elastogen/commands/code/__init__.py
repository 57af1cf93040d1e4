"""Commands about the code of a robot: generate, export, build, measure, cache."""
