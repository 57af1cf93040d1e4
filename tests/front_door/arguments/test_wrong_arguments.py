"""Arguments of public functions, each wrong once: errors that name the argument, what was given and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import Model, ModelError, OutputError, RobotError

ZERO = np.zeros(2)
LOADED: dict[str, tuple[dict[str, Any], str]] = {
    "mimic": ({"mimic": "indep"}, "load: mimic: got 'indep', expected 'follow' or 'independent' or 'error'"),
    "snap": ({"snap": "no"}, "snap: got 'no', expected True or False"),
    "friction": ({"friction": 1}, "friction: got 1, expected True or False"),
    "lock": ({"lock": ["shoulder"]}, "lock: got .*, expected a mapping"),
    "allow_xacro": ({"allow_xacro": 1}, "allow_xacro: got 1, expected True or False"),
    "package_path": ({"package_path": "x"}, "package_path: got 'x', expected a mapping"),
    "arguments": ({"arguments": 3}, "arguments: got 3, expected a mapping"),
    "live": ({"live": 3}, "live: got 3, expected names"),
}
BUILT: dict[str, tuple[dict[str, Any], str]] = {
    "outputs": ({"outputs": 3}, "outputs: got 3, expected names of functions"),
    "fused": ({"fused": 3}, "fused: got 3, expected groups"),
    "fused group": ({"fused": [None]}, r"fused: got \[None\], expected groups"),
    "cflags": ({"cflags": 3}, "cflags: got 3, expected a string or a list"),
    "cflags quote": ({"cflags": "-O2 '"}, "cflags: got .*expected flags as in a shell"),
    "compiler": ({"compiler": 3}, "compiler: got 3, expected a command"),
    "timeout": ({"timeout": "1"}, "timeout: got '1', expected a positive number"),
    "timeout flag": ({"timeout": True}, "timeout: got True"),
    "cache_dir": ({"cache_dir": 3}, "cache_dir: got 3, expected a path"),
}
CALLED: dict[str, tuple[Callable[[Model], object], str]] = {
    "rhs of nothing": (lambda m: m.rhs(0.0, None), r"two_link.rhs: t=0.0, y=None, expected a time .* and 4 real numbers"),
    "rhs of text": (lambda m: m.rhs(0.0, ["a"] * 4), "expected a time .* and 4 real numbers"),
    "rhs at no time": (lambda m: m.rhs(None, np.zeros(4)), "t=None"),  # type: ignore[arg-type]
    "modes at NaN": (lambda m: m.modes([np.nan, 0.0]), r"modes: q=\[nan, 0.0\], expected finite numbers"),
    "modes of text": (lambda m: m.modes("ab"), "modes: q='ab', expected 2 real numbers"),
    "a seed below zero": (lambda m: m.random_configuration(-1), "rng=-1, .*expected a generator or a seed"),
    "a length of 2.5": (lambda m: m.random_configuration(0, (2.5,)), "lengths of axes"),  # type: ignore[arg-type]
    "a function by number": (lambda m: m.evaluate(3, q=ZERO), "function=3, expected the name"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", LOADED)
def test_load(case: str) -> None:
    options, words = LOADED[case]
    with pytest.raises(RobotError, match=words):
        elastogen.load("two_link", **options)


@pytest.mark.parametrize("case", BUILT)
def test_build_model(case: str) -> None:
    options, words = BUILT[case]
    with pytest.raises(OutputError, match=words):
        elastogen.build_model("two_link", **options)


@pytest.mark.parametrize("case", CALLED)
def test_model(two_link: Model, case: str) -> None:
    call, words = CALLED[case]
    with pytest.raises(ModelError, match=words):
        call(two_link)


@pytest.mark.parametrize("path", [3, None, b"out", "out\0"])
def test_folders(path: Any) -> None:
    for write in (elastogen.generate, elastogen.export, elastogen.generate_loop):
        with pytest.raises(OutputError, match=r"directory: got .*, expected a path"):
            write("two_link", path)  # type: ignore[operator]
    for load in (elastogen.load_model, elastogen.load_loop):
        with pytest.raises(ModelError, match="expected"):
            load("x" * 5000 if path == "out\0" else path)


def test_others() -> None:
    for wrong in (0, 1.5, "2", True):
        with pytest.raises(OutputError, match=f"states: got {wrong!r}, expected a whole number"):
            elastogen.verify("two_link", states=wrong)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match=r"format: got \['c'\], expected one of c, "):
        elastogen.export("two_link", "out", format=["c"])  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="target: got 3, expected a triple"):
        elastogen.export("two_link", "out", target=3)  # type: ignore[arg-type]


def test_modes_without_inertia() -> None:
    links = [{"name": "base"}, {"name": "a"}, {"name": "b", "mass": 1, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1]}]
    joints = [{"name": "j1", "type": "revolute", "elasticity": {"stiffness": 10}}, {"name": "j2", "type": "revolute"}]
    with pytest.warns(elastogen.RobotWarning):
        robot = elastogen.load({"elastogen": 1, "name": "light", "links": links, "joints": joints})
    model = elastogen.build_model(robot, outputs=["mass_matrix", "stiffness_matrix"])
    with pytest.raises(ModelError, match=r"modes: the mass matrix is not positive definite; likely cause: .* the pivot of j1"):
        model.modes(np.zeros(3))


def test_linearizations_of_a_batch(two_link: Model) -> None:
    """Leading axes broadcast, as everywhere; each is that of one operating point."""
    q, F = np.random.default_rng(5).normal(size=(2, 3, 1, 2))
    qd = np.array([[0.1, -0.2], [0.4, 0.3]])
    found = two_link.linearize(q, qd, F)
    assert found.A.shape == (3, 2, 4, 4)
    assert found.B.shape == (3, 2, 4, 2)
    for i in range(3):
        for j in range(2):
            one = two_link.linearize(q[i, 0], qd[j], F[i, 0])
            np.testing.assert_allclose(found.A[i, j], one.A, rtol=1e-13, atol=1e-13)
            np.testing.assert_array_equal(one.A[:2], np.eye(2, 4, 2))
            np.testing.assert_allclose(one.B[2:], np.linalg.inv(two_link.mass_matrix(q[i, 0])), rtol=1e-11)


def test_a_number_of_random_configurations(two_link: Model) -> None:
    assert two_link.random_configuration(0, 3).tobytes() == two_link.random_configuration(0, (3,)).tobytes()
