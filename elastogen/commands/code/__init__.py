"""Commands about its code: generate, export, build, measure, cache."""
