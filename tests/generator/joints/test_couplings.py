"""Coupled joints against the robot with all coordinates, reduced by the chain rule, and against Pinocchio; locked joints."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sympy

import elastogen
from elastogen.generator.description.load_robot import load
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot
from elastogen.verification import second_derivation

BODY = {"mass": 1.3, "com": [0.2, 0.03, -0.05], "inertia": [0.02, 0.03, 0.04]}
OUTPUTS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "gravity_vector", "kinetic_energy",
    "potential_energy", "jacobian", "inverse_dynamics_derivatives",
)  # fmt: skip


def tree(follows: dict[str, str], rotors: bool = False) -> dict[str, Any]:
    """Two arms on a turning base; ``follows`` couples joints of one arm to those of the other, or along one arm."""
    drive = {"motor": {"inertia": 0.02, "gear_ratio": 3}} if rotors else {}
    joints = [
        ("waist", "revolute", "base", "trunk", [0, 0, 1], [0, 0, 0.3]),
        ("left1", "revolute", "trunk", "l1", [0, 1, 0], [0.1, 0.2, 0.4]),
        ("left2", "revolute", "l1", "l2", [1, 0, 0], [0.3, 0, 0]),
        ("left3", "prismatic", "l2", "l3", [0, 0, 1], [0.2, 0.1, 0]),
        ("right1", "revolute", "trunk", "r1", [0, 1, 0], [0.1, -0.2, 0.4]),
        ("right2", "prismatic", "r1", "r2", [1, 0, 0], [0.3, 0, 0]),
        ("right3", "revolute", "r2", "r3", [0.6, 0, 0.8], [0.2, 0, 0.1]),
    ]
    return {
        "elastogen": 1, "name": "arms", "gravity": [0.3, -0.2, -9.8], "parameters": {"ratio": {"value": -0.7, "unit": ""}},
        "links": [{"name": "base"}, *({"name": child, **BODY} for _, _, _, child, _, _ in joints)],
        "joints": [
            {"name": n, "type": t, "parent": p, "child": c, "axis": a, "placement": {"xyz": xyz, "rpy": [0.1, -0.2, 0.3]},
             **({"follows": follows[n]} if n in follows else {}), **drive}
            for n, t, p, c, a, xyz in joints
        ],
    }  # fmt: skip


COUPLINGS = {
    "across": {"right1": "ratio*q('left1') + 0.2", "right3": "2*q('left3')"},
    "along": {"left2": "-0.5*q('left1')", "left3": "0.3*q('left1')**2"},
    "curved": {"right1": "sin(q('left1'))*q('waist')", "right2": "0.2*cos(q('left2')) + 0.1*q('left3')"},
    "in turn": {"right1": "q('left2')", "right2": "0.1*q('right1') + 0.05*q('waist')", "left3": "0"},
}


def functions(robot: Robot) -> dict[str, Any]:
    return {function.name: function for function in derive_model(robot, OUTPUTS).functions}


def positions(names: tuple[str, ...], free: tuple[str, ...], follows: dict[str, str], q: np.ndarray) -> np.ndarray:
    """All coordinates of the uncoupled robot; any number type."""
    known: dict[str, Any] = dict(zip(free, q, strict=True))
    scope = {"sin": np.sin, "cos": np.cos, "ratio": -0.7}

    def value(name: str) -> Any:
        if name not in follows:
            return known[name]
        return eval(follows[name], {"q": value, **scope})

    return np.array([value(name) + 0 * q[0] for name in names])


@pytest.mark.parametrize(("case", "rotors"), [*((case, False) for case in COUPLINGS), ("along", True), ("curved", True)])
def test_couplings_equal_the_reduction_by_the_chain_rule(case: str, rotors: bool) -> None:
    follows = COUPLINGS[case]
    coupled, whole = load(tree(follows, rotors)), load(tree({}, rotors))
    free, names = coupled.coordinate_names, whole.coordinate_names
    assert free == tuple(name for name in names if name not in follows)
    mine, all_ = functions(coupled), functions(whole)
    rng = np.random.default_rng(5)
    q, qd, qdd = (rng.uniform(-1, 1, len(free)) for _ in range(3))
    h = 1e-30

    def J(at: np.ndarray) -> np.ndarray:  # by complex steps; at may be complex itself
        columns = [positions(names, free, follows, at + 1j * h * unit).imag / h for unit in np.eye(len(free))]
        return np.array(columns).T

    G = J(q)
    step = 1e-6
    rate = (J(q + step * qd) - J(q - step * qd)) / (2 * step) @ qd  # error 1e-10 or so, in one term
    full = {"q": positions(names, free, follows, q), "qd": G @ qd, "qdd": G @ qdd + rate}
    state = {"q": q, "qd": qd, "qdd": qdd}
    F = mine["inverse_dynamics"].evaluate(state)["F"]
    assert pytest.approx(G.T @ all_["inverse_dynamics"].evaluate(full)["F"], rel=1e-8, abs=1e-8) == F
    M = mine["mass_matrix"].evaluate({"q": q})["M"]
    assert pytest.approx(G.T @ all_["mass_matrix"].evaluate(full)["M"] @ G, rel=1e-12, abs=1e-12) == M
    for name, result in (("kinetic_energy", "E"), ("potential_energy", "V")):
        values = [
            next(iter(f[name].evaluate({k: s[k] for k in ("q", "qd")}).values())) for f, s in ((mine, state), (all_, full))
        ]
        assert values[0] == pytest.approx(values[1], rel=1e-12), result
    assert next(iter(mine["gravity_vector"].evaluate({"q": q}).values())) == pytest.approx(
        G.T @ next(iter(all_["gravity_vector"].evaluate(full).values())), rel=1e-12, abs=1e-12
    )
    back = mine["forward_dynamics"].evaluate({"q": q, "qd": qd, "F": F})["qdd"]
    assert back == pytest.approx(qdd, rel=1e-10, abs=1e-11)
    tip = mine["jacobian"].evaluate({"q": q})["J"]
    assert tip == pytest.approx(all_["jacobian"].evaluate(full)["J"] @ G, rel=1e-12, abs=1e-13)
    C = mine["coriolis_matrix"].evaluate({"q": q, "qd": qd})["C"]
    M_rate = sum(
        (mine["mass_matrix"].evaluate({"q": q + s * step * qd})["M"] * s / (2 * step) for s in (1, -1)), np.zeros_like(M)
    )
    skew = M_rate - 2 * C
    assert skew + skew.T == pytest.approx(np.zeros_like(M), abs=1e-8)
    assert C @ qd == pytest.approx(
        mine["inverse_dynamics"].evaluate({**state, "qdd": 0 * q})["F"]
        - next(iter(mine["gravity_vector"].evaluate({"q": q}).values())), rel=1e-10, abs=1e-11
    )  # fmt: skip


def test_rotors_of_curved_followers_are_wheels_without_weight() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot, plain = load(tree(COUPLINGS["curved"], rotors=True)), load(tree(COUPLINGS["curved"]))
        free = load(tree(COUPLINGS["curved"], rotors=True), base="floating")
    assert [link.name for link in robot.links[len(plain.links) :]] == ["right1_rotor", "right2_rotor"]
    assert {joint.parent for joint in free.joints if joint.name.endswith("_rotor")} == {free.links[0].name}
    q = np.random.default_rng(3).uniform(-1, 1, 5)
    results = [next(iter(functions(one)["gravity_vector"].evaluate({"q": q}).values())) for one in (robot, plain)]
    np.testing.assert_allclose(results[0], results[1], rtol=1e-13, atol=1e-13)


def test_circles_unknown_leaders_and_wrong_kinds_are_named() -> None:
    wrong = {
        "not in a circle": {"left1": "q('left2')", "left2": "2*q('left1')"},
        "coordinate": {"left1": "q('left9')"},
        "declared parameters": {"left1": "2*waist"},
    }
    for words, follows in wrong.items():
        with pytest.raises(elastogen.RobotError, match=words) as caught:
            load(tree(follows))
        assert "left1" in str(caught.value)
    ball = tree({})
    ball["joints"][1] |= {"type": "spherical", "follows": "q('waist')"}
    del ball["joints"][1]["axis"]
    with pytest.raises(elastogen.RobotError, match="can follow others"):
        load(ball)


def followed_in_a_row(count: int, follows: str) -> dict[str, Any]:
    joint = {"type": "revolute", "axis": [0, 0, 1]}
    joints = [joint | {"name": f"j{k}", "parent": f"l{k}", "child": f"l{k + 1}"} for k in range(count + 1)]
    for k in range(1, count + 1):
        joints[k]["follows"] = follows.replace("Q", f"q('j{k - 1}')")
    links = [{"name": f"l{k}", **BODY} for k in range(count + 2)]
    return {"elastogen": 1, "name": "row", "links": links, "joints": joints}


def test_followers_of_followers_stay_as_short_as_they_are_written() -> None:
    """Powers of sums of powers were multiplied out, which took all memory from eight joints on."""
    robot = load(followed_in_a_row(8, "sin(Q) + Q**2"))
    value = 0.3
    for joint in robot.joints[1:]:
        value = float(np.sin(value) + value**2)
        assert joint.coupling is not None
        (symbol,) = joint.coupling.position.free_symbols
        assert float(joint.coupling.position.evalf(30, subs={symbol: 0.3})) == pytest.approx(value, rel=1e-12)
    assert "q(j0)" in str(load(followed_in_a_row(200, "1.01*Q + 0.1")).joints[-1].coupling)
    for follows in ("sin(Q) + Q**2", "sin(Q)"):  # twice as long with each joint; and one inside the other
        with pytest.raises(elastogen.RobotError, match=r"joints\.j\d+: got .*, expected at most 2000 operations, 100 inside"):
            load(followed_in_a_row(200, follows))


def urdf(inside: str = "<mimic joint='a' multiplier='-2' offset='0.3'/>", leader: str = "revolute") -> str:
    def one(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
        return (
            f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/><origin xyz='0.3 0 0.1'/>"
            f"<axis xyz='0 1 0'/><limit lower='-2' upper='2' effort='1' velocity='1'/>{more}</joint>"
        )

    tensor = "<inertia ixx='.01' iyy='.02' izz='.02' ixy='0' ixz='0' iyz='0'/>"
    inertial = f"<inertial><origin xyz='0.1 0 0.05'/><mass value='1.5'/>{tensor}</inertial>"
    links = "<link name='w'/>" + "".join(f"<link name='{name}'>{inertial}</link>" for name in "xyz")
    joints = one("a", leader, "w", "x") + one("b", "revolute", "x", "y", inside) + one("c", "prismatic", "x", "z")
    return f"<robot name='r'>{links}{joints}</robot>"


def test_mimic_joints_are_those_of_pinocchio(tmp_path: Any) -> None:
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "r.urdf"
    path.write_text(urdf())
    robot = load(path)
    assert robot.coordinate_names == ("a", "c")
    model = pin.buildModelFromXML(urdf())  # all coordinates: a, b, c
    rng = np.random.default_rng(2)
    q, qd, qdd = (rng.uniform(-1, 1, 2) for _ in range(3))
    G = np.array([[1.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
    F = pin.rnea(model, model.createData(), G @ q + [0, 0.3, 0], G @ qd, G @ qdd)
    found = functions(robot)["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": qdd})["F"]
    assert found == pytest.approx(G.T @ F, rel=1e-12, abs=1e-12)


def test_mimic_of_a_fixed_joint_is_fixed(tmp_path: Any) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(urdf(leader="fixed"))
    assert load(path).coordinate_names == ("c",)
    path.write_text(urdf("<mimic joint='nobody'/>"))
    with pytest.raises(elastogen.RobotError, match=r"joints\.b: got 'nobody', expected the coordinate of another joint"):
        load(path)


def test_locked_joints_stay_where_they_are() -> None:
    whole, locked = load(tree({})), load(tree({}), lock={"left1": 0.4, "right2": -0.1})
    in_file = load({**tree({}), "lock": {"left1": 0.4, "right2": -0.1}})
    assert locked.coordinate_names == in_file.coordinate_names == ("waist", "left2", "left3", "right1", "right3")
    rng = np.random.default_rng(8)
    q, qd, qdd = (rng.uniform(-1, 1, 5) for _ in range(3))
    full = {
        key: np.insert(value, [1, 4], at)
        for key, value, at in (("q", q, [0.4, -0.1]), ("qd", qd, [0, 0]), ("qdd", qdd, [0, 0]))
    }
    F = functions(locked)["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": qdd})["F"]
    expected = functions(whole)["inverse_dynamics"].evaluate(full)["F"]
    assert pytest.approx(np.delete(expected, [1, 5]), rel=1e-12, abs=1e-12) == F


def test_followers_of_locked_joints_stay_where_their_leaders_put_them() -> None:
    """Locked after coupling is coupled after locking: with the leaders' values in the formulas of the followers."""
    rng = np.random.default_rng(9)
    follows = {"right1": "sin(q('left1'))*q('waist')", "right3": "2*q('left3') - 0.1"}
    locked = load(tree(follows), lock={"left1": 0.4, "left3": 0.05})
    by_hand = load(tree({"right1": "sin(0.4)*q('waist')", "right3": "0"}), lock={"left1": 0.4, "left3": 0.05})
    assert locked.coordinate_names == by_hand.coordinate_names == ("waist", "left2", "right2")
    x = {key: rng.uniform(-1, 1, 3) for key in ("q", "qd", "qdd")}
    F, expected = (derive_model(robot, ("inverse_dynamics",)).functions[0].evaluate(x)["F"] for robot in (locked, by_hand))
    assert pytest.approx(expected, rel=1e-13, abs=1e-13) == F


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"left9": 0.1}, "did you mean 'left"),
        ({"left1": float("nan")}, "number"),
        ({"left1": [1, 2]}, "number"),
        ({"left1": "x"}, "number"),
    ],
)
def test_wrong_locks_are_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(elastogen.RobotError, match=words):
        load(tree({}), lock=given)


