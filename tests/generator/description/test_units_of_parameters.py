"""Units of parameters act; numbers with units in other fields, and units that do not fit, are refused with the fix."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen.generator.robot.robot import Parameter
from elastogen.generator.robot.units.table import UnknownUnitError, parse_unit

ARM: dict[str, Any] = {
    "elastogen": 1,
    "name": "arm",
    "links": [{"name": "base"}, {"name": "link", "mass": 1.5, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.01]}],
    "joints": [{"name": "hinge", "type": "revolute"}],
}


def described(parameters: dict[str, Any], link: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    robot = copy.deepcopy(ARM)
    robot["links"][1].update(link or {})
    return {**robot, "parameters": parameters, **keys}


def refused(robot: dict[str, Any]) -> elastogen.RobotError:
    with pytest.raises(elastogen.RobotError) as caught:
        elastogen.load(robot)
    return caught.value


# Published factors: SI brochure (2019) tables 7 and 8, NIST SP 811 appendix B.8.
@pytest.mark.parametrize(
    ("unit", "factor", "si"),
    [
        ("mm", 1e-3, "m"),
        ("g", 1e-3, "kg"),
        ("GPa", 1e9, "Pa"),
        ("g/cm^3", 1000.0, "kg/m^3"),
        ("kg mm^2", 1e-6, "kg m^2"),
        ("N mm/deg", 0.18 / math.pi, "N m/rad"),
        ("in", 0.0254, "m"),
        ("lb", 0.45359237, "kg"),
        ("lbf", 4.4482216152605, "N"),
        ("psi", 6894.757293168361, "Pa"),
        ("rpm", 0.10471975511965977, "rad/s"),
        ("mN m/(rad/s)", 1e-3, "N m/(rad/s)"),
        ("mm^4", 1e-12, "m^4"),
        ("kN*m", 1e3, "N m"),
        ("%", 0.01, "1"),
    ],
)
def test_a_unit_is_converted_into_si(unit: str, factor: float, si: str) -> None:
    parameter = elastogen.load(described({"par": {"value": 0.4, "unit": unit}})).parameters["par"]
    assert parameter.value == pytest.approx(0.4 * factor, rel=1e-15)
    assert parameter.unit == si


def test_millimetres_give_the_numbers_of_metres_to_the_last_bit() -> None:
    in_metres = elastogen.load(described({"l": {"value": 0.3, "unit": "m"}}, {"com": ["l", 0, 0]}))
    in_millimetres = elastogen.load(described({"l": {"value": 300, "unit": "mm"}}, {"com": ["l", 0, 0]}))
    assert in_millimetres == in_metres


@pytest.mark.parametrize("unit", ["", "-", "m", "kg m^2", "N m s/rad", "N/m^2", "kg.m2", "N m / rad"])
def test_si_units_leave_value_and_text_alone(unit: str) -> None:
    parameter = elastogen.load(described({"par": {"value": 0.1688, "unit": unit}})).parameters["par"]
    assert (parameter.value, parameter.unit) == (0.1688, unit)


def test_degrees_of_a_parameter_turn_a_placement() -> None:
    robot = described({"tilt": {"value": 30, "unit": "deg"}}, live=["tilt"])
    robot["joints"][0]["placement"] = {"rpy": [0, 0, "tilt"]}
    loaded = elastogen.load(robot)
    rotated = np.array(loaded.joints[0].before).tolist()
    values = {loaded.parameters["tilt"].symbol: loaded.parameters["tilt"].value}
    assert float(rotated[0][0].subs(values)) == pytest.approx(math.sqrt(3) / 2, abs=1e-15)


def test_an_angle_with_a_unit_is_refused_where_degrees_are_expected() -> None:
    robot = described({"tilt": {"value": 30, "unit": "deg"}})
    robot["joints"][0]["placement"] = {"rpy_deg": [0, 0, "tilt"]}
    problem = refused(robot)
    assert problem.field == "joints.hinge.placement.rpy_deg[2]"
    assert "without _deg" in problem.fix
    robot["joints"][0]["placement"] = {"dh": {"alpha_deg": "tilt"}}
    assert refused(robot).field == "joints.hinge.placement.dh.alpha_deg"


@pytest.mark.parametrize(
    ("link", "field"),
    [
        ({"mass": "l"}, "links.link.mass"),
        ({"mass": "-l + 2"}, "links.link.mass"),
        ({"com": [0, "m", 0]}, "links.link.com.y"),
        ({"inertia": ["l * l", 1, 1]}, "links.link.inertia.xx"),
        ({"com": ["l + m", 0, 0]}, "links.link.com.x"),
        ({"com": ["sqrt(l)", 0, 0]}, "links.link.com.x"),
        ({"com": ["cos(l)", 0, 0]}, "links.link.com.x"),
    ],
)
def test_a_parameter_of_another_dimension_is_refused(link: dict[str, Any], field: str) -> None:
    parameters = {"l": {"value": 300, "unit": "mm"}, "m": {"value": 500, "unit": "g"}}
    assert refused(described(parameters, link)).field == field


def test_expressions_that_fit_or_may_fit_are_accepted() -> None:
    parameters = {"l": {"value": 0.3, "unit": "m"}, "m": {"value": 2, "unit": "kg"}, "free": 2}
    for link in (
        {"com": ["l / 2 + 0.01", "sqrt(l**2)", 0]},
        {"inertia": ["m * l**2 / 12"] * 3},
        {"mass": "m * free"},
        {"mass": "0.5 * l"},  # to its author 0.5 is a mass per length
        {"inertia": ["m * 0.1**2"] * 3},
    ):
        elastogen.load(described(parameters, link))


def test_units_along_beams_are_checked() -> None:
    flexible = {
        "type": "modes",
        "length": "l",
        "mass_per_length": 0.3,
        "EI": "EI",
        "modes": [{"direction": "y", "shape": "x**2"}],
    }
    stiffness = {"value": 2e5, "unit": "N mm^2"}
    robot = described({"l": {"value": 80, "unit": "cm"}, "EI": stiffness}, {"flexible": flexible})
    body = elastogen.load(robot).links[1].flexible
    assert body is not None
    assert elastogen.load(robot).parameters["EI"].value == 0.2
    wrong = described({"l": {"value": 80, "unit": "cm"}, "EI": {"value": 1, "unit": "GPa"}}, {"flexible": flexible})
    assert refused(wrong).field == "links.link.flexible.EI"
    wrong = described({"l": {"value": 80, "unit": "g"}, "EI": stiffness}, {"flexible": flexible})
    assert refused(wrong).field == "links.link.flexible.length"


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ("3000 g", "write 3, which is in kg"),
        ("3kg", "write 3"),
        ("2,0", "write 2.0"),
        ("1.5e3 mg", "write 0.0015, which is in kg"),
    ],
)
def test_a_number_with_its_unit_is_answered_with_the_number_to_write(given: str, fix: str) -> None:
    assert refused(described({}, {"mass": given})).fix == fix


def test_a_modulus_is_no_stiffness_of_a_beam() -> None:
    """E in place of E I: the number in Pa would be wrong by a factor of 1e9."""
    beam = {"type": "elements", "length": 1, "mass_per_length": 1, "EI": "210 GPa", "elements": 2}
    found = refused(described({}, {"flexible": beam}))
    assert "EI in N m^2, which is E times the second moment of area" in str(found)
    assert found.fix == "compute that number: GPa is the unit of something else"
    assert "mass in kg" in str(refused(described({}, {"mass": "3 mm"})))


def test_a_parameter_with_its_unit_in_the_value_is_shown_the_key() -> None:
    assert refused(described({"E": "210 GPa"})).fix == "write {value: 210, unit: GPa}"
    assert refused(described({"E": {"value": "210 GPa"}})).fix == "write {value: 210, unit: GPa}"


@pytest.mark.parametrize("unit", ["furlong", "Kg", "kg m^", "(m", "m)", "m^22", "/m", "N m/"])
def test_unknown_units_are_refused(unit: str) -> None:
    with pytest.raises(UnknownUnitError):
        parse_unit(unit)
    assert refused(described({"par": {"value": 1, "unit": unit}})).field == "parameters.par.unit"


def test_a_conversion_beyond_all_robots_is_refused() -> None:
    assert refused(described({"par": {"value": 1e12, "unit": "GPa"}})).field == "parameters.par.value"


def test_a_robot_in_python_has_si_units() -> None:
    robot = elastogen.load(ARM)
    robot = type(robot)(**{**vars(robot), "parameters": {"l": Parameter("l", 400, "mm")}})
    with pytest.raises(elastogen.RobotError, match=r"write Parameter\('l', 0.4, 'm'\)"):
        elastogen.load(robot)
