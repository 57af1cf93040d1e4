"""Standard input data (SID): files written from sums over mass points, by the definitions of the blocks, are read back."""

import numpy as np
import pytest
from mesh_arms import FORE, written

import elastogen

pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'elastogen[mesh]'")

MODES, POINTS, UNITS = 4, 60, {"SI": (1.0, 1.0), "mm_t_s": (1e-3, 1e3)}
NUMBERS = (7, 12, 40)  # of the nodes: the link's own joint, the elbow, another one


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


class Body:
    """Mass points with shapes b_j and second-order shapes b_jk; its nodes are the first points, with rotations."""

    def __init__(self, seed, held=True, shortened=False):
        rng = np.random.default_rng(seed)
        self.m = rng.uniform(0.01, 0.03, POINTS)
        self.r = rng.uniform((0.05, -0.1, -0.1), (0.25, 0.1, 0.1), (POINTS, 3))
        self.r[0], self.r[1] = 0, (0.3, 0.01, 0)
        self.b = rng.normal(size=(MODES, POINTS, 3))
        self.turn = rng.normal(size=(len(NUMBERS), MODES, 3))
        self.second = rng.normal(size=(MODES, MODES, POINTS, 3)) * (0.1 if shortened else 0)
        self.second = self.second + self.second.transpose(1, 0, 2, 3)
        if held:
            self.b[:, 0], self.turn[0], self.second[:, :, 0] = 0, 0, 0
        A = rng.normal(size=(MODES, MODES))
        self.K, self.D = A @ A.T + 5 * np.eye(MODES), 0.01 * (A @ A.T + np.eye(MODES))

    def sum(self, *parts):
        return np.einsum("p,p...->...", self.m, np.multiply(*parts) if len(parts) == 2 else parts[0])

    def blocks(self):
        """m0 and m1 of every block, by their definitions: point after point."""
        m, r, b = self.m, self.r, self.b
        J, J1 = np.zeros((3, 3)), np.zeros((MODES, 3, 3))
        Ct, Cr, Ct1, Cr1 = (np.zeros(s) for s in ((MODES, 3), (MODES, 3), (MODES, MODES, 3), (MODES, MODES, 3)))
        Me, Gr, Ge = np.zeros((MODES, MODES)), np.zeros((3, 3 * MODES)), np.zeros((MODES, 3 * MODES))
        Oe, Oe1 = np.zeros((MODES, 6)), np.zeros((MODES, MODES, 6))

        def omegas(left, place):  # left^T w~ w~ place, by w1^2, w2^2, w3^2, w1 w2, w2 w3, w1 w3
            def form(w):
                return left @ cross(w) @ cross(w) @ place

            e = np.eye(3)
            single = [form(e[k]) for k in range(3)]
            return np.array([*single, *(form(e[a] + e[c]) - single[a] - single[c] for a, c in ((0, 1), (1, 2), (0, 2)))])

        for p in range(POINTS):
            J -= m[p] * cross(r[p]) @ cross(r[p])
            for j in range(MODES):
                bj = b[j, p]
                J1[j] -= m[p] * (cross(r[p]) @ cross(bj) + cross(bj) @ cross(r[p]))
                Ct[j] += m[p] * bj
                Cr[j] += m[p] * np.cross(r[p], bj)
                Gr[:, 3 * j : 3 * j + 3] -= 2 * m[p] * cross(r[p]) @ cross(bj)
                Oe[j] += m[p] * omegas(bj, r[p])
                for k in range(MODES):
                    bk, bjk = b[k, p], self.second[j, k, p]
                    Me[j, k] += m[p] * bj @ bk
                    Ct1[j, k] += m[p] * bjk
                    Cr1[j, k] += m[p] * (np.cross(bk, bj) + np.cross(r[p], bjk))
                    Ge[j, 3 * k : 3 * k + 3] -= 2 * m[p] * bj @ cross(bk)
                    Oe1[j, k] += m[p] * (omegas(bj, bk) + omegas(bjk, r[p]))
        six = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]]
        flat = np.array([[J[a, c]] for a, c in six]), np.array([[[J1[j][a, c]] for j in range(MODES)] for a, c in six])
        mdCM = (m @ r)[:, None], Ct.T[:, :, None]
        return {
            "mdCM": mdCM, "J": flat, "Ct": (Ct, Ct1), "Cr": (Cr, Cr1), "Me": (Me, None), "Gr": (Gr, None), "Ge": (Ge, None),
            "Oe": (Oe, Oe1), "ksigma": (np.zeros((MODES, 1)), None), "Ke": (self.K, None), "De": (self.D, None),
        }  # fmt: skip

    def text(self):
        lines = [
            "3 4 : written by a test",
            "part",
            "new modal =",
            "refmod",
            f"mass = {self.m.sum():.17E}",
            f"nelastq = {MODES}",
        ]
        lines += [f"ielastq ({j + 1:4d}) = Eigen Mode {j + 1}" for j in range(MODES)] + ["end refmod", "frame"]
        for place, number in enumerate(NUMBERS):
            moved = self.b[:, place].T
            first = np.einsum("jka->akj", self.second[:, :, place])
            lines += [f"new node = {number}", "rframe = body ref"]
            lines += taylor("origin", self.r[place][:, None], moved[:, :, None])
            lines += taylor("phi", moved, first, columns=1) + taylor("psi", self.turn[place].T, None, columns=1)
            lines += ["end node"]
        lines += ["end frame"]
        for name, (zeroth, first) in self.blocks().items():
            lines += taylor(name, zeroth, first)
        return "\n".join([*lines, "end modal", "end part"]).replace("E-", "D-").replace("E+", "D+")