def test_a_coupled_robot_is_compiled_and_simulated(cache_dir: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = elastogen.build_model(tree(COUPLINGS["curved"]), outputs="simulation")
    motion = model.simulate([0.1, 0.2, -0.3, 0.1, 0.2], t=0.5, samples=11)
    assert motion.ok
    assert np.abs(motion.balance).max() < 1e-7 * max(1.0, np.abs(motion.kinetic).max())


def test_closed_forms_and_the_second_derivation_know_that_followers_move() -> None:
    links = [{"name": "base"}, {"name": "a", "mass": 1, "com": [0.3, 0, 0]}, {"name": "b", "mass": 2, "com": [0.2, 0.1, 0]}]
    joints = [
        {"name": "crank", "type": "revolute", "axis": [0, 1, 0]},
        {"name": "gear", "type": "revolute", "axis": [0, 1, 0], "placement": {"xyz": [0.5, 0, 0]}, "follows": "2*q('crank')"},
    ]
    geared = elastogen.load({"elastogen": 1, "name": "geared", "links": links, "joints": joints})
    closed = elastogen.derive(geared)
    # b turns by 3 angles: v = 0.5 u(q) + 3 * 0.2 u(3 q), with u(3 q) . u(q) = cos 2 q
    expected = 0.3**2 + 2 * (0.5**2 + 0.6**2 + 2 * 0.5 * 0.6 * sympy.cos(2 * closed.q[0]))
    assert abs(float((closed.mass_matrix[0] - expected).subs(closed.q[0], 0.7))) < 1e-14
    names = ("inverse_dynamics", "mass_matrix")
    functions = {function.name: function for function in derive_model(geared, names).functions}
    states = {"q": np.array([[0.4]]), "qd": np.array([[0.8]]), "qdd": np.array([[-0.3]])}
    findings = list(second_derivation.check(geared, functions, states, {}))
    assert [finding.verdict for finding in findings] == ["passed", "passed"]
