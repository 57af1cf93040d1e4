"""Matrix exponentials of joints on beams and of coupled joints: against power series of plain kinematics, by complex steps."""

from functools import cache

import numpy as np
import point_oracle as oracle
import pytest
import sympy
from sliding_frames import beam_through_rod, rod_on_beam, sliding

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError

NAMES = ("transforms", "jacobian", "jacobian_rate", "velocities", "accelerations", "arguments", "factors", "differentials",
         "second_differentials", "transfer_factors")  # fmt: skip
D = {"Pa": 5, "Pb": 1}  # place of d in q


@cache
def programs(kind):
    wanted = [f"exponential_{name}" for name in NAMES]
    found = derive_model(elastogen.load(sliding(kind)), wanted).functions
    return {function.name.removeprefix("exponential_"): function for function in found}


def state(n, seed):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, n) * (0.1 if k == 0 else 1.0) for k in range(3)]


def chains(kind, q):
    """The frames of both links and of the tip, by plain products."""
    if kind == "Pa":
        (beam, _), (rod, points) = rod_on_beam(q)
        return [beam, rod, [*rod, oracle.shift(0.3, 0, 0)]]
    (rod, _), (beam, points) = beam_through_rod(q)
    return [rod, beam, points[-1][1]]


def plain(kind, *motion):
    """T and, with rates, dT/dt and d2T/dt2 of the tip, at complex coordinates too."""
    R, p = oracle.pose(chains(kind, np.real(motion[0]))[-1], oracle.jets(motion, 2))
    return [factor * np.vstack([np.column_stack([oracle.coefficient(R, k), oracle.coefficient(p, k)]), [0, 0, 0, k == 0]])
            for k, factor in enumerate((1, 1, 2))]  # fmt: skip


@pytest.mark.parametrize("kind", ["Pa", "Pb"])
def test_kinematics(kind):
    q, qd, qdd = state(6, 51)
    q[D[kind]] = 0.55
    arguments = {"q": q, "qd": qd, "qdd": qdd}

    def value(name):
        function = programs(kind)[name]
        return function.evaluate({a.name: arguments[a.name] for a in function.inputs})

    frames = chains(kind, q)
    expected = {
        "transforms": plain(kind, q)[0].real,
        "jacobian": oracle.jacobian(frames[-1], q).real,
        "jacobian_rate": oracle.jacobian_rate(frames[-1], q, qd),
        "velocities": np.array([oracle.velocity(chain, q, qd).real for chain in frames]),
        "accelerations": np.array([oracle.acceleration(chain, q, qd, qdd).real for chain in frames]),
    }
    for name, judge in expected.items():
        (result,) = value(name).values()
        result = result[-1] if name == "transforms" else result
        np.testing.assert_allclose(result, judge, rtol=0, atol=1e-12 * np.abs(judge).max(), err_msg=name)
    on_the_way, slopes = _way_to_the_tip(kind), value("arguments")["dsdq"]
    (first,) = value("differentials").values()
    h = 1e-30
    for a, unit in enumerate(np.eye(6)):  # dT/dq_a = sum_i A_ki ds_i/dq_a
        step = plain(kind, q + 1j * h * unit)[0].imag / h
        np.testing.assert_allclose(np.einsum("i,iab->ab", slopes[on_the_way, a], first), step, rtol=0, atol=1e-12)
    factors = value("transfer_factors")
    columns = np.einsum("nij,njk,nkl,nl->in", factors["V1"], factors["V2"], factors["V3"], factors["M_v"])
    np.testing.assert_allclose(columns @ slopes[on_the_way], expected["jacobian"][:3], rtol=0, atol=1e-12)


def _way_to_the_tip(kind):
    """Of the exponentials, those between base and tip: a rod on a beam does not move with the beam's own tip."""
    names = elastogen.derive(sliding(kind)).by_matrix_exponentials.with_elements({"joint2": 2} if kind == "Pa" else {}).names
    return [k for k, name in enumerate(names) if kind == "Pb" or not name.startswith("link1.")]


@pytest.mark.parametrize("kind", ["Pa", "Pb"])
def test_second_differentials(kind):
    """d2T/dt2 = sum A_kij ds_i/dt ds_j/dt + sum A_ki d2s_i/dt2."""
    q, qd, _ = state(6, 52)
    q[D[kind]] = 0.55
    way, found, h = _way_to_the_tip(kind), programs(kind), 0.05
    s = [found["arguments"].evaluate({"q": q + k * h * qd})["s"][way] for k in range(-2, 3)]
    # along a straight line in q arguments are polynomials of degree 4 at most: these differences are exact
    rate = (s[0] - 8 * s[1] + 8 * s[3] - s[4]) / (12 * h)
    acceleration = (-s[0] + 16 * s[1] - 30 * s[2] + 16 * s[3] - s[4]) / (12 * h**2)
    first, second = (next(iter(found[name].evaluate({"q": q}).values())) for name in ("differentials", "second_differentials"))
    total = np.einsum("i,iab->ab", acceleration, first) + np.einsum("i,j,ijab->ab", rate, rate, second)
    expected = plain(kind, q, qd)[2].real
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert (np.abs(acceleration).max() > 1) == (kind == "Pa")  # place and slope are not linear functions


