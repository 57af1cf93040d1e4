"""Points and sensors on rigid links, modal beams and finite elements, against plain kinematics along power series in time."""

from functools import cache

import numpy as np
import point_oracle as oracle
import pytest
from plain_programs import PlainPrograms
from sliding_frames import HERMITE, sliding

import elastogen
from elastogen.generator.algorithms.point_accelerations import FORMULATIONS
from elastogen.generator.description.validate import validate
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError, RobotError
from elastogen.generator.robot.neutral import neutral
from elastogen.generator.robot.robot import Point

KINEMATIC = ("point_positions", "point_velocities", "point_accelerations", "point_jacobians", "point_jacobian_rates",
             "accelerometers", "gyroscopes")  # fmt: skip
ALL = (*KINEMATIC, "point_forces", "point_strains", "point_curvatures")
FEW = ("point_positions", "point_accelerations", "point_strains", "point_curvatures")
GRAVITY = (1.5, -2.0, -9.0)


def spatial(rotation="exponential", foreshortening=False):
    """A turning beam that bends in y and z, twists and stretches, and a hand that slides out of its tip."""
    modes = [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "y", "shape": "(x/L)**3"},
             {"direction": "z", "shape": "(x/L)**2"}, {"direction": "torsion", "shape": "x/L"},
             {"direction": "extension", "shape": "x/L"}]  # fmt: skip
    beam = {"type": "modes", "length": 0.8, "mass_per_length": 0.35, "EI_z": 0.17, "EI_y": 0.4, "GJ": 0.3, "EA": 500.0,
            "polar_inertia_per_length": 1e-4, "rotation": rotation, "foreshortening": foreshortening,
            "modes": modes}  # fmt: skip
    return {
        "elastogen": 1, "name": "spatial", "gravity": list(GRAVITY),
        "links": [{"name": "base"}, {"name": "beam", "flexible": beam},
                  {"name": "hand", "mass": 1.0, "inertia": [0.01, 0.02, 0.02]}],
        "joints": [{"name": "turn", "type": "revolute", "axis": [0, 0.6, 0.8], "placement": {"xyz": [0.1, 0.2, 0.3]}},
                   {"name": "push", "type": "prismatic", "axis": [0, 1, 0], "placement": {"xyz": [0.05, 0, 0.02]}}],
        "points": [
            {"name": "gauge", "link": "beam", "x": 0.3, "strain": {"direction": "y", "offset": 0.002}},
            {"name": "side", "link": "beam", "xyz": [0.5, 0.02, -0.03], "rpy": [0.3, -0.2, 0.7],
             "strain": {"direction": "z", "offset": -0.003}},
            {"name": "end", "link": "beam", "x": 0.8},
            {"name": "imu", "link": "hand", "xyz": [0.1, -0.1, 0.2], "rpy": [0.1, 0.2, 0.3]},
            {"name": "seat", "joint": "push", "xyz": [0.01, 0, 0]},
            {"name": "ground", "link": "base", "xyz": [0.4, 0, 0]},
        ],
    }  # fmt: skip


def spatial_section(x, linear=False, foreshortening=False):
    """The section at x: y1, y2, z1, torsion, extension are q[1] to q[5]."""
    s = x / 0.8

    def moved(q):
        shortened = 0.0 * q[1]
        if foreshortening:  # 1/2 int w'^2 of both directions
            a, b, c = 2 / 0.8 * q[1], 3 / 0.8 * q[2], 2 / 0.8 * q[3]
            squares = (a * a + c * c) * (s**3 / 3) + a * b * (2 * s**4 / 4) + b * b * (s**5 / 5)
            shortened = squares * (0.8 / 2)
        return q[5] * s - shortened, q[1] * s**2 + q[2] * s**3, q[3] * s**2

    def rotated(q):
        return q[4] * s, q[3] * (-2 * s / 0.8), q[1] * (2 * s / 0.8) + q[2] * (3 * s**2 / 0.8)

    return [oracle.shift(x, 0, 0), oracle.bent(moved, rotated, linear)]


