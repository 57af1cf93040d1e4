"""What a model keeps and where it comes from: live parameters, bound functions, threads, pickles, files."""

from __future__ import annotations

import gc
import pickle
import shutil
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import Model, ModelError, load_model
from elastogen.runtime.functions.kernel import FEWEST_PER_THREAD, Kernel


@pytest.fixture
def state(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(rng.normal(size=(3, 2)))


# Live parameters.


def test_parameters_change_every_way_of_calling(two_link: Model) -> None:
    q = np.array([0.0, 0.0])
    assert two_link.gravity_vector(q)[0] == pytest.approx(9.81 * 2)
    two_link.parameters["payload_mass"] = 3.0
    assert two_link.gravity_vector(q)[0] == pytest.approx(9.81 * (2 + 3 * 2))
    assert two_link.gravity_vector([q, q])[1, 0] == pytest.approx(9.81 * (2 + 3 * 2))
    bound = two_link.bind("gravity_vector")
    bound()
    assert bound.G[0] == pytest.approx(9.81 * (2 + 3 * 2))
    two_link.parameters.reset("payload_mass")
    assert two_link.gravity_vector(q)[0] == pytest.approx(9.81 * 2)
    bound()
    assert bound.G[0] == pytest.approx(9.81 * (2 + 3 * 2)), "a bound function keeps its own parameters"


def test_parameters_of_one_call(two_link: Model) -> None:
    q = np.zeros(2)
    masses = np.array([0.0, 1.0, 2.0])
    forces = two_link.gravity_vector(q, parameters={"payload_mass": masses})
    np.testing.assert_allclose(forces[:, 0], 9.81 * (2 + 2 * masses))
    grid = two_link.gravity_vector(q, parameters={"payload_mass": masses, "gravity_y": [[-1.0], [-9.81]]})
    assert grid.shape == (2, 3, 2)
    np.testing.assert_allclose(grid[1], forces)
    with_states = two_link.gravity_vector(np.zeros((4, 1, 2)), parameters={"payload_mass": masses})
    np.testing.assert_allclose(with_states[2], forces)
    assert two_link.parameters["payload_mass"] == 0.0


def test_parameters_are_a_mapping(two_link: Model) -> None:
    parameters = two_link.parameters
    assert "payload_mass" in parameters
    assert len(parameters) == len(list(parameters)) == len(parameters.nominal)
    assert parameters.get("nothing") is None
    parameters.update(payload_mass=1, gravity_y=-1.62)
    assert dict(parameters)["gravity_y"] == -1.62
    assert parameters.nominal["gravity_y"] == -9.81
    assert parameters.info("gravity_y").unit == "m/s^2"
    assert "gravity_y=-1.62 [m/s^2]" in repr(parameters)
    parameters.reset()
    assert dict(parameters) == dict(parameters.nominal)


@pytest.mark.parametrize("value", [np.nan, np.inf, "heavy", None, 1j, [1.0, 2.0], True])
def test_bad_parameter_values_change_nothing(two_link: Model, value: object) -> None:
    before = dict(two_link.parameters)
    with pytest.raises(ModelError, match="payload_mass"):
        two_link.parameters.update({"gravity_y": -1.0, "payload_mass": value})  # type: ignore[dict-item]
    assert dict(two_link.parameters) == before


def test_unknown_parameters_get_a_suggestion(two_link: Model) -> None:
    with pytest.raises(ModelError, match="Did you mean 'payload_mass'"):
        two_link.parameters["payload_mas"] = 1
    with pytest.raises(ModelError, match="Did you mean 'payload_mass'"):
        two_link.mass_matrix([0, 0], parameters={"payload_mas": 1})
    with pytest.raises(ModelError, match="expected a mapping"):
        two_link.mass_matrix([0, 0], parameters=[1.0])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="do not broadcast"):
        two_link.mass_matrix([0, 0], parameters={"payload_mass": [1, 2], "gravity_y": [1, 2, 3]})


# Bound functions.


@pytest.mark.parametrize("name", ["payload_mass", "payload_mas"])
def test_parameters_are_no_attributes(two_link: Model, name: str) -> None:
    """They would be kept beside the values, and change nothing."""
    with pytest.raises(ModelError, match=rf"got the attribute '{name}'.*write parameters\['{name}'\]"):
        setattr(two_link.parameters, name, 2.0)
    assert not hasattr(two_link.parameters, name)


