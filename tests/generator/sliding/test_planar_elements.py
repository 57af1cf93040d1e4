"""Paper 003, (4), (7), (12)-(15), (22)-(27) and 4.3: coordinates, element matrices and their sums, exactly.

Formulas are typed in as printed, corrected where docs/equations/errata.md says so; lengths, masses and stiffnesses are symbols.
"""

import itertools

import pytest
import sympy
from planar_symbols import P, coordinate_symbols, derived, is_same, laurent, nodal_coordinates
from sympy import I, Matrix, cos, sin, zeros

import elastogen
from elastogen.generator.beams.finite_elements import element_modes
from elastogen.generator.beams.integrals import Beam, beam_body
from elastogen.generator.beams.natural_frequencies import mass_matrix as body_mass_matrix
from elastogen.generator.beams.piecewise import Curve
from elastogen.generator.functions.dynamics import gravity_vector, mass_matrix, stiffness_matrix
from elastogen.generator.robot.robot import Body

X, LE = sympy.symbols("x l_e", positive=True)
NOMINAL = {"l1": 0.8, "l2": 0.6, "rho1": 0.5, "rho2": 0.4, "ei1": 0.3, "ei2": 0.2, "m_t": 0.1, "gx": 0.5, "gy": -9.81}
VALUES = {name: sympy.Symbol(name, real=True) for name in NOMINAL}
LENGTHS, DENSITIES, STIFFNESSES = ([VALUES[f"{name}{i}"] for i in (1, 2)] for name in ("l", "rho", "ei"))
GAMMA = (0, sympy.pi / 2)  # of joints 1 and 2


def shape_functions(x, size):
    """phi_1 ... phi_4 of (4), which the paper does not print."""
    t = x / size
    return Matrix([1 - 3 * t**2 + 2 * t**3, x * (1 - 2 * t + t**2), 3 * t**2 - 2 * t**3, x * (t**2 - t)])


def mass_block(m, le):
    """(13)"""
    block = [[156, 22 * le, 54, -13 * le], [22 * le, 4 * le**2, 13 * le, -3 * le**2],
             [54, 13 * le, 156, -22 * le], [-13 * le, -3 * le**2, -22 * le, 4 * le**2]]  # fmt: skip
    return m * le / 420 * Matrix(block)


def stiffness_block(ei, le):
    """(27)"""
    block = [[12, 6 * le, -12, 6 * le], [6 * le, 4 * le**2, -6 * le, 2 * le**2],
             [-12, -6 * le, 12, -6 * le], [6 * le, 2 * le**2, -6 * le, 4 * le**2]]  # fmt: skip
    return ei / le**3 * Matrix(block)


# ---- one element and one beam


def test_element_matrices():
    """(13) and (27) follow from the shape functions, and are those of a beam of one element with both nodes free."""
    rho, ei = sympy.symbols("rho ei", positive=True)
    phi = shape_functions(X, LE)
    curvature = phi.diff(X, 2)
    assert is_same((rho * phi * phi.T).applyfunc(lambda f: sympy.integrate(f, (X, 0, LE))), mass_block(rho, LE))
    assert is_same((ei * curvature * curvature.T).applyfunc(lambda f: sympy.integrate(f, (X, 0, LE))), stiffness_block(ei, LE))
    beam = Beam(LE, Curve.polynomial((rho,)), {"y": Curve.polynomial((ei,))})
    body = beam_body(beam, element_modes(1, ["y"], LE, clamped=False))
    assert is_same(body_mass_matrix(body, Body()), mass_block(rho, LE))
    assert is_same(body.stiffness, stiffness_block(ei, LE))


# ---- robots of two links


def describe(joints, elements, slide="nodal"):
    links = []
    for i, (joint, count) in enumerate(zip(joints, elements, strict=True), start=1):
        link = {"joint": joint, "length": f"l{i}", "mass_per_length": f"rho{i}", "EI": f"ei{i}", "elements": count}
        links.append(link if joint == "R" else link | {"gamma": ("0", "pi/2")[i - 1], "slide": slide})
    planar = {"links": links, "payload": {"mass": "m_t"}, "gravity": ["gx", "gy"]}
    return elastogen.load({"elastogen": 1, "name": "planar", "parameters": NOMINAL, "planar": planar})


def all_coordinates(elements):
    """q of (7), with the coordinates that 4.3 removes."""
    return list(itertools.chain(*([P[i], *nodal_coordinates(i + 1, count).values()] for i, count in enumerate(elements))))


