"""Closed forms: textbook robots, Lagrange's equations, random trees against numbers, LaTeX, messages."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from closed_form_symbols import a1, a2, d1, d2, l1, q1, q2, q3, q4, same, vanishes
from robots_for_tests import difference_quotient
from sympy import Matrix, cos, sin

from elastogen.generator.closed_form.closed_form import ClosedForm, derive
from elastogen.generator.description.load_robot import load
from elastogen.generator.joints import kinds
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Actuation, Body, Joint, Link, Parameter, Robot

# -- textbook robots -------------------------------------------------------------------------------------------


def test_two_link_is_the_textbooks_elbow_manipulator() -> None:
    """Spong, Hutchinson, Vidyasagar, planar elbow manipulator: D(q), C(q, qd) with h = -m2 l1 lc2 sin q2, phi."""
    form = derive(load("two_link"), symbolic="nonzero")
    lc1, lc2, m1, m2, i1, i2, gy = sympy.symbols("lc1 lc2 m1 m2 I1 I2 gravity_y", real=True)
    d12 = m2 * (lc2**2 + l1 * lc2 * cos(q2)) + i2
    h = -m2 * l1 * lc2 * sin(q2)
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos(q2)) + i1 + i2
    assert same(form.mass_matrix, [[d11, d12], [d12, m2 * lc2**2 + i2]])
    assert same(form.coriolis_matrix, [[h * d2, h * d2 + h * d1], [-h * d1, 0]])
    phi = [-gy * ((m1 * lc1 + m2 * l1) * cos(q1) + m2 * lc2 * cos(q1 + q2)), -gy * m2 * lc2 * cos(q1 + q2)]
    assert same(form.gravity_vector, phi)
    total = Matrix([[d11, d12], [d12, m2 * lc2**2 + i2]]) * Matrix([a1, a2])
    forces = total + Matrix([h * d2 * d1 + (h * d2 + h * d1) * d2, -h * d1 * d1]) + Matrix(phi)
    assert same(form.inverse_dynamics, list(forces))
    assert cos(q1 + q2) in form.gravity_vector.atoms(cos)  # parallel axes are merged
    assert form.mass_matrix.atoms(cos, sin) == {cos(q2)}


def rotation_matrix(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def transform(rotation: np.ndarray, translation: list) -> tuple:
    rows = [(*map(float, rotation[k]), translation[k]) for k in range(3)]
    return (*rows, (0, 0, 0, 1))


def rrp_robot() -> Robot:
    """SCARA-like: two vertical axes and a quill, all inertial data symbols."""
    names = ["m1", "m2", "m3", "l1", "lc1", "lc2", "l2", "I1", "I2", "I3", "g"]
    m1, m2, m3, arm, lc1, lc2, reach, i1, i2, i3, weight = sympy.symbols(names, real=True)

    def body(mass: sympy.Symbol, x: object, inertia: sympy.Symbol) -> Body:
        return Body(mass, (x, 0, 0), ((inertia, 0, 0), (0, inertia, 0), (0, 0, inertia)))

    eye = np.eye(3)
    joints = (
        Joint("shoulder", kinds.REVOLUTE, "base", "inner"),
        Joint("elbow", kinds.REVOLUTE, "inner", "outer", before=transform(eye, [arm, 0, 0])),
        Joint("slide", kinds.PRISMATIC, "outer", "quill", (0, 0, -1), before=transform(eye, [reach, 0, 0])),
    )
    links = (
        Link("base"),
        Link("inner", body(m1, lc1, i1)),
        Link("outer", body(m2, lc2, i2)),
        Link("quill", body(m3, 0, i3)),
    )
    parameters = {name: Parameter(name, 0.5 + k / 10) for k, name in enumerate(names)}
    return Robot("rrp", links, joints, (0, 0, -weight), "quill", parameters=parameters)


@pytest.mark.parametrize("make", [lambda: load("two_link"), rrp_robot])
def test_lagrange_identities_hold_symbolically(make) -> None:
    form = derive(make(), symbolic="nonzero")
    rates = list(zip(form.q, form.qd, strict=True))
    mass_rate = sum((form.mass_matrix.diff(q) * qd for q, qd in rates), sympy.zeros(len(form.q)))
    skew = mass_rate - 2 * form.coriolis_matrix
    assert same(form.mass_matrix - form.mass_matrix.T, sympy.zeros(len(form.q)).tolist())
    assert same(skew + skew.T, sympy.zeros(len(form.q)).tolist())
    assert same(Matrix([form.potential_energy]).jacobian(form.q).T, list(form.gravity_vector))
    qd = Matrix(form.qd)
    assert same((qd.T * form.mass_matrix * qd) / 2, [[form.kinetic_energy]])
    assert same(form.coriolis_matrix * qd, list(form.coriolis_vector))
    # Lagrange's equations themselves, differentiated by SymPy
    momentum = Matrix([form.kinetic_energy]).jacobian(form.qd).T
    lagrange = momentum.jacobian(form.q) * qd + momentum.jacobian(form.qd) * Matrix(form.qdd)
    lagrange += Matrix([form.potential_energy - form.kinetic_energy]).jacobian(form.q).T
    assert same(form.inverse_dynamics, list(lagrange))


# -- any tree, against numbers ---------------------------------------------------------------------------------


def random_tree(seed: int, size: int = 4) -> Robot:
    """A branched robot with oblique and parallel axes, sliding and fixed joints, friction, motors and a payload."""
    rng = np.random.default_rng(seed)
    types = [kinds.REVOLUTE, kinds.PRISMATIC, kinds.FIXED, kinds.CONTINUOUS]

    def unit() -> np.ndarray:
        vector = rng.normal(size=3)
        return vector / np.linalg.norm(vector)

    def placed() -> tuple:
        rotated = rotation_matrix(unit(), rng.normal()) if rng.random() < 0.4 else rotation_matrix([1, 0, 0], np.pi / 4)
        return transform(rotated, [round(x, 3) for x in rng.normal(size=3)])

    def body() -> Body:
        root = rng.normal(size=(3, 3)).round(2)
        inertia = tuple(tuple(float(x) for x in row) for row in root @ root.T)
        return Body(round(rng.uniform(1, 2), 2), tuple(float(x) for x in rng.normal(size=3).round(2)), inertia)

    links, joints = [Link("link0")], []
    for k in range(size):
        axis = tuple(float(x) for x in unit()) if rng.random() < 0.4 else (0, 0, 1)
        drive = Actuation(0.01 * k, 3.0, 0.1 * k, 0.2 * k, 0.5)
        parent = f"link{max(0, k - int(rng.integers(0, 2)))}"
        links.append(Link(f"link{k + 1}", body()))
        joints.append(Joint(f"joint{k}", types[k], parent, f"link{k + 1}", axis, placed(), placed(), actuation=drive))
    return Robot("tree", tuple(links), tuple(joints), (0.3, -0.5, -9.81), f"link{size - 1}", placed(), payload=body())


def numeric_transforms(robot: Robot, q: np.ndarray) -> list[np.ndarray]:
    """T_i0 of every frame by multiplication; complex coordinates are welcome."""
    found, coordinates = {robot.links[0].name: np.eye(4)}, iter(q)
    for joint in robot.joints:
        axis, motion = np.array(joint.axis, dtype=float), np.eye(4, dtype=complex)
        if joint.type.rotating:
            motion[:3, :3] = rotation_matrix(axis, next(coordinates))
        elif joint.type is kinds.PRISMATIC:
            motion[:3, 3] = axis * next(coordinates)
        before, after = (np.array(m, dtype=float) for m in (joint.before, joint.after))
        found[joint.child] = found[joint.parent] @ before @ motion @ after
    frames = [found[link.name] for link in robot.links[1:]]
    return [*frames, found[robot.tip] @ np.array(robot.tool, dtype=float)]


def pseudo_inertia(body: Body) -> np.ndarray:
    """int (r; 1)(r; 1)^T dm about the frame's origin, errata to paper 002 (19)."""
    inertia, centre = np.array(body.inertia, dtype=float), np.array(body.com, dtype=float)
    planar = np.trace(inertia) / 2 * np.eye(3) - inertia + body.mass * np.outer(centre, centre)
    return np.block([[planar, body.mass * centre[:, None]], [body.mass * centre[None, :], np.array([[body.mass]])]])


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_against_products_and_traces(seed: int) -> None:
    """M_jk = sum_i Tr(A_ij I_psi A_ik^T), paper 002 (21), A_ij = dT_i0/dq_j by complex steps; V and J likewise."""
    robot = random_tree(seed)
    form = derive(robot)
    rng = np.random.default_rng(seed + 100)
    q, qd, qdd = rng.normal(size=(3, len(form.q)))
    n, step = len(q), 1e-30
    exact = [t.real for t in numeric_transforms(robot, q.astype(complex))]
    np.testing.assert_allclose(form.lambdify("transforms")(q), exact, atol=1e-12)
    partial = [[t.imag / step for t in numeric_transforms(robot, q + 1j * step * np.eye(n)[j])] for j in range(n)]
    inertias = [pseudo_inertia(body) for body in (*(link.body for link in robot.links[1:]), robot.payload)]
    mass = np.array(
        [
            [sum(np.trace(a @ i @ b.T) for a, i, b in zip(partial[j], inertias, partial[k], strict=True)) for k in range(n)]
            for j in range(n)
        ]
    )
    drives = [joint.actuation for joint in robot.moving_joints]
    mass += np.diag([drive.gear_ratio**2 * drive.motor_inertia for drive in drives])
    np.testing.assert_allclose(form.lambdify("mass_matrix")(q), mass, atol=1e-11)
    gravity = np.array([*robot.gravity, 0])
    weights = [-sum(gravity @ a @ i[:, 3] for a, i in zip(partial[j], inertias, strict=True)) for j in range(n)]
    np.testing.assert_allclose(form.lambdify("gravity_vector")(q), weights, atol=1e-11)
    jacobian = form.lambdify("jacobian")(q)
    np.testing.assert_allclose(jacobian[:3], np.array([p[-1][:3, 3] for p in partial]).T, atol=1e-12)
    spins = [p[-1][:3, :3] @ exact[-1][:3, :3].T for p in partial]
    np.testing.assert_allclose(jacobian[3:], np.array([[s[2, 1], s[0, 2], s[1, 0]] for s in spins]).T, atol=1e-12)
    # the forces: rigid part plus friction, and the energy that they feed
    coriolis = form.lambdify("coriolis_vector")(q, qd)
    friction = [d.viscous * v + d.coulomb * np.tanh(v / d.coulomb_velocity) for d, v in zip(drives, qd, strict=True)]
    expected = mass @ qdd + coriolis + weights + friction
    np.testing.assert_allclose(form.lambdify("inverse_dynamics")(q, qd, qdd), expected, atol=1e-10)
    kinetic = form.lambdify("kinetic_energy")
    slope = difference_quotient(lambda s: kinetic(q + s * qd, qd))  # = qd . C qd at constant qd
    assert slope == pytest.approx(qd @ coriolis, abs=1e-9)


