"""Numbers, expressions and texts that no robot has: refused or warned about in words of robot files, never a raw exception."""

from __future__ import annotations

import dataclasses
import time
import warnings
from typing import Any

import pytest
from descriptions import GOOD, changed, serial_arm

import elastogen
from elastogen.generator.description.file.read_yaml import read_yaml
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError, RobotWarning
from elastogen.generator.robot.location import Location, did_you_mean

HUGE = [10**400, -(10**400), 1e308, 1e19, "9" * 150, "1e300*1e200", float("inf"), float("nan")]
BEAM = {"type": "elements", "length": 0.5, "mass_per_length": 0.3, "EI": 2.0, "elements": 2}
PLACES = [("links", 1, "mass"), ("links", 1, "com", 0), ("gravity", 2), ("parameters", "l1", "value"), ("tip", "xyz", 0),
          ("joints", 1, "placement", "xyz", 1), ("joints", 0, "axis", 0), ("payload", "mass")]  # fmt: skip


def refused(data: Any, field: str = "") -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        with pytest.raises(RobotError) as caught:
            load(data)
    assert field in caught.value.field
    for foreign in ("Input should", "type=", "pydantic", "Value error", "sympy", "ruamel", "Error:"):
        assert foreign not in str(caught.value)
    return str(caught.value)


def warned(data: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load(data)
    return [str(warning.message) for warning in caught if issubclass(warning.category, RobotWarning)]


@pytest.mark.parametrize("number", HUGE, ids=[str(number)[:12] for number in HUGE])
@pytest.mark.parametrize("place", PLACES, ids=[".".join(map(str, place)) for place in PLACES])
def test_numbers_beyond_all_units(place: tuple[Any, ...], number: Any) -> None:
    assert "Fix:" in refused(changed(*place, number), place[-2] if isinstance(place[-2], str) else str(place[0]))


@pytest.mark.parametrize("number", [5e-324, 1e-151, 1e-19])
def test_masses_and_lengths_that_are_zero_by_rounding(number: float) -> None:
    refused(changed("links", 1, "mass", number), "mass")
    refused(changed("links", 1, "flexible", {**BEAM, "length": number}), "length")
    refused(changed("links", 1, "flexible", {**BEAM, "mass_per_length": number}), "mass_per_length")


def test_rounding_in_vectors_is_no_mistake() -> None:
    load(changed("links", 1, "com", [1e-35, 5e-324, 0.1]))


@pytest.mark.parametrize("key", ["length", "mass_per_length", "EI"])
@pytest.mark.parametrize("number", [8e149, 1e-151, 1e308])
def test_planar_robots_of_absurd_size(key: str, number: float) -> None:
    link = {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 3, key: number}
    refused({"elastogen": 1, "name": "arm", "planar": {"links": [link]}})


def test_products_of_the_shapes_of_a_nodal_telescope_are_bounded() -> None:
    inner = {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
    outer = {**inner, "joint": "Pb", "gamma": 0, "elements": 50, "foreshortening": True}

    def robot(slide: str) -> dict[str, Any]:
        return {"elastogen": 1, "name": "arm", "planar": {"links": [inner, {**outer, "slide": slide}]}}

    refused(robot("nodal"), "foreshortening")  # it took for ever
    load(robot("smooth"))


@pytest.mark.parametrize("text", ["((((((9**8)**8)**8)**8)**8)**8)**8", "((((((0.1**8)**8)**8)**8)**8)**8)**8",
                                  "((((((l1**8)**8)**8)**8)**8)**8)**8", "((2**8)**8)**-8"])  # fmt: skip
def test_powers_of_powers_are_bounded(text: str) -> None:
    start = time.process_time()
    refused(changed("links", 1, "mass", text), "mass")
    assert time.process_time() - start < 5  # it took for ever


def test_the_number_of_joints_is_bounded_for_every_source() -> None:
    joints = [{"name": f"j{k}", "type": "revolute"} for k in range(1001)]
    refused({"elastogen": 1, "name": "worm", "joints": joints}, "joints")
    small = load(serial_arm())
    many = tuple(dataclasses.replace(small.joints[0], name=f"j{k}") for k in range(1001))
    with pytest.raises(RobotError, match="at most 1000"):
        load(elastogen.Robot("worm", small.links, many))


@pytest.mark.parametrize("head", ["%YAML 1.2\n---\n", "%TAG ! tag:example.com,2000:\n---\n"])
def test_directives_of_yaml_are_read(head: str) -> None:
    assert read_yaml(f"{head}elastogen: 1\nname: arm\n", Location("arm.yaml")) == {"elastogen": 1, "name": "arm"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: !!bool abc", "remove tags"),
        ("a: !!timestamp x", "remove the tag"),
        ("name: arm: 2", "colon"),
        ("a: [1, 2", "bracket"),
        ("a: 'x", "quotes"),
        ("a:\n\t- 1", "tabs"),
        ("a: *b", "anchor"),
        ("a: 1\n---\nb: 2", "one robot"),
        ("a: 1\na: 2", "remove one"),
        ("a: \x07", "special characters"),
    ],
)
def test_bad_yaml_is_explained(text: str, words: str) -> None:
    with pytest.raises(RobotError) as caught:
        read_yaml(text, Location("arm.yaml"))
    assert words in str(caught.value)
    assert "while " not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("links", 1, "mass"), [1], "a number or an expression"),
        (("joints", 1, "type"), "prismtic", "did you mean 'prismatic'?"),
        (("links", 1, "CoM"), [0, 0, 0], "did you mean 'com'?"),
        (("links", 1, "flexible"), {"type": "assumed_modes"}, "did you mean 'modes'?"),
        (("links", 1, "flexible"), {"type": "finite_elements"}, "did you mean 'elements'?"),
        (("links", 1, "flexible"), {**BEAM, "elements": "many"}, "a whole number"),
        (("links", 1, "flexible"), {**BEAM, "reduce_to": 0}, "1 or more"),
        (("links", 1, "flexible"), {**BEAM, "foreshortening": "maybe"}, "true or false"),
        (("links", 1, "name"), 3, "a text"),
        (("links",), "none", "a list"),
        (("parameters",), [1], "a mapping"),
        (("elastogen",), 2, "1"),
    ],
)
def test_kinds_of_values_in_our_words(place: tuple[Any, ...], value: Any, words: str) -> None:
    assert words in refused(changed(*place, value))