def held(joints, elements, inside):
    """4.3: indices in q of (7), from 0, of the coordinates that vanish."""
    found, start = [], 0
    for i, (joint, count) in enumerate(zip(joints, elements, strict=True)):
        first = 2 * inside[f"joint{i + 1}"] - 2 if joint == "Pb" else 0
        found += range(start + 1 + first, start + 1 + first + (4 if joint == "Pb" else 2))
        start += 2 * count + 3
    return found


def reduced(matrix, robot, joints, elements, inside, diagonal):
    """A matrix over q of (7) over the robot's coordinates; those that vanish but are kept get unit rows or zeros."""
    q, gone = all_coordinates(elements), held(joints, elements, inside)
    result = matrix.copy()
    for k in gone:
        result[k, :] = zeros(1, len(q))
        result[:, k] = zeros(len(q), 1)
        result[k, k] = diagonal
    kept = [q.index(symbol) for symbol in coordinate_symbols(robot)]
    return result.extract(kept, kept).subs({q[k]: 0 for k in gone})


CASES = (
    (("R", "R"), (2, 1), {}),
    (("Pa", "R"), (1, 2), {}),
    (("R", "Pa"), (2, 1), {"joint2": 1}),
    (("R", "Pa"), (2, 1), {"joint2": 2}),
    (("R", "Pb"), (1, 3), {"joint2": 1}),
    (("R", "Pb"), (1, 3), {"joint2": 2}),
    (("Pb", "Pa"), (2, 1), {"joint1": 1, "joint2": 2}),
)
SMALL = (
    (("R", "R"), (2, 1), {}),
    (("Pa", "R"), (1, 1), {}),
    (("R", "Pa"), (2, 1), {"joint2": 1}),
    (("R", "Pb"), (1, 2), {"joint2": 1}),
    (("Pb", "Pa"), (2, 1), {"joint1": 1, "joint2": 2}),
)


def all_elements(elements):
    """Pairs i, j of (15) and (24)."""
    return [(i, j) for i in (1, 2) for j in range(1, elements[i - 1] + 1)]


def own_range(i, j, elements, last):
    """(25), (26): rows and columns of element j of link i, from 1; the printed last is i + 2j + 1 + sum, one too few."""
    before = sum(2 * count + 2 for count in elements[: i - 1])
    return range(i + 2 * j - 1 + before, i + 2 * j + last + before + 1)


@pytest.mark.parametrize(("joints", "elements", "inside"), CASES)
def test_coordinates(joints, elements, inside):
    """(7): joint variable, then nodal coordinates, link by link; 4.3 removes the first node of links on R and Pa."""
    robot = describe(joints, elements)
    q = all_coordinates(elements)
    assert len(q) == 2 + sum(2 * n + 2 for n in elements)
    gone = [q[k] for k in held(joints, elements, inside)]
    removed = [s for s in gone if joints[int(s.name[1]) - 1] != "Pb"]
    assert coordinate_symbols(robot) == [symbol for symbol in q if symbol not in removed]


@pytest.mark.parametrize(("joints", "elements", "inside"), CASES)
def test_stiffness(joints, elements, inside):
    """(24): the sum of (27) on the ranges (26) with i + 2j + 2, zero elsewhere (25)."""
    robot = describe(joints, elements)
    q = all_coordinates(elements)
    K = zeros(len(q), len(q))
    for i, j in all_elements(elements):
        block = stiffness_block(STIFFNESSES[i - 1], LENGTHS[i - 1] / elements[i - 1])
        own = own_range(i, j, elements, last=2)
        assert [q[s - 1].name for s in own] == [f"u{i}_{2 * j - 2 + m}" for m in (1, 2, 3, 4)]  # as (4)
        for (r, s), (c, p) in itertools.product(enumerate(own), repeat=2):
            K[s - 1, p - 1] += block[r, c]
    expected = reduced(K, robot, joints, elements, inside, 0)
    n = len(robot.coordinates)
    assert is_same(Matrix(n, n, derived(robot, inside, stiffness_matrix)), expected)


def test_misprinted_ranges():
    """(25), (26) and before (13): up to i + 2j + 1 three of the four coordinates are covered; K is not zero outside."""
    elements = (2, 1)
    robot = describe(("R", "R"), elements)
    K = Matrix(len(robot.coordinates), len(robot.coordinates), derived(robot, {}, stiffness_matrix))
    q, names = all_coordinates(elements), coordinate_symbols(robot)
    printed = {q[s - 1] for i, j in all_elements(elements) for s in own_range(i, j, elements, last=1)}
    outside = [names.index(symbol) for symbol in names if symbol not in printed and symbol not in P]
    assert [names[k].name for k in outside] == ["u1_6", "u2_4"]
    assert all(K[k, k] != 0 for k in outside)


