"""What tests of the loop share."""
