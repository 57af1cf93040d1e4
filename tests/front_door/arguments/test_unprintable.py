"""Values that Python cannot print, or at great length, in public arguments: an error of ours that names the argument."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import ElastogenError, Model
from elastogen.command_line import main
from elastogen.runtime.errors import UnknownNameError
from elastogen.runtime.interface.error import LONGEST_MESSAGE, shortened

LONGEST = 1000  # characters of a message


class Broken:
    """Its class fails when it is printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def deep() -> list[Any]:
    """Lists inside of lists, deeper than Python follows them."""
    inner: list[Any] = []
    for _ in range(20_000):
        inner = [inner]
    return inner


UNPRINTABLE = {"long integer": 10**5000, "long integers": [10**5000], "deep": deep(), "broken": Broken(), "long": "x" * 20_000}
LOAD = ("name", "live", "tip", "mimic", "base", "friction", "lock", "arguments", "package_path", "loops", "model")
BUILD = (
    "outputs", "fused", "precision", "sincos", "frames", "contacts", "derivation", "identification", "compiler", "cflags",
    "fp_contract", "timeout",
)  # fmt: skip
SIMULATE = ("q0", "qd0", "t", "F", "method", "step", "max_step", "rtol", "atol", "rho_inf", "samples", "energy", "stops")
LOOP = ("controller", "controllers", "plant", "rate", "on_overrun", "cpu", "limits", "safe", "telemetry")


def refused(call: Any, argument: str, given: object) -> None:
    with pytest.raises(ElastogenError) as error:
        call(**{argument: given})
    known = str(error.value).split("Known:")[0].split("expected")[0]  # lists of what there is may be long
    assert argument.rstrip("s") in known.replace("x" * 117, "")
    assert len(known) < LONGEST


@pytest.mark.parametrize("kind", UNPRINTABLE)
@pytest.mark.parametrize("argument", LOAD)
def test_load(argument: str, kind: str) -> None:
    if (argument, kind) in (("name", "long"), ("live", "long"), ("tip", "long"), ("model", "long"), ("loops", "long")):
        pytest.skip("a text is what is expected")
    refused(lambda **given: elastogen.load("two_link", **given), argument, UNPRINTABLE[kind])


def test_long_paths() -> None:
    """A path that the system refuses to look at is a path without a file."""
    for call in ({"source": "x" * 5000}, {"source": "two_link", "loops": "x" * 5000}):
        with pytest.raises(ElastogenError, match=r"no such file|File name too long"):
            elastogen.load(**call)


HUGE = "x" * 1_000_000
LISTS = {f"k{i}": i for i in range(20_000)}


@pytest.mark.parametrize(
    "wrong", [HUGE, {"parameters": LISTS}, {"live": [HUGE]}, {"tip": HUGE}, {HUGE: 1}, {"name": "1e" + 9 * HUGE[:30_000]}]
)
def test_huge_texts(wrong: Any) -> None:
    """A text of a megabyte or 20,000 names in a robot: messages and warnings of a size that one can read, in a moment."""
    arm = {"elastogen": 1, "name": "arm", "links": {"a": {"mass": "l1"}}, "joints": [{"name": "j", "child": "a"}]}
    with warnings.catch_warnings(record=True) as warned, pytest.raises(ElastogenError) as error:
        elastogen.load(wrong if isinstance(wrong, str) else {**arm, **wrong})
    texts = [str(error.value), *(str(one.message) for one in warned)]
    assert max(map(len, texts)) <= LONGEST_MESSAGE


def test_errors_of_other_processes() -> None:
    """Pools send errors as pickles."""
    with pytest.raises(elastogen.RobotError) as error:
        elastogen.load({"elastogen": 1, "nmae": "arm"})
    for one in (error.value, UnknownNameError("no parameter 'm'")):
        again = pickle.loads(pickle.dumps(one))
        assert (type(again), str(again), vars(again)) == (type(one), str(one), vars(one))


@pytest.mark.parametrize("kind", UNPRINTABLE)
@pytest.mark.parametrize("argument", BUILD)
def test_build(argument: str, kind: str) -> None:
    if (argument, kind) in (("outputs", "long"), ("frames", "long"), ("cflags", "long")):
        pytest.skip("a text is what is expected")

    def build(**given: Any) -> Model:
        return elastogen.build_model("two_link", **{"outputs": ["mass_matrix"], **given})

    refused(build, argument, UNPRINTABLE[kind])


@pytest.fixture(scope="module")
def model() -> Model:
    return elastogen.build_model("two_link", outputs=["simulation", "mass_matrix"], cflags="-O0")


@pytest.mark.parametrize("kind", UNPRINTABLE)
@pytest.mark.parametrize("argument", SIMULATE)
def test_simulate(model: Model, argument: str, kind: str) -> None:
    refused(lambda **given: model.simulate(**{"q0": [0, 0], "t": [0, 0.01], **given}), argument, UNPRINTABLE[kind])


@pytest.mark.parametrize("kind", UNPRINTABLE)
def test_parameters(model: Model, kind: str) -> None:
    refused(lambda **given: model.parameters.update(**given), "payload_mass", UNPRINTABLE[kind])


@pytest.fixture(scope="module")
def library() -> Any:
    return elastogen.build_loop("two_link", cflags="-O0")


@pytest.mark.parametrize("kind", UNPRINTABLE)
@pytest.mark.parametrize("argument", LOOP)
def test_loop(library: Any, argument: str, kind: str) -> None:
    refused(library.loop, argument, UNPRINTABLE[kind])


@pytest.mark.parametrize("kind", UNPRINTABLE)
@pytest.mark.parametrize("argument", ["controller", "controller_source", "plant_source"])
def test_build_loop(argument: str, kind: str) -> None:
    refused(lambda **given: elastogen.build_loop("two_link", **given), argument, UNPRINTABLE[kind])


def test_timeouts() -> None:
    """The system counts a compiler's milliseconds in 32 bits."""
    for timeout in (float("inf"), 1e9, 10**400):
        with pytest.raises(ElastogenError, match="timeout"):
            elastogen.build_model("two_link", timeout=timeout)


def test_short_values_are_whole() -> None:
    assert shortened({"a": 1}) == "{'a': 1}"
    assert shortened(np.zeros(2)) == "array([0., 0.])"


def test_removed_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are written, a cache and a relative path of a file, where there is no working directory any more."""
    robot = elastogen.load("two_link")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for call in (
        lambda: elastogen.generate(robot, "out"),
        lambda: elastogen.build_model(robot, cache_dir="cache"),
        lambda: elastogen.load("two_link", loops="robot.yaml"),
    ):
        with pytest.raises(ElastogenError, match="the working directory was removed"):
            call()


@pytest.mark.parametrize("words", [("generate", "two_link", "out"), ("export", "two_link", "out"), ("new", "arm")])
def test_removed_working_directory_on_the_command_line(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(words) == 2
    assert "the working directory was removed" in capsys.readouterr().err
