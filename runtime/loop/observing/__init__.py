"""What stands between reading and the controller."""
