"""Paper 003, lemma (1), Table 2 and the appendix: the nine two-link robots, symbolically equal to what elastogen derives.

Formulas are typed in as printed, corrected where docs/equations/errata.md says so; lengths and angles gamma are symbols, the
links have two and three elements. Every comparison is exact: sines and cosines become Laurent polynomials.
"""

import itertools

import pytest
import sympy
from planar_symbols import P, derived, is_same, nodal_coordinates
from sympy import Matrix, Symbol, cos, eye, sin

import elastogen
from elastogen.generator.functions.kinematics import forward_kinematics

JOINTS = ("R", "Pa", "Pb")
PAIRS = tuple(itertools.product(JOINTS, repeat=2))
ELEMENTS = (2, 3)  # of links 1 and 2
N1, N2 = ELEMENTS
L1, L2, GAMMA1, GAMMA2 = sympy.symbols("l1 l2 gamma1 gamma2", real=True)
LENGTHS, ANGLES = (L1, L2), (GAMMA1, GAMMA2)
NOMINAL = {"l1": 0.8, "l2": 0.6, "gamma1": 0.3, "gamma2": 0.4}
P1, P2 = P  # joint variables: theta_i of R, d_i of Pa and Pb
U1, U2 = nodal_coordinates(1, N1), nodal_coordinates(2, N2)
F1, S1, F2 = U1[2 * N1 + 1], U1[2 * N1 + 2], U2[2 * N2 + 1]  # at the ends of links 1 and 2


def vanishing(link, joint, slide, k):
    """4.3: nodal coordinates that are zero, those of the first node, or of element k inside a nodal Pb joint."""
    u = (U1, U2)[link - 1]
    inside = range(2 * k - 1, 2 * k + 3) if joint == "Pb" and slide == "nodal" else (1, 2)
    return {u[m]: 0 for m in inside}


# ---- what elastogen derives


def describe(joints, slide, gammas=("gamma1", "gamma2"), rigid=False):
    links = []
    for number, (joint, gamma) in enumerate(zip(joints, gammas, strict=False)):
        link = {"joint": joint, "length": f"l{number + 1}"}
        if rigid:
            link |= {"rigid": True, "mass": 1, "inertia": 1}
        else:
            link |= {"mass_per_length": 0.5, "EI": 0.4, "elements": ELEMENTS[number]}
        if joint != "R":
            link |= {"gamma": gamma, "slide": slide}
        links.append(link)
    return elastogen.load({"elastogen": 1, "name": "planar", "parameters": NOMINAL, "planar": {"links": links}})


def poses(robot, inside):
    """Poses of the links and of the tip as SymPy matrices, with these elements inside the sliding joints."""
    values = derived(robot, inside, forward_kinematics)
    return [Matrix(4, 4, values[k : k + 16]) for k in range(0, len(values), 16)]


def elements_inside(joints, slide):
    """Every choice of elements: Pa between the nodes of the link before it, nodal Pb on the link itself."""
    choices = []
    for number, joint in enumerate(joints):
        found = (0,)
        if joint == "Pa" and number:
            found = range(0 if joints[0] == "Pb" and slide == "smooth" else 1, N1 + 1)
        elif joint == "Pb":
            found = range(1, ELEMENTS[number] + 1) if slide == "nodal" else (1,)
        choices.append(found)
    return itertools.product(*choices)


# ---- what the paper prints


def lemma(chi, theta, u_s, u_f, a):
    """(1)"""
    c, s = cos(theta + u_s), sin(theta + u_s)
    return Matrix([[c, -s, 0, chi + a * c], [s, c, 0, u_f + a * s], [0, 0, 1, 0], [0, 0, 0, 1]])


def table_2(i, joint, length_before, u_s, u_f):
    """The columns chi, theta, u_s, u_f, a of Table 2; u are those of the tip before, for Pa of the sliding element."""
    p, gamma = (P1, P2)[i - 1], ANGLES[i - 1]
    rows = {
        "R": (length_before, p, u_s, u_f, 0),
        "Pa": (p, gamma, u_s, u_f, 0),
        "Pb": (length_before, gamma, u_s, u_f, p - LENGTHS[i - 1]),
    }
    return rows[joint]


def planar(c, s, x, y):
    return Matrix([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]])


