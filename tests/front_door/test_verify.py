"""``elastogen verify``: built-in robots pass, and whatever is corrupted is caught: operations, constants, templates, terms."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pytest
from flexible_arms import HUB, ROD, beam, planar_arm
from own_terms_arm import arm
from reference_beam import powers

import elastogen
from elastogen import command_line
from elastogen.build.c import body
from elastogen.build.files import templating
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.program import Program
from elastogen.generator.robot.robot import Link, Robot
from elastogen.verification import compiled, findings, hygiene, identities, second_derivation
from elastogen.verification.lagrange.numbers import NotCoveredError
from elastogen.verification.states import random_states

MUTANTS = 50


def functions_of(robot: Robot, names: tuple[str, ...]) -> dict[str, Function]:
    return {function.name: function for function in derive_model(robot, names).functions}


def live(robot: Robot) -> dict[str, float]:
    return {parameter.name: parameter.value for parameter in robot.live_parameters}


def verdicts(found: Any) -> dict[str, str]:
    return {finding.subject: finding.verdict for finding in found}


def bending_arm() -> Robot:
    """A flexible link with foreshortening before a rigid one, a spring at the tip, gravity."""
    robot = planar_arm(Link("", HUB, beam(*ROD, powers(1), foreshortening=True)), Link("", HUB), gravity=(0, -9.81, 0))
    s = elastogen.symbols(robot)
    return robot.with_terms(potential=3 * s.position("link2").norm() ** 2, forces={"j2": -(s.qd[0] ** 3)})


@pytest.mark.parametrize("make", [arm, bending_arm, lambda: elastogen.load("scara")], ids=["terms", "flexible", "scara"])
def test_lagrange_agrees(make: Any) -> None:
    robot = make()
    names = tuple(name for name in second_derivation.COVERED if name != "point_positions")
    found = verdicts(second_derivation.check(robot, functions_of(robot, names), random_states(robot, 1, 1), live(robot)))
    assert found == dict.fromkeys(found, "passed")
    assert set(found) == set(names)


def test_identities_hold_and_tell_where_they_do_not() -> None:
    robot = elastogen.load("two_link")
    functions = functions_of(robot, identities.NEEDED)
    states = random_states(robot, 2, 3)
    good = verdicts(identities.check(robot, functions, states, live(robot)))
    assert set(good.values()) == {"passed"}
    assert {"M symmetric", "dM/dt - 2C skew", "forward(inverse) = identity", "dF/dq", "energy of a motion"} <= set(good)
    broken = {**functions, "coriolis_matrix": mutant(functions["coriolis_matrix"], 1)}
    bad = verdicts(identities.check(robot, broken, states, live(robot)))
    assert "failed" in (bad["dM/dt - 2C skew"], bad["C qd"])


def mutant(function: Function, seed: int) -> Function:
    """The function with one operation of its program changed."""
    rng, program = random.Random(seed), function.program
    node = rng.choice([node for node in program.order if program.graph.op[node] is not Op.INPUT and node > 1])
    graph = Graph()
    for name in ("op", "a", "b", "c", "number", "label", "section_of"):
        setattr(graph, name, list(getattr(program.graph, name)))
    op = graph.op[node]
    if op is Op.CONSTANT:
        graph.number[node] *= 1 + 1e-6
    elif op in (Op.SIN, Op.COS):
        graph.op[node] = Op.COS if op is Op.SIN else Op.SIN
    elif rng.random() < 0.5:
        graph.b[node] ^= 1  # a sign
    else:
        graph.op[node] = Op.MUL if op is Op.ADD else Op.ADD
    return Function(function.name, function.brief, Program(graph, program.inputs, program.outputs), function.selectors)


def test_every_mutant_is_caught() -> None:
    """One operation, sign or constant changed at random in each of 50 programs: Lagrange's equations see all of them."""
    robot = elastogen.load("two_link", live=["m2"])
    loaded = {name: replace(p, value=p.value or 0.3) for name, p in robot.parameters.items()}  # a payload that is there
    robot = replace(robot, parameters=loaded)
    left_out = ("friction_forces", "elastic_forces", "strain_energy", "point_positions")  # it has none of these
    names = tuple(name for name in second_derivation.COVERED if name not in left_out)
    functions = functions_of(robot, names)
    states = random_states(robot, 1, 7)
    state = {name: array[0] for name, array in states.items()}
    lagrange = second_derivation.Lagrange(robot).functions
    expected = {name: lagrange[name](*(state[argument.name] for argument in f.inputs)) for name, f in functions.items()}

    def error(function: Function) -> float:
        found = second_derivation.evaluated(function, state, live(robot))
        assert found is not None
        (value,) = found.values()
        return second_derivation.relative_difference(value, expected[function.name])

    elsewhere = {name: array[0] for name, array in random_states(robot, 1, 8).items()}

    def same(first: Function, second: Function) -> bool:
        """Equal at another state in 50 digits: what was changed cancels, so that nothing was changed."""
        (a,), (b,) = (second_derivation.evaluated(f, elsewhere, live(robot)).values() for f in (first, second))
        return second_derivation.relative_difference(a, b) < 1e-20

    rng = random.Random(5)
    caught = 0
    for number in range(2 * MUTANTS):
        name = rng.choice(names)
        assert error(functions[name]) < second_derivation.LIMIT
        changed = mutant(functions[name], number)
        if caught < MUTANTS and not same(changed, functions[name]):
            assert not error(changed) < second_derivation.LIMIT, (number, name)
            caught += 1
    assert caught == MUTANTS


