"""A ROS 2 package whose node estimates velocities by an extended Kalman filter, from encoders and the drives' efforts.

    python examples/bridges/ros2_estimator.py my_workspace/src/arm_dynamics

Then, in the workspace: colcon build, and ros2 launch puma560_geared_dynamics puma560_geared_dynamics.launch.py. The node
puma560_geared_dynamics_estimator reads joint_states and publishes ~/estimate.
"""

import sys

import elastogen

folder = sys.argv[1] if len(sys.argv) > 1 else "arm_dynamics"
robot = elastogen.load("puma560_geared").with_sensors("encoders")  # your URDF or robot file
elastogen.export(robot, folder, format="ros2")
print(f"written to {folder}; the estimator is src/estimator.cpp, its levels of noise are in config/")
