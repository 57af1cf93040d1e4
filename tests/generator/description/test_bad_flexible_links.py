"""The `flexible:` block of a link and the `elasticity:` of a joint: what is refused or warned of."""

from dataclasses import replace

import pytest
import sympy
from flexible_descriptions import LUMPED, POLYNOMIALS, STANDARD, arm, body_of, flexible, mode

from elastogen.generator.description.load_robot import load
from elastogen.generator.description.validate import validate
from elastogen.generator.robot.errors import RobotError, RobotWarning
from elastogen.generator.robot.robot import Link


def integrals(**changes):
    return flexible("standard_data", **changes)


TABLE = {"x": [0, 0.4, 0.8], "displacement": [0, 0.3, 1], "slope": [0, 1, 2]}
BAD = [
    (flexible(type="moods"), "flexible", "did you mean 'modes'"),
    ("soft", "flexible", "a mapping with type"),
    (flexible(lenght=1), "lenght", "did you mean 'length'"),
    (flexible(length=0), "length", "above zero"),
    (flexible(length=-0.8), "length", "above zero"),
    (flexible(mass_per_length=0), "mass_per_length", "above zero"),
    (flexible(mass_per_length="0.1 - x"), "mass_per_length", "above zero"),
    (flexible(mass_per_length={"x": [0, 0.8], "value": [1]}), "mass_per_length.value", "2 values"),
    (flexible(mass_per_length={"x": [0, 0.5], "value": [1, 1]}), "mass_per_length.x", "from 0 to the length"),
    (flexible(mass_per_length={"x": [0, 0.8]}), "mass_per_length", "a table"),
    (flexible(EI=-1), "EI", "above zero"),
    (flexible(EI_z=1), "flexible", "either EI or EI_z"),
    (flexible(EI="1/x"), "EI", "smooth"),
    (flexible(EI="sqrt(x - 0.4)"), "EI", "smooth"),
    (flexible(modes=[]), "modes", "at least 1"),
    (flexible(damping={"ratios": [0.1] * 3}), "damping.ratios", "1 to 2, at most one per coordinate"),
    (flexible(damping={"ratios": []}), "damping.ratios", "1 to 2"),
    (flexible(damping={"ratios": [-0.1]}), "damping.ratios", "from 0 to below 1"),
    (flexible(damping={"ratio": 1.5}), "damping.ratio", "below 1"),
    (flexible(damping={"matrix": [[1]]}), "damping.matrix", "2 rows"),
    (flexible(damping={"matrix": [[1, 0], [0, -1]]}), "damping", "positive semidefinite"),
    (flexible(damping={"rayleigh": {"alpha": -1}}), "damping.rayleigh.alpha", "zero or more"),
    (flexible(damping={}), "damping", "exactly one of"),
    (flexible(rotation="euler"), "rotation", "exponential"),
    (flexible(rotary_inertia=True), "rotary_inertia", "polar_inertia_per_length"),
    (flexible(tip={"mass": -1}), "flexible.tip.mass", "zero"),
    (mode(1, shape="1 + x"), "modes[1]", "vanishes at the clamped end"),
    (mode(1, shape="x/L"), "modes[1]", "slope vanishes"),
    (mode(1, shape="3*x**2"), "modes[1]", "not a combination of the modes before"),
    (mode(1, shape="x**2 + yy"), "modes[1].shape", "declared parameters"),
    (mode(1, shape="__import__('os')"), "modes[1].shape", "numbers"),
    (mode(1, shape=0), "modes[1]", "moves the beam"),
    (mode(1), "modes[1]", "exactly one of shape"),
    (mode(1, shape="x**2", eigenfunction=1), "modes[1]", "exactly one of shape"),
    (mode(1, eigenfunction=0), "modes[1].eigenfunction", "1 or more"),
    (mode(1, direction="w", shape="x**2"), "modes[1].direction", "y, z, torsion"),
    (mode(1, direction="torsion", eigenfunction=1), "modes[1]", "eigenfunctions for bending"),
    (mode(1, direction="torsion", shape="x"), "flexible", "GJ"),
    (mode(1, direction="z", shape="x**2", name="y1"), "modes[1].name", "occur once"),
    (mode(1, table=TABLE | {"slope": [0, 1]}), "modes[1].table.slope", "3 values"),
    (mode(1, table=TABLE | {"displacement": [0, 1]}), "modes[1].table.displacement", "3 values"),
    (mode(1, table=TABLE | {"x": [0, 0.8, 0.4]}), "modes[1].table.x", "greater than the one before"),
    (mode(1, table=TABLE | {"x": [0, 0.4, 0.9]}), "modes[1].table.x", "from 0 to the length"),
    (mode(1, table=TABLE | {"slope": [0.2, 1, 2]}), "modes[1]", "slope vanishes"),
    (flexible("elements", elements=0), "elements", "1 to 200"),
    (flexible("elements", elements=201), "elements", "1 to 200"),
    (flexible("elements", directions=["y", "y"]), "directions", "at most once"),
    (flexible("elements", elements=40, foreshortening=True), "foreshortening", "at most 1000 products"),
    (
        flexible("modes", modes=[{"direction": "y", "shape": "(x/L)**2"}] * 20, foreshortening=True),
        "foreshortening",
        "at most 200",
    ),
    (flexible("elements", directions=["torsion"]), "flexible", "GJ"),
    (flexible("elements", reduce_to=11), "reduce_to", "10 coordinates"),
    (integrals(stiffness=[[1, 0], [0, 1]]), "stiffness", "1 rows"),
    (integrals(stiffness=[[-1]]), "stiffness", "positive definite"),
    (integrals(mass=0), "mass", "above zero"),
    (integrals(second_moments=[[0.03, 0, 0], [0, 0, 0], [0, 0, 0]]), "integrals", "no negative eigenvalue"),
    (integrals(second_moments=[[0.06, 0.01, 0], [0, 0, 0], [0, 0, 0]]), "integrals", "transpose"),
    (integrals(second_moments=[[1, 0], [0, 1]]), "second_moments", "three rows"),
    (integrals(products=[]), "modes[0]", "moves mass"),
    (integrals(products=STANDARD["products"] * 2), "products[1].fields", "once"),
    (integrals(products=[{"fields": [0, 1], "integral": [[0] * 3] * 3}]), "products[0].fields", "1 to 1"),
    (integrals(modes=STANDARD["modes"] * 2), "modes", "occur once"),
    (flexible("lumped_masses", nodes=[{**LUMPED["nodes"][0], "displacements": []}]), "displacements", "1, one per"),
]