def test_bound_views(two_link: Model, state: tuple[np.ndarray, ...]) -> None:
    q, qd, qdd = state
    bound = two_link.bind("inverse_dynamics")
    view = bound.q
    bound.q = q
    bound.qd[:], bound.qdd[:] = qd, qdd
    assert bound.q is view, "assignment copies, the view stays"
    assert bound() == 0
    np.testing.assert_array_equal(bound.F, two_link.inverse_dynamics(q, qd, qdd))
    bound.parameters[:] = 0
    bound()
    np.testing.assert_allclose(bound.F, two_link.inertia_forces(q, qd, qdd), atol=1e-14)
    with pytest.raises(ModelError, match="no argument 'tau'"):
        bound.tau = q
    with pytest.raises(ModelError, match=r"shape \(2,\)"):
        bound.q = np.zeros(3)
    assert "inverse_dynamics" in repr(bound)


def test_views_outlive_the_bound_function(two_link: Model) -> None:
    bound = two_link.bind("mass_matrix")
    bound()
    M = bound.M
    expected = M.copy()
    del bound
    gc.collect()
    np.testing.assert_array_equal(M, expected)


# Threads and processes.


def test_threads_do_not_disturb_each_other(puma560: Model, rng: np.random.Generator) -> None:
    states = rng.normal(size=(4, 3, 6))
    expected = [puma560.inverse_dynamics(*state) for state in states]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(3000):
            if not np.array_equal(puma560.inverse_dynamics(*states[k]), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def start_and_ctrl_c(thread: threading.Thread, start: Any = threading.Thread.start) -> None:
    """A Ctrl-C that comes when a thread has begun and nobody knows it yet: pools do not wait for it."""
    start(thread)
    raise KeyboardInterrupt


def test_a_thread_that_nobody_waits_for_keeps_its_memory(two_link: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """It read and wrote arrays that were gone, and the process ended with a segmentation fault."""
    go_on, before = threading.Event(), set(threading.enumerate())
    monkeypatch.setattr(Kernel, "loop", lambda *_: lambda: 0 * go_on.wait())  # in the place of the C code: it waits
    q = np.zeros((2 * FEWEST_PER_THREAD, 2))
    seen = weakref.ref(q)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start_and_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            two_link.evaluate("mass_matrix", q=q, threads=2)
    del q
    gc.collect()
    (left,) = set(threading.enumerate()) - before
    held = seen() is not None
    go_on.set()
    left.join()
    assert held


def test_pickled_models_keep_their_parameters(two_link: Model) -> None:
    two_link.parameters["payload_mass"] = 0.5
    copy = pickle.loads(pickle.dumps(two_link))
    assert copy.parameters["payload_mass"] == 0.5
    np.testing.assert_array_equal(copy.mass_matrix([0, 1]), two_link.mass_matrix([0, 1]))
    with pytest.raises(TypeError, match="bind it again"):
        pickle.dumps(two_link.bind("mass_matrix"))


# Loading.


def test_load_model(two_link: Model) -> None:
    assert two_link.extension is not None
    again = load_model(two_link.extension)
    assert again.functions == two_link.functions


def test_files_that_are_no_models(two_link: Model, tmp_path: Path) -> None:
    assert two_link.extension is not None
    suffix = two_link.extension.name[two_link.extension.name.index(".") :]
    text = tmp_path / "robot.yaml"
    text.write_text("name: robot")
    fake = tmp_path / f"_fake{suffix}"
    fake.write_text("not a library")
    renamed = tmp_path / f"_renamed{suffix}"
    shutil.copy(two_link.extension, renamed)
    for path, words in [
        (tmp_path / f"missing{suffix}", "does not exist"),
        (tmp_path, "is a folder"),
        (text, "not a compiled model"),
        (fake, "cannot be loaded"),
        (renamed, "cannot be loaded"),
    ]:
        with pytest.raises(ModelError, match=words):
            load_model(path)


def test_foreign_extensions_are_refused() -> None:
    import _cffi_backend

    with pytest.raises(ModelError, match="not one of elastogen's"):
        load_model(_cffi_backend.__file__)


class _Library:
    """Stands for a module that was compiled by another version."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    def eg_metadata(self) -> bytes:
        return self.text

    def string(self, text: bytes) -> bytes:
        return text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"abi": 999, "tool_version": "9.9"}', "ABI 999 by elastogen 9.9"),
        (b"not json", "cannot be read"),
        (b"[]", "cannot be read"),
        (b'{"abi": 2, "tool_version": "0.1", "name": "old"}', "ABI 2 by elastogen 0.1, this runtime expects ABI 6"),
        (b'{"abi": 6}', "incomplete"),
    ],
)
def test_other_abis_are_refused(text: bytes, words: str) -> None:
    library = _Library(text)
    with pytest.raises(ModelError, match=words):
        Model(library, library, Path("somewhere"))


def test_the_package_exports_what_it_promises() -> None:
    assert elastogen.Model is Model
    assert set(elastogen.__all__) <= set(dir(elastogen))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        elastogen.nothing  # noqa: B018
