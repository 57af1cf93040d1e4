"""Times of functions of robots whose beams end."""

from __future__ import annotations

from robots_for_tests import quietly_loaded

import elastogen
from elastogen.runtime.model.timing import time_functions


def test_functions_are_timed_where_a_beam_is_in_its_joint() -> None:
    """Random states put the joint off its beam, and `elastogen bench` and `report` ended with that."""
    model = elastogen.build_model(quietly_loaded("rpb_table3"), outputs=["forward_kinematics"])
    (timing,) = time_functions(model, seconds=1e-4)
    assert timing.c_seconds > 0


def test_functions_are_timed_where_links_bend_little() -> None:
    """Coordinates of up to one, in metres, turned a tip by many turns: no mass matrix is left there."""
    beam = {"type": "modes", "length": 0.2, "mass_per_length": 1, "EI": 100, "rotation": "exponential",
            "modes": [{"direction": "y", "shape": "10*(x/L)**2"}, {"direction": "z", "shape": "10*(x/L)**2"}]}  # fmt: skip
    hand = {"name": "hand", "mass": 1, "com": [0.1, 0, 0], "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    robot = elastogen.load(
        {
            "elastogen": 1, "name": "little_arm", "links": [{"name": "base"}, {"name": "beam", "flexible": beam}, hand],
            "joints": [{"name": "a", "type": "revolute"}, {"name": "b", "type": "revolute", "placement": {"xyz": [0.2, 0, 0]}}],
        }
    )  # fmt: skip
    model = elastogen.build_model(robot, outputs=["forward_dynamics"])
    (timing,) = time_functions(model, seconds=1e-4)
    assert timing.c_seconds > 0
