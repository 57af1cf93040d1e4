"""Numbers other than doubles with which programs are evaluated: jets, and numbers of many digits."""
