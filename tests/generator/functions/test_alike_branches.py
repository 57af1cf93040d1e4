"""Branches that are built alike are computed together in loops: the bits of the straight program, the numbers of Pinocchio."""

from __future__ import annotations

import copy
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from robots_for_tests import in_pinocchio, quietly_loaded, random_robot, relative_error

import elastogen
from elastogen.build.c import alike_branches as alike_in_c
from elastogen.build.c.alike_branches import SHORTEST, together
from elastogen.build.c.body import Dialect
from elastogen.build.c.function import print_body
from elastogen.build.files.render import render_model
from elastogen.build.options import EmitOptions
from elastogen.generator.functions.derivation import ModelDerivation, derive_model
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.joints import kinds
from elastogen.generator.mechanism.alike_branches import alike_branches
from elastogen.generator.program.columns import expanded
from elastogen.generator.program.program import InLoops, Program
from elastogen.generator.robot.robot import Robot

NAMES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
COUNT = 17  # states, more than any processor has lanes: fewer go the way of single ones
INPUTS = {NAMES[0]: ("q", "qd", "qdd"), NAMES[1]: ("q", "qd", "F")}


def robot_with_limbs(
    limbs: int, joints: int, types: Sequence[str] = ("revolute",), live: Sequence[str] = (), others: str = ""
) -> Robot:
    """A trunk with limbs: mirrored places, axes of either sign, other numbers for every limb; ``others``: but for the first."""
    rng = np.random.default_rng(3)
    names = [f"limb{limb}_{k}" for limb in range(limbs) for k in range(joints)]
    links, made = [{"name": "base"}], []
    for name in ("trunk", *names):
        com, inertia = rng.uniform(-0.1, 0.1, 3).tolist(), rng.uniform(0.02, 0.03, 3).tolist()
        links.append({"name": name, "mass": float(rng.uniform(0.5, 2)), "com": com, "inertia": inertia})
    made.append({"name": "j_trunk", "type": "revolute", "parent": "base", "child": "trunk", "axis": [0, 0, 1]})
    for number, name in enumerate(names):
        limb, k = divmod(number, joints)
        side = 1 if limb % 2 else -1
        made.append({
            "name": f"j_{name}", "type": others if others and limb else types[k % len(types)],
            "parent": "trunk" if k == 0 else names[number - 1], "child": name,
            "axis": [0, 0, side if k == joints - 1 else 1],
            "placement": {"xyz": [0.1 * (k + 1), 0.2 * side, 0.3], "rpy": [1.5707963267948966 * (k % 2 or 2), 0.3 * side, 0]},
        })  # fmt: skip
    payload = {"mass": 0.7, "com": [0.1, 0.0, 0.2]}
    return quietly_loaded({
        "elastogen": 1, "name": f"limbs{limbs}", "links": links, "joints": made, "live": list(live),
        "payload": payload, "tip": {"link": names[joints - 1]},
    })  # fmt: skip


@pytest.fixture(scope="module", params=[(2, 5), (4, 4)], ids=["arms", "legs"])
def robot(request: pytest.FixtureRequest) -> Robot:
    """Two arms under live gravity, of which one has a load, or four legs in which a joint slides."""
    count, joints = request.param
    types = ("revolute",) if count == 2 else ("revolute", "revolute", "prismatic")
    return robot_with_limbs(count, joints, types, ["gravity"] if count == 2 else [])


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
        assert program.count.total > SHORTEST
        straight = copy.copy(program)
        straight.branches = ()
        looped, plain = (print_body(each, function.name, dialect, live) for each in (program, straight))
        bound = "count" if count == 2 else "4"  # the text for two hides from clang that there are two
        loops = [part for part in looped.parts if f"    for (int i = 0; i < {bound}; ++i) {{" in part.lines]
        assert len(loops) > 5
        operations = [sum(line.count(" * ") for part in body.parts for line in part.lines) for body in (looped, plain)]
        assert operations[0] < (0.5 + 0.3 / count) * operations[1]


def test_emitted_c_compiles_without_warnings(derived: ModelDerivation, tmp_path: Path) -> None:
    precision = "float" if derived.robot.name == "limbs4" else "double"
    model = render_model(derived, EmitOptions(NAMES, precision, "fast"))
    for name, text in model.c_files.items():
        (tmp_path / name).write_text(text)
    for compiler in COMPILERS:
        subprocess.run([compiler, *WARNINGS, "-fsyntax-only", f"{model.name}.c"], cwd=tmp_path, check=True)


def test_branches() -> None:
    """Of equal joints only, four or two of them; what is left over goes alone."""
    found = alike_branches(VariantFamily(robot_with_limbs(3, 2)).plain().mechanism)
    assert found == (((1, 2), (3, 4)),)
    assert len(alike_branches(VariantFamily(robot_with_limbs(5, 1)).plain().mechanism)[0]) == 4
    assert alike_branches(VariantFamily(robot_with_limbs(2, 2, others="prismatic")).plain().mechanism) == ()
    assert alike_branches(VariantFamily(quietly_loaded("puma560")).plain().mechanism) == ()


def test_limbs_that_are_not_alike_are_printed_straight() -> None:
    robot = robot_with_limbs(2, 5, others="prismatic")
    (function,) = derive_model(robot, NAMES[:1]).functions
    assert function.program.branches == ()
    body = print_body(function.program, NAMES[0], Dialect("arm", "double", "fast"), function.program.used_inputs())
    assert not [line for part in body.parts for line in part.lines if "int i = 0; i < count;" in line]


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_random_trees_in_which_branches_happen_to_be_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bushes of screw joints with any numbers: what loops compute are the bits of the program, whatever is grouped."""
    for limit in ("SHORTEST", "SHORTEST_STAGE", "LEAST"):
        monkeypatch.setattr(alike_in_c, limit, 0)
    robot = random_robot(seed, 7, types=(kinds.REVOLUTE, kinds.PRISMATIC), branching=0.8, fixed=0.0)
    state = dict(zip(("q", "qd", "qdd", "F"), np.random.default_rng(seed).normal(size=(4, 3, 7)), strict=True))
    for function in derive_model(robot, NAMES).functions:
        program = function.program
        assert program.branches
        chosen = program.in_loops or InLoops(program.graph, program.outputs, program.pivots, ())
        looped = together(chosen, program.branches)
        assert len(looped.columns) > len(chosen.columns)
        refs = expanded(looped.graph, [ref for _, refs in looped.outputs for ref in refs], looped.columns)
        sizes = [argument.size for argument, _ in looped.outputs]
        parts = [refs[sum(sizes[:k]) : sum(sizes[: k + 1])] for k in range(len(sizes))]
        outputs = [(argument, part) for (argument, _), part in zip(looped.outputs, parts, strict=True)]
        again = Program(looped.graph, program.inputs, outputs)
        for found, right in zip(again.evaluate(state).values(), program.evaluate(state).values(), strict=True):
            assert np.array_equal(found, right)
