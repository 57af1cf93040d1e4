"""Arms whose flexible links are clouds of mass points with random modes: every integral of standard data is there."""

import numpy as np


def dense_link(name, modes, rng, points=30):
    """A link by lumped masses whose modes know no symmetry."""
    factor = rng.normal(size=(modes, modes))
    stiffness = (factor @ factor.T + modes * np.eye(modes)) * 1e3
    shapes = [
        {"name": f"m{j + 1}", "tip_displacement": rng.normal(size=3).tolist(), "tip_rotation": rng.normal(size=3).tolist()}
        for j in range(modes)
    ]
    nodes = [
        {
            "mass": float(rng.uniform(0.05, 0.15)),
            "position": (rng.uniform(-1, 1, size=3) * [0.3, 0.05, 0.05] + [0.3, 0, 0]).tolist(),
            "displacements": rng.normal(size=(modes, 3)).tolist(),
        }
        for _ in range(points)
    ]
    flexible = {"type": "lumped_masses", "modes": shapes, "nodes": nodes, "tip_frame": {"xyz": [0.6, 0, 0]}}
    return {"name": name, "flexible": {**flexible, "stiffness": ((stiffness + stiffness.T) / 2).tolist()}}


def dense_arm(modes=8, second=0, seed=0, **more):
    """Two joints; the first link has dense modes, the second one is rigid, or has modes and carries a hand."""
    rng = np.random.default_rng(seed)
    inertia = [[0.01, 0, 0], [0, 0.02, 0], [0, 0, 0.02]]
    rigid = {"name": "fore", "mass": 1.0, "com": [0.1, 0.02, 0.03], "inertia": inertia}
    first = dense_link("upper", modes, rng)
    joints = [
        {"name": "hub", "type": "revolute"},
        {"name": "elbow", "type": "revolute", "axis": [0, 1, 0]},
    ]
    links = [{"name": "base"}, first, dense_link("fore", second, rng) if second else rigid]
    if second:
        links.append({"name": "hand", "mass": 0.3, "com": [0.02, 0, 0.05]})
        joints.append({"name": "wrist", "type": "revolute", "axis": [1, 0, 0]})
    return {"elastogen": 1, "name": "dense", "links": links, "joints": joints, **more}
