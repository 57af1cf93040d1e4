"""From the description of a flexible link to its standard data."""
