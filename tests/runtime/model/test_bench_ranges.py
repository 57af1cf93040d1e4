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
