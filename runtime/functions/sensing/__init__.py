"""What sensors read, and the state from it: measurements and Kalman filters."""
