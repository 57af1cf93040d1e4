"""Numbers straight from a robot's description, without frame assignments or regrouped inertia, to check derivations."""
