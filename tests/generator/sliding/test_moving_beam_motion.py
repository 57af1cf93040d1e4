"""Motion of beams on telescopic joints in compiled models: energy, geometric stiffening, damping."""

import numpy as np
import pytest

import elastogen
from elastogen.generator.functions.derivation import derive_model

FUNCTIONS = ("simulation", "damping_matrix", "stiffness_matrix", "mass_matrix")
RATIOS = [0.01, 0.03, 0.05, 0.07]
HUB = {"joint": "R", "length": 0.2, "rigid": True, "mass": 1.0, "inertia": 0.05}


def described(name, hub=HUB, payload=0.0, gravity=(0, -9.81), **more):
    link = {"joint": "Pb", "gamma": 0, "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2, **more}
    planar = {"links": [hub, link], "payload": {"mass": payload}, "gravity": list(gravity)}
    return {"elastogen": 1, "name": name, "planar": planar}


def built(name, hub=HUB, payload=0.0, outputs=FUNCTIONS, gravity=(0, -9.81), **more):
    return elastogen.build_model(described(name, hub, payload, gravity, **more), outputs=outputs)


def matrices(description, q, *names):
    """Matrices of a robot by its programs, nothing compiled."""
    for function in derive_model(elastogen.load(description), names).functions:
        yield from function.evaluate({"q": np.array(q)}).values()


@pytest.fixture(scope="module")
def stiffened():
    return built("stiffened", payload=0.1, foreshortening=True)


@pytest.fixture(scope="module")
def modal():
    """Damped by ratios; the payload is not part of the modes that they are of."""
    return built("modal", payload=0.1, foreshortening=True, damping={"ratios": RATIOS})


@pytest.fixture(scope="module")
def proportional():
    return built("proportional", damping={"rayleigh": {"alpha": 0.3, "beta": 0.004}})


@pytest.fixture(scope="module")
def nodal():
    return built("nodal", slide="nodal", elements=3, damping={"rayleigh": {"alpha": 0.3, "beta": 0.004}})


def start(model, d=0.4):
    """Turning, moving out, bent."""
    q, qd = np.zeros(model.nq), np.zeros(model.nq)
    q[:2], qd[:2] = [0.3, d], [1.0, 0.3]
    q[-2:] = [0.04, 0.1]
    return q, qd


def test_free_motion_with_foreshortening_conserves_energy(stiffened):
    q, qd = start(stiffened)
    s = stiffened.simulate(q, qd, t=0.4, rtol=1e-10, atol=1e-11)
    assert abs(s.q[-1, 1] - q[1]) > 0.1
    assert np.abs(s.balance).max() < 1e-7 * s.kinetic.max()
    energy = s.kinetic + s.potential
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-7 * s.kinetic.max())


@pytest.mark.parametrize("method", ["tsit5", "generalized_alpha"])
def test_damped_motion_balances(modal, method):
    q, qd = start(modal)
    options = {"rtol": 1e-9, "atol": 1e-10} if method == "tsit5" else {"step": 1e-4}
    s = modal.simulate(q, qd, t=0.3, method=method, **options)
    assert s.dissipated[-1] > 0.02 * s.kinetic.max()
    assert np.diff(s.dissipated).min() > -1e-12
    assert np.abs(s.balance).max() < {"tsit5": 1e-7, "generalized_alpha": 1e-3}[method] * s.dissipated[-1]


# ---- geometric stiffening


@pytest.mark.parametrize("foreshortening", [True, False])
def test_fast_spin(foreshortening):
    """At 8 rad/s, three times what the loaded link stands without foreshortening, it is stiff with it."""
    name = "stiff_spin" if foreshortening else "soft_spin"
    heavy = HUB | {"inertia": 500.0}  # goes on turning
    model = built(name, heavy, 0.1, ("simulation",), (0, 0), foreshortening=foreshortening)
    q, qd = np.zeros(model.nq), np.zeros(model.nq)
    q[1], qd[0] = 0.75, 8.0
    q[-2:] = [0.01, 0.02]
    held = elastogen.PD(q, [0, 1e5, *[0] * 4], [0, 1e3, *[0] * 4])
    if foreshortening:
        s = model.simulate(q, qd, t=2.0, F=held)
        assert np.abs(s.q[:, -2]).max() < 0.02
        np.testing.assert_allclose(s.qd[:, 0], 8.0, rtol=1e-3)
    else:
        with pytest.warns(elastogen.ModelWarning, match="loses its stiffness"):
            s = model.simulate(q, qd, t=2.0, F=held, on_failure="keep")
        assert np.nanmax(np.abs(s.q[:, -2])) > 1.0


