"""SDF, the format of Gazebo and Drake: one model of a file, with the models inside it."""
