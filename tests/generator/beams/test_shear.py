"""Beams that shear: against the equations of Timoshenko's beam, integrated from the clamp to the tip (shooting)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import elastogen
from elastogen.generator.beams import shear
from elastogen.generator.beams.natural_frequencies import natural_frequencies, numeric
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.robot import Body

L, MU, EI, GA, J = 0.6, 12.0, 9000.0, 4.0e6, 0.03
THICK = {
    "length": L, "mass_per_length": MU, "EI": EI, "shear": True, "GA": GA,
    "rotary_inertia": True, "polar_inertia_per_length": 2 * J,
}  # fmt: skip
EIGENFUNCTIONS = [{"direction": "y", "eigenfunction": k} for k in (1, 2, 3)]
TAPERED = {"EI": f"{EI}*(1 - x/(2*L))**3", "GA": f"{GA}*(1 - x/(2*L))", "mass_per_length": f"{MU}*(1 - x/(2*L))"}


def robot(**flexible):
    return elastogen.load({
        "elastogen": 1, "name": "thick", "links": [{"name": "base"}, {"name": "beam", "flexible": {**THICK, **flexible}}],
        "joints": [{"name": "hub", "type": "revolute", "child": "beam"}],
    })  # fmt: skip


def body(**flexible):
    return robot(**flexible).link("beam").flexible


def shooting(near, tip=0.0, taper=0.0):
    """The frequency [rad/s] next to one, of w' = psi + Q/GA, EI psi' = M, M' = -Q - j w^2 psi, Q' = -mu w^2 w."""

    def at_tip(omega):
        def rates(x, y):
            w, psi, M, Q = y.reshape(4, 2)
            narrow = 1 - taper * x / L
            inertia = J * omega**2 * psi
            return np.concatenate([psi + Q / (GA * narrow), M / (EI * narrow**3), -Q - inertia, -MU * narrow * omega**2 * w])

        start = np.array([[0, 0], [0, 0], [1, 0], [0, 1.0]]).ravel()
        end = solve_ivp(rates, (0, L), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1].reshape(4, 2)
        return np.linalg.det([end[2], end[3] - tip * omega**2 * end[0]])

    return brentq(at_tip, near * (1 - 1e-3), near * (1 + 1e-3), xtol=1e-9, rtol=1e-13)


@pytest.mark.parametrize("tip", [0.0, 5.0])
@pytest.mark.parametrize(
    "kind", [{"type": "modes", "modes": EIGENFUNCTIONS}, {"type": "elements", "elements": 16, "reduce_to": 3}],
    ids=["eigenfunctions", "elements"],
)  # fmt: skip
def test_frequencies_are_those_of_shooting(kind, tip):
    more = {"eigenfunctions": "tip_mass"} if tip and kind["type"] == "modes" else {}
    found = natural_frequencies(body(**kind, **more, tip={"mass": tip}), Body(tip))
    np.testing.assert_allclose(found, [shooting(f, tip) for f in found], rtol=1e-8)
    slender = natural_frequencies(body(**kind, **more, tip={"mass": tip}, GA=1e3 * GA), Body(tip))
    assert slender[2] > 1.1 * found[2]  # shear is not small here


def test_a_beam_that_does_not_shear_is_far_off():
    bernoulli = {"shear": False, "GA": None, "rotary_inertia": False, "type": "modes", "modes": EIGENFUNCTIONS}
    given = {key: value for key, value in {**THICK, **bernoulli}.items() if value is not None}
    joint = {"name": "hub", "type": "revolute", "child": "beam"}
    links = [{"name": "base"}, {"name": "beam", "flexible": given}]
    stiff = elastogen.load({"elastogen": 1, "name": "stiff", "links": links, "joints": [joint]}).link("beam").flexible
    found = natural_frequencies(body(type="modes", modes=EIGENFUNCTIONS))
    assert natural_frequencies(stiff)[2] / found[2] == pytest.approx(1.39, abs=0.005)


def test_tapered_beams_and_shapes_with_rotations_of_their_own():
    found = natural_frequencies(body(type="elements", elements=16, reduce_to=2, **TAPERED))
    np.testing.assert_allclose(found, [shooting(f, taper=0.5) for f in found], rtol=1e-8)
    powers = [{"direction": "z", "shape": f"(x/L)**{k}", "rotation": 0} for k in range(1, 8)]
    powers += [{"direction": "z", "shape": f"(x/L)**{k}"} for k in range(2, 8)]  # sections rotate with the slope
    found = natural_frequencies(body(type="modes", modes=powers))[:1]
    np.testing.assert_allclose(found, [shooting(f) for f in found], rtol=1e-8)


@pytest.mark.parametrize("stiff", [1e-2, 1, 1e8])
def test_one_element_has_the_exact_stiffness(stiff):
    """Force and moment on the tip, from a beam that shears more than it bends to one that hardly shears: nothing locks."""
    one = body(type="elements", elements=1, GA=GA * stiff)
    C = np.linalg.inv(numeric(one.stiffness, {}))
    sheared = L / (GA * stiff)
    np.testing.assert_allclose(C, [[L**3 / (3 * EI) + sheared, L**2 / (2 * EI)], [L**2 / (2 * EI), L / EI]], rtol=1e-12)
    assert one.coordinates == ("y1", "y1_rotation")
    assert one.tip_rotations == ((0, 0, 0), (0, 0, 1))


def test_elements_converge_to_the_same_beam():
    exact = shooting(natural_frequencies(body(type="modes", modes=EIGENFUNCTIONS))[0])
    errors = [natural_frequencies(body(type="elements", elements=n))[0] / exact - 1 for n in (10, 20)]
    assert 0 < errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_gauges_read_the_curvature_of_the_sections():
    """Bent by a force at its tip: strain -y M/EI at the gauge, and the section rotates by psi, not by the slope of the axis."""
    given = {**THICK, "type": "elements", "elements": 2}
    arm = elastogen.load({
        "elastogen": 1, "name": "thick", "links": [{"name": "base"}, {"name": "beam", "flexible": given}],
        "joints": [{"name": "hub", "type": "revolute", "child": "beam", "axis": [0, 0, 1]}],
        "points": [{"name": "gauge", "link": "beam", "x": 0.1, "strain": {"direction": "y", "offset": 0.02}}],
    })  # fmt: skip
    q = np.zeros(5)
    K = numeric(arm.link("beam").flexible.stiffness, {})
    q[1:] = np.linalg.solve(K, [0, 0, 1000.0, 0])
    derived = {f.name: f for f in derive_model(arm, ("point_strains", "point_jacobians", "inverse_dynamics")).functions}
    (strain,) = derived["point_strains"].evaluate({"q": q}).values()
    np.testing.assert_allclose(strain, -0.02 * 1000.0 * (L - 0.1) / EI, rtol=1e-10)
    (J,) = derived["point_jacobians"].evaluate({"q": q}).values()
    np.testing.assert_allclose(J[0, 5, 1:] @ q[1:], 1000.0 * (L * 0.1 - 0.1**2 / 2) / EI, rtol=1e-10)
    np.testing.assert_allclose(J[0, 5, 0], 1.0, rtol=1e-12)


def test_closed_forms_and_regressors_know_of_shear():
    """Symbols of beam and shear at their values give the numbers; parameters of identification give the forces."""
    arm = robot(type="elements", elements=1)
    state = {"q": np.array([0.1, 0.01, 0.02]), "qd": np.array([0.3, 0.2, 0.1]), "qdd": np.array([1.0, 2, 3])}
    names = ("regressor", "inertial_parameters", "inverse_dynamics")
    derived = {f.name: f for f in derive_model(arm, names).functions}
    Y, p, F = (next(iter(derived[name].evaluate(state).values())) for name in names)
    np.testing.assert_allclose(Y @ p, F, rtol=1e-11)
    closed = elastogen.derive(arm, symbolic="all")
    np.testing.assert_allclose(closed.lambdify("inverse_dynamics")(*state.values()), F, rtol=1e-11)
    assert "GAy1" in {symbol.name for symbol in closed.inverse_dynamics.free_symbols}


@pytest.mark.parametrize(
    ("changes", "where", "expected"),
    [
        ({"shear": False}, "GA", "shear: true beside GA"),
        ({"GA": None}, "flexible", "GA_y"),
        ({"GA": -1.0}, "GA", "above zero"),
        ({"GA_y": 1.0}, "flexible", "either GA or GA_y"),
        ({"type": "elements", "modes": None, "elements": 3, "degree": 5}, "degree", "degree 3"),
        ({"type": "elements", "modes": None, "elements": 3, "directions": ["extension"], "EA": 1e6}, "shear", "in y or z"),
        ({"modes": [{"direction": "y", "shape": "x**2", "rotation": "1 + x"}]}, "modes[0]", "rotation that vanishes"),
        ({"modes": [{"direction": "y", "eigenfunction": 1, "rotation": "x"}]}, "rotation", "beside the shape"),
        ({"modes": [{"direction": "y", "shape": "x**2", "rotation": "x"}], "shear": False, "GA": None}, "flexible", "slope"),
    ],
)
def test_what_cannot_be_is_refused(changes, where, expected):
    given = {**THICK, "type": "modes", "modes": EIGENFUNCTIONS, **changes}
    with pytest.raises(RobotError) as caught:
        elastogen.load({
            "elastogen": 1, "name": "thick",
            "links": [{"name": "base"}, {"name": "beam", "flexible": {k: v for k, v in given.items() if v is not None}}],
            "joints": [{"name": "hub", "type": "revolute", "child": "beam"}],
        })  # fmt: skip
    assert where in str(caught.value)
    assert expected in str(caught.value)


def test_an_eigenfunction_that_is_not_found_is_refused(monkeypatch):
    monkeypatch.setattr(shear, "_FAR", 0.0)
    with pytest.raises(RobotError, match=r"modes\[0\]\.eigenfunction.*apart from its neighbours"):
        robot(type="modes", modes=EIGENFUNCTIONS)