def spatial_chains(linear=False, foreshortening=False):
    def section(x):
        return [oracle.shift(0.1, 0.2, 0.3), oracle.turn((0, 0.6, 0.8), 0), *spatial_section(x, linear, foreshortening)]

    return [
        section(0.3),
        [*section(0.5), oracle.shift(0, 0.02, -0.03), oracle.rpy(0.3, -0.2, 0.7)],
        section(0.8),
        [*section(0.8), oracle.shift(0.05, 0, 0.02), oracle.slide((0, 1, 0), 6), oracle.shift(0.1, -0.1, 0.2),
         oracle.rpy(0.1, 0.2, 0.3)],
        [*section(0.8), oracle.shift(0.06, 0, 0.02)],
        [oracle.shift(0.4, 0, 0)],
    ]  # fmt: skip


def hermite(q, first, k, h, t, order=0):
    """w, w' or w'' on element k (from 1) of a clamped beam whose nodal coordinates begin at q[first]."""
    nodes = [0.0, 0.0, *q[first:]][2 * k - 2 : 2 * k + 2]
    total = 0.0
    for j, (u, phi) in enumerate(zip(nodes, HERMITE, strict=True)):
        total = total + u * (float(phi.deriv(order)(t) if order else phi(t)) * h ** (j % 2 - order))
    return total


def planar():
    """A beam of four elements with a rigid rod sliding along it, smoothly."""
    beam = {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 4}
    rod = {"joint": "Pa", "gamma": 0.7, "length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
    return {
        "elastogen": 1, "name": "planar", "planar": {"links": [beam, rod], "gravity": [0.5, -9.81]},
        "points": [
            {"link": "link1", "x": 0.25, "strain": {"offset": 0.004}},
            {"name": "node", "link": "link1", "x": 0.6, "strain": {"offset": 0.004}},
            {"name": "collar", "joint": "joint2"},
            {"name": "rod", "link": "link2", "x": 0.3},
        ],
    }  # fmt: skip


def planar_chains(d, k):
    """With the joint on element k."""

    def at(x, e):
        t = x / 0.2 - e + 1
        section = oracle.bent(lambda q: (0, hermite(q, 1, e, 0.2, t), 0), lambda q: (0, 0, hermite(q, 1, e, 0.2, t, 1)))
        return [oracle.turn((0, 0, 1), 0), oracle.shift(x, 0, 0), section]

    def cubic(q):
        nodes = [0.0, 0.0, *q[1:9]][2 * k - 2 : 2 * k + 2]
        t = (q[9] - 0.2 * (k - 1)) * (1 / 0.2)
        value, slope = 0.0 * q[0], 0.0 * q[0]
        for j, (u, phi) in enumerate(zip(nodes, HERMITE, strict=True)):
            scale = 0.2 ** (j % 2)
            powers = [1.0, t, t * t, t * t * t]
            for c, power in zip(phi.coef, powers, strict=False):
                value = value + u * (float(c) * scale) * power
            for c, power in zip(phi.deriv().coef, powers, strict=False):
                slope = slope + u * (float(c) * scale / 0.2) * power
        return value, slope

    collar = [oracle.turn((0, 0, 1), 0), oracle.bent(lambda q: (q[9], cubic(q)[0], 0), lambda q: (0, 0, cubic(q)[1] + 0.7))]
    return [at(0.25, 2), at(0.6, 3), collar, [*collar, oracle.shift(0.3, 0, 0)]]


@cache
def programs(kind):
    robot = {"spatial": spatial, "linear": lambda: spatial("linear"), "shortened": lambda: spatial(foreshortening=True),
             "planar": planar}[kind]()  # fmt: skip
    loaded = elastogen.load(robot)
    without = [name for name in ALL if "rates" not in name]
    wanted = {"spatial": without, "linear": without, "shortened": FEW}.get(kind, ALL)
    return loaded, {function.name: function for function in derive_model(loaded, wanted).functions}


def state(n, seed, small=0.1):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, n) * (small if k == 0 else 1.0) for k in range(3)]