# ---- damping


@pytest.mark.parametrize("name", ["modal", "proportional", "nodal"])
def test_damping_matrix(name, request):
    """Symmetric, positive semidefinite, nothing for the joints; damping forces are its product with the velocities."""
    model = request.getfixturevalue(name)
    rng = np.random.default_rng(3)
    for d in (0.15, 0.45, 0.79):
        q, qd = 0.05 * rng.normal(size=model.nq), rng.normal(size=model.nq)
        q[1] = d
        D = model.damping_matrix(q)
        np.testing.assert_allclose(D, D.T, rtol=0, atol=1e-14 * np.abs(D).max())
        scale = 1 / np.sqrt(np.maximum(np.diag(D), 1e-30))
        values = np.linalg.eigvalsh(scale[:, None] * D * scale)
        assert values.min() > -1e-12
        assert np.sum(values > 1e-9) == 4  # the coordinates of the part outside; of the nodal one, all but those inside
        assert not D[:2].any()
        forces = model.friction_forces(q, qd)
        np.testing.assert_allclose(forces, D @ qd, rtol=0, atol=1e-13 * np.abs(forces).max())
        zero = np.zeros(model.nq)
        friction = model.inverse_dynamics(q, qd, zero) - model.inverse_dynamics(q, -qd, zero)  # all else is even in qd
        np.testing.assert_allclose(friction, 2 * forces, rtol=0, atol=1e-10 * np.abs(forces).max())


