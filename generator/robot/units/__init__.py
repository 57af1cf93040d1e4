"""Units that a description may name, what they are in SI, and whether they fit where they are used."""
