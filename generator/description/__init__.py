"""From a robot's description (file, mapping, URDF) to the robot."""
