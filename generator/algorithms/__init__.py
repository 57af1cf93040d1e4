"""The equations of motion and their parts, under the names that textbooks use."""