def taylor(name, zeroth, first, columns=None):
    rows, width = zeroth.shape
    lines = [name, f"order = {int(first is not None)}", f"nrow = {rows}", f"ncol = {columns or width}", f"nq = {MODES}"]
    lines += ["nqn = 0", "structure = 3"]
    lines += [f"m0( {i + 1}, {k + 1}) ={zeroth[i, k]:.17E}" for i in range(rows) for k in range(width) if zeroth[i, k]]
    if first is not None:
        cells = np.argwhere(first)
        lines += [f"m1( {i + 1}, {j + 1}, {k + 1}) = {first[i, j, k]:.17E}" for i, j, k in cells]
    return [*lines, f"end {name}"]


def robot(folder, text, fore=FORE, **flexible):
    (folder / "arm.SID_FEM").write_text(text)
    link = {"type": "mesh", "standard_input": {"file": "arm.SID_FEM", "units": "SI"}, **flexible}
    place = {"placement": {"xyz": [0.3, 0.01, 0]}}
    joints = [{"name": "hub", "type": "revolute"}, {"name": "elbow", "type": "revolute", "axis": [0, 1, 0], **place}]
    links = [{"name": "base"}, {"name": "arm", "flexible": link}, fore]
    return written(folder, {"elastogen": 1, "name": "casting", "links": links, "joints": joints})


def expected(body, b):
    """The integrals over all points of shapes b."""
    return {
        "mass": body.m.sum(), "first_moments": body.m @ body.r, "second_moments": np.einsum("p,pa,pb", body.m, body.r, body.r),
        "field_integrals": np.einsum("p,jpa->ja", body.m, b),
        "field_position_integrals": np.einsum("p,jpa,pb->jab", body.m, b, body.r),
    }  # fmt: skip


def assert_same(found, body, b, tolerance=1e-12):
    for name, value in expected(body, b).items():
        given = np.array(getattr(found, name), dtype=float)[: len(value)] if np.ndim(value) else float(found.mass)
        np.testing.assert_allclose(given, value, rtol=0, atol=tolerance * np.abs(value).max(), err_msg=name)


def products(found):
    return np.array([[np.array(own, dtype=float) for own in line[:MODES]] for line in found.field_field_integrals[:MODES]])


