"""Arguments that are one of a few words, given as anything else: an error of ours that names them and lists the words."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import Model, ModelError
from elastogen.runtime.choices import one_of
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.simulation.sliding_methods import SlidingMethods

Z = np.zeros(2)
FAILURES, REFERENCES = "on_failure=@, expected 'raise' or 'nan'.", "reference=@, expected 'aligned', 'local' or 'base'."
STOPS = "stops=@, expected 'report', 'end', 'ignore' or Stops(stiffness, damping)."
METHODS = "method=@, expected 'rk4', 'tsit5' or 'generalized_alpha'."
NAMES = "expected the name of one"
OF_MODELS: dict[str, tuple[Callable[[Model, Any], object], str]] = {
    "forward_dynamics": (lambda m, x: m.forward_dynamics(Z, Z, Z, on_failure=x), FAILURES),
    "forward_dynamics in a batch": (lambda m, x: m.forward_dynamics(np.zeros((3, 2)), Z, Z, on_failure=x), FAILURES),
    "mass_matrix_solve": (lambda m, x: m.mass_matrix_solve(Z, Z, on_failure=x), FAILURES),
    "forward_dynamics_derivatives": (lambda m, x: m.forward_dynamics_derivatives(Z, Z, Z, on_failure=x), FAILURES),
    "forward_dynamics_second_order": (lambda m, x: m.forward_dynamics_second_order(Z, Z, Z, Z, on_failure=x), FAILURES),
    "evaluate": (lambda m, x: m.evaluate("mass_matrix", q=Z, on_failure=x), FAILURES),
    "evaluate in threads": (lambda m, x: m.evaluate("mass_matrix", q=Z, on_failure=x, threads=2), FAILURES),
    "kernel": (lambda m, x: m.kernel("mass_matrix").batch((Z,), on_failure=x), FAILURES),
    "evaluate, its function": (lambda m, x: m.evaluate(x, q=Z), NAMES),
    "bind": (lambda m, x: m.bind(x), NAMES),
    "program": (lambda m, x: m.program(x), NAMES),
    "frame_jacobian": (lambda m, x: m.frame_jacobian("tip", Z, reference=x), REFERENCES),
    "frame_jacobian_rate": (lambda m, x: m.frame_jacobian_rate("tip", Z, Z, reference=x), REFERENCES),
    "frame_velocity": (lambda m, x: m.frame_velocity("tip", Z, Z, reference=x), REFERENCES),
    "frame_acceleration": (lambda m, x: m.frame_acceleration("tip", Z, Z, Z, reference=x), REFERENCES),
    "frame_pose, its frame": (lambda m, x: m.frame_pose(x, Z), "frame_pose: "),
    "frame_jacobian, its frame": (lambda m, x: m.frame_jacobian(x, Z), "frame_jacobian: "),
    "inverse_kinematics, its frame": (lambda m, x: m.inverse_kinematics(x, np.zeros(3)), "inverse_kinematics: "),
    "modes": (lambda m, x: m.modes(Z, joints=x), "modes: joints=@, expected 'free' or 'locked'."),
    "simulate, method": (lambda m, x: m.simulate(Z, t=0.01, method=x), METHODS),
    "simulate, on_failure": (lambda m, x: m.simulate(Z, t=0.01, on_failure=x), "on_failure=@, expected 'raise' or 'keep'."),
    "simulate, stops": (lambda m, x: m.simulate(Z, t=0.01, stops=x), STOPS),
    "a table": (
        lambda m, x: m.simulate(Z, t=0.01, F=elastogen.Table([0.0], [Z], x)), "interpolation=@, expected 'hold' or 'linear'.",
    ),
    "parameters": (lambda m, x: m.parameters[x], "two_link has no live parameter @."),
    "information on parameters": (lambda m, x: m.parameters.info(x), "two_link has no live parameter @."),
}  # fmt: skip
OF_LOOPS: dict[str, tuple[Callable[[LoopLibrary, Any], object], str]] = {
    "controller": (lambda lib, x: Loop(lib, controller=x), "controller=@, expected a name or an object"),
    "plant": (lambda lib, x: Loop(lib, plant=x), "plant=@, expected "),
    "on_overrun": (lambda lib, x: Loop(lib, on_overrun=x), "on_overrun=@, expected 'skip', 'catch_up' or 'stop'."),
    "keep": (lambda lib, x: Loop(lib, keep=x), "keep=@, expected 'newest' or 'oldest'."),
    "method": (lambda lib, x: Simulated(method=x), "method=@, expected 'rk4' or 'semi_implicit'."),
}
ODD: tuple[Any, ...] = (
    None, 3, True, b"raise", [], ["raise", "nan"], ("aligned",), {"rk4"}, {"free": 1}, np.zeros(2), np.zeros((2, 2)),
    np.array("raise"), np.array(["raise"]), np.array(["raise", "nan"]), np.array(["free", None], dtype=object), str,
)  # fmt: skip


def refused(call: Callable[[Any, Any], object], subject: Any, odd: Any, words: str) -> None:
    with pytest.raises(ModelError, match=re.escape(words.replace("@", repr(odd)))):
        call(subject, odd)


@pytest.mark.parametrize("case", OF_MODELS)
def test_models(two_link: Model, case: str) -> None:
    call, words = OF_MODELS[case]
    for odd in ODD:
        refused(call, two_link, odd, words)


@pytest.mark.parametrize("case", OF_LOOPS)
def test_loops(library: LoopLibrary, case: str) -> None:
    for odd in ODD[case == "controller" :]:  # None is the first of the loop's controllers
        refused(OF_LOOPS[case][0], library, odd, OF_LOOPS[case][1])


def test_elastic_models(bender: Model) -> None:
    zero = np.zeros(3)
    for odd in ODD:
        refused(lambda m, x: m.elastic_inverse_dynamics(zero, zero, zero, on_failure=x), bender, odd, FAILURES)


def test_sliding_joints(two_link: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SlidingMethods, "_sliding", [SimpleNamespace(joint="raise")])
    for odd in ODD:
        refused(lambda m, x: m.switch_element(x, Z, Z), two_link, odd, "joint=@, expected one of ['raise'].")


def test_words_of_all_kinds(two_link: Model) -> None:
    """Equal text is the word, wherever it comes from."""
    for word in ("nan", "".join(["ra", "ise"]), np.str_("raise")):
        np.testing.assert_array_equal(two_link.forward_dynamics(Z, Z, Z, on_failure=word), two_link.forward_dynamics(Z, Z, Z))
    assert one_of("x", "a", ("a", "b")) == "a"
    with pytest.raises(ModelError, match=r"^x='b', expected 'a'\.$"):
        one_of("x", "b", ("a",))