def appendix_theta_01(joint):
    """Appendix 2, first column."""
    a1 = P1 - L1
    return {
        "R": planar(cos(P1), sin(P1), 0, 0),
        "Pa": planar(cos(GAMMA1), sin(GAMMA1), P1, 0),
        "Pb": planar(cos(GAMMA1), sin(GAMMA1), a1 * cos(GAMMA1), a1 * sin(GAMMA1)),
    }[joint]


def appendix_theta_12(joint, f, s):
    """Appendix 2, second column; f, s are u_1(2k+1), u_1(2k+2) of Pa, else those of node n_1."""
    a2 = P2 - L2
    return {
        "R": planar(cos(P2 + s), sin(P2 + s), L1, f),
        "Pa": planar(cos(GAMMA2 + s), sin(GAMMA2 + s), P2, f),
        "Pb": planar(cos(GAMMA2 + s), sin(GAMMA2 + s), L1 + a2 * cos(GAMMA2 + s), f + a2 * sin(GAMMA2 + s)),
    }[joint]


def appendix_end_of_link_1(joint):
    """Appendix 3, flexible robot."""
    return {
        "R": [L1 * cos(P1) - F1 * sin(P1), L1 * sin(P1) + F1 * cos(P1)],
        "Pa": [L1 * cos(GAMMA1) + P1 - F1 * sin(GAMMA1), L1 * sin(GAMMA1) + F1 * cos(GAMMA1)],
        "Pb": [P1 * cos(GAMMA1) - F1 * sin(GAMMA1), P1 * sin(GAMMA1) + F1 * cos(GAMMA1)],
    }[joint]


def appendix_tip(pair, f, s, last=cos):
    """Appendix 4, flexible robot.

    R Pa, y: the printed last term is + u_2(2n_2+1) sin(...); it must be cos (``last``). The other eight hold.
    """
    g1, g2 = GAMMA1, GAMMA2
    return {
        "R R": [
            L1 * cos(P1) - f * sin(P1) + L2 * cos(P1 + P2 + s) - F2 * sin(P1 + P2 + s),
            L1 * sin(P1) + f * cos(P1) + L2 * sin(P1 + P2 + s) + F2 * cos(P1 + P2 + s),
        ],
        "R Pa": [
            P2 * cos(P1) - f * sin(P1) + L2 * cos(P1 + g2 + s) - F2 * sin(P1 + g2 + s),
            P2 * sin(P1) + f * cos(P1) + L2 * sin(P1 + g2 + s) + F2 * last(P1 + g2 + s),
        ],
        "R Pb": [
            L1 * cos(P1) - f * sin(P1) + P2 * cos(P1 + g2 + s) - F2 * sin(P1 + g2 + s),
            L1 * sin(P1) + f * cos(P1) + P2 * sin(P1 + g2 + s) + F2 * cos(P1 + g2 + s),
        ],
        "Pa R": [
            P1 + L1 * cos(g1) - f * sin(g1) + L2 * cos(g1 + P2 + s) - F2 * sin(g1 + P2 + s),
            L1 * sin(g1) + f * cos(g1) + L2 * sin(g1 + P2 + s) + F2 * cos(g1 + P2 + s),
        ],
        "Pa Pa": [
            P1 + P2 * cos(g1) - f * sin(g1) + L2 * cos(g1 + g2 + s) - F2 * sin(g1 + g2 + s),
            P2 * sin(g1) + f * cos(g1) + L2 * sin(g1 + g2 + s) + F2 * cos(g1 + g2 + s),
        ],
        "Pa Pb": [
            P1 + L1 * cos(g1) - f * sin(g1) + P2 * cos(g1 + g2 + s) - F2 * sin(g1 + g2 + s),
            L1 * sin(g1) + f * cos(g1) + P2 * sin(g1 + g2 + s) + F2 * cos(g1 + g2 + s),
        ],
        "Pb R": [
            P1 * cos(g1) - f * sin(g1) + L2 * cos(g1 + P2 + s) - F2 * sin(g1 + P2 + s),
            P1 * sin(g1) + f * cos(g1) + L2 * sin(g1 + P2 + s) + F2 * cos(g1 + P2 + s),
        ],
        "Pb Pa": [
            (P1 - L1 + P2) * cos(g1) - f * sin(g1) + L2 * cos(g1 + g2 + s) - F2 * sin(g1 + g2 + s),
            (P1 - L1 + P2) * sin(g1) + f * cos(g1) + L2 * sin(g1 + g2 + s) + F2 * cos(g1 + g2 + s),
        ],
        "Pb Pb": [
            P1 * cos(g1) - f * sin(g1) + P2 * cos(g1 + g2 + s) - F2 * sin(g1 + g2 + s),
            P1 * sin(g1) + f * cos(g1) + P2 * sin(g1 + g2 + s) + F2 * cos(g1 + g2 + s),
        ],
    }[" ".join(pair)]