@pytest.mark.parametrize("seed", [1, 2])
def test_the_integrals_are_those_of_the_points(folder, seed):
    body = Body(seed)
    found = robot(folder, body.text()).link("arm").flexible
    assert_same(found, body, body.b)
    np.testing.assert_allclose(products(found), np.einsum("p,jpa,kpb->jkab", body.m, body.b, body.b), atol=1e-12 * 60)
    np.testing.assert_allclose(np.array(found.stiffness, dtype=float), body.K, rtol=1e-14)
    np.testing.assert_allclose(np.array(found.damping, dtype=float), body.D, rtol=1e-14)
    seat = found.interfaces[0]
    np.testing.assert_allclose(np.array(seat.displacements, dtype=float), body.b[:, 1], atol=1e-14)
    np.testing.assert_allclose(np.array(seat.rotations, dtype=float), body.turn[1], atol=1e-14)


def test_modes_that_move_at_the_joint_are_clamped_there(folder):
    """Shapes in any frame of reference: less their rigid motion with the node of the link's own joint."""
    body = Body(3, held=False)
    found = robot(folder, body.text()).link("arm").flexible
    held = body.b - body.b[:, :1] - np.cross(body.turn[0][:, None, :], body.r[None])
    assert_same(found, body, held)
    np.testing.assert_allclose(products(found), np.einsum("p,jpa,kpb->jkab", body.m, held, held), atol=1e-12 * 60)
    np.testing.assert_allclose(np.array(found.tip_displacements, dtype=float), held[:, 1], atol=1e-13)
    np.testing.assert_allclose(np.array(found.tip_rotations, dtype=float), body.turn[1] - body.turn[0], atol=1e-13)


def test_other_orders_of_columns(folder):
    """Of Oe with w1 w3 before w2 w3, and of Ge by directions instead of by modes: public writers have both."""
    body = Body(2)
    blocks = body.blocks()
    zeroth, first = blocks["Oe"]
    order = [0, 1, 2, 3, 5, 4]
    blocks["Oe"] = zeroth[:, order], first[:, :, order]
    blocks["Ge"] = blocks["Ge"][0].reshape(MODES, MODES, 3).transpose(0, 2, 1).reshape(MODES, -1), None
    body.blocks = lambda: blocks
    found = robot(folder, body.text()).link("arm").flexible
    np.testing.assert_allclose(products(found), np.einsum("p,jpa,kpb->jkab", body.m, body.b, body.b), atol=1e-12 * 60)


def test_geometric_stiffness_is_displacements_of_second_order(folder):
    """First-order parts of Ct, Cr, Oe and phi become b_jk; what Oe does not tell apart adds up."""
    body = Body(4, shortened=True)
    found = robot(folder, body.text()).link("arm").flexible
    assert found.foreshortened
    pairs = [(j, k) for j in range(MODES) for k in range(j, MODES)]
    assert found.monomials[MODES:] == tuple(pairs)
    second = np.array([body.second[j, k] * (1.0 if j != k else 0.5) for j, k in pairs])
    shifts = np.einsum("p,npa->na", body.m, second)
    np.testing.assert_allclose(np.array(found.field_integrals, dtype=float)[MODES:], shifts, atol=1e-12)
    seat = np.array(found.tip_displacements, dtype=float)[MODES:]
    np.testing.assert_allclose(seat, second[:, 1], atol=1e-13)
    N, P = products(found), np.array(found.field_position_integrals, dtype=float)[MODES:]
    np.testing.assert_allclose(np.trace(N, axis1=2, axis2=3), np.einsum("p,jpa,kpa->jk", body.m, body.b, body.b), atol=1e-10)
    whole = np.einsum("p,npa,pb->nab", body.m, second, body.r)
    true_N = np.einsum("p,jpa,kpb->jkab", body.m, body.b, body.b)
    for n, (j, k) in enumerate(pairs):
        share = 1.0 if j != k else 0.5
        np.testing.assert_allclose(P[n] - P[n].T, whole[n] - whole[n].T, atol=1e-12)
        both = P[n] + P[n].T + share * (N[j, k] + N[j, k].T)
        true = whole[n] + whole[n].T + share * (true_N[j, k] + true_N[j, k].T)
        np.testing.assert_allclose(both, true, atol=1e-11)


