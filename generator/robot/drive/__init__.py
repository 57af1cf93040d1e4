"""What a joint has beside its motion: limits, drive, friction, spring."""
