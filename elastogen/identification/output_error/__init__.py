"""Output error: numbers of a robot that are no linear factors, and elastic states that no sensor sees."""
