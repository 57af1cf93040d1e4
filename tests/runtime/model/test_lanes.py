"""Batches in lanes: several states in one vector of the processor, with the bits of one state after the other."""

from __future__ import annotations

import re
import subprocess
from itertools import product
from threading import Thread

import mpmath
import numpy as np
import pytest
from build_samples import MOSTLY_SUMS, Recipe, model_of, random_program
from c_compilers import COMPILERS
from robots_for_tests import quietly_loaded

import elastogen
from elastogen import ModelError
from elastogen.build.files.lanes import in_lanes
from elastogen.build.files.render import render_model
from elastogen.build.options import EmitOptions
from elastogen.generator.functions.derivation import derive_model

OUTPUTS = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "friction_forces", "kinetic_energy", "stiffness_matrix")
COUNTS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 64, 1001)


@pytest.fixture(scope="module", params=["double", "float"])
def pair(request, cache_dir):
    """The geared PUMA, with friction, drives, a payload and pivots: without and with lanes."""
    options = {"outputs": OUTPUTS, "precision": request.param}
    return elastogen.build_model("puma560_geared", **options), elastogen.build_model("puma560_geared", lanes=True, **options)


@pytest.mark.parametrize("name", OUTPUTS[:-1])
def test_lanes_give_the_bits_of_the_scalar_code(pair, name, rng):
    scalar, lanes = pair
    names = [argument.name for argument in scalar.functions[name].inputs]
    for count in COUNTS:
        states = {key: rng.uniform(-3, 3, (count, 6)) for key in names}
        single = [scalar.evaluate(name, **{key: value[k] for key, value in states.items()}) for k in range(count)]
        np.testing.assert_array_equal(lanes.evaluate(name, **states), np.array(single), err_msg=f"{count} states")


def test_angles_of_any_size_have_the_bits_of_the_scalar_code(pair, rng):
    """Some lanes of a vector beyond the range of the fast sine, some angles of a state; and right: 30 digits say the same."""
    scalar, lanes = pair
    largest = 300 if scalar.dtype == np.float64 else 30
    q = rng.uniform(-3, 3, (37, 6)).astype(scalar.dtype)
    far = rng.random(q.shape) < 0.2
    q[far] = (10.0 ** rng.uniform(5, largest, far.sum())).astype(scalar.dtype)
    single = np.array([scalar.mass_matrix(row) for row in q])
    np.testing.assert_array_equal(lanes.mass_matrix(q), single)
    with mpmath.workprec(1200):
        two_pi = 2 * mpmath.pi
        near = np.array([[float(mpmath.fmod(mpmath.mpf(float(x)), two_pi)) for x in row] for row in q])
    tolerance = 1e-12 if scalar.dtype == np.float64 else 2e-5
    np.testing.assert_allclose(single, scalar.mass_matrix(near.astype(scalar.dtype)), atol=tolerance, rtol=tolerance)


def test_parameters_that_differ_from_state_to_state_and_arguments_that_do_not(pair, rng):
    scalar = pair[0]
    q, qd, mass = rng.normal(size=(37, 6)), rng.normal(size=6), rng.uniform(0, 4, 37)
    given = {"q": q, "qd": qd, "qdd": np.zeros((37, 6)), "parameters": {"payload_mass": mass}}
    results = [model.evaluate("inverse_dynamics", **given) for model in pair]
    np.testing.assert_array_equal(*results)
    assert np.ptp(results[0], axis=0).min() > 0
    one = scalar.inverse_dynamics(q[5].astype(scalar.dtype), qd, np.zeros(6), parameters={"payload_mass": mass[5]})
    np.testing.assert_array_equal(results[1][5], one)


def test_failed_states_are_found_in_lanes(pair, rng):
    _, lanes = pair
    q = rng.normal(size=(19, 6))
    q[[3, 18], 2] = np.nan
    zero = np.zeros((19, 6))
    with pytest.raises(ModelError, match="2 of 19 states, first at index 3"):
        lanes.forward_dynamics(q, zero, zero)
    out = np.full((19, 6), 7, lanes.dtype)
    with pytest.raises(ModelError, match="19 of 19 states"):
        lanes.forward_dynamics(q * np.nan, zero, zero, out=out)
    assert not out.any()  # as the scalar code leaves them
    found = lanes.forward_dynamics(q, zero, zero, on_failure="nan")
    assert set(np.flatnonzero(np.isnan(found).any(axis=1))) == {3, 18}
    for count in (3, 5, 9, 17):  # one state in the last vector, of 2 to 16 lanes; it fails alone, not with its repetitions
        q = rng.normal(size=(count, 6))
        q[[1, -1], 2] = np.nan
        found = lanes.forward_dynamics(q, zero[:count], zero[:count], on_failure="nan")
        assert set(np.flatnonzero(np.isnan(found).any(axis=1))) == {1, count - 1}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")
