"""Isomorphic branches are computed together in loops: the bits of the straight program, the numbers of Pinocchio."""

from __future__ import annotations

import copy
import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from robots_for_tests import in_pinocchio, quietly_loaded, random_robot, relative_error

import elastogen
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.function import print_body
from elastogen.build.c.loops import isomorphic_subtrees as alike_in_c
from elastogen.build.c.loops.isomorphic_subtrees import SHORTEST, together
from elastogen.build.files.render import render_model
from elastogen.build.options import EmitOptions
from elastogen.generator.functions.derivation import ModelDerivation, derive_model
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.joints import kinds
from elastogen.generator.mechanism.isomorphic_subtrees import isomorphic_subtrees
from elastogen.generator.program.columns import expanded
from elastogen.generator.program.program import Branch, InLoops, Program
from elastogen.generator.robot.robot import Robot

NAMES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
SHORTER = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "forward_dynamics")
COUNT = 17  # states, more than any processor has lanes: fewer go the way of single ones
INPUTS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "forward_dynamics": ("q", "qd", "F"),
    NAMES[0]: ("q", "qd", "qdd"),
    NAMES[1]: ("q", "qd", "F"),
}


def robot_with_limbs(
    limbs: int,
    joints: int,
    types: Sequence[str] = ("revolute",),
    live: Sequence[str] = (),
    others: str = "",
    trunk: str = "revolute",
    load: bool = True,
    **last: Any,
) -> Robot:
    """A trunk with limbs: mirrored places, axes of either sign, other numbers for every limb; ``others``: but for the first.

    ``trunk`` is its joint, ``load`` is on the first limb, ``last`` are further fields of the last link of every limb.
    """
    rng = np.random.default_rng(3)
    names = [f"limb{limb}_{k}" for limb in range(limbs) for k in range(joints)]
    links, made = [{"name": "base"}], []
    for name in ("trunk", *names):
        com, inertia = rng.uniform(-0.1, 0.1, 3).tolist(), rng.uniform(0.02, 0.03, 3).tolist()
        links.append({"name": name, "mass": float(rng.uniform(0.5, 2)), "com": com, "inertia": inertia})
        if last and name in names[joints - 1 :: joints]:
            links[-1] = {"name": name, **last}
    made.append({"name": "j_trunk", "type": trunk, "parent": "base", "child": "trunk"})
    if trunk != "floating":
        made[-1]["axis"] = [0, 0, 1]
    for number, name in enumerate(names):
        limb, k = divmod(number, joints)
        side = 1 if limb % 2 else -1
        made.append({
            "name": f"j_{name}", "type": others if others and limb else types[k % len(types)],
            "parent": "trunk" if k == 0 else names[number - 1], "child": name,
            **({} if types[k % len(types)] == "spherical" else {"axis": [0, 0, side if k == joints - 1 else 1]}),
            "placement": {"xyz": [0.1 * (k + 1), 0.2 * side, 0.3], "rpy": [1.5707963267948966 * (k % 2 or 2), 0.3 * side, 0]},
        })  # fmt: skip
    carried = {"payload": {"mass": 0.7, "com": [0.1, 0.0, 0.2]}, "tip": {"link": names[joints - 1]}} if load else {}
    return quietly_loaded({
        "elastogen": 1, "name": f"limbs{limbs}", "links": links, "joints": made, "live": list(live), **carried,
    })  # fmt: skip


@pytest.fixture(scope="module", params=[(2, 5), (4, 4)], ids=["arms", "legs"])
def robot(request: pytest.FixtureRequest) -> Robot:
    """Two arms under live gravity, of which one has a load, or four legs in which a joint slides."""
    count, joints = request.param
    types = ("revolute",) if count == 2 else ("revolute", "revolute", "prismatic")
    return robot_with_limbs(count, joints, types, ["gravity"] if count == 2 else [])


