"""Stable inversion: the simulated tip goes where it should, the linear case has a closed form, wrong input is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gauged_arms import beam, two_flexible_links
from scipy.integrate import quad

import elastogen
from elastogen.motion import causal_tip_inversion, cubic
from elastogen.tip_control.fastest_move import fastest_tip_move
from elastogen.tip_control.inversion import internal_rates, smooth_move, tip_inversion
from elastogen.tip_control.tip_path import tip_path

ONE: dict[str, Any] = {
    "elastogen": 1,
    "name": "hub_and_beam",
    "links": [{"name": "base"}, {"name": "link", "flexible": beam(1.0, 20.0, 2)}],
    "joints": [
        {
            "name": "hub",
            "type": "revolute",
            "child": "link",
            "axis": [0, 0, 1],
            "motor": {"inertia": 0.3},
            "limits": {"effort": 12.0, "velocity": 20.0},
        }
    ],
}
UNDAMPED = {**beam(1.0, 20.0, 1), "damping": {"ratio": 0.0}}
ONE_MODE = {**ONE, "name": "one_mode", "links": [{"name": "base"}, {"name": "link", "flexible": UNDAMPED}]}
SHORTER = {**beam(0.4429, 114.8, 1), "mass_per_length": 0.6523, "tip": {"mass": 0.2353}, "damping": {"ratio": 0.01}}
LONGER = {**beam(0.6222, 80.39, 1), "mass_per_length": 0.617, "tip": {"mass": 0.4273}, "damping": {"ratio": 0.01}}
TWO = ([0.3, 1.2], [0.45, 1.3])


@pytest.fixture(scope="module")
def one(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(ONE)


@pytest.fixture(scope="module")
def two(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(two_flexible_links(2))


@pytest.fixture(scope="module")
def upright(cache_dir: Path) -> elastogen.Model:
    """In a vertical plane: weights bend the arm at rest."""
    return elastogen.build_model({**two_flexible_links(1), "name": "upright", "gravity": [0, -9.81, 0]})


def period(model: elastogen.Model, start: list[float]) -> float:
    """Of the lowest mode with free joints [s]."""
    q = np.zeros(model.nv)
    q[list(model.driven)] = start
    frequencies = model.modes(q).hertz
    return 1.0 / float(frequencies[frequencies > 0][0])


def simulated_tip(model: elastogen.Model, motion: Any) -> Any:
    t = motion.t - motion.t[0]
    done = model.simulate(motion.q[0], t=t, F=elastogen.Table(t, motion.F, "linear"), rtol=1e-8, atol=1e-10)
    return model.forward_kinematics(done.q)[:, -1, :3, 3]


@pytest.mark.parametrize("robot", ["two", "upright"])
def test_the_tip_follows_a_move_of_one_period(robot: str, request: pytest.FixtureRequest) -> None:
    """By forces alone, without feedback: 1e-3 of the stroke is asked for."""
    model = request.getfixturevalue(robot)
    motion = tip_inversion(model, *TWO, period(model, TWO[0]))
    stroke = np.linalg.norm(motion.tip[-1] - motion.tip[0])
    assert np.abs(simulated_tip(model, motion) - motion.tip).max() < 5e-4 * stroke
    moving = np.abs(motion.qd[:, list(model.driven)]).max(axis=1) > 1e-4 * np.abs(motion.qd).max()
    assert motion.t[moving][0] < -0.01  # the drives begin before the tip does


def test_long_strokes_are_reached_where_changes_end_in_rounding_errors(cache_dir: Path) -> None:
    """The equations are solved to 1e-15, and the last changes stay near 1e-9: they were taken for no solution."""
    arm = {
        "elastogen": 1,
        "name": "long_stroke",
        "gravity": [0, 0, 0],
        "links": [
            {"name": "base"},
            {"name": "l0", "mass": 0.31, "flexible": SHORTER},
            {"name": "l1", "mass": 0.2498, "flexible": LONGER},
        ],
        "joints": [{"name": f"j{k}", "type": "revolute", "child": f"l{k}", "axis": [0, 0, 1], "motor": {"inertia": inertia}}
                   for k, inertia in enumerate((0.2934, 0.2851))],
    }  # fmt: skip
    model, start = elastogen.build_model(arm), [-0.84256, 1.775455]
    motion = tip_inversion(model, start, [-0.98204, 1.69745], period(model, start))
    stroke = np.linalg.norm(motion.tip[-1] - motion.tip[0])
    assert np.abs(simulated_tip(model, motion) - motion.tip).max() < 1e-3 * stroke


def loaded(name: str, lengths: Any, masses: Any, stiff: Any, loads: Any, hubs: Any, motors: Any) -> dict[str, Any]:
    """Two links of one mode each, with a load at both tips."""
    rows = zip(lengths, masses, stiff, loads, hubs, strict=True)
    links = [
        {"name": f"l{k}", "mass": hub, "flexible": {**beam(L, EI, 1), "mass_per_length": mu, "tip": {"mass": load},
                                                    "damping": {"ratio": 0.01}}}
        for k, (L, mu, EI, load, hub) in enumerate(rows)
    ]  # fmt: skip
    joints = [{"name": f"j{k}", "type": "revolute", "child": f"l{k}", "axis": [0, 0, 1], "motor": {"inertia": inertia}}
              for k, inertia in enumerate(motors)]  # fmt: skip
    return {"elastogen": 1, "name": name, "gravity": [0, 0, 0], "links": [{"name": "base"}, *links], "joints": joints}


LOADED = loaded(
    "loaded", (0.8175, 0.6982), (0.4444, 0.7552), (21.81, 80.02), (0.4895, 0.176), (0.279, 0.3371), (0.3935, 0.1497)
)


def test_a_tip_without_exact_inverse_errs_by_a_thousandth_of_its_way(cache_dir: Path) -> None:
    """Held by its tip, this arm has a hundredth of its inertia left, and deflections of centimetres turn the sign of that."""
    model = elastogen.build_model(LOADED)
    start, goal = [0.26, 1.37], [0.28, 1.77]
    seconds = period(model, start)
    motion = tip_inversion(model, start, goal, seconds)
    stroke = np.linalg.norm(motion.tip[-1] - motion.tip[0])
    assert stroke > 0.25
    assert 1e-5 * stroke < motion.error < 1e-3 * stroke
    away = np.linalg.norm(simulated_tip(model, motion) - motion.tip, axis=1).max()
    assert away < 1e-3 * stroke
    assert away == pytest.approx(motion.error, rel=0.1)
    assert motion.sampled(1e-3).error == motion.error
    for tolerance, message in (
        (0.0, r"exactly on its path for more than \d\d% of the stroke\. With its tip held, 1\.1% of the inertia"),
        (1e-6, r"and none errs by less than \d\.\de-0\d of it\. With .* a greater tolerance= \(it is 1e-06\)"),
    ):
        with pytest.raises(elastogen.ModelError, match=message):
            tip_inversion(model, start, goal, seconds, tolerance=tolerance)
    for wrong in (-1e-3, 0.2, np.nan, "x"):
        with pytest.raises(elastogen.ModelError, match="tolerance"):
            tip_inversion(model, start, goal, seconds, tolerance=wrong)  # type: ignore[arg-type]


STIFFER = (0.4768, 0.4546), (0.553, 0.7844), (75.32, 32.89), (0.407, 0.179), (0.1508, 0.3393), (0.1684, 0.3004)


def test_forces_that_alternate_on_the_grid_are_no_motion(cache_dir: Path) -> None:
    """The grid's equations have a solution with 2000 N m that alternates from time to time: the arm does not follow it."""
    model = elastogen.build_model(loaded("alternating", *STIFFER))
    motion = tip_inversion(model, [-0.842, 1.124], [-0.491, 0.968], 0.2153)
    stroke = np.linalg.norm(motion.tip[-1] - motion.tip[0])
    assert np.linalg.norm(simulated_tip(model, motion) - motion.tip, axis=1).max() < 1e-3 * stroke
    assert np.abs(motion.F).max() < 100.0