# -- parallel axes, symbols, numbers ---------------------------------------------------------------------------


def test_antiparallel_and_interrupted_axes_are_merged() -> None:
    scara = derive(load("scara"), symbolic="nonzero")  # its last axis points down and stands behind a slide
    assert scara.transforms[-1][0, 0] == cos(q1 + q2 - q4)
    puma = derive(load("puma560"), symbolic="none")
    arguments = {function.args[0] for function in puma.mass_matrix.atoms(sin, cos)}
    assert q2 + q3 in arguments
    assert q1 not in {symbol for argument in arguments for symbol in argument.free_symbols}


def test_rounded_numbers_leave_no_dust() -> None:
    robot = random_tree(0)
    joints = tuple(
        Joint(f"joint{k}", kinds.REVOLUTE, f"link{k}", f"link{k + 1}", before=transform(rotated, [0.1, 0, 0]))
        for k, rotated in enumerate(rotation_matrix([1, 0, 0], angle) for angle in (0.0, np.pi / 2, np.pi / 3))
    )
    form = derive(Robot("arm", robot.links[:4], joints, tip="link3"))
    assert form.transforms[2][2, 1] == cos(q2) * cos(q3) / 2 - sin(q2) * sin(q3)
    assert form.transforms[2][2, 2] == -sympy.sqrt(3) / 2 * cos(q2)
    assert not any(abs(number) < 1e-10 for t in form.transforms for number in t.atoms(sympy.Float))


