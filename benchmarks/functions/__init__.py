"""What emitted functions cost, beside peers."""