def move_by_chance(seed: int, bending: float) -> tuple[elastogen.Model, list[Any]]:
    """A loaded arm and a move of at most 1 rad in one period of its lowest mode with held joints.

    ``bending``: deflection of a link over its length, as far as the joints' motion alone makes it.
    """
    rng = np.random.default_rng(seed)
    ranges = ((0.4, 0.9), (0.3, 0.8), (20.0, 150.0), (0.1, 0.5), (0.1, 0.4), (0.05, 0.4))
    parts = [rng.uniform(*between, 2) for between in ranges]
    model = elastogen.build_model(loaded(f"chance{seed}", *parts), cflags="-O0")
    start = np.array([rng.uniform(-1, 1), rng.uniform(0.5, 2.0)])
    way = rng.uniform(-0.4, 0.4, 2)
    q = np.zeros(4)
    q[list(model.driven)] = start
    seconds = 1.0 / float(model.modes(q, joints="locked").hertz[0])
    small = causal_tip_inversion(model, start, start + 0.01 * way, seconds, rounds=1)
    bent = float((np.abs(small.q[:, list(model.elastic)]) / parts[0]).max())
    return model, [start, start + min(0.01 * bending / bent, 1.0 / np.abs(way).max()) * way, seconds]


def away_of_stroke(model: elastogen.Model, motion: Any) -> float:
    """Greatest distance of the simulated tip from its path, over the stroke."""
    stroke = np.linalg.norm(motion.tip[-1] - motion.tip[0])
    return float(np.linalg.norm(simulated_tip(model, motion) - motion.tip, axis=1).max() / stroke)


