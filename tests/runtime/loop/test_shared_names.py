"""Names and descriptors of shared memory, where the C alone decides."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import elastogen
from elastogen.runtime.loop import shared_memory
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import SharedMemory

OBJECTS = Path("/dev/shm")
pytestmark = pytest.mark.skipif(not OBJECTS.is_dir(), reason="shared memory objects are looked at in /dev/shm")


def is_there(name: str) -> bool:
    return (OBJECTS / name).exists()


def test_a_name_without_room_for_its_end_is_refused_in_c(library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_memory, "NAME", re.compile(r"\w+"))  # the check in Python comes first otherwise
    mark = f"{os.getpid()}_"
    with SharedMemory(mark + "x" * (62 - len(mark))) as longest:  # with / in front and 0 behind: 64 characters
        Loop(library, plant=longest, telemetry=0)
        assert is_there(longest.name)
    name = mark + "x" * (63 - len(mark))
    with pytest.raises(elastogen.ModelError), SharedMemory(name) as longer:
        Loop(library, plant=longer, telemetry=0)
    assert not is_there(name)


def test_the_first_of_all_descriptors_is_one_as_any_other(library) -> None:
    """Without a standard input, the block gets number 0."""
    kept = os.dup(0)
    os.close(0)
    try:
        with SharedMemory() as plant:
            Loop(library, plant=plant, telemetry=0)
            assert os.path.samestat(os.fstat(0), os.stat(OBJECTS / plant.name))
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert not is_there(plant.name)
