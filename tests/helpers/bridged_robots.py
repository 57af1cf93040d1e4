"""Small robots for the tests of bridges: one that bends, one that floats."""

BEAM = {
    "elastogen": 1,
    "name": "beam",
    "links": [
        {"name": "base"},
        {
            "name": "arm",
            "flexible": {
                "type": "modes", "length": 0.8, "mass_per_length": 0.5, "EI": 0.2, "tip": {"mass": 0.3},
                "modes": [{"direction": "y", "eigenfunction": 1}],
            },
        },
    ],
    "joints": [{"name": "hub", "type": "revolute", "child": "arm", "axis": [0, 1, 0]}],
}  # fmt: skip
FREE = {
    "elastogen": 1,
    "name": "free",
    "base": "floating",
    "links": [{"name": "body", "mass": 2.0, "com": [0.1, 0, 0.05], "inertia": [0.3, 0.2, 0.25]}, {"name": "arm", "mass": 1.0,
               "com": [0.2, 0.1, 0], "inertia": [0.03, 0.02, 0.025]}],
    "joints": [{"name": "hinge", "type": "revolute", "child": "arm", "axis": [0, 1, 0]}],
}  # fmt: skip