def appendix_rigid_tip(pair):
    """Appendix 4, rigid robot."""
    g1, g2 = GAMMA1, GAMMA2
    return {
        "R R": [L1 * cos(P1) + L2 * cos(P1 + P2), L1 * sin(P1) + L2 * sin(P1 + P2)],
        "R Pa": [P2 * cos(P1) + L2 * cos(P1 + g2), P2 * sin(P1) + L2 * sin(P1 + g2)],
        "R Pb": [L1 * cos(P1) + P2 * cos(P1 + g2), L1 * sin(P1) + P2 * sin(P1 + g2)],
        "Pa R": [P1 + L1 * cos(g1) + L2 * cos(g1 + P2), L1 * sin(g1) + L2 * sin(g1 + P2)],
        "Pa Pa": [P1 + P2 * cos(g1) + L2 * cos(g1 + g2), P2 * sin(g1) + L2 * sin(g1 + g2)],
        "Pa Pb": [P1 + L1 * cos(g1) + P2 * cos(g1 + g2), L1 * sin(g1) + P2 * sin(g1 + g2)],
        "Pb R": [P1 * cos(g1) + L2 * cos(g1 + P2), P1 * sin(g1) + L2 * sin(g1 + P2)],
        "Pb Pa": [(P1 - L1 + P2) * cos(g1) + L2 * cos(g1 + g2), (P1 - L1 + P2) * sin(g1) + L2 * sin(g1 + g2)],
        "Pb Pb": [P1 * cos(g1) + P2 * cos(g1 + g2), P1 * sin(g1) + P2 * sin(g1 + g2)],
    }[" ".join(pair)]


def articulation(joints, slide, k):
    """u_1f, u_1s: of the tip, or where joint Pa is; nodal as printed, smooth w(d_2), w'(d_2) by (4) (errata to 4.3)."""
    if joints[1] != "Pa":
        return F1, S1
    if slide == "nodal":
        return U1[2 * k + 1], U1[2 * k + 2]
    if k == 0:  # the straight part behind a smooth Pb joint
        return sympy.S.Zero, sympy.S.Zero
    x, size, start = Symbol("x"), Symbol("l_e"), Symbol("start")
    t = x / size  # shape functions phi_1 ... phi_4, which the paper does not print
    phi = (1 - 3 * t**2 + 2 * t**3, x * (1 - 2 * t + t**2), 3 * t**2 - 2 * t**3, x * (t**2 - t))
    w = sum(shape * U1[2 * k - 2 + m] for m, shape in enumerate(phi, start=1))
    outside = P1 if joints[0] == "Pb" else L1  # what carries the elements: of a smooth Pb link the part outside
    place = {x: P2 - start - (k - 1) * size}
    sizes = {size: outside / N1, start: L1 - outside}
    return tuple(sympy.expand(value.subs(place).subs(sizes)) for value in (w, sympy.diff(w, x)))


# ---- comparisons


@pytest.mark.parametrize("slide", ["nodal", "smooth"])
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_matrices_and_tips_of_the_nine_robots(pair, slide):
    """Appendix 2 and 4, for every element inside the joints."""
    robot = describe(pair, slide)
    for k1, k2 in elements_inside(pair, slide):
        held = vanishing(1, pair[0], slide, k1) | vanishing(2, pair[1], slide, k2)
        f, s = (value.subs(held) for value in articulation(pair, slide, k2))
        theta_01, theta_02, tip = poses(robot, {"joint1": k1, "joint2": k2})
        first, second = appendix_theta_01(pair[0]), appendix_theta_12(pair[1], f, s)
        assert is_same(theta_01, first)
        assert is_same(theta_02, first * second)  # (6)
        assert is_same(tip[:2, 3], Matrix(appendix_tip(pair, f, s)).subs(held))