@pytest.mark.parametrize("d", [0.1, 0.35, 0.8])
def test_ratios_hold_at_every_length(modal, d):
    """Eigenvalues of the part outside, joints held; without the payload, which M has beside the beam."""
    q = np.zeros(modal.nq)
    q[1] = d
    M, K, D = (f(q)[2:, 2:] for f in (modal.mass_matrix, modal.stiffness_matrix, modal.damping_matrix))
    M[-2, -2] -= 0.1
    A = np.block([[0 * M, np.eye(4)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.linalg.eigvals(A)
    values = sorted(values[values.imag > 0], key=abs)
    np.testing.assert_allclose([-v.real / abs(v) for v in values], RATIOS, rtol=1e-8)


@pytest.mark.parametrize("name", ["proportional", "nodal"])
def test_rayleigh(name, request):
    """D = alpha M + beta K of the elastic coordinates at every length outside."""
    model = request.getfixturevalue(name)
    for d in (0.2, 0.5, 0.75):
        q = np.zeros(model.nq)
        q[1] = d
        M, K, D = (f(q)[2:, 2:] for f in (model.mass_matrix, model.stiffness_matrix, model.damping_matrix))
        free = np.diag(K) > 0
        block = np.ix_(free, free)
        np.testing.assert_allclose(D[block], 0.3 * M[block] + 0.004 * K[block], rtol=1e-12, atol=1e-14 * np.abs(D).max())
        assert not D[~free].any()


def test_rayleigh_with_a_tip_body():
    """M is that of the link with its tip body."""
    flexible = {"type": "elements", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2,
                "tip": {"mass": 0.2, "com": [0.01, 0, 0], "inertia": [1e-3, 1e-3, 2e-3]},
                "damping": {"rayleigh": {"alpha": 0.3, "beta": 0.0}}}  # fmt: skip
    described = {
        "elastogen": 1, "name": "tip_body", "links": [{"name": "beam", "flexible": flexible}],
        "joints": [{"name": "slide", "type": "telescopic", "gamma": 0}],
    }  # fmt: skip
    M, D = matrices(described, [0.5, 0, 0, 0, 0], "mass_matrix", "damping_matrix")
    np.testing.assert_allclose(D[1:, 1:], 0.3 * M[1:, 1:], rtol=1e-12, atol=1e-16)


def test_given_matrix_is_constant():
    given = np.diag([1.0, 2.0, 3.0, 4.0])
    for d in (0.2, 0.7):
        (D,) = matrices(described("given", damping={"matrix": given.tolist()}), [0, d, 0, 0, 0, 0], "damping_matrix")
        np.testing.assert_array_equal(D[2:, 2:], given)


def test_ratios_of_a_nodal_link_hold_for_every_element_inside():
    """Both sides of the clamped element vibrate with the given ratio."""
    held = described("held", elements=3, slide="nodal", damping={"ratio": 0.03})
    for d in (0.2, 0.5, 0.75):
        q = np.zeros(10)
        q[1] = d
        found = matrices(held, q, "mass_matrix", "stiffness_matrix", "damping_matrix")
        M, K, D = (matrix[2:, 2:] for matrix in found)
        free = np.diag(K) > 0
        assert free.sum() == 4
        assert not D[~free].any()
        M, K, D = (matrix[np.ix_(free, free)] for matrix in (M, K, D))
        A = np.block([[0 * M, np.eye(4)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        values = np.linalg.eigvals(A)
        np.testing.assert_allclose(-values.real / np.abs(values), 0.03, rtol=1e-7)
    with pytest.raises(elastogen.RobotError, match=r"5 ratios.*expected 1 to 4, at most one per coordinate"):
        built("wrong", elements=3, slide="nodal", damping={"ratios": [0.01] * 5})


def test_derivatives_include_the_damping(modal):
    q, qd = start(modal)
    qdd = 0.3 * np.random.default_rng(6).normal(size=modal.nq)
    by_q, by_qd, _ = modal.inverse_dynamics_derivatives(q, qd, qdd)
    h = 1e-5
    for j, unit in enumerate(np.eye(modal.nq)):
        ahead, back = (modal.inverse_dynamics(q + s * h * unit, qd, qdd) for s in (1, -1))
        np.testing.assert_allclose(by_q[:, j], (ahead - back) / (2 * h), rtol=0, atol=1e-6 * np.abs(by_q).max())
        ahead, back = (modal.inverse_dynamics(q, qd + s * h * unit, qdd) for s in (1, -1))
        np.testing.assert_allclose(by_qd[:, j], (ahead - back) / (2 * h), rtol=0, atol=1e-8 * np.abs(by_qd).max())


def test_the_identity_of_force_rates_needs_a_clamp_at_rest():
    """Q' = dE2/dq''' + 1/2 dE1/dq' (docs/equations/acceleration-energies.md): nodes that move along the material break it."""
    robot = elastogen.load("rpb_table3")
    names = ["inertia_forces", "acceleration_energy_1", "acceleration_energy_2", "inertia_force_rate_1"]
    functions = {function.name: function for function in derive_model(robot, names).functions}
    parameters = {p.name: p.value for p in robot.live_parameters}
    n, rng = len(robot.coordinates), np.random.default_rng(4)
    state = dict(zip(("q", "qd", "qdd", "q3"), 0.1 * rng.normal(size=(4, n)), strict=True))
    state["q"][1] = 0.45

    def at(name, moved=None, along=None, by=0.0):
        given = dict(state)
        if moved is not None:
            given[moved] = given[moved] + by * along
        (found,) = functions[name].evaluate(given, parameters).values()
        return found

    def slopes(name, by):
        """Derivatives of a polynomial of fourth order: exact but for rounding."""
        h, weights = 0.5, {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
        return np.array([sum(w * at(name, by, unit, k * h) for k, w in weights.items()) / h for unit in np.eye(n)])

    def of_energies():
        return slopes("acceleration_energy_2", "q3") + 0.5 * slopes("acceleration_energy_1", "qd")

    def in_time(h):
        """The rate of the forces along the motion, by differences."""
        forces = []
        for t in (-2 * h, -h, h, 2 * h):
            q, qd, qdd, q3 = (state[name] for name in ("q", "qd", "qdd", "q3"))
            moved = {"q": q + t * qd + t**2 / 2 * qdd + t**3 / 6 * q3, "qd": qd + t * qdd + t**2 / 2 * q3, "qdd": qdd + t * q3}
            forces.append(next(iter(functions["inertia_forces"].evaluate(moved, parameters).values())))
        return (forces[0] - 8 * forces[1] + 8 * forces[2] - forces[3]) / (12 * h)

    state["qd"][1] = 0.3
    rate = at("inertia_force_rate_1")
    assert np.abs(in_time(1e-3) - rate).max() < 1e-8 * np.abs(rate).max()
    assert np.abs(of_energies() - rate).max() > 1e-3 * np.abs(rate).max()
    state["qd"][1] = 0.0
    rate = at("inertia_force_rate_1")
    assert np.abs(of_energies() - rate).max() < 1e-9 * np.abs(rate).max()