def check(found, chains, gravity, q, qd, qdd, tolerance=1e-12):
    arguments = {"q": q, "qd": qd, "qdd": qdd}
    names = [name for name in KINEMATIC if name in found]
    expected = oracle.everything(chains, np.array(gravity), q, qd, qdd, names)
    for name in names:
        given = {a.name: arguments[a.name] for a in found[name].inputs}
        (result,) = found[name].evaluate(given).values()
        np.testing.assert_allclose(result, expected[name], rtol=0, atol=tolerance * np.abs(expected[name]).max(), err_msg=name)
    if "point_jacobians" not in found:
        return
    w = np.random.default_rng(5).uniform(-1, 1, (len(chains), 6))
    forces = found["point_forces"].evaluate({"q": q, "wrenches": w})["Q"]
    np.testing.assert_allclose(forces, np.einsum("pij,pi->j", expected["point_jacobians"], w), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["spatial", "linear", "shortened"])
def test_spatial_beam_and_hand(kind):
    _, found = programs(kind)
    q, qd, qdd = state(7, 11)
    q[0] = 0.9
    check(found, spatial_chains(kind == "linear", kind == "shortened"), GRAVITY, q, qd, qdd)
    strains = found["point_strains"].evaluate({"q": q})["strain"]
    y = 2 / 0.64 * q[1] + 6 * (0.3 / 0.8) / 0.64 * q[2]
    np.testing.assert_allclose(strains, [q[5] / 0.8 - 0.002 * y, q[5] / 0.8 + 0.003 * 2 / 0.64 * q[3]], rtol=1e-13)
    curvatures = found["point_curvatures"].evaluate({"q": q})["curvature"]
    at_end = [2 / 0.64 * q[1] + 6 / 0.64 * q[2], 2 / 0.64 * q[3]]
    np.testing.assert_allclose(curvatures[2], at_end, rtol=1e-13)
    assert curvatures.shape == (3, 2)


@pytest.mark.parametrize(("d", "k"), [(0.07, 1), (0.5, 3)])
def test_planar_elements_with_a_sliding_joint(d, k):
    _, found = programs("planar")
    q, qd, qdd = state(10, 12)
    q[9] = d
    check(found, planar_chains(d, k), (0.5, -9.81, 0), q, qd, qdd)
    inner = [hermite(q, 1, 2, 0.2, 0.25, 2), hermite(q, 1, 3, 0.2, 1.0, 2)]
    np.testing.assert_allclose(found["point_strains"].evaluate({"q": q})["strain"], -0.004 * np.array(inner), rtol=1e-12)
    np.testing.assert_allclose(found["point_curvatures"].evaluate({"q": q})["curvature"][:, 0], inner, rtol=1e-12)


def test_names_and_the_rigid_limit():
    robot, _ = programs("planar")
    assert [point.name for point in robot.points] == ["point1", "node", "collar", "rod"]
    rigid = elastogen.rigid_robot(robot)
    found = {f.name: f for f in derive_model(rigid, ["point_positions", "point_velocities"]).functions}
    r = found["point_positions"].evaluate({"q": [0.4, 0.5]})["r"]
    direction, rotated = np.array([np.cos(0.4), np.sin(0.4), 0]), np.array([np.cos(1.1), np.sin(1.1), 0])
    expected = [0.25 * direction, 0.6 * direction, 0.5 * direction, 0.5 * direction + 0.3 * rotated]
    np.testing.assert_allclose(r, expected, atol=1e-14)
    with pytest.raises(OutputError, match="strain gauges"):
        derive_model(rigid, ["point_strains"])


