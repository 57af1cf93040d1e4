"""What C files of observers are emitted with."""