def test_a_slender_beam_that_shortens(folder):
    """A bar along x that bends in y and in z and becomes shorter: stiffer by its spin, as its second-order shapes say."""
    body = Body(10)
    x = np.linspace(0, 0.3, POINTS)
    body.r = np.stack([x, 0.003 * (-1.0) ** np.arange(POINTS), 0.002 * (-1.0) ** (np.arange(POINTS) // 2)], axis=1)
    body.r[0], body.r[1] = 0, (0.3, 0.01, 0)
    s = body.r[:, 0] / 0.3
    body.b[:], body.second[:] = 0, 0
    for j, (axis, power) in enumerate(((1, 2), (2, 2), (1, 3), (2, 3))):
        body.b[j, :, axis] = s**power
        body.b[j, :, 0] = -body.r[:, axis] * power * s ** (power - 1) / 0.3
        for k, (other, also) in enumerate(((1, 2), (2, 2), (1, 3), (2, 3))):
            if other == axis:
                body.second[j, k, :, 0] = -power * also / (power + also - 1) * s ** (power + also - 1) / 0.3
    found = robot(folder, body.text(), fore={**FORE, "mass": 1e-12, "inertia": (1e-14 * np.eye(3)).tolist()})
    flexible = found.link("arm").flexible
    assert flexible.foreshortened
    model = elastogen.build_model(found, outputs=["inverse_dynamics"], cflags="-O0")
    rate, small = 10.0, 1e-6
    q, qd = np.zeros(model.nq), np.zeros(model.nv)
    q[1], qd[0] = small, rate
    pushed = (model.inverse_dynamics(q, qd, 0 * qd) - model.inverse_dynamics(0 * q, qd, 0 * qd))[1] / small
    moving = np.einsum("p,pa,pa", body.m, body.b[0], body.b[0])
    shorter = -np.einsum("p,p,p", body.m, body.second[0, 0, :, 0], body.r[:, 0])
    assert pushed == pytest.approx(body.K[0, 0] + rate**2 * (shorter - moving), rel=1e-8)
    assert shorter > 0.5 * moving


@pytest.mark.parametrize("units", UNITS)
def test_units_and_frame(folder, units):
    """In mm, t and s, turned and shifted: the same body after the turn."""
    body, (length, mass) = Body(5), UNITS[units]
    turned = Body(5)
    c, s = np.cos(0.4), np.sin(0.4)
    R, p = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), np.array([0.01, 0.02, -0.03])
    body.r = body.r - p @ R  # R r + p has the joint where it was
    turned.r, turned.b, turned.turn = body.r @ R.T + p, turned.b @ R.T, turned.turn @ R.T
    body.m, body.r, body.b, body.K, body.D = body.m / mass, body.r / length, body.b / length, *(
        x / (mass * length**2) for x in (body.K, body.D)
    )  # fmt: skip
    place = {"hub": {"nodes": [NUMBERS[0]]}, "elbow": {"nodes": [NUMBERS[1]]}}
    frame = {"xyz": p.tolist(), "rpy": [0, 0, 0.4]}
    given = {"file": "arm.SID_FEM", "units": units}
    found = robot(folder, body.text(), standard_input=given, frame=frame, interfaces=place).link("arm").flexible
    assert_same(found, turned, turned.b)
    lever = np.array([0.3, 0.01, 0]) - turned.r[1]
    there = turned.b[:, 1] + np.cross(turned.turn[1], lever)
    np.testing.assert_allclose(np.array(found.tip_displacements, dtype=float), there, atol=1e-12)


def test_a_model_of_it_moves(folder):
    """The mass matrix at rest has the blocks of the file; everything that is derived agrees with the description."""
    body = Body(6)
    blocks = body.blocks()
    given = robot(folder, body.text())
    model = elastogen.build_model(given, outputs=["mass_matrix", "inverse_dynamics", "forward_dynamics"], cflags="-O0")
    fore = FORE["mass"]
    M, J, Cr = model.mass_matrix(np.zeros(model.nq)), blocks["J"][0], blocks["Cr"][0]
    com = np.array([0.3, 0.01, 0]) + FORE["com"]
    assert M[0, 0] == pytest.approx(J[2, 0] + FORE["inertia"][2][2] + fore * (com[0] ** 2 + com[1] ** 2), rel=1e-12)
    moved = body.b[:, 1] + np.cross(body.turn[1], FORE["com"])
    hinged = Cr[:, 2] + fore * (com[0] * moved[:, 1] - com[1] * moved[:, 0]) + body.turn[1] @ FORE["inertia"][2]
    np.testing.assert_allclose(M[0, 1 : 1 + MODES], hinged, rtol=1e-11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("end refmod", "", 1), "a number|mass|expected"),
        (lambda text: text.replace("nelastq = 4", "nelastq = 5"), "nq = 5|columns"),
        (lambda text: text[: text.rindex("\n", 0, len(text) // 2)], "end of the file within"),
        (lambda text: text.replace("m0( 1, 1) =", "m0( 9, 1) =", 1), "line .* indices up to"),
        (lambda text: text.replace("new node = 12", "new node = 7"), "occurs once"),
        (lambda text: text.replace("\nMe\n", "\nMx\n").replace("end Me", "end Mx"), "no Me"),
        (lambda text: text.replace("mass = ", "mass = -"), "mass above zero"),
        (lambda text: "solid nothing\n" + text.split("new modal")[0], "new modal"),
    ],
)
def test_bad_files(folder, change, message):
    with pytest.raises(elastogen.RobotError, match=message):
        robot(folder, change(Body(7).text()))


@pytest.mark.parametrize("block", ["Cr", "Gr", "Ge", "Oe", "mdCM"])
def test_blocks_that_contradict_each_other(folder, block):
    body = Body(8)
    blocks = body.blocks()

    zeroth, first = blocks[block]
    if block == "Oe":
        first[0, 1, 0] += 1.0  # not its transpose
    else:
        blocks[block] = (zeroth, first * 1.1) if block == "mdCM" else (zeroth * 1.1, first)
    body.blocks = lambda: blocks
    with pytest.raises(elastogen.RobotError, match="contradict"):
        robot(folder, body.text())


def test_stiffness_that_only_one_block_has_is_told(folder):
    """Me and Oe differ, and nothing else tells of geometric stiffness: M is as the file says, with a warning."""
    body = Body(8)
    blocks = body.blocks()
    blocks["Me"] = (blocks["Me"][0] * 1.1, None)
    body.blocks = lambda: blocks
    with pytest.warns(elastogen.RobotWarning, match=r"\(Oe\) that differ by 0\.\d+ from what the masses"):
        found = robot(folder, body.text()).link("arm").flexible
    np.testing.assert_allclose(np.trace(products(found), axis1=2, axis2=3), blocks["Me"][0], rtol=1e-9)


@pytest.mark.parametrize(
    ("flexible", "message"),
    [
        ({"interfaces": {"elbow": {"nodes": [99]}}}, "a node of the file"),
        ({"interfaces": {"elbow": {"sphere": {"point": [0, 0, 0], "radius": 1}}}}, "one node of the file"),
        ({"modes": 3}, "no modes beside"),
        ({"frame": {"xyz": [0.5, 0, 0]}}, "no node of the file at"),
        ({"standard_input": {"file": "arm.SID_FEM", "units": "inch"}}, "SI"),
        ({"standard_input": {"file": "other.SID_FEM", "units": "SI"}}, "no file"),
    ],
)
def test_bad_links(folder, flexible, message):
    with pytest.raises(elastogen.RobotError, match=message):
        robot(folder, Body(9).text(), **flexible)
