"""Trajectories: continuity and boundary values exactly, limits respected, time optimal, and the emitted C is the same."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS

from elastogen.build.files.trajectory import render_trajectory, write_trajectory
from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.errors import ModelError
from elastogen.runtime.motion.profiles import bang_bang, bang_bang_input, s_curve, trapezoidal
from elastogen.runtime.motion.trajectory import Trajectory, cubic, four_three_four, quintic, septic

EXACT = 1e-12
RNG = np.random.default_rng(8)
POINTS = RNG.uniform(-2, 2, (6, 3))
TIMES = np.cumsum([0.5, 0.4, 1.1, 0.7, 0.9, 0.3])
VELOCITIES, ACCELERATIONS, JERKS = RNG.uniform(-1, 1, (3, 2, 3))
ENDS = {
    "start_velocity": VELOCITIES[0],
    "end_velocity": VELOCITIES[1],
    "start_acceleration": ACCELERATIONS[0],
    "end_acceleration": ACCELERATIONS[1],
}
SPLINES = {  # maker, highest boundary derivative, highest continuous derivative
    "cubic": (partial(cubic, start_velocity=VELOCITIES[0], end_velocity=VELOCITIES[1]), 1, 2),
    "cubic with accelerations": (partial(cubic, **ENDS), 2, 2),
    "4-3-4": (partial(four_three_four, **ENDS), 2, 2),
    "quintic": (partial(quintic, **ENDS), 2, 4),
    "septic": (partial(septic, **ENDS, start_jerk=JERKS[0], end_jerk=JERKS[1]), 3, 6),
}
LIMITS: dict[str, Any] = {"velocity": [1.0, 2.0, 0.5], "acceleration": [3.0, 1.5, 4.0]}
PROFILES = {
    "trapezoidal": (partial(trapezoidal, **LIMITS), 2),
    "s_curve": (partial(s_curve, **LIMITS, jerk=[20.0, 5.0, 8.0]), 3),
    "bang_bang": (partial(bang_bang, acceleration=LIMITS["acceleration"]), 2),
}


def error(found: Any, expected: Any) -> float:
    found, expected = np.asarray(found), np.asarray(expected)
    return float(np.max(np.abs(found - expected)) / max(1.0, np.max(np.abs(expected))))


def sides(trajectory: Trajectory, derivative: int) -> tuple[np.ndarray, np.ndarray]:
    """A derivative at the inner breaks from the left and from the right."""
    left = []
    for s, length in enumerate(np.diff(trajectory.breaks)[:-1]):
        piece = Trajectory(np.array([0.0, length]), trajectory.coefficients[s : s + 1])
        left.append(piece(length, derivative))
    return np.array(left), trajectory(trajectory.breaks[1:-1], derivative)


# ---- through given configurations


@pytest.mark.parametrize("name", SPLINES)
@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_splines_interpolate_and_are_smooth(name: str, count: int) -> None:
    make, boundary, smooth = SPLINES[name]
    if name == "4-3-4" and count == 2:
        pytest.skip("needs three points")
    trajectory = make(POINTS[:count], TIMES[:count])
    assert error(trajectory(TIMES[:count]), POINTS[:count]) < EXACT
    given = (None, VELOCITIES, ACCELERATIONS, JERKS)
    for order in range(1, boundary + 1):
        ends = trajectory([TIMES[0], TIMES[count - 1]], order)
        assert np.max(np.abs(ends - given[order])) < EXACT * trajectory.peaks(order).max()
    if len(trajectory.breaks) > 2:
        for order in range(smooth + 1):
            jump = np.subtract(*sides(trajectory, order))
            assert np.max(np.abs(jump)) < EXACT * trajectory.peaks(order).max()


def test_degrees_are_those_of_the_names() -> None:
    degrees = [np.flatnonzero(np.abs(c).max(axis=0) > 1e-9).max() for c in SPLINES["4-3-4"][0](POINTS, TIMES).coefficients]
    assert degrees == [4, 3, 3, 3, 4]
    assert [SPLINES[name][0](POINTS, TIMES).degree for name in ("cubic", "quintic", "septic")] == [3, 5, 7]


def test_cubic_is_the_clamped_spline_of_scipy() -> None:
    from scipy.interpolate import CubicSpline

    other = CubicSpline(TIMES, POINTS, bc_type=((1, VELOCITIES[0]), (1, VELOCITIES[1])))
    mine, t = SPLINES["cubic"][0](POINTS, TIMES), np.linspace(TIMES[0], TIMES[-1], 50)
    for order in range(3):
        assert error(mine(t, order), other(t, order)) < 1e-12


def test_point_to_point_quintic_is_the_minimum_jerk_polynomial() -> None:
    trajectory, s = quintic([[1.0], [3.0]], [0.0, 2.0]), np.linspace(0, 1, 21)
    expected = 1 + 2 * (10 * s**3 - 15 * s**4 + 6 * s**5)
    assert error(trajectory(2 * s)[:, 0], expected) < EXACT


def test_a_long_septic_stays_accurate() -> None:
    points, times = RNG.uniform(-1, 1, (40, 2)), np.cumsum(RNG.uniform(0.05, 0.5, 40))
    trajectory = septic(points, times)
    assert error(trajectory(times), points) < EXACT
    assert error(trajectory(times[[0, -1]], 2), np.zeros((2, 2))) < 1e-9


# ---- profiles


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("synchronize", [True, False])
@pytest.mark.parametrize("scale", [1e-3, 0.05, 1.0, 20.0])
def test_profiles_start_and_end_at_rest_within_limits(name: str, synchronize: bool, scale: float) -> None:
    make, order = PROFILES[name]
    points = scale * np.array([[0.1, -0.4, 0.3], [1.2, 0.8, -0.7]])
    trajectory = make(points, synchronize=synchronize)
    ends = [trajectory.breaks[0], trajectory.breaks[-1]]
    assert np.max(np.abs(trajectory(ends) - points)) < EXACT * max(1.0, scale)
    assert np.max(np.abs(trajectory(ends, 1))) < EXACT
    for derivative in range(order):
        assert np.max(np.abs(np.subtract(*sides(trajectory, derivative)))) < EXACT * max(1.0, scale)
    if name == "s_curve":
        assert np.max(np.abs(trajectory(ends, 2))) < 1e-11
    bounds = {1: "velocity", 2: "acceleration", 3: "jerk"}
    given = make.keywords
    for derivative, key in bounds.items():
        if key in given:
            assert (trajectory.peaks(derivative) <= np.array(given[key]) * (1 + 1e-12)).all(), key


def minimum_times(name: str, points: np.ndarray) -> list[float]:
    make, _ = PROFILES[name]
    alone = []
    for j in range(points.shape[1]):
        limits = {key: value[j] for key, value in make.keywords.items()}
        alone.append(make.func(points[:, [j]], **limits).duration)
    return alone


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("scale", [0.02, 1.0, 10.0])
def test_some_limit_is_active_at_any_time_and_the_slowest_axis_decides(name: str, scale: float) -> None:
    """Time optimal: velocity, acceleration or jerk is at its limit everywhere; synchronized axes arrive together."""
    make, order = PROFILES[name]
    points = scale * np.array([[0.0, 0.0, 0.0], [1.0, 0.7, -0.5]])
    times = minimum_times(name, points)
    together = make(points)
    assert together.duration == pytest.approx(max(times), rel=1e-12)
    moving = np.abs(together(together.breaks[-1] - 1e-3 * together.duration) - points[1]) > 0
    assert moving.all()
    for j in range(3):
        limits = {key: value[j] for key, value in make.keywords.items()}
        alone = make.func(points[:, [j]], **limits)
        middle = (alone.breaks[1:] + alone.breaks[:-1]) / 2
        active = np.zeros(len(middle), dtype=bool)
        for derivative, key in ((1, "velocity"), (2, "acceleration"), (3, "jerk")):
            if key in limits and derivative <= order:
                active |= np.abs(np.abs(alone(middle, derivative)[:, 0]) / limits[key] - 1) < 1e-9
        assert active.all()


def test_s_curve_has_seven_segments_where_all_limits_are_reached() -> None:
    trajectory = s_curve([[0.0], [5.0]], velocity=1.0, acceleration=2.0, jerk=8.0)
    assert len(trajectory.coefficients) == 7
    assert trajectory.duration == pytest.approx(5.0 / 1.0 + 1.0 / 2.0 + 2.0 / 8.0)
    np.testing.assert_allclose(trajectory.peaks(1), 1.0)
    np.testing.assert_allclose(trajectory.peaks(2), 2.0)
    np.testing.assert_allclose(trajectory.peaks(3), 8.0)


def test_profiles_through_several_points_stop_at_each() -> None:
    points = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [0.5, 0.5]])
    trajectory = s_curve(points, velocity=1.0, acceleration=2.0, jerk=10.0)
    passed = [t for t in trajectory.breaks if np.max(np.abs(trajectory(t, 1))) < 1e-12]
    assert len(passed) == 4
    assert error(trajectory(passed), points) < EXACT


def test_bang_bang_input_is_zero_outside() -> None:
    signal = bang_bang_input([2.0, -0.5], [0.0, 0.4, 0.9, 1.0], signs=(1, -1, 0.5))
    np.testing.assert_array_equal(
        signal([-0.1, 0.0, 0.2, 0.5, 0.95, 1.1])[:, 0], [0.0, 2.0, 2.0, -2.0, 1.0, 0.0]
    )  # fmt: skip
    assert not signal(0.2, 1).any()


# ---- the class


def test_sampling_at_a_rate_and_holding_outside() -> None:
    trajectory = quintic(POINTS[:3], TIMES[:3])
    samples = trajectory.sample(1000.0)
    assert samples.t[0] == TIMES[0]
    assert TIMES[2] <= samples.t[-1] < TIMES[2] + 1e-3
    assert samples.q.shape == samples.qd.shape == samples.qdd.shape == samples.jerk.shape == (len(samples.t), 3)
    assert error(samples.q[-1], POINTS[2]) < 1e-6
    outside = trajectory.at([-5.0, 50.0, np.nan])
    assert error(outside.q, [POINTS[0], POINTS[2], POINTS[0]]) < EXACT
    assert not outside.qd.any()
    assert not outside.jerk.any()


def test_derivatives_are_derivatives() -> None:
    trajectory, t, h = septic(POINTS, TIMES), np.linspace(TIMES[0] + 0.01, TIMES[-1] - 0.01, 37), 1e-5
    for order in range(3):
        slope = (trajectory(t + h, order) - trajectory(t - h, order)) / (2 * h)
        assert error(trajectory(t, order + 1), slope) < 1e-6


def test_peaks_are_at_least_those_of_dense_samples() -> None:
    trajectory = septic(POINTS, TIMES)
    t = np.linspace(TIMES[0], TIMES[-1], 5001)
    for order in range(4):
        dense = np.abs(trajectory(t, order)).max(axis=0)
        assert (trajectory.peaks(order) >= dense * (1 - 1e-12)).all()
        np.testing.assert_allclose(trajectory.peaks(order), dense, rtol=1e-3)


def test_stretching_keeps_the_path() -> None:
    trajectory = quintic(POINTS, TIMES)
    slow = trajectory.stretched(2.0)
    t = np.linspace(0, trajectory.duration, 11)
    assert error(slow(TIMES[0] + 2 * t), trajectory(TIMES[0] + t)) < EXACT
    np.testing.assert_allclose(slow.peaks(2), trajectory.peaks(2) / 4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cubic([[0.0], [1.0]], [1.0, 1.0]), "must ascend"),
        (lambda: cubic([0.0, 1.0], [0.0, 1.0]), "expected \\(m, n\\)"),
        (lambda: cubic([[0.0], [1.0]], [0.0, 1.0], start_acceleration=1.0), "both boundary accelerations"),
        (lambda: four_three_four([[0.0], [1.0]], [0.0, 1.0]), "m >= 3"),
        (lambda: quintic([[0.0], [np.nan]], [0.0, 1.0]), "points: got NaN"),
        (lambda: trapezoidal([[0.0], [1.0]], velocity=0.0, acceleration=1.0), "velocity=0.0, expected positive"),
        (lambda: s_curve([[0.0], [0.0]], velocity=1, acceleration=1, jerk=1), "nothing to move"),
        (lambda: bang_bang_input([1.0], [0.0, 1.0]), "one more"),
        (lambda: quintic(POINTS, TIMES).sample(0.0), "rate=0.0"),
    ],
)
def test_nonsense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


# ---- emitted C

EMITTED = {
    "septic": lambda: septic(POINTS, TIMES),
    "s_curve": lambda: s_curve(POINTS, **LIMITS, jerk=10.0),
    "input": lambda: bang_bang_input([1.0, -3.0], [0.0, 0.5, 1.0]),
    "one": lambda: cubic([[0.0], [1.0]], [0.0, 1.0]),
}


def compiled(folder: Path, compiler: str, name: str, *more: str) -> Any:
    command = [compiler, *WARNINGS, "-O2", "-ffp-contract=off", "-fPIC", "-shared", *more]
    done = subprocess.run(
        [*command, f"{name}_trajectory.c", "-o", "t.so"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "t.so"))


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("name", EMITTED)
def test_emitted_c_is_gate_clean_and_equals_python(name: str, precision: str, tmp_path: Path) -> None:
    trajectory = EMITTED[name]()
    files = write_trajectory(trajectory, tmp_path, name, precision=precision)
    assert [file.name for file in files] == [f"{name}_trajectory.h", f"{name}_trajectory.c"]
    for compiler in COMPILERS:
        library = compiled(tmp_path, compiler, name)
    real, kind = (ctypes.c_double, np.float64) if precision == "double" else (ctypes.c_float, np.float32)
    function = getattr(library, f"{name}_trajectory_eval")
    function.argtypes, function.restype = [real, *[ctypes.c_void_p] * 3], None
    start, end = trajectory.breaks[[0, -1]]
    times = [*np.linspace(start - 0.2, end + 0.2, 301), *trajectory.breaks, np.nan]
    outputs = np.empty((3, trajectory.size), dtype=kind)
    expected = trajectory.at(times)
    scale = [max(1.0, np.abs(part).max()) for part in (expected.q, expected.qd, expected.qdd)]
    found = np.empty((len(times), 3, trajectory.size))
    for k, t in enumerate(times):
        function(t, *(row.ctypes.data for row in outputs))
        found[k] = outputs
    parts = (expected.q, expected.qd, expected.qdd)
    if precision == "double":
        for part, values in enumerate(parts):
            np.testing.assert_array_equal(found[:, part], values)  # the same operations in the same order
    elif name in ("septic", "one"):  # where nothing jumps; times themselves are rounded to float
        for part, values in enumerate(parts[:2]):
            assert np.max(np.abs(found[3:-3, part] - values[3:-3])) < 2e-4 * scale[part]


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_the_header_is_cxx_too(tmp_path: Path) -> None:
    write_trajectory(EMITTED["one"](), tmp_path, "one")
    (tmp_path / "user.cpp").write_text('#include "one_trajectory.h"\n#include "one_trajectory.h"\n')
    command = ["g++", "-std=c++98", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "user.cpp"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


def test_only_prefixed_symbols_and_no_data_that_changes(tmp_path: Path) -> None:
    write_trajectory(EMITTED["septic"](), tmp_path, "septic")
    subprocess.run(["gcc", "-std=c99", "-O2", "-c", "septic_trajectory.c"], cwd=tmp_path, check=True)
    lines = subprocess.run(["nm", "septic_trajectory.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    kinds = {line.split()[-1]: line.split()[-2] for line in lines.splitlines()}
    assert {name for name, kind in kinds.items() if kind.isupper()} == {
        "septic_trajectory_eval", "septic_trajectory_start", "septic_trajectory_end",
    }  # fmt: skip
    assert set(kinds.values()) <= {"T", "R", "r"}


def test_emitted_text_is_reproducible_and_refuses_nonsense() -> None:
    trajectory = EMITTED["one"]()
    assert render_trajectory(trajectory, "one") == render_trajectory(trajectory, "one")
    with pytest.raises(BuildError, match="C identifier"):
        render_trajectory(trajectory, "1st")
    with pytest.raises(BuildError, match="precision"):
        render_trajectory(trajectory, "one", precision="half")
    with pytest.raises(BuildError, match="the same in float"):
        render_trajectory(cubic([[0.0], [1.0]], [1e6, 1e6 + 1e-3]), "one", precision="float")