def test_large_errors_are_reduced_where_squares_alone_leave_too_much(cache_dir: Path) -> None:
    """Links bend by 9 % of their length; least squares of the errors leave 1.1e-3 of the stroke at one time."""
    model, move = move_by_chance(106, 0.1)
    assert away_of_stroke(model, tip_inversion(model, *move)) < 1e-3


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [*range(100, 112), 144])
def test_loaded_arms_by_chance_whose_links_bend_by_a_tenth(seed: int, cache_dir: Path) -> None:
    model, move = move_by_chance(seed, 0.125)
    assert away_of_stroke(model, tip_inversion(model, *move)) < 1e-3


def test_an_exact_motion_says_so(one: elastogen.Model) -> None:
    assert tip_inversion(one, [0.0], [0.2], period(one, [0.0])).error == 0.0


def test_the_tip_of_one_link_follows_its_arc(one: elastogen.Model) -> None:
    """One drive moves the tip along its path; across it, a straight beam leaves its arc by what it bends."""
    motion = tip_inversion(one, [0.0], [0.2], period(one, [0.0]))
    tip = simulated_tip(one, motion)
    tangents = np.gradient(motion.tip, axis=0)
    moving = np.linalg.norm(tangents, axis=1) > 1e-9
    along = np.einsum("ij,ij->i", (tip - motion.tip)[moving], tangents[moving]) / np.linalg.norm(tangents[moving], axis=1)
    assert np.abs(along).max() < 1e-3 * 0.2


def test_the_linear_case_agrees_with_the_integral_over_past_and_future() -> None:
    """Small moves of one link with one mode.

    The joint is q = y - c x, and the mode obeys a x'' - b x = d y'' with a pair of rates +-r: x(t) is the integral of
    -exp(-r |t - s|) / (2 r) over the forcing, past and future.
    """
    model = elastogen.build_model(ONE_MODE)
    goal, seconds = 1e-4, 0.25
    motion = tip_inversion(model, [0.0], [goal], seconds, before=0.3, after=0.3)
    zero = np.zeros(2)
    M, K = model.mass_matrix(zero), model.stiffness_matrix()
    slope = model.jacobian(zero)[1]  # of the tip: y = slope[0] q + slope[1] x
    c = slope[1] / slope[0]
    a, d = M[1, 1] - M[1, 0] * c, M[1, 0]  # a x'' + K x = -d theta'', theta = y / slope[0]
    rate = np.sqrt(-K[1, 1] / a)
    path = smooth_move(np.zeros(1), np.array([goal]), seconds)
    for place in (-0.02, 0.05, 0.125, 0.2, 0.27):
        row = int(np.argmin(np.abs(motion.t - place)))
        t = motion.t[row]
        kernel = lambda s, t=t: np.exp(-rate * abs(t - s)) * float(path([s], 2)[0, 0])  # noqa: E731
        points = [t] if 0 < t < seconds else None
        expected = d / a / (2 * rate) * quad(kernel, 0, seconds, points=points, epsabs=1e-14)[0]
        assert motion.q[row, 1] == pytest.approx(expected, rel=1e-5)


