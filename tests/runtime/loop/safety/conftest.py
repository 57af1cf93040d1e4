"""What most tests of the loop's safety run: the planar 2R arm with sensors, drives and a clock that can fail."""

from __future__ import annotations

import pytest
from loop_setup import USER_CODE
from loops.faulty_robot import faulty_source

import elastogen
from elastogen.runtime.loop.library import LoopLibrary


@pytest.fixture(scope="module")
def faulty(cache_dir: object) -> LoopLibrary:
    """A loop with a controller of the user's own, too."""
    return elastogen.build_loop("two_link", controller_source=USER_CODE, plant_source=faulty_source("two_link", 2))
