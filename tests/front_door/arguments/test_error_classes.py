"""Whatever elastogen raises on purpose is an ElastogenError: one except clause is enough."""

from __future__ import annotations

import subprocess
import sys

import pytest

import elastogen


@pytest.mark.parametrize("name", [name for name in elastogen.__all__ if name.endswith("Error")])
def test_every_public_error_is_one(name: str) -> None:
    assert issubclass(getattr(elastogen, name), elastogen.ElastogenError)


def test_an_error_of_the_runtime_is_caught_as_one(arm: elastogen.Model) -> None:
    with pytest.raises(elastogen.ElastogenError):
        arm.forward_dynamics([0.0, 1.0, 2.0], 0, 0)


def test_the_runtime_alone_has_it() -> None:
    code = "import elastogen, sys; elastogen.ElastogenError; assert 'elastogen.generator' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
