"""What was found: named estimates, quality of the prediction, robot file, page."""