def test_symbolic_choices_agree_in_numbers() -> None:
    robot, q = load("two_link"), [0.3, -0.7]
    expected = derive(robot, symbolic="none").lambdify("mass_matrix")(q)
    for choice in ("named", "nonzero", "all"):
        np.testing.assert_allclose(derive(robot, symbolic=choice).lambdify("mass_matrix")(q), expected, rtol=1e-14)
    assert derive(robot, symbolic="none").mass_matrix.free_symbols == {q2}
    loaded = derive(robot).lambdify("mass_matrix")
    assert loaded(q, payload_mass=2.0)[1, 1] == pytest.approx(expected[1, 1] + 2.0)  # 2 kg, 1 m from the elbow
    assert {"m2", "Izz2", "rx1"} <= {str(s) for s in derive(load("scara"), symbolic="all").mass_matrix.free_symbols}


def test_a_parameter_may_be_called_q1() -> None:
    length = sympy.Symbol("q1", real=True)
    joint = Joint("hinge", kinds.REVOLUTE, "base", "arm", after=transform(np.eye(3), [length, 0, 0]))
    robot = Robot("arm", (Link("base"), Link("arm")), (joint,), tip="arm", parameters={"q1": Parameter("q1", 2.0)})
    form = derive(robot)
    assert form.q[0] != length
    assert form.transforms[0][0, 3] == length * cos(form.q[0])