def bits_in_lanes(robot: Robot, names: Sequence[str]) -> None:
    """Batches in lanes are computed by the straight program, single states with loops."""
    own = [*names, *(["random_configuration"] if robot.has_quasi_velocities else [])]
    model = elastogen.build_model(robot, outputs=own, lanes=True)
    for function in derive_model(robot, names).functions:
        body = print_body(function.program, function.name, Dialect("a", "double", "fast"), function.program.used_inputs())
        assert any(part.lanes for part in body.parts), function.name
    rng = np.random.default_rng(4)
    states = {name: rng.uniform(-1, 1, (COUNT, model.nv)) for name in ("qd", "qdd", "F")}
    states["q"] = model.random_configuration(rng, COUNT)
    states["q"][:, np.isinf(states["q"]).any(axis=0)] = 0.1
    for name in names:
        state: dict[str, Any] = {key: states[key] for key in INPUTS[name]}
        batch = model.evaluate(name, **state)
        single = np.stack([model.evaluate(name, **{key: values[k] for key, values in state.items()}) for k in range(COUNT)])
        assert np.isfinite(single).all()
        assert np.array_equal(single, batch), name


@pytest.mark.parametrize(
    "robot",
    [
        robot_with_limbs(2, 4),
        pytest.param(
            robot_with_limbs(6, 3, ("revolute", "prismatic"), ["gravity"], trunk="floating", load=False),
            marks=pytest.mark.nightly,
        ),
        robot_with_limbs(2, 2, ("spherical", "revolute"), trunk="prismatic"),
        robot_with_limbs(
            2, 2, load=False, flexible={"type": "modes", "length": 0.5, "mass_per_length": 0.4, "EI": 3.0, "modes": [
                {"direction": axis, "eigenfunction": k} for axis in "yz" for k in (1, 2)], "tip": {"mass": 0.2}}
        ),
    ],
    ids=["arms", "six legs on a free base", "ball joints", "flexible arms"],
)  # fmt: skip
def test_functions_of_robots_with_limbs_have_the_bits_of_the_straight_program(robot: Robot) -> None:
    bits_in_lanes(robot, SHORTER[:1] + SHORTER[2:])


@pytest.fixture(scope="module")
def derived(robot: Robot) -> ModelDerivation:
    return derive_model(robot, NAMES)


def test_loops_give_the_bits_of_the_straight_program(robot: Robot) -> None:
    """Batches in lanes are computed by the straight program."""
    pin = pytest.importorskip("pinocchio")
    model, theirs = elastogen.build_model(robot, outputs=NAMES, lanes=True), in_pinocchio(robot)
    rng = np.random.default_rng(1)
    states = {name: rng.uniform(-1, 1, (COUNT, model.nq)) for name in ("q", "qd", "qdd", "F")}
    for name in NAMES:
        state: dict[str, Any] = {key: states[key] for key in INPUTS[name]}
        together = model.evaluate(name, **state)
        for k in range(COUNT):
            single = model.evaluate(name, **{key: values[k] for key, values in state.items()})
            assert all(np.array_equal(found, batch[k]) for found, batch in zip(single, together, strict=True))
            at = [theirs.configuration(states["q"][k]), *(theirs.vector(states[key][k]) for key in INPUTS[name][1:])]
            compute = pin.computeRNEADerivatives if name == NAMES[0] else pin.computeABADerivatives
            data = theirs.model.createData()
            expected = [theirs.square(x) for x in compute(theirs.model, data, *at)]  # views of data
            for found, right in zip(single[:2], expected[:2], strict=True):
                assert relative_error(found, right) < 1e-11


def test_text_is_there_once_for_all_limbs(derived: ModelDerivation) -> None:
    count = 4 if derived.robot.name == "limbs4" else 2
    for function in derived.functions:
        program, dialect, live = function.program, Dialect("arm", "double", "fast"), function.program.used_inputs()
        assert program.count.total > SHORTEST["double"]
        straight = copy.copy(program)
        straight.branches = ()
        looped, plain = (print_body(each, function.name, dialect, live) for each in (program, straight))
        loops = [part for part in looped.parts if part.lanes == count]
        assert len(loops) > 5
        operations = [sum(line.count(" * ") for part in body.parts for line in part.lines) for body in (looped, plain)]
        assert operations[0] < (0.5 + 0.3 / count) * operations[1]


