"""``out=`` of functions with several outputs: what is refused, before one of them is written, and what is taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import Model, ModelError
from elastogen.runtime.functions.kernel import Kernel

FUNCTION = "inverse_dynamics_derivatives"
COUNTS = [None, 1, 2, 3, 200]
SHAPES = [shape for rank in range(4) for shape in product(range(6), repeat=rank)]
SHAPES += [shape for rank in (4, 5) for shape in product((1, 2, 3), repeat=rank)]
Arrays = list[np.ndarray]


@pytest.fixture(scope="module", params=["two_link", "pendulum", "two_link in float", "mixed"])
def case(request: pytest.FixtureRequest) -> tuple[Model, str]:
    """Functions whose outputs are matrices, matrices of one number, and of all ranks."""
    if request.param == "pendulum":
        return request.getfixturevalue("pendulum"), FUNCTION
    if request.param == "two_link":
        return request.getfixturevalue("shared_two_link"), FUNCTION
    robot = elastogen.load("two_link")
    if request.param != "mixed":
        return elastogen.build_model(robot, outputs=[FUNCTION], precision="float"), FUNCTION
    s = elastogen.symbols(robot)
    arrow, row = s.input("arrow", 3), s.input("row", (1, 3))
    outputs = {"outer": arrow * row, "length": arrow.dot(arrow), "line": 2 * row, "copy": 3 * arrow}
    robot = robot.with_function("mixed", inputs={"arrow": 3, "row": (1, 3)}, outputs=outputs)
    return elastogen.build_model(robot, outputs=["mixed"]), "mixed"


def problem(case: tuple[Model, str], count: int | None) -> tuple[Callable[[Any], Any], Arrays]:
    """The call with some ``out=``, and its results."""
    model, function = case
    rng, batch = np.random.default_rng(3), () if count is None else (count,)
    kernel = model.kernel(function)
    given = {a.name: rng.uniform(-1, 1, (*batch, *a.shape)).astype(kernel.real) for a in kernel.info.inputs}
    return lambda out: model.evaluate(function, **given, out=out), list(map(np.asarray, model.evaluate(function, **given)))


def empty(expected: Arrays) -> Arrays:
    return [np.full_like(part, 7.0) for part in expected]


def refused(call: Callable[[Any], Any], out: Any, arrays: Arrays, words: str) -> None:
    kept = [array.tobytes() for array in arrays]
    with pytest.raises(ModelError, match=words):
        call(out)
    assert [array.tobytes() for array in arrays] == kept


@pytest.mark.parametrize("count", COUNTS)
def test_only_the_right_shapes_are_written(case: tuple[Model, str], count: int | None) -> None:
    call, expected = problem(case, count)
    for k, part in enumerate(expected):
        others = SHAPES if count != 200 else [(200, *shape) for shape in SHAPES[:60]]
        for shape in (*others, *(part.T.shape, (*part.shape, 1), (1, *part.shape), part.shape[1:], (part.size,))):
            if shape != part.shape:
                out = empty(expected)
                out[k] = np.full(shape, 7.0, part.dtype)
                refused(call, tuple(out), out, "out= for .*: got shape")
    for kind in (tuple, list):
        out = kind(empty(expected))
        assert call(out) is out
        assert all(map(np.array_equal, out, expected))


@pytest.mark.parametrize("count", COUNTS)
def test_everything_else_is_refused(case: tuple[Model, str], count: int | None) -> None:
    call, expected = problem(case, count)
    for k, part in enumerate(expected):
        for wrong, words in (
            (part.tolist(), "got (list|float)"), (None, "got NoneType"), (part.astype(int), "got shape .* dtype int"),
            (np.broadcast_to(part, part.shape), "got a read-only array"), (part.astype("U9"), "dtype <U9"),
        ):  # fmt: skip
            out: list[Any] = empty(expected)
            out[k] = wrong
            refused(call, tuple(out), [array for array in out if array is not wrong], words)
        out = empty(expected)
        out[k].flags.writeable = False
        refused(call, out, out, "got a read-only array")
    for i, j in permutations(range(len(expected)), 2):
        out = empty(expected)
        if out[i].shape == out[j].shape:
            out[i] = out[j]
            refused(call, tuple(out), out, "arrays that overlap")
    out = empty(expected)
    for wrong in (deque(out), iter(out), dict(enumerate(out)).values(), out[:-1], (*out, out[0]), out[0], "abc"):
        refused(call, wrong, out, "expected a tuple of [34] arrays")


@pytest.mark.parametrize("count", COUNTS)
def test_views(case: tuple[Model, str], count: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside each other in one memory they are written, by the fast path; where two share a number they are refused."""
    call, expected = problem(case, count)
    ends = np.cumsum([part.size for part in expected])
    for i, j in combinations(range(len(expected)), 2):
        memory = np.full(2 * ends[-1], 7.0, expected[0].dtype)
        starts = [0, *ends[:-1]]
        starts[j] = starts[i] + expected[i].size - 1
        if all(starts[k] >= ends[k - 1] or k == j for k in range(1, len(starts))):
            out = [memory[a : a + part.size].reshape(part.shape) for a, part in zip(starts, expected, strict=True)]
            refused(call, tuple(out), [memory], "arrays that overlap")
    monkeypatch.setattr(Kernel, "batch", lambda self, *_: pytest.fail(f"{self.label} took the general way"))
    memory = np.full(ends[-1], 7.0, expected[0].dtype)
    out = [memory[a - part.size : a].reshape(part.shape) for a, part in zip(ends, expected, strict=True)]
    strided = [np.full((*part.shape, 2), 7.0, part.dtype)[..., 1] for part in expected]
    for given in (out, strided, [*strided[:1], *out[1:]], [*out[:1], *strided[1:]], empty(expected)):
        call(given)
        assert all(map(np.array_equal, given, expected))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of numpy, for matrices
def test_arrays_of_other_classes(two_link: Model) -> None:
    """They are written as by the general way, whatever they do with indices."""

    class Loud(np.ndarray):
        def __setitem__(self, index: Any, value: Any) -> None:
            pytest.fail("an item was set")

    call, expected = problem((two_link, FUNCTION), None)
    masked = np.ma.masked_array(np.zeros((2, 2)), [[True, False], [False, False]])
    for odd in (np.matrix(np.zeros((2, 2))), masked, np.zeros((2, 2)).view(Loud), Loud((2, 2))):
        for k in range(3):
            out = [np.zeros((2, 2)) for _ in range(3)]
            out[k] = odd
            call(tuple(out))
            assert all(np.asarray(part).tobytes() == right.tobytes() for part, right in zip(out, expected, strict=True))
    assert masked.mask.sum() == 1


def retype(array: np.ndarray) -> None:
    array.dtype = np.int64  # type: ignore[misc]


def reshape(array: np.ndarray) -> None:
    array.shape = (*array.shape, 1)


def shorten(array: np.ndarray) -> None:
    array.resize((*array.shape[:-1], 1), refcheck=False)


def close(array: np.ndarray) -> None:
    array.flags.writeable = False


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of numpy, for such changes
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("change", [retype, reshape, shorten, close])
def test_outputs_that_were_changed_in_place(two_link: Model, change: Callable[[np.ndarray], None], count: int | None) -> None:
    call, expected = problem((two_link, FUNCTION), count)
    for k in range(3):
        out = tuple(empty(expected))
        call(out)
        change(out[k])
        refused(call, out, list(out), "out= for .*: got")