@pytest.mark.parametrize("mass", [2.0, 0.0])
def test_pivots_that_are_the_same_in_all_states(precision, mass, rng):
    """A gantry, whose mass matrix is constant; without a mass on its second axis it fails everywhere."""
    links = [{"name": "base"}, {"name": "bridge", "mass": 3.0}, {"name": "tool", "mass": mass}]
    joints = [{"name": f"j{k}", "type": "prismatic", "axis": axis} for k, axis in enumerate(np.eye(3, dtype=int)[:2].tolist())]
    gantry = quietly_loaded({"elastogen": 1, "name": "gantry", "links": links, "joints": joints})
    model = elastogen.build_model(gantry, outputs=["forward_dynamics"], precision=precision, lanes=True)
    zero, F = np.zeros(2), rng.normal(size=(17, 2)).astype(model.dtype)
    found = model.forward_dynamics(zero, zero, F, on_failure="nan")
    expected = F / np.array([3 + mass, mass]) if mass else np.full((17, 2), np.nan)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if precision == "float" else 1e-15)


def test_threads_that_do_not_start_or_fail(pair, rng, monkeypatch):
    """What the system starts no thread for is done by the caller's; what fails in a thread fails in the caller's."""
    model = pair[0]
    q = rng.normal(size=(9000, model.nq))
    alone, started, start = model.mass_matrix(q), [], Thread.start

    def one_only(thread):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(Thread, "start", one_only)
    np.testing.assert_array_equal(model.evaluate("mass_matrix", q=q, threads=4), alone)
    assert len(started) == 1
    kernel, loop = model._kernels["mass_matrix"], model._kernels["mass_matrix"].loop

    def second_fails(job, first, stop):
        if first:
            raise MemoryError("no room")
        return loop(job, first, stop)

    started.clear()
    monkeypatch.setattr(kernel, "loop", second_fails)
    with pytest.raises(MemoryError, match="no room"):
        model.evaluate("mass_matrix", q=q, threads=2)


def test_threads_share_a_batch(pair, rng):
    for model in pair:
        q = rng.normal(size=(9001, 6))
        alone = model.evaluate("mass_matrix", q=q)
        for threads in (2, 3, 64):
            np.testing.assert_array_equal(model.evaluate("mass_matrix", q=q, threads=threads), alone)
        q[9000, 2] = np.nan
        with pytest.raises(ModelError, match="1 of 9001 states, first at index 9000"):
            model.evaluate("forward_dynamics", q=q, qd=np.zeros(6), F=np.zeros(6), threads=2)
    for wrong in (0, -1, 1.5, "2", True, 1.0):
        with pytest.raises(ModelError, match="threads="):
            model.evaluate("mass_matrix", q=q, threads=wrong)


def test_functions_that_choose_elements_run_one_state_after_the_other(cache_dir):
    """Sliding joints have one course for each element: their functions take the scalar way, with the same results."""
    options = {"outputs": ("gravity_vector", "elastic_forces")}
    scalar, lanes = (elastogen.build_model("rpb_table3", lanes=lanes, **options) for lanes in (False, True))
    q = np.random.default_rng(2).uniform(0.1, 0.5, (23, scalar.nq))
    np.testing.assert_array_equal(lanes.gravity_vector(q), scalar.gravity_vector(q))


@pytest.fixture(scope="module")
def simulated_arm():
    return derive_model(elastogen.load("two_link"), ("simulation",))


@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("width", ["-mavx512f", "-mavx2", "-msse2", "-DEG_PLAIN"])
def test_every_width_compiles(real, width, simulated_arm, tmp_path):
    """Split bodies, pivots, functions of libm; a machine without vectors falls back to plain C."""
    choices = [c for c in MOSTLY_SUMS if c in ("add", "sub", "mul", "div", "sqrt")] or list(MOSTLY_SUMS)
    recipe = Recipe(900, choices=choices, transcendental=False, pivots=2, outputs=((6,), ()))
    model = model_of(random_program(3, recipe), random_program(4, Recipe(40, choices=choices, transcendental=False)))
    files = render_model(model, EmitOptions(precision=real), lanes=True)
    assert any(in_lanes(function) for function in model.functions)
    for name, text in {**files.c_files, **files.lanes}.items():
        text = text.replace("!defined(__GNUC__)", "defined(EG_PLAIN) || !defined(__GNUC__)")
        (tmp_path / name).write_text(text)
    if not re.search(
        r"x86_64|i686", subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True, check=True).stdout
    ):
        pytest.skip("the widths are those of x86")
    simulated = render_model(simulated_arm, EmitOptions(precision=real), lanes=True)
    (tmp_path / "motions").mkdir()
    for name, text in {**simulated.c_files, **simulated.simulation, **simulated.lanes}.items():
        text = text.replace("!defined(__GNUC__)", "defined(EG_PLAIN) || !defined(__GNUC__)")
        (tmp_path / "motions" / name).write_text(text)
    for compiler, folder in product(COMPILERS, (tmp_path, tmp_path / "motions")):
        command = [compiler, "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", width, "-c", "eg_lanes.c"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