def test_a_falling_accelerometer_reads_nothing():
    """A point mass that hangs on a prismatic joint along gravity, in free fall."""
    robot = elastogen.load({
        "elastogen": 1, "name": "fall", "gravity": [0, 0, -9.81], "links": [{"name": "base"}, {"name": "box", "mass": 2.0}],
        "joints": [{"name": "drop", "type": "prismatic", "axis": [0, 0, 1]}],
        "points": [{"name": "imu", "link": "box", "xyz": [0.1, 0.2, 0.3], "rpy": [0.4, 0.5, 0.6]}],
    })  # fmt: skip
    (function,) = derive_model(robot, ["accelerometers"]).functions
    state = {"q": [0.3], "qd": [1.0]}
    np.testing.assert_allclose(function.evaluate({**state, "qdd": [-9.81]})["reading"], 0.0, atol=1e-14)
    assert np.linalg.norm(function.evaluate({**state, "qdd": [0.0]})["reading"]) == pytest.approx(9.81, rel=1e-14)


BUILT_IN = ("satellite", "puma560", "stanford")


def placed(name, link, x, y, z):
    return Point(name, link, pose=((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1)))


PUMA = ((0, 0, 0.67183), (np.pi / 2, 0, 0), (0, 0.4318, 0.15005), (-np.pi / 2, 0.0203, 0.4318), (np.pi / 2, 0, 0),
        (-np.pi / 2, 0, 0))  # fmt: skip  # alpha, a, d of the modified DH table


def modified_dh(k, alpha, a, d):
    """The steps of joint k."""
    return [oracle.rpy(alpha, 0, 0), oracle.shift(a, 0, 0), oracle.shift(0, 0, d), oracle.turn((0, 0, 1), k)]


INVERSE_DYNAMICS = 459  # operations for the PUMA, which test_inner_forces.py counts
TEN_POINTS = {  # how many on each link, and the operations; docs/robots/points.md has the table
    (2, 2, 2, 2, 1, 1): 458, (0, 0, 0, 0, 0, 10): 399, (0, 0, 0, 0, 5, 5): 455, (0, 0, 0, 4, 3, 3): 500,
    (1, 1, 2, 2, 2, 2): 514, (0, 0, 0, 0, 0, 1): 168, (0, 0, 1, 2, 6, 1): 492,
}  # fmt: skip
CROWDED = ((0, 0, 0, 4, 3, 3), (1, 1, 2, 2, 2, 2), (0, 0, 1, 2, 6, 1))  # on all links of the wrist: more than inverse dynamics


@pytest.mark.parametrize("scatter", TEN_POINTS)
def test_ten_points_anywhere_on_the_puma(scatter):
    """Accelerations against power series in time, and what they cost; one point as well."""
    puma, rng = elastogen.load("puma560"), np.random.default_rng(3)
    where = [(k, rng.uniform(-0.3, 0.3, 3).tolist()) for k, count in enumerate(scatter, 1) for _ in range(count)]
    points = [placed(f"p{n}", puma.links[k].name, *r) for n, (k, r) in enumerate(where)]
    (function,) = derive_model(puma.with_points(*points), ["point_accelerations"]).functions
    assert function.program.count.mul + function.program.count.add == TEN_POINTS[scatter]
    assert TEN_POINTS[scatter] <= INVERSE_DYNAMICS or scatter in CROWDED
    joints = [modified_dh(k, *dh) for k, dh in enumerate(PUMA)]
    chains = [[step for joint in joints[:k] for step in joint] + [oracle.shift(*r)] for k, r in where]
    check({"point_accelerations": function}, chains, (0, 0, 0), *state(6, 15, small=1.0))


