"""Robot descriptions of other tools: URDF, xacro, MJCF and SDF."""
