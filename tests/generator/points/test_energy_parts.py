"""Energies by component: against sums over mass points along power series in time, and the totals."""

from functools import cache
from math import factorial

import numpy as np
import point_oracle as oracle
import pytest
from free_bodies import beam_points, body_points
from plain_programs import PlainPrograms
from sliding_frames import beam_through_rod, sliding

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError

MOTION = ("q", "qd", "qdd", "q3", "q4", "q5", "q6")


def names(p):
    return (
        ("kinetic_energy", "kinetic_energy_parts") if p == 0 else (f"acceleration_energy_{p}", f"acceleration_energy_parts_{p}")
    )


def arm(rotation="exponential"):
    """A motor, a beam that bends in y and z, and a rigid hand that turns on its tip."""
    modes = [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "z", "shape": "(x/L)**3"}]
    beam = {"type": "modes", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "rotation": rotation, "modes": modes}
    return {
        "elastogen": 1, "name": "parts", "tip": {"link": "hand"},
        "links": [{"name": "base"}, {"name": "beam", "mass": 0.3, "com": [0.01, 0, 0.02], "inertia": [1e-3, 1e-3, 1e-3],
                                     "flexible": beam},
                  {"name": "hand", "mass": 1.0, "com": [0.1, 0.05, -0.02], "inertia": [0.01, 0.02, 0.025]}],
        "joints": [{"name": "turn", "type": "revolute", "axis": [0, 0, 1], "motor": {"inertia": 0.002, "gear_ratio": 5}},
                   {"name": "wrist", "type": "revolute", "axis": [1, 0, 0]}],
    }  # fmt: skip


@cache
def programs():
    return PlainPrograms(elastogen.load(arm()))


def bodies():
    """Per link, its bodies: the frame that rotates with it, and its mass points. Coordinates: turn, y, z, wrist."""
    start = [oracle.turn((0, 0, 1), 0)]

    def section(x):
        s = x / 0.8

        def rotated(q):
            return 0, q[2] * (-3 * s**2 / 0.8), q[1] * (2 * s / 0.8)

        return [*start, oracle.shift(x, 0, 0), oracle.bent(lambda q: (0, q[1] * s**2, q[2] * s**3), rotated)]

    hub = [(m, [*start, oracle.shift(*r)]) for m, r in body_points(0.3, [0.01, 0, 0.02], [1e-3] * 3)]
    beam = [(m, section(x)) for m, x in beam_points(0.35, [0.0, 0.8])]
    hand_frame = [*section(0.8), oracle.turn((1, 0, 0), 3)]
    hand = [(m, [*hand_frame, oracle.shift(*r)]) for m, r in body_points(1.0, [0.1, 0.05, -0.02], [0.01, 0.02, 0.025])]
    return [[(start, hub), (start, beam)], [(hand_frame, hand)]]


def expected_parts(frame, points, motion, p):
    """translation, rotation, coupling, centrifugal, deformation by their definitions."""
    n = p + 1
    q = oracle.jets(motion, n)
    R, _ = oracle.pose(frame, q)
    A = [factorial(k) * oracle.coefficient(R, k).real for k in range(n + 1)]
    spin = [sum(_choose(k, i) * A[i + 1] @ A[k - i].T for i in range(k + 1)) for k in range(p + 1)]  # derivatives of dR R^T
    alpha = oracle.axial(spin[p])
    swing = np.array(oracle.skew(alpha), dtype=float)
    U = A[n] @ A[0].T
    places = []
    for mass, chain in points:
        _, r = oracle.pose(chain, q)
        places.append((mass, oracle.coefficient(r, 0).real, factorial(n) * oracle.coefficient(r, n).real))
    total = sum(m for m, _, _ in places)
    centre, moved = (sum(m * row[k] for m, *row in places) / total for k in range(2))
    parts = np.zeros(5)
    parts[0] = 0.5 * total * moved @ moved
    for m, place, rate in places:
        s = place - centre
        rotated, flung = swing @ s, (U - swing) @ s
        bent = rate - moved - U @ s
        parts[1] += 0.5 * m * rotated @ rotated
        parts[3] += 0.5 * m * flung @ flung
        parts[4] += 0.5 * m * bent @ bent
        parts[2] += m * (rotated @ flung + rotated @ bent + flung @ bent)
    return parts


def _choose(n, k):
    return factorial(n) // factorial(k) // factorial(n - k)


