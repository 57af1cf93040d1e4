"""Parts of a function that are computed alike, as loops: branches of a robot, columns of a solution."""