@pytest.mark.parametrize("kind", ["flexible", "sliding", "satellite", "puma560", "stanford"])
def test_all_ways_to_accelerations(kind):
    """The derivation keeps the cheapest, which the other tests judge; all are equal."""
    if kind in BUILT_IN:
        robot = elastogen.load(kind)
        few = [link.name for link in robot.links[1:]]
        many = [name for name in few for _ in range(2)] + few[-1:]  # three on the last, two on the others
        names = few if kind == "satellite" else many
        robot = robot.with_points(*(placed(f"p{k}", name, 0.1, 0.02 * k, 0.2 - 0.03 * k) for k, name in enumerate(names)))
    else:
        robot = elastogen.load(spatial() if kind == "flexible" else {**sliding("Pa"), "points": [{"link": "link2", "x": 0.2}]})
    results = []
    for formulation in range(len(FORMULATIONS)):
        programs = PlainPrograms(robot, formulation, frame_assignment=3)
        size = len(robot.velocities)
        q, (_, qd, qdd) = np.array(neutral(robot)), state(size, 14)
        q[5 if kind == "sliding" else 0] += 0.3
        results.append(programs("point_accelerations", q=q, qd=qd, qdd=qdd))
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=0, atol=1e-12 * np.abs(results[0]).max())
    assert np.abs(results[0]).max() > 0.1


def test_what_is_no_point():
    robot = elastogen.load("two_link").with_points([Point("a", "forearm")])
    with pytest.raises(RobotError, match=r"points\[0\].*one by one"):
        validate(robot)


def test_single_precision_in_c(cache_dir):
    robot, found = programs("planar")
    model = elastogen.build_model(robot, precision="float", outputs=list(ALL))
    assert model.point_names == ("point1", "node", "collar", "rod")
    q, qd, qdd = state(10, 12)
    q[9] = 0.5
    w = np.random.default_rng(5).uniform(-1, 1, (4, 6))
    arguments = {"q": q, "qd": qd, "qdd": qdd, "wrenches": w}
    for name in ALL:
        given = {a.name: arguments[a.name] for a in found[name].inputs}
        (expected,) = found[name].evaluate(given).values()
        result = getattr(model, name)(*given.values())
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, expected, rtol=0, atol=3e-5 * np.abs(expected).max(), err_msg=name)
    batch = model.point_positions(np.stack([q, q]))
    assert batch.shape == (2, 4, 3)


BAD = {
    "no such link": ({"link": "arm"}, "link"),
    "both": ({"link": "beam", "joint": "push"}, "either link or joint"),
    "neither": ({"x": 0.1}, "either link or joint"),
    "beyond the beam": ({"link": "beam", "x": 0.9}, "0 to 0.8 m"),
    "two places": ({"link": "beam", "x": 0.1, "xyz": [0.1, 0, 0]}, "not both"),
    "gauge on a rigid link": ({"link": "hand", "strain": {"offset": 0.1}}, "on a beam"),
    "gauge without offset": ({"link": "beam", "x": 0.1, "strain": {}}, "offset"),
    "no such joint": ({"joint": "pull"}, "did you mean 'push'|joint"),
    "twice": ({"name": "imu", "link": "hand"}, "once"),
    "bad name": ({"name": "a b", "link": "hand"}, "letter"),
    "no number": ({"link": "beam", "x": "1/0"}, "x"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_points(case):
    section, message = BAD[case]
    robot = spatial()
    robot["points"].append(section)
    with pytest.raises(RobotError, match=message):
        elastogen.load(robot)


def test_functions_of_points_need_points():
    with pytest.raises(OutputError, match="add `points:`"):
        derive_model(elastogen.load("two_link"), ["point_positions"])


@pytest.mark.parametrize("rotation", ["exponential", "linear"])
def test_jerks_are_third_derivatives(rotation):
    robot = elastogen.load(spatial(rotation))
    motion = np.random.default_rng(21).uniform(-0.4, 0.4, (4, 7))
    found = PlainPrograms(robot)("point_jerks", **dict(zip(("q", "qd", "qdd", "q3"), motion, strict=True)))
    expected = np.array([oracle.jerk(chain, *motion).real for chain in spatial_chains(rotation == "linear")])
    assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()