@pytest.mark.parametrize(("section", "field", "expected"), BAD, ids=[f"{i}-{case[1]}" for i, case in enumerate(BAD)])
def test_refused_with_link_field_and_fix(section, field, expected):
    with pytest.raises(RobotError) as caught:
        load(arm(section))
    message = str(caught.value)
    assert "links.upper" in message
    assert field in caught.value.field, message
    assert expected in message
    assert caught.value.fix


def test_a_deformable_base_is_refused():
    data = arm(flexible())
    data["links"][0]["flexible"] = flexible()
    with pytest.raises(RobotError, match=r"links\.base\.flexible.*a rigid base link"):
        load(data)


@pytest.mark.parametrize("name", ["x", "L"])
def test_parameters_that_mean_something_else_along_a_beam_are_refused(name):
    with pytest.raises(RobotError, match=f"a parameter {name}"):
        load(arm(flexible(), parameters={name: 1.0}))
    if name == "L":
        body = body_of(flexible(length="L"), parameters={"L": 0.8})
        assert body.tip_pose[0][3] == sympy.Symbol("L", real=True)


def test_parameters_in_other_functions_than_polynomials_are_refused():
    with pytest.raises(RobotError, match=r"a polynomial in x where parameters \(k\) occur"):
        load(arm(mode(1, shape="1 - cos(k*x)"), parameters={"k": 1.0}))


def test_the_line_of_a_mistake_is_named(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(
        "elastogen: 1\nname: arm\nlinks:\n  - name: base\n  - name: upper\n    flexible:\n      type: elements\n"
        "      length: 0.8\n      mass_per_length: 1\n      EI: -3\n      elements: 2\n"
        "joints:\n  - {name: j, type: revolute}\n"
    )
    with pytest.raises(RobotError, match=r"arm\.yaml:10: links\.upper\.flexible\.EI"):
        load(path)


@pytest.mark.parametrize(
    ("elasticity", "kind", "expected"),
    [
        ({"stiffness": 0}, "revolute", "above zero"),
        ({"stiffness": -5}, "prismatic", "above zero"),
        ({"stiffness": 5, "damping": -1}, "revolute", "zero"),
        ({"stiffness": 5}, "fixed", "a joint that moves"),
        ({"damping": 5}, "revolute", "required key"),
    ],
)
def test_bad_elasticity(elasticity, kind, expected):
    data = arm(flexible())
    data["joints"] = [
        {"name": "j1", "type": kind, "elasticity": elasticity, "motor": {"inertia": 1}},
        {"name": "j2", "type": "revolute", "child": "lower"},
    ]
    data["links"].append({"name": "lower", "mass": 1})
    with pytest.raises(RobotError, match="elasticity") as caught:
        load(data)
    assert expected in str(caught.value)


def test_a_spring_without_a_motor_is_warned_of():
    data = arm(flexible())
    data["joints"][0]["elasticity"] = {"stiffness": 50}
    with pytest.warns(RobotWarning, match="no motor inertia"):
        load(data)


@pytest.mark.parametrize(
    "damage",
    [
        {"monomials": ((1,), (0,))},
        {"monomials": ((0,), (1,), (0, 7))},
        {"field_integrals": ((0, 0, 0),)},
        {"field_field_integrals": ()},
        {"tip_rotations": ((0, 0, 0),)},
        {"tip": "none"},
        {"stiffness": ((float("nan"), 0), (0, 1))},
        {"coordinates": ("y1", "y1")},
        {"mass": sympy.Symbol("unknown")},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_bodies_from_python_are_checked(damage):
    robot = load(arm(POLYNOMIALS))
    link = robot.links[1]
    broken = replace(robot, links=(robot.links[0], Link("upper", link.body, replace(link.flexible, **damage))))
    with pytest.raises(RobotError, match=r"links\.upper\.flexible"):
        validate(broken)