def test_emitted_c_compiles_without_warnings(derived: ModelDerivation, tmp_path: Path) -> None:
    precision = "float" if derived.robot.name == "limbs4" else "double"
    model = render_model(derived, EmitOptions(NAMES, precision, "fast"))
    for name, text in model.c_files.items():
        (tmp_path / name).write_text(text)
    for compiler in COMPILERS:
        for machine in ([], ["-mavx"], ["-U__SSE2__"]):  # vectors of two, of four, none
            command = [compiler, *WARNINGS, *machine, "-fsyntax-only", f"{model.name}.c"]
            subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_without_vectors_and_with_shorter_ones_the_bits_are_the_same(compiler: str, tmp_path: Path) -> None:
    robot = robot_with_limbs(4, 2)
    model = render_model(derive_model(robot, SHORTER), EmitOptions(SHORTER, "double", "fast"))
    assert "LIMBS4_EACH_FOUR" in model.source
    for name, text in model.c_files.items():
        (tmp_path / name).write_text(text)
    size, found = len(robot.velocity_names), []
    for flags in ([], ["-mavx2"], ["-U__SSE2__"]):
        library = tmp_path / f"{'_'.join(flags) or 'plain'}.so"
        command = [compiler, "-std=c99", "-O2", "-ffp-contract=off", *flags, "-shared", "-fPIC", "limbs4.c", "-o", library]
        subprocess.run([*command, "-lm"], cwd=tmp_path, check=True)
        loaded, states = ctypes.CDLL(str(library)), np.random.default_rng(5).uniform(-2, 2, (3, size))
        out = np.zeros((4, size * size))
        for name, row in zip(SHORTER, out, strict=True):
            pointers = [ctypes.c_void_p(values.ctypes.data) for values in (*states[: len(INPUTS[name])], row)]
            parameters = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(loaded, "limbs4_params_nominal")))
            getattr(loaded, f"limbs4_{name}")(parameters, *pointers)
        found.append(out)
    assert (np.abs(found[0]).max(axis=1) > 0).all()
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_branches() -> None:
    """Of equal joints only, four or two of them; what is left over goes alone."""
    found = isomorphic_subtrees(VariantFamily(robot_with_limbs(3, 2)).plain().mechanism)
    assert found == ((Branch((1, 2), (1, 2)), Branch((3, 4), (3, 4))),)
    for limbs, sets in ((5, [4]), (6, [4, 2]), (8, [4, 4])):
        assert [
            len(isomorphic) for isomorphic in isomorphic_subtrees(VariantFamily(robot_with_limbs(limbs, 1)).plain().mechanism)
        ] == sets
    assert isomorphic_subtrees(VariantFamily(robot_with_limbs(2, 2, others="prismatic")).plain().mechanism) == ()
    assert isomorphic_subtrees(VariantFamily(quietly_loaded("puma560")).plain().mechanism) == ()


def test_limbs_that_are_not_alike_are_printed_straight() -> None:
    robot = robot_with_limbs(2, 5, others="prismatic")
    (function,) = derive_model(robot, NAMES[:1]).functions
    assert function.program.branches == ()
    body = print_body(function.program, NAMES[0], Dialect("arm", "double", "fast"), function.program.used_inputs())
    assert not any(part.lanes for part in body.parts)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_random_trees_in_which_branches_happen_to_be_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bushes of screw joints with any numbers: what loops compute are the bits of the program, whatever is grouped."""
    monkeypatch.setitem(SHORTEST, "double", 0)
    for limit in ("SHORTEST_STAGE", "LEAST"):
        monkeypatch.setattr(alike_in_c, limit, 0)
    robot = random_robot(seed, 7, types=(kinds.REVOLUTE, kinds.PRISMATIC), branching=0.8, fixed=0.0)
    state = dict(zip(("q", "qd", "qdd", "F"), np.random.default_rng(seed).normal(size=(4, 3, 7)), strict=True))
    for function in derive_model(robot, NAMES).functions:
        program = function.program
        assert program.branches
        chosen = program.in_loops or InLoops(program.graph, program.outputs, program.pivots, ())
        looped = together(chosen, program.branches, "double")
        assert len(looped.columns) > len(chosen.columns)
        refs = expanded(looped.graph, [ref for _, refs in looped.outputs for ref in refs], looped.columns)
        sizes = [argument.size for argument, _ in looped.outputs]
        parts = [refs[sum(sizes[:k]) : sum(sizes[: k + 1])] for k in range(len(sizes))]
        outputs = [(argument, part) for (argument, _), part in zip(looped.outputs, parts, strict=True)]
        again = Program(looped.graph, program.inputs, outputs)
        for found, right in zip(again.evaluate(state).values(), program.evaluate(state).values(), strict=True):
            assert np.array_equal(found, right)
