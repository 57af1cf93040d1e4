"""Robot description -> symbolic model -> straight-line program. No C, no I/O beyond reading a robot."""