def test_constant_angles_and_roots_are_reduced() -> None:
    alpha = sympy.Symbol("alpha", real=True)
    twist = ((1, 0, 0, 0), (0, cos(alpha), -sin(alpha), 0), (0, sin(alpha), cos(alpha), 0), (0, 0, 0, 1))
    joints = (
        Joint("a", kinds.REVOLUTE, "base", "one", after=twist),
        Joint("b", kinds.FIXED, "one", "two", before=transform(rotation_matrix([0, 0, 1], np.pi / 4), [1, 0, 0])),
    )
    links = tuple(Link(name, Body(1, (0, 0, 1))) for name in ("base", "one", "two"))
    robot = Robot("twisted", links, joints, tip="two", parameters={"alpha": Parameter("alpha", 0.3)})
    form = derive(robot)
    assert form.angular_velocities("own")[1] == Matrix([sin(alpha), sin(alpha), sympy.sqrt(2) * cos(alpha)]) * (
        form.qd[0] / sympy.sqrt(2)
    )
    assert vanishes(form.mass_matrix[0, 0] - 1 - 2 * sin(alpha) ** 2)


# -- LaTeX and messages ----------------------------------------------------------------------------------------


def test_latex_abbreviates_sums_and_prints_the_whole_document() -> None:
    form = derive(load("two_link"), symbolic="nonzero")
    assert "c_{12}" in form.latex("gravity_vector")
    assert "c_{2}" in form.latex("mass_matrix")
    text = form.latex()
    assert text.startswith(r"\section*{two\_link}")
    titles = re.findall(r"\\subsection\*\{(.*)\}", text)
    assert [title[:3] for title in titles] == ["Tra", "Jac", "Mas", "Cor", "Gra", "Gen"]
    assert r"$l_{c1}$ & $\mathrm{m}$ & 0.5 & centre of mass of link 1 from joint 1 \\" in text  # symbols with units first
    assert text.index("longtable") < text.index("subsection")
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{align*}") == text.count(r"\end{align*}")
    assert text.count(r"\left") == text.count(r"\right")
    scara = derive(load("scara"), symbolic="nonzero")
    assert "c_{12-4}" in scara.latex("transforms")
    assert re.search(r"\b1\.3588\s", scara.latex("mass_matrix", digits=5))


def test_unknown_names_are_refused_with_the_known_ones(trtrr: ClosedForm) -> None:
    with pytest.raises(OutputError, match="mass_matrix"):
        trtrr.latex("mass")
    with pytest.raises(OutputError, match="nonzero"):
        derive(load("two_link"), symbolic="some")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="'base'"):
        trtrr.linear_velocities("tool")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="unknown parameters"):
        trtrr.lambdify("jacobian")(np.zeros(5), l9=1.0)
    with pytest.raises(OutputError, match="takes no options"):
        trtrr.lambdify("jacobian", frame="own")


def test_flexible_robots_have_the_closed_forms_of_their_programs() -> None:
    form = derive(load("par_table3"))
    assert form.mass_matrix == form.function("mass_matrix")["M"]
    assert form.mass_matrix.shape == (8, 8)