def test_compiled_code_is_within_its_rounding_and_a_wrong_constant_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = elastogen.load("scara")
    functions = functions_of(robot, ("inverse_dynamics", "forward_kinematics"))
    states = random_states(robot, 3, 2)
    for precision in ("double", "float"):
        assert set(verdicts(compiled.check(robot, functions, states, live(robot), precision)).values()) == {"passed"}
    right = body.literal

    def wrong(number: float, real: str) -> str:
        return right(number if number in (0, 1) else number * (1 + 1e-13), real)

    monkeypatch.setenv("ELASTOGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(body, "literal", wrong)

    assert "failed" in verdicts(compiled.check(robot, functions, states, live(robot), "double")).values()


class CorruptedTemplates(jinja2.PackageLoader):
    """The templates with one digit of the sine's polynomial changed."""

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        source, *rest = super().get_source(environment, template)
        return (source.replace("0x1.5555555555548p-3", "0x1.5555555555948p-3"), *rest)


def test_a_wrong_digit_in_a_template_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = elastogen.load("scara")
    functions = functions_of(robot, ("forward_kinematics",))
    states = random_states(robot, 3, 2)
    environment = templating._environment()
    monkeypatch.setenv("ELASTOGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(environment, "loader", CorruptedTemplates("elastogen.templates", ""))
    monkeypatch.setattr(environment, "cache", {})
    assert "failed" in verdicts(compiled.check(robot, functions, states, live(robot), "double")).values()


def test_c_tools_see_warnings_and_reads_out_of_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = elastogen.load("two_link")
    functions = functions_of(robot, ("inverse_dynamics",))
    assert set(verdicts(hygiene.check(robot, functions, "double")).values()) == {"passed"}
    generate = hygiene.generate

    def spoiled(*arguments: Any, **options: Any) -> Any:
        files = generate(*arguments, **options)
        text = files.source.read_text()
        files.source.write_text(text.replace("qd[1]", "qd[2]").replace("= qdd[1]", "= 1 + qdd[1]"))
        return files

    monkeypatch.setattr(hygiene, "generate", spoiled)
    bad = verdicts(hygiene.check(robot, functions, "double"))
    assert "failed" in (bad["strict warnings, gcc"], bad["address and undefined sanitizers"])


def test_robots_that_lagrange_does_not_cover_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(robot: Robot) -> None:
        raise NotCoveredError("joint j1 is odd: its motion is not one of screws")

    robot = elastogen.load("two_link")
    monkeypatch.setattr(second_derivation, "Lagrange", unknown)
    (finding,) = second_derivation.check(robot, {}, random_states(robot, 1, 1), {})
    assert finding.verdict == "skipped"
    assert "joint j1 is odd" in finding.measured


def test_the_command_writes_a_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["verify", "two_link", "--states", "1", "--outputs", "inverse_dynamics", "--certificate", str(tmp_path)]
    assert command_line.main(options) == 0
    out = capsys.readouterr()
    assert "two_link is verified" in out.err
    assert "passed  second derivation  inverse_dynamics" in out.out
    assert "identities in 50 digits" in out.err
    data = json.loads((tmp_path / "two_link-certificate.json").read_text())
    assert data["passed"]
    assert set(data["hashes"]) == {"robot and options", "tool", "C", "compiler"}
    page = (tmp_path / "two_link-certificate.html").read_text()
    assert '<span class="verdict passed">passed</span>' in page
    assert "<h2>Second derivation</h2>" in page
    assert all(value in page for value in data["hashes"].values())
    assert command_line.main(["verify", "two_link", "--states", "0"]) == 2


def test_a_failure_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def worse(robot: Robot, functions: Mapping[str, Function], *_: Any) -> Any:
        yield findings.judged("identities", "M symmetric", float("nan"), 1e-13)

    for module, name in ((second_derivation, "check"), (compiled, "check"), (hygiene, "check")):
        monkeypatch.setattr(module, name, lambda *_: iter(()))
    monkeypatch.setattr(identities, "check", worse)
    assert command_line.main(["verify", "two_link", "--states", "1", "--outputs", "mass_matrix"]) == 2
    assert "two_link is not verified: identities: M symmetric" in capsys.readouterr().err


def test_states_stay_inside_the_ranges() -> None:
    robot = elastogen.load("puma560")
    states = random_states(robot, 20, 1)
    for k, joint in enumerate(robot.moving_joints):
        lower, upper = joint.limits.lower, joint.limits.upper
        assert lower is None or states["q"][:, k].min() >= lower
        assert upper is None or states["q"][:, k].max() <= upper
    assert np.ptp(states["q"], axis=0).min() > 1