def test_suggestions() -> None:
    known = ("mass", "com", "inertia", "modes", "elements")
    for given, meant in (("Mass", "mass"), ("COM", "com"), ("link_mass", "mass"), ("modess", "modes"), ("inertias", "inertia")):
        assert did_you_mean(given, known) == f"did you mean {meant!r}?"
    assert did_you_mean("colour", known, "remove it") == "remove it"


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("joints", 1, "placement", "rpy"), [90, 0, 0], "rpy_deg"),
        (("joints", 1), {"name": "j2", "type": "revolute", "placement": {"dh": {"a": 0.1, "alpha": 90}}}, "alpha_deg"),
        (("joints", 1, "limits"), {"lower": -180, "upper": 180}, "-3.14159"),
        (("gravity", 2), -9810, "divide by 1000"),
    ],
)
def test_what_is_surely_a_mistake_warns(place: tuple[Any, ...], value: Any, words: str) -> None:
    assert any(words in text for text in warned(changed(*place, value)))


def test_what_is_no_mistake_does_not_warn() -> None:
    assert not warned(GOOD)
    for place, value in (
        (("joints", 1, "placement", "rpy"), [6.28, -3.2, 0]),
        (("joints", 1, "limits"), {"lower": -6.2832, "upper": 12.5}),
        (("joints", 1, "limits"), {"lower": -62.83, "upper": 1e16}),
        (("links", 1, "inertia"), [0, 0, 0.4]),  # all that a planar robot has
        (("payload"), {"mass": 1, "inertia": [0, 0, 0.4]}),
    ):
        assert not warned(changed(*(place if isinstance(place, tuple) else (place,)), value))


def test_a_file_without_masses_warns() -> None:
    joints = [{"name": "j1", "type": "revolute"}, {"name": "j2", "type": "revolute"}]
    assert any("no mass beyond" in text for text in warned({"elastogen": 1, "name": "arm", "joints": joints}))


def test_the_fix_of_an_unphysical_inertia_works_everywhere() -> None:
    bad, accept = {"mass": 1, "inertia": [0.1, 0.1, 0.9]}, {"accept_unphysical_inertia": True}
    for place in (("links", 1), ("payload",)):
        base = {"name": "upper"} if place[0] == "links" else {}
        (text,) = warned(changed(*place, {**base, **bad}))
        assert "accept_unphysical_inertia: true" in text
        assert not warned(changed(*place, {**base, **bad, **accept}))
    beam = {"name": "upper", "flexible": {**BEAM, "tip": bad}}
    assert any("accept_unphysical_inertia" in text for text in warned(changed("links", 1, beam)))
    beam["flexible"]["tip"] = {**bad, **accept}  # type: ignore[index]
    assert not warned(changed("links", 1, beam))


def test_derive_takes_what_build_model_takes() -> None:
    assert elastogen.derive("two_link").robot.name == "two_link"


def test_a_tip_that_outweighs_the_modes_is_named() -> None:
    modes = [*({"direction": "y", "eigenfunction": k} for k in (1, 2)), {"direction": "z", "shape": "(x/L)**2"}]
    flexible = {"type": "modes", "length": 0.8, "mass_per_length": 0.35325, "EI": 0.1688, "modes": modes}
    link = {"name": "beam", "flexible": {**flexible, "tip": {"mass": 1e17}, "damping": {"ratio": 0.01}}}
    joint = {"name": "hub", "type": "revolute", "child": "beam"}
    data = {"elastogen": 1, "name": "heavy", "links": [{"name": "base"}, link], "joints": [joint]}
    assert "outweighs the elastic coordinates" in refused(data, "links.beam.flexible.damping")
