"""Parts of a function that are of one pattern, as loops: branches of a robot, columns of a solution."""
