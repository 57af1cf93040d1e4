"""What building, starting and deriving cost."""