@pytest.mark.parametrize("p", range(5))
def test_parts_and_totals(p):
    rng = np.random.default_rng(41)
    motion = [rng.uniform(-1, 1, 4) * (0.2 if k == 0 else 1.0) for k in range(p + 2)]
    arguments = dict(zip(MOTION, motion, strict=False))
    total, found = (programs()(name, **arguments) for name in names(p))
    drive = 0.5 * 0.05 * motion[-1][0] ** 2
    expected = np.zeros((2, 6))
    for i, link in enumerate(bodies()):
        for frame, points in link:
            expected[i, :5] += expected_parts(frame, points, motion, p)
    expected[0, 5] = drive
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected.max())
    assert found.sum() == pytest.approx(float(total), rel=1e-13)
    if p == 0:
        np.testing.assert_allclose(found[:, 3], 0.0, atol=1e-17)


@pytest.mark.parametrize("name", ["par_table3", "rpb_table3", "puma560_geared"])
def test_parts_sum_to_the_total(name):
    robot = elastogen.load(name)
    functions, rng = PlainPrograms(robot), np.random.default_rng(42)
    motion = {key: rng.uniform(0.1, 0.3, len(robot.coordinates)) for key in MOTION}
    for p in range(5):
        total, parts = (functions(key, **motion) for key in names(p))
        assert parts.sum() == pytest.approx(float(total), rel=1e-12)


@pytest.mark.parametrize("p", [2, 4])
def test_a_beam_that_slides_through_its_joint(p):
    """From third order on, points that pass the clamp jump: energies are those of all points, whatever the mass centre does."""
    rng = np.random.default_rng(43)
    motion = [rng.uniform(-1, 1, 6) * (0.1 if k == 0 else 1.0) for k in range(p + 2)]
    motion[0][1] = 0.55
    programs = PlainPrograms(elastogen.load(sliding("Pb")))
    total, found = (programs(name, **dict(zip(MOTION, motion, strict=False))) for name in names(p))
    (rod_frame, rod), (beam_frame, beam) = beam_through_rod(motion[0])
    expected = np.zeros((2, 6))
    expected[0, :5] = expected_parts(rod_frame, rod, motion, p)
    for body in (beam[:-1], beam[-1:]):  # the payload is a body of its own
        expected[1, :5] += expected_parts(beam_frame, body, motion, p)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected.max())
    assert found.sum() == pytest.approx(float(total), rel=1e-13)


def test_linear_tips_have_no_parts():
    with pytest.raises(OutputError, match="rotate exactly"):
        derive_model(elastogen.load(arm("linear")), ["kinetic_energy_parts"])


def test_in_c(cache_dir):
    model = elastogen.build_model("two_link", outputs=["kinetic_energy_parts", "acceleration_energy_parts_2", "kinetic_energy"])
    q, qd = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    assert model.kinetic_energy_parts(q, qd).sum() == pytest.approx(float(model.kinetic_energy(q, qd)), rel=1e-14)
    assert model.acceleration_energy_parts(2, q, qd, qd, q).shape == (2, 6)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("p", range(4))
def test_rates_of_energies_are_those_of_mass_points(p, k):
    rng = np.random.default_rng(17)
    motion = rng.uniform(-0.5, 0.5, (p + k + 2, 4))
    order = p + 1 + k
    q = oracle.jets(motion, order)
    expected = 0.0
    for parts in bodies():
        for _, points in parts:
            for mass, chain in points:
                _, place = oracle.pose(chain, q)
                r = [factorial(n) * oracle.coefficient(place, n).real for n in range(order + 1)]
                expected += mass / 2 * sum(_choose(k, i) * (r[p + 1 + i] @ r[p + 1 + k - i]) for i in range(k + 1))
    rotor = 0.002 * 25
    rates = motion[:, 0]
    expected += rotor / 2 * sum(_choose(k, i) * rates[p + 1 + i] * rates[p + 1 + k - i] for i in range(k + 1))
    x = dict(zip(MOTION, motion, strict=False))
    assert programs()(f"acceleration_energy_rate_{p}_{k}", **x) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_rates_of_inertia_forces_are_those_of_mass_points(k):
    """Q_i = sum m dr/dq_i . r'' as a power series in time; dr/dq_i by complex steps of the whole motion."""
    rng, h = np.random.default_rng(23), 1e-30
    motion = rng.uniform(-0.5, 0.5, (k + 3, 4))
    expected = np.zeros(4)
    for i in range(4):
        moved = motion.astype(complex)
        moved[0, i] += 1j * h
        q = oracle.jets(moved, k + 2)
        for parts in bodies():
            for _, points in parts:
                for mass, chain in points:
                    _, place = oracle.pose(chain, q)
                    r = [factorial(n) * oracle.coefficient(place, n) for n in range(k + 3)]
                    shares = (_choose(k, j) * (r[j].imag / h) @ r[2 + k - j].real for j in range(k + 1))
                    expected[i] += mass * sum(shares)
    expected[0] += 0.002 * 25 * motion[k + 2, 0]
    found = programs()(f"inertia_force_rate_{k}", **dict(zip(MOTION, motion, strict=False)))
    assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()