@pytest.mark.parametrize(
    ("inner", "outer"),
    [("smooth", {"slide": "nodal"}), ("nodal", None), ("nodal", {"foreshortening": True}), ("smooth", {})],
)
def test_they_are_the_recursions(inner, outer):
    """Nodal joints, foreshortening, a rod that slides on a beam which slides through its joint."""
    beam = {"length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
    rod = {"length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
    if outer is None or "foreshortening" in outer:
        links = [
            {"joint": "R", **rod},
            {"joint": "Pb", "gamma": 0.4, "slide": inner, **beam, **({} if outer is None else outer)},
        ]
    elif outer:
        links = [{"joint": "R", **beam}, {"joint": "Pa", "gamma": 0.4, **outer, **rod}]
    else:
        links = [{"joint": "Pb", "gamma": 0.4, "reduce_to": 2, **beam}, {"joint": "Pa", "gamma": 0.3, **rod}]
    robot = elastogen.load({"elastogen": 1, "name": "sliding", "planar": {"links": links}})
    pairs = {"exponential_transforms": "forward_kinematics", "exponential_jacobian": "jacobian"}
    found = {f.name: f for f in derive_model(robot, [*pairs, *pairs.values()]).functions}
    (q, _, _), sliding_ones = state(len(robot.coordinates), 53), [j.name for j in robot.joints if j.name != "joint1"]
    for name in (*sliding_ones, *(["joint1"] if links[0]["joint"] == "Pb" else [])):
        q[robot.coordinate_names.index(name)] = 0.55
    for ours, judge in pairs.items():
        result, expected = (next(iter(found[name].evaluate({"q": q}).values())) for name in (ours, judge))
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12, err_msg=ours)


def test_a_coupled_joint_follows_its_leader():
    """Its exponential's argument is the coupling: q2 = 0.2 - 3 sin q1."""
    robot = elastogen.load({
        "elastogen": 1, "name": "geared", "links": [{"name": "base"}, {"name": "one", "mass": 1}, {"name": "two", "mass": 1}],
        "joints": [{"name": "lead", "type": "revolute", "axis": [0, 0, 1]},
                   {"name": "follow", "type": "revolute", "axis": [0, 1, 0], "placement": {"xyz": [0.5, 0, 0]},
                    "follows": "0.2 - 3*sin(q('lead'))"}],
        "tip": {"link": "two", "xyz": [0.3, 0, 0.1]},
    })  # fmt: skip
    wanted = ("exponential_accelerations", "exponential_jacobian", "exponential_arguments")
    found = {function.name: function for function in derive_model(robot, wanted).functions}

    def sine(x):
        return oracle.exponential(np.array([0, 0, x], dtype=object))[1, 0]

    frame = [
        oracle.turn((0, 0, 1), 0),
        oracle.shift(0.5, 0, 0),
        oracle.bent(lambda q: (0, 0, 0), lambda q: (0, sine(q[0]) * -3.0 + 0.2, 0)),
        oracle.shift(0.3, 0, 0.1),
    ]
    q, qd, qdd = (np.array([x]) for x in (0.3, -0.7, 1.1))
    np.testing.assert_allclose(
        found["exponential_jacobian"].evaluate({"q": q})["J"], oracle.jacobian(frame, q).real, atol=1e-13
    )
    a = found["exponential_accelerations"].evaluate({"q": q, "qd": qd, "qdd": qdd})["A"][-1]
    np.testing.assert_allclose(a, oracle.acceleration(frame, q, qd, qdd).real, rtol=0, atol=1e-13)
    s = found["exponential_arguments"].evaluate({"q": q})
    np.testing.assert_allclose(s["s"], [0.3, 0.2 - 3 * np.sin(0.3)], rtol=1e-15)
    np.testing.assert_allclose(s["dsdq"], [[1], [-3 * np.cos(0.3)]], rtol=1e-15)


def test_closed_forms_name_the_parts():
    forms = elastogen.derive(sliding("Pa")).by_matrix_exponentials
    with pytest.raises(OutputError, match="elements="):
        forms.names  # noqa: B018
    forms = forms.with_elements({"joint2": 1}).with_tip("screw")
    assert forms.names[-3:] == ("joint2.x", "joint2.y", "joint2.angle")
    q2, q3, q6 = sympy.symbols("q2 q3 q6", real=True)
    w = q2 * (3 * (q6 / 0.4) ** 2 - 2 * (q6 / 0.4) ** 3) + q3 * 0.4 * ((q6 / 0.4) ** 3 - (q6 / 0.4) ** 2)
    point = {q2: 0.3, q3: -0.2, q6: 0.25}
    assert forms.arguments[-3] == q6
    assert float((forms.arguments[-2] - w).subs(point)) == pytest.approx(0, abs=1e-15)
    assert float((forms.arguments[-1] - w.diff(q6)).subs(point)) == pytest.approx(0, abs=1e-14)
    with pytest.raises(OutputError, match="expected 'split'"):
        forms.with_tip("spiral")


def test_in_c(cache_dir):
    """In single precision, and out of the joint's range nothing."""
    model = elastogen.build_model(sliding("Pb"), outputs=["exponential_jacobian", "jacobian"], precision="float")
    q = np.array([0.3, 0.55, 0.02, -0.1, 0.03, 0.2])
    np.testing.assert_allclose(model.evaluate("exponential_jacobian", q=q), model.jacobian(q), atol=1e-6)
