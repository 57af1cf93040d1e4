"""Numbers straight from a robot's description: no choice of frames, no regrouped inertia. What derivations are checked with."""