def test_a_table_of_the_period_is_the_same_motion(two: elastogen.Model) -> None:
    motion = tip_inversion(two, *TWO, period(two, TWO[0]))
    table = motion.sampled(1e-3)
    assert np.diff(table.t) == pytest.approx(1e-3)
    for name in ("q", "qd", "qdd", "F"):
        whole, part = getattr(motion, name), getattr(table, name)
        near = np.array([np.interp(table.t, motion.t, column) for column in whole.T]).T
        assert part == pytest.approx(near, abs=2e-3 * np.abs(whole).max())
    free = [k for k in range(two.nv) if k not in two.driven]
    rows = two.inverse_dynamics(table.q, table.qd, table.qdd)[:, free]
    assert np.abs(rows).max() < 1e-3 * np.abs(table.F).max()


def test_the_fastest_move_uses_the_drive_and_no_more(one: elastogen.Model) -> None:
    motion = fastest_tip_move(one, [0.0], [0.2])
    assert 0.98 * 12.0 < np.abs(motion.F).max() <= 12.0
    slower = fastest_tip_move(one, [0.0], [0.2], force=6.0)
    assert slower.t[-1] - slower.after > motion.t[-1] - motion.after
    with pytest.raises(elastogen.ModelError, match="expected one or 1 numbers above 0"):
        fastest_tip_move(one, [0.0], [0.2], force=-1.0)


def test_internal_rates_come_in_pairs_without_damping() -> None:
    model = elastogen.build_model(ONE_MODE)
    rates = internal_rates(model, tip_path(model, np.zeros((1, 1)), "test"))
    assert np.sort(rates.real) == pytest.approx(np.array([-1, 1]) * np.abs(rates.real).max(), rel=1e-9)


def test_an_arm_that_vibrates_while_its_tip_rests_is_named() -> None:
    """An undamped beam beside the rod whose end is the tip: nothing at the tip ends its vibration."""
    rod = {"mass": 1.0, "com": [0.4, 0, 0], "inertia": [0.01, 0.1, 0.1]}
    weld = {"type": "fixed", "parent": "hub"}
    model = elastogen.build_model(
        {
            "elastogen": 1,
            "name": "tailed",
            "links": [{"name": "base"}, {"name": "hub", **rod}, {"name": "tail", "flexible": UNDAMPED}, {"name": "rod", **rod}],
            "joints": [
                {"name": "j", "type": "revolute", "parent": "base", "child": "hub", "axis": [0, 0, 1]},
                {"name": "w1", **weld, "child": "tail"},
                {"name": "w2", **weld, "child": "rod"},
            ],
            "tip": {"link": "rod", "xyz": [0.7, 0, 0]},
        }
    )
    hertz = model.modes(np.zeros(2), joints="locked").hertz[0]
    with pytest.raises(elastogen.ModelError, match=f"tailed vibrates at {hertz:.3g} Hz and neither grows nor decays"):
        tip_inversion(model, [0.0], [0.3], 0.3)


def test_what_cannot_be_inverted_is_named(one: elastogen.Model, two: elastogen.Model) -> None:
    for arguments, message in [
        (([0.0],), "goal="),
        (([0.0, 1.0], [0.2, 1.0], 0.3), r"expected \(1,\)"),
        (([0.0], [np.nan], 0.3), "goal"),
        (([0.0], [0.2], 0.0), "positive"),
        ((cubic([[0.0], [0.2]], [0.0, 0.3], start_velocity=[1.0]),), "at rest"),
    ]:
        with pytest.raises(elastogen.ModelError, match=message):
            tip_inversion(one, *arguments)
    with pytest.raises(elastogen.ModelError, match="singular"):
        tip_inversion(two, [0.0, 0.0], [0.1, 0.0], 0.3)
    with pytest.raises(elastogen.ModelError, match="does not come to rest"):
        tip_inversion(one, [0.0], [0.2], 0.25, before=0.02)
    with pytest.raises(elastogen.ModelError, match="quaternions"):
        tip_inversion(elastogen.build_model({**ONE, "name": "free_hub", "base": "floating"}), [0.0], [0.2], 0.3)
