"""Units in descriptions: their values in SI, and whether they fit where they are used."""
