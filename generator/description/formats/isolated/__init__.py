"""Tools that are not ours, each in a process of its own with limits: xacro, and MuJoCo's compiler."""
