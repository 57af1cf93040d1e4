"""The `flexible:` block of a link and the `elasticity:` of a joint: what they mean; the documentation of them."""

import json
import re
import warnings
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import sympy
from flexible_descriptions import ELEMENTS, KINDS, LUMPED, POLYNOMIALS, STANDARD, arm, body_of, flexible
from flexible_reference import CASES, robot_of
from reference_beam import FREE, LOADED
from ruamel.yaml import YAML
from scipy.interpolate import CubicSpline

from elastogen.describe import describe
from elastogen.generator.beams.natural_frequencies import mass_matrix, natural_frequencies
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotWarning
from elastogen.generator.robot.robot import Body


def frequencies(section):
    link = load(arm(section)).links[1]
    return natural_frequencies(link.flexible, link.tip_body)


# --- what it means ---


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_loads_and_the_schema_accepts_it(kind):
    data = arm(flexible(kind, tip={"mass": 0.1}, damping={"ratio": 0.01}, rotation="linear"))
    schema = json.loads((resources.files("elastogen.generator.description") / "robot.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, schema)
    robot = load(data)
    link = robot.links[1]
    assert link.tip_body == Body(0.1)
    assert link.body.mass == 0.5  # the rigid hub
    assert link.flexible.tip == "linear"
    assert robot.coordinate_names == ("j1", *(f"upper.{name}" for name in link.flexible.coordinates))


def test_yaml_and_python_give_the_same_body(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(
        """
elastogen: 1
name: arm
links:
  - name: base
  - name: upper
    mass: 0.5
    flexible:
      type: modes
      length: 0.8              # [m]
      mass_per_length: 0.35325 # [kg/m]
      EI: 0.1688               # [N m^2]
      modes:
        - {direction: y, shape: (x/L)**2}
        - {direction: y, shape: (x/L)**3}
joints:
  - {name: j1, type: revolute}
"""
    )
    assert load(path).links == load(arm(POLYNOMIALS)).links


def test_polynomial_modes():
    body = body_of(POLYNOMIALS)
    assert body.coordinates == ("y1", "y2")
    assert body.mass == 0.2826
    assert body.stiffness[0] == (1.31875, 1.978125)
    assert body.field_integrals[0] == (0, 0.0942, 0)
    assert body.tip_rotations == ((0, 0, 2.5), (0, 0, 3.75))
    assert body.damping == ((0, 0), (0, 0))


def test_a_reference_chain_from_a_mapping():
    case = CASES[1]
    expected = robot_of(case, tip="linear")
    names = [link.name for link in expected.links]
    links = [{"name": "base"}]
    for name, entry in zip(names[1:], case["chain"], strict=True):
        link = entry["link"]
        if link["type"] == "rigid":
            links.append({"name": name, "mass": link["mass"], "com": link["com"], "inertia": link["inertia_about_com"]})
            continue
        section = {key: link[key] for key in ("length", "mass_per_length", "EI", "modes")}
        tip = {"mass": link["tip_mass"]}
        links.append({"name": name, "flexible": {"type": "modes", "rotation": "linear", "tip": tip, **section}})
    joints = [
        {"name": joint.name, "type": joint.type.name, "axis": list(joint.axis), "placement": {"matrix": joint.before}}
        for joint in expected.joints
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        robot = load({"elastogen": 1, "name": "chain", "links": links, "joints": joints})
    assert robot.links == expected.links


def test_directions_names_and_varying_properties():
    section = {
        "type": "modes",
        "length": 0.8,
        "mass_per_length": {"x": [0, 0.4, 0.8], "value": [0.4, 0.2, 0.2]},
        "EI_y": "2 - x/L",
        "EI_z": 3,
        "GJ": 5,
        "EA": 100,
        "polar_inertia_per_length": 1e-4,
        "modes": [
            {"direction": "z", "shape": "(x/L)**2"},
            {"direction": "torsion", "shape": "x/L", "name": "twist"},
            {"direction": "y", "shape": "x**2"},
            {"direction": "extension", "shape": "x/L"},
        ],
    }
    body = body_of(section)
    assert body.coordinates == ("z1", "twist", "y1", "extension1")
    assert float(body.mass) == pytest.approx(0.2 * 0.4 + 0.3 * 0.4, rel=1e-14)
    np.testing.assert_allclose(
        np.diag(np.array(body.stiffness, float)), [4 * 1.5 / 0.512, 5 / 0.8, 4 * 3 * 0.8, 100 / 0.8], rtol=1e-13
    )
    assert float(body.second_moments[1][1]) == pytest.approx(1e-4 / 2 * 0.8)
    assert body.tip_rotations == ((0, -2.5, 0), (1, 0, 0), (0, 0, 1.6), (0, 0, 0))


def test_eigenfunctions_free_and_with_tip_mass():
    modes = [{"direction": "y", "eigenfunction": n} for n in (1, 2, 3)]
    np.testing.assert_allclose(frequencies(flexible(modes=modes)), FREE[:3], rtol=1e-6)
    loaded = flexible(modes=modes, tip={"mass": 0.1}, eigenfunctions="tip_mass")
    np.testing.assert_allclose(frequencies(loaded), LOADED[:3], rtol=1e-6)


def test_sampled_tables():
    x = np.linspace(0, 0.8, 9)
    table = {"x": x.tolist(), "displacement": ((x / 0.8) ** 2).tolist(), "slope": (2 * x / 0.64).tolist()}
    sampled = body_of(flexible(modes=[{"direction": "y", "table": table}]))
    exact = body_of(flexible(modes=[{"direction": "y", "shape": "(x/L)**2"}]))
    for key in ("stiffness", "field_integrals", "tip_displacements", "tip_rotations"):
        np.testing.assert_allclose(
            np.array(getattr(sampled, key), float), np.array(getattr(exact, key), float), rtol=1e-12, err_msg=key
        )
    del table["slope"]
    splined = body_of(flexible(modes=[{"direction": "y", "table": table}]))
    curvature = CubicSpline(x, table["displacement"], bc_type=((1, 0.0), (2, 0.0)))(x, 2)  # clamped, then free of moment
    a, b = curvature[:-1], curvature[1:]
    expected = POLYNOMIALS["EI"] * np.sum(0.1 * (a**2 + a * b + b**2) / 3)
    assert float(splined.stiffness[0][0]) == pytest.approx(expected, rel=1e-12)


def test_elements_and_their_reduction():
    body = body_of(ELEMENTS)
    assert body.coordinates[:3] == ("y1", "y1_slope", "y2")
    assert len(body.coordinates) == 10
    reduced = body_of(flexible("elements", elements=20, reduce_to=3))
    assert reduced.coordinates == ("y1", "y2", "y3")
    np.testing.assert_allclose(natural_frequencies(reduced), FREE[:3], rtol=2e-5)
    rotating = {"GJ": 1, "polar_inertia_per_length": 1e-5}
    space = body_of(flexible("elements", elements=2, directions=["y", "z", "torsion"], **rotating))
    assert space.coordinates[:5] == ("y1", "y1_slope", "z1", "z1_slope", "torsion1")


def test_a_coarse_mesh_is_warned_of():
    with pytest.warns(RobotWarning, match=r"elements: got '3 elements.*frequency 3 of the 3 kept is 1\.1 % too high"):
        load(arm(flexible("elements", elements=3, reduce_to=3)))


def test_standard_data_of_a_beam_equal_the_beam():
    body, beam = body_of(STANDARD), body_of(flexible(modes=POLYNOMIALS["modes"][:1]))
    for key in ("mass", "first_moments", "second_moments", "field_integrals", "field_position_integrals",
                "field_field_integrals", "stiffness", "tip_pose", "tip_displacements", "tip_rotations"):  # fmt: skip
        np.testing.assert_allclose(
            np.array(getattr(body, key), float), np.array(getattr(beam, key), float), rtol=1e-12, err_msg=key
        )


def test_standard_data_with_a_second_order_field():
    beam = body_of(flexible(modes=POLYNOMIALS["modes"][:1], foreshortening=True))
    section = flexible("standard_data")
    section["modes"].insert(
        0,
        {
            "of": ["y1", "y1"],
            "integral": list(beam.field_integrals[1]),
            "position_integral": [list(row) for row in beam.field_position_integrals[1]],
            "tip_displacement": list(beam.tip_displacements[1]),
        },
    )
    own = {"fields": [2, 2], "integral": section["products"][0]["integral"]}
    mixed = {"fields": [1, 2], "integral": [list(row) for row in beam.field_field_integrals[1][0]]}
    second = {"fields": [1, 1], "integral": [list(row) for row in beam.field_field_integrals[1][1]]}
    section["products"] = [own, mixed, second]
    body = body_of(section)
    assert body.monomials == beam.monomials == ((0,), (0, 0))
    np.testing.assert_allclose(
        np.array(body.field_field_integrals, float), np.array(beam.field_field_integrals, float), rtol=1e-12
    )


def test_lumped_masses_are_summed():
    body = body_of(LUMPED)
    assert float(body.mass) == pytest.approx(0.7)
    np.testing.assert_allclose(np.array(body.first_moments, float), [0.45, 0, 0.05])
    np.testing.assert_allclose(np.array(body.field_integrals, float), [[0.02, 0.35, 0]])
    np.testing.assert_allclose(np.array(body.field_position_integrals[0], float), [[0.02, 0, 0], [0.275, 0, 0.015], [0, 0, 0]])
    np.testing.assert_allclose(
        np.array(body.field_field_integrals[0][0], float), [[0.002, 0.02, 0], [0.02, 0.245, 0], [0, 0, 0]]
    )


def test_damping_by_ratios_rayleigh_and_matrix():
    tip = {"mass": 0.1}
    link = load(arm(flexible(tip=tip, damping={"ratios": [0.01, 0.05]}))).links[1]
    mass = np.array(mass_matrix(link.flexible, link.tip_body), float)
    stiffness, damping = np.array(link.flexible.stiffness, float), np.array(link.flexible.damping, float)
    lower = [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]
    system = np.block([[np.zeros((2, 2)), np.eye(2)], lower])
    roots = np.linalg.eigvals(system)
    roots = sorted(roots[roots.imag > 0], key=abs)
    np.testing.assert_allclose([-root.real / abs(root) for root in roots], [0.01, 0.05], rtol=1e-9)
    rayleigh = body_of(flexible(tip=tip, damping={"rayleigh": {"alpha": 0.3, "beta": 0.002}}))
    np.testing.assert_allclose(np.array(rayleigh.damping, float), 0.3 * mass + 0.002 * stiffness, rtol=1e-12)
    assert body_of(flexible(damping={"matrix": [[0.2, 0], [0, 0.3]]})).damping == ((0.2, 0), (0, 0.3))


def test_named_parameters_stay_symbols_and_can_be_live():
    parameters = {"ei": 0.1688, "rho": 0.35325, "l1": 0.8, "mt": 0.1}
    damping = {"rayleigh": {"beta": 0.01}}
    section = flexible(length="l1", mass_per_length="rho", EI="ei", tip={"mass": "mt"}, damping=damping)
    robot = load(arm(section, parameters=parameters, live=["ei", "rho", "mt"]))
    body = robot.links[1].flexible
    ei, rho, l1 = (robot.parameters[name].symbol for name in ("ei", "rho", "l1"))
    assert sympy.simplify(body.stiffness[0][0] - 4 * ei / l1**3) == 0
    assert body.mass == rho * l1
    assert [p.name for p in robot.live_parameters] == ["ei", "rho", "mt"]
    plain = natural_frequencies(body_of(POLYNOMIALS))
    np.testing.assert_allclose(natural_frequencies(body, None, robot.parameters), plain, rtol=1e-12)


def test_the_tip_and_the_elasticity_of_a_joint_can_be_live_by_their_paths():
    data = arm(flexible(tip={"mass": 0.1}), live=["links.upper.flexible.tip.mass", "joints.j1.elasticity"])
    data["joints"][0] |= {"elasticity": {"stiffness": 50, "damping": 0.2}, "motor": {"inertia": 1e-4, "gear_ratio": 50}}
    robot = load(data)
    assert [p.name for p in robot.live_parameters] == ["upper_tip_mass", "j1_stiffness", "j1_damping"]
    assert robot.coordinate_names == ("j1", "j1.deflection", "upper.y1", "upper.y2")


def test_a_flexible_mast_on_a_fixed_joint_moves_what_it_carries():
    data = arm(flexible())
    data["links"].append({"name": "lower", "mass": 1})
    data["joints"] = [{"name": "f", "type": "fixed"}, {"name": "j", "type": "revolute"}]
    robot = load(data)
    assert robot.coordinate_names == ("upper.y1", "upper.y2", "j")


def test_check_tells_the_frequencies_and_the_critical_rate():
    text = describe(load(arm(flexible(tip={"mass": 0.1}, modes=[{"direction": "y", "eigenfunction": 1}]))))
    assert "upper: 1 elastic coordinates" in text
    assert "without foreshortening it loses its stiffness when it turns at 2.44" in text
    shortened = describe(load(arm(flexible(foreshortening=True))))
    assert "loses its stiffness" not in shortened


# --- the documentation ---

PAGE = (Path(__file__).parents[3] / "docs" / "robots" / "flexible-links.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", blocks("yaml"))
def test_robots_of_the_documentation_load(text, tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(text, encoding="utf-8")
    assert any(link.flexible is not None for link in load(path).links)


def test_properties_and_damping_of_the_documentation_load():
    yaml = YAML(typ="safe", pure=True)
    properties = yaml.load(blocks("yml")[0])
    section = {key: value for key, value in POLYNOMIALS.items() if key != "EI"} | properties
    section["modes"] = [*POLYNOMIALS["modes"], {"direction": "z", "shape": "(x/L)**2"}]
    for line in blocks("yml")[1].splitlines():
        wanted = yaml.load(line)
        few = {**section, "modes": section["modes"][:2]} if "matrix" in wanted["damping"] else section
        assert body_of({**few, **wanted}, parameters={"EI0": 2.0}).damping[0][0] != 0