@pytest.mark.parametrize("k", range(1, N1 + 1))
def test_misprint_of_the_tip_of_r_pa(k):
    """Appendix 4, R Pa, y: with the printed sin in the last term it is another function."""
    tip = poses(describe(("R", "Pa"), "nodal"), {"joint2": k})[-1]
    printed = appendix_tip(("R", "Pa"), U1[2 * k + 1], U1[2 * k + 2], last=sin)
    assert is_same(tip[:1, 3], printed[:1])
    assert not is_same(tip[1:2, 3], printed[1:])


def test_the_sliding_element_counts():
    """Table 2, Pa: with the node of another element it is another function."""
    tip = poses(describe(("R", "Pa"), "nodal"), {"joint2": 1})[-1]
    assert not is_same(tip[:2, 3], appendix_tip(("R", "Pa"), U1[5], U1[6]))


@pytest.mark.parametrize("joint", JOINTS)
def test_end_of_the_first_link(joint):
    """Appendix 3: the tip of a robot of one link."""
    robot = describe((joint,), "nodal")
    for k in range(1, N1 + 1) if joint == "Pb" else (0,):
        tip = poses(robot, {"joint1": k})[-1]
        assert is_same(tip[:2, 3], Matrix(appendix_end_of_link_1(joint)).subs(vanishing(1, joint, "nodal", k)))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_rigid_robots(pair):
    """Appendix 4, rigid column; it is the flexible one without deflections, as section 3 says in (a)."""
    expected = appendix_rigid_tip(pair)
    tip = poses(describe(pair, "nodal", rigid=True), {})[-1]
    assert is_same(tip[:2, 3], expected)
    assert is_same(Matrix(appendix_tip(pair, 0, 0)).subs(F2, 0), expected)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_matrices_are_those_of_the_lemma(pair):
    """(1) with Table 2, l_0 = 0, u_0 = 0, gives the matrices of the appendix; (1) is the product above (2)."""
    k = 1
    f, s = articulation(pair, "nodal", k)
    first, second = lemma(*table_2(1, pair[0], 0, 0, 0)), lemma(*table_2(2, pair[1], L1, s, f))
    assert is_same(first, appendix_theta_01(pair[0]))
    assert is_same(second, appendix_theta_12(pair[1], f, s))
    chi, theta, u_s, u_f, a = table_2(2, pair[1], L1, s, f)
    steps = [(0, chi, 0), (0, 0, u_f), (u_s, 0, 0), (theta, 0, 0), (0, a, 0)]  # angle, shift along x, along y
    total = eye(4)
    for angle, x, y in steps:
        total = total * planar(cos(angle), sin(angle), x, y)
    assert is_same(total, second)


@pytest.mark.parametrize("second", ["Pa", "Pb"])
@pytest.mark.parametrize("slide", ["nodal", "smooth"])
def test_numbers_for_the_angles(second, slide):
    """With a right angle gamma_2 that is folded in, not a symbol."""
    pair = ("R", second)
    robot = describe(pair, slide, gammas=("gamma1", "pi/2"))
    for k1, k2 in elements_inside(pair, slide):
        held = vanishing(1, "R", slide, k1) | vanishing(2, second, slide, k2)
        f, s = (value.subs(held) for value in articulation(pair, slide, k2))
        tip = poses(robot, {"joint2": k2})[-1]
        assert is_same(tip[:2, 3], Matrix(appendix_tip(pair, f, s)).subs({**held, GAMMA2: sympy.pi / 2}))


def test_live_angles_of_sliding_on_the_base():
    """gamma of Pa on the base can stay an input of the emitted function."""
    links = [{"joint": "Pa", "gamma": "gamma1", "length": 0.5, "rigid": True, "mass": 1, "inertia": 1}]
    file = {"elastogen": 1, "name": "live", "parameters": NOMINAL, "live": ["gamma1"], "planar": {"links": links}}
    (pose, _) = poses(elastogen.load(file), {})
    assert is_same(pose, appendix_theta_01("Pa"))
