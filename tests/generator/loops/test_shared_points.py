"""Point masses that go from link to link where a loop joins them: none that is far larger than the link."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from closed_mechanism import gauss, jacobian, null_space, residuals
from test_loop_descriptions import FOUR_BAR

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.loops.analysis import analysis_of

BESIDE = 9e-11  # [m]: how far beside a plane a computer-aided design may put a pin


def _four_bar(x: float) -> Any:
    """The pin of the coupler is ``x`` beside its y axis, its centre of mass beside both axes."""
    file = copy.deepcopy(FOUR_BAR)
    file["links"][2] |= {"com": [0.1, 0.05, 0]}
    file["loops"][0]["a"]["xyz"] = [x, 0.8, 0]
    return elastogen.load(file)


def _two_arms(z: float) -> Any:
    """Arms in space whose ends a ball joins: it is ``z`` out of the plane of one link."""
    body = {"mass": 1.2, "com": [0.1, 0.02, 0.03], "inertia": [0.01, 0.02, 0.03]}
    free = {"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0], "driven": False}
    joints = [
        {"name": "turn", "type": "revolute", "parent": "frame", "child": "upper"},
        {"name": "elbow", "parent": "upper", "child": "lower", "placement": {"xyz": [0.3, 0, 0]}, **free},
        {"name": "swing", "parent": "frame", "child": "other", "placement": {"xyz": [0.6, 0.3, 0]}, **free},
    ]
    links = [{"name": "frame"}, *({"name": name, **body} for name in ("upper", "lower", "other"))]
    ends = {"a": {"link": "lower", "xyz": [0, 0.5, z]}, "b": {"link": "other", "xyz": [0, 0.4, 0.05]}}
    loops = [{"name": "ball", "type": "spherical", **ends}]
    return elastogen.load({"elastogen": 1, "name": "arms", "links": links, "joints": joints, "loops": loops})


def _values(robot: Any, names: tuple[str, ...]) -> Any:
    programs = {function.name: function.program for function in derive_model(robot, names).functions}
    return lambda name, **state: next(iter(programs[name].evaluate(state).values()))


@pytest.mark.parametrize("robot", [_four_bar(BESIDE), _two_arms(BESIDE)], ids=["plane", "space"])
def test_a_pin_that_is_nearly_on_an_axis_takes_no_huge_mass(robot: Any) -> None:
    """A moment divided by a coordinate that is nearly zero is a mass beside which a link's own digits are lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = _values(robot, ("mass_matrix", "forward_dynamics"))
    tree = _values(replace(robot, loops=()), ("inverse_dynamics",))
    rng = np.random.default_rng(3)
    for q, _, _ in analysis_of(robot).samples[::4][:3]:
        J = jacobian(robot, q)
        N = null_space(J)
        qd, F = N @ rng.normal(size=N.shape[1]), rng.normal(size=len(N))
        forces = F - tree("inverse_dynamics", q=q, qd=qd, qdd=0 * qd)
        expected = gauss(J, 2 * residuals(robot, q, qd).c, value("mass_matrix", q=q), forces)
        found = value("forward_dynamics", q=q, qd=qd, F=F)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