def frames(joints, inside, elements):
    """Theta_01, Theta_02 as angle and origin x + i y, by (1) with Table 2 (nodal)."""
    u = nodal_coordinates(1, elements[0])
    node = inside["joint2"] if joints[1] == "Pa" else elements[0]
    found, angle, origin = [], sympy.S.Zero, sympy.S.Zero
    for i, joint in enumerate(joints):
        chi, u_f, u_s = (LENGTHS[0], u[2 * node + 1], u[2 * node + 2]) if i else (0, 0, 0)
        turn = (P[i] if joint == "R" else GAMMA[i]) + u_s
        a = P[i] - LENGTHS[i] if joint == "Pb" else 0
        origin += unit(angle) * ((P[i] if joint == "Pa" else chi) + I * u_f + a * unit(turn))
        angle += turn
        found.append((angle, origin))
    return found


def unit(angle):
    return cos(angle) + I * sin(angle)


def positions(joints, inside, elements):
    """r_0ij(x) of (5) as x + i y: link, element, place, density, element length; then the tip with the payload's mass."""
    for i, (angle, origin) in enumerate(frames(joints, inside, elements)):
        u, size = nodal_coordinates(i + 1, elements[i]), LENGTHS[i] / elements[i]
        for j in range(1, elements[i] + 1):
            w = sum(shape * u[2 * j - 2 + m] for m, shape in enumerate(shape_functions(X, size), start=1))
            yield i + 1, j, origin + unit(angle) * ((j - 1) * size + X + I * w), DENSITIES[i], size
    w = nodal_coordinates(2, elements[1])[2 * elements[1] + 1]
    yield 0, 0, origin + unit(angle) * (LENGTHS[1] + I * w), VALUES["m_t"], None


def integral(integrand, size):
    """Over x from 0 to l_ie, the upper limit that (8) misprints; integrands are polynomials in x."""
    if size is None:
        return sympy.expand(integrand)
    terms = sympy.collect(sympy.expand(integrand), X, evaluate=False)
    total = sympy.S.Zero
    for power, c in terms.items():
        k = power.as_base_exp()[1] if power != 1 else 0
        total += c * size ** (k + 1) / (k + 1)
    return sympy.expand(total)


def conjugate(expression):
    """With 1/z for every z = exp(i angle), -i for i."""
    turns = {symbol: 1 / symbol for symbol in expression.free_symbols if symbol.name.startswith("exp")}
    return expression.xreplace({**turns, I: -I})


@pytest.mark.parametrize(("joints", "elements", "inside"), SMALL)
def test_mass_matrix_and_gravity(joints, elements, inside):
    """(12), (15): M = sum of int m J^T J dx, with blocks (13), G from the weight; and the payload, which (14) leaves out."""
    robot = describe(joints, elements)
    q = all_coordinates(elements)
    vanish = {q[k]: 0 for k in held(joints, elements, inside)}
    M, G = zeros(len(q), len(q)), zeros(len(q), 1)
    for i, j, r, mass, size in positions(joints, inside, elements):
        J = [laurent(sympy.diff(r, symbol).subs(vanish)) for symbol in q]
        back = [conjugate(entry) for entry in J]
        M_ij = zeros(len(q), len(q))
        own = [s - 1 for s in own_range(i, j, elements, last=2)] if size is not None else []
        needed = [s for s in range(len(q)) if J[s] != 0 and (q[s] not in vanish or s in own)]
        for s, p in itertools.combinations_with_replacement(needed, 2):
            M_ij[s, p] = M_ij[p, s] = integral(mass * (J[s] * back[p] + back[s] * J[p]) / 2, size)
        if size is not None:
            assert is_same(M_ij.extract(own, own), mass_block(mass, size))
        M += M_ij
        gx, gy = VALUES["gx"], VALUES["gy"]
        G -= Matrix([integral(mass * (gx * (u + v) + gy * (u - v) / I) / 2, size) for u, v in zip(J, back, strict=True)])
    n = len(robot.coordinates)
    expected = reduced(M, robot, joints, elements, inside, 1)
    assert is_same(Matrix(n, n, derived(robot, inside, mass_matrix)), expected)
    weights = Matrix([0 if symbol in vanish else G[q.index(symbol)] for symbol in coordinate_symbols(robot)])
    assert is_same(derived(robot, inside, gravity_vector), weights)
