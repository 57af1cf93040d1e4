"""Numbers that programs are evaluated with beside doubles: jets, and numbers of many digits."""
