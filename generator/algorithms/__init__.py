"""The equations of motion and their parts, with the textbook's names."""
