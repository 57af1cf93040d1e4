"""Jacobians, adjoints and Hessians of functions against differences in 60 digits, for every family of robots."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import elastogen
from elastogen.build.program import EmittedProgram
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError

BEAM = {
    "elastogen": 1,
    "name": "beam",
    "gravity": [0, -9.81, 0],
    "live": ["payload"],
    "links": [
        {"name": "base"},
        {
            "name": "arm",
            "flexible": {
                "type": "modes", "length": 0.8, "mass_per_length": 0.5, "EI": 20.0,
                "modes": [{"direction": "y", "eigenfunction": 1}],
            },
        },
    ],
    "joints": [{"name": "hub", "type": "revolute", "child": "arm", "friction": {"viscous": 0.1}}],
    "payload": {"mass": 0.3},
}  # fmt: skip
FREE = {
    "elastogen": 1,
    "name": "free",
    "base": "floating",
    "links": [
        {"name": "body", "mass": 2.0, "com": [0.1, 0, 0.05], "inertia": [0.3, 0.2, 0.25]},
        {"name": "arm", "mass": 1.0, "com": [0.2, 0.1, 0], "inertia": [0.03, 0.02, 0.025]},
    ],
    "joints": [{"name": "hinge", "type": "revolute", "child": "arm", "axis": [0, 1, 0]}],
}
CASES = [
    ("two_link", "forward_dynamics"), ("two_link", "mass_matrix"), ("scara", "jacobian"), (BEAM, "forward_dynamics"),
    (BEAM, "inverse_dynamics"), ("rpb_table3", "gravity_vector"), (FREE, "inverse_dynamics"), (FREE, "kinetic_energy"),
    ("scara", "forward_dynamics"), (FREE, "forward_dynamics"),
]  # fmt: skip
STEP = 1e-20


def flat(values: object) -> np.ndarray:
    parts = values if isinstance(values, tuple) else (values,)
    return np.concatenate([np.ravel(np.asarray(part, dtype=object)) for part in parts])


@pytest.mark.parametrize(("source", "name"), CASES, ids=lambda case: case if isinstance(case, str) else case["name"])
@pytest.mark.parametrize("by", ["", "_by_parameters"])
def test_sensitivities_are_those_of_differences(source, name: str, by: str) -> None:
    robot = elastogen.load(source)
    if by and not robot.live_parameters:
        pytest.skip("no live parameters")
    endings = [f"{kind}{by}" for kind in ("_sensitivity", "_adjoint", "_hessian")]
    functions = derive_model(robot, [name, *(name + ending for ending in endings)]).functions
    value, jacobian, adjoint, hessian = (EmittedProgram(robot, function) for function in functions)
    rng = np.random.default_rng(11)
    sizes = [argument.size for argument in value.inputs]
    x = np.concatenate([rng.uniform(0.1, 0.4, size) for size in sizes]).astype(object)
    live = {p.name: p.value + 0.05 for p in robot.live_parameters}
    names = list(live) if by else []

    def at(program: EmittedProgram, x: np.ndarray, *more: np.ndarray) -> np.ndarray:
        parts = np.split(x[: sum(sizes)], np.cumsum(sizes)[:-1])
        given = {**live, **dict(zip(names, x[sum(sizes) :], strict=True))}
        return flat(program.evaluate(*parts, *more, parameters=given, digits=60))

    import mpmath

    with mpmath.workdps(60):
        x = np.array([mpmath.mpf(float(number)) for number in (*x, *(live[p] for p in names))], dtype=object)
        steps = [np.array([mpmath.mpf(STEP if r == c else 0) for c in range(len(x))], dtype=object) for r in range(len(x))]
        y = at(value, x)
        w = rng.uniform(-1, 1, len(y))
        columns = [(at(value, x + step) - at(value, x - step)) / (2 * STEP) for step in steps]
        by_differences = np.array([[float(entry) for entry in column] for column in columns]).T
        found = np.array(at(jacobian, x), dtype=float).reshape(len(y), len(x))
        scale = np.abs(by_differences).max()
        assert np.abs(found - by_differences).max() <= 1e-12 * scale
        gradient = np.array(at(adjoint, x, w), dtype=float)
        assert np.abs(gradient - by_differences.T @ w).max() <= 1e-12 * scale * len(y)
        rows = [(at(adjoint, x + step, w) - at(adjoint, x - step, w)) / (2 * STEP) for step in steps]
        second = np.array([[float(entry) for entry in row] for row in rows])
        found = np.array(at(hessian, x, w), dtype=float).reshape(second.shape)
        assert np.abs(found - second).max() <= 1e-12 * np.abs(second).max()


def test_those_of_accelerations_come_from_inverse_dynamics() -> None:
    """What solvers of optimal control call most: hardly more operations than the blocks that a user can ask for."""
    kinds = ("_derivatives", "_sensitivity", "_second_order", "_hessian")
    derived = derive_model(elastogen.load("trtrr"), [f"forward_dynamics{kind}" for kind in kinds]).functions
    count = {function.name.removeprefix("forward_dynamics"): function.program.straight_count.total for function in derived}
    assert count["_sensitivity"] <= 1.05 * count["_derivatives"]
    assert count["_hessian"] <= 1.05 * count["_second_order"]


def test_unknown_functions_have_no_sensitivities() -> None:
    with pytest.raises(OutputError, match="mass_matix_adjoint"):
        derive_model(elastogen.load("two_link"), ["mass_matix_adjoint"])
    with pytest.raises(OutputError, match="stiffness_matrix_adjoint"):
        derive_model(elastogen.load("two_link"), ["stiffness_matrix_adjoint"])


def test_those_of_a_free_base_agree_with_the_description() -> None:
    """Where a quaternion is not unit, functions are their own extensions: the self-check must not ask there."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = ("mass_matrix_tangent", "mass_matrix_sensitivity", "gravity_vector_adjoint", "gravity_vector_hessian")
        derived = derive_model(elastogen.load(FREE), names)
    assert {*names} <= {function.name for function in derived.functions}
