"""Models that several tests share, built once per run into a cache of the run's own."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build_samples import SampleModel, sample_model
from loop_setup import BENDER, USER_CODE, USER_PLANT, make_checks
from simulated_robots import PENDULUM, SPRING

import elastogen
from elastogen.build import pipeline
from elastogen.generator.closed_form.closed_form import ClosedForm, derive
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.loop.library import LoopLibrary

if threading.current_thread() is threading.main_thread():  # tests send Ctrl-C, which programs in the background ignore
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["quick_run", "clean_tree", "nightly"]
KEPT_MODELS = ".pytest_cache/models"  # of quick runs, from the root of the tree: what no edit touched is not built again


@pytest.fixture(scope="session", autouse=True)
def cache_dir(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Path]:
    """A cache for this run only (quick runs keep theirs), shared by the processes of a parallel run.

    Models are compiled without optimization, six times as fast; a test with a long motion asks for ``cflags="-O2"``.
    """
    base = tmp_path_factory.getbasetemp()
    own = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "model-cache"
    folder = pytestconfig.rootpath / KEPT_MODELS if pytestconfig.getoption("quick") else own
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ELASTOGEN_CACHE_DIR", str(folder))
        environment.setenv("ELASTOGEN_CFLAGS", "-O0")
        yield folder


def _build(name: str, **options: str) -> elastogen.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        return elastogen.build_model(name, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def shared_two_link() -> elastogen.Model:
    return _build("two_link", outputs="all")


@pytest.fixture
def two_link(shared_two_link: elastogen.Model) -> elastogen.Model:
    """The planar 2R arm with every function, parameters at their nominal values."""
    shared_two_link.parameters.reset()
    return shared_two_link


@pytest.fixture(scope="session")
def two_link_float() -> elastogen.Model:
    """The planar 2R arm in single precision."""
    return _build("two_link", precision="float")


@pytest.fixture(scope="session")
def shared_puma560() -> elastogen.Model:
    return _build("puma560")


@pytest.fixture
def puma560(shared_puma560: elastogen.Model) -> elastogen.Model:
    """The PUMA 560 with the default functions, parameters at their nominal values."""
    shared_puma560.parameters.reset()
    return shared_puma560


@pytest.fixture(scope="session")
def arm(cache_dir: Path) -> elastogen.Model:
    """The planar 2R arm with the functions of simulation."""
    return elastogen.build_model("two_link", outputs="simulation")


@pytest.fixture(scope="session")
def oscillator(cache_dir: Path) -> elastogen.Model:
    """An arm on an elastic joint, with the functions of simulation and the matrices of its linear equation."""
    return elastogen.build_model(SPRING, outputs=["simulation", "mass_matrix", "stiffness_matrix", "damping_matrix"])


@pytest.fixture(scope="session")
def pendulum(cache_dir: Path) -> elastogen.Model:
    """A pendulum with friction, with the functions of simulation."""
    return elastogen.build_model(PENDULUM, outputs="simulation")


@pytest.fixture(scope="session")
def library(cache_dir: Path) -> LoopLibrary:
    """The loop of the planar 2R arm, with a controller and a plant of the user's own."""
    return elastogen.build_loop("two_link", controller_source=USER_CODE, plant_source=USER_PLANT)


@pytest.fixture(scope="session")
def bender(cache_dir: Path) -> elastogen.Model:
    """A hub with a flexible beam and a payload."""
    model = elastogen.build_model(BENDER)
    model.kernel("forward_dynamics_derivatives")
    return model


@pytest.fixture(scope="session")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the stand-alone program ``checks`` (loop_checks.c), and of its sources."""
    return make_checks(tmp_path_factory.mktemp("loop"))


@pytest.fixture(scope="session")
def trtrr() -> ClosedForm:
    """Closed forms of paper 004's robot."""
    return derive(load("trtrr"), symbolic="nonzero")


@pytest.fixture
def derivations(monkeypatch: pytest.MonkeyPatch) -> list[Robot]:
    """Let the pipeline derive the sample model; the list tells how often it did."""
    seen: list[Robot] = []

    def derive(robot: Robot, outputs: object = None, frames: object = (), derived: Any = None, **options: Any) -> SampleModel:
        seen.append(robot)
        model = sample_model()
        for function in model.functions if derived is not None else ():
            derived(model, function)
        return model

    monkeypatch.setattr(pipeline, "derive_model", derive)
    return seen


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)
