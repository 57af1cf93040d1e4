"""Dense arrays of states and lists take a fast path into the C code, with the same bits; everything else the general one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import Model, ModelError
from elastogen.runtime.functions.kernel import Kernel


@pytest.fixture
def only_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the general way fail."""
    monkeypatch.setattr(Kernel, "batch", lambda self, *_: pytest.fail(f"{self.label} took the general way"))


def states(rng: np.random.Generator, count: int, dtype=np.float64) -> list[np.ndarray]:
    return [rng.uniform(-1, 1, (count, 2)).astype(dtype) for _ in range(3)]


@pytest.mark.parametrize("count", [1, 2, 4, 100])
def test_dense_arrays(two_link: Model, rng, only_short, count: int) -> None:
    q, qd, qdd = states(rng, count)
    expected = np.array([two_link.inverse_dynamics(*each) for each in zip(q, qd, qdd, strict=True)])
    np.testing.assert_array_equal(two_link.inverse_dynamics(q, qd, qdd), expected)
    out = np.empty((count, 2))
    assert two_link.inverse_dynamics(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, expected)
    matrices = two_link.mass_matrix(q)
    assert matrices.shape == (count, 2, 2)
    np.testing.assert_array_equal(matrices[0], two_link.mass_matrix(q[0]))
    energies = two_link.kinetic_energy(q, qd)
    assert energies.shape == (count,)
    several = two_link.evaluate("inverse_dynamics_derivatives", q=q, qd=qd, qdd=qdd)
    assert [part.shape for part in several] == [(count, 2, 2)] * 3


def test_lists_and_whole_numbers(two_link: Model, rng, only_short) -> None:
    q, qd, qdd = states(rng, 4)
    expected = two_link.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(two_link.inverse_dynamics(q.tolist(), qd.tolist(), qdd.tolist()), expected)
    rows = [[(*row,) for row in each.tolist()] for each in (q, qd, qdd)]
    np.testing.assert_array_equal(two_link.inverse_dynamics(*rows), expected)
    out = np.empty((4, 2))
    assert two_link.inverse_dynamics(q.tolist(), qd.tolist(), qdd.tolist(), out=out) is out
    np.testing.assert_array_equal(out, expected)
    long = np.resize(q, (40, 2))
    np.testing.assert_array_equal(two_link.gravity_vector(long.tolist()), two_link.gravity_vector(long))
    np.testing.assert_array_equal(two_link.inverse_dynamics(q[1].tolist(), qd[1], qdd[1].tolist()), expected[1])
    np.testing.assert_array_equal(two_link.inverse_dynamics([0, 1], [0, 0], [2, 0]), two_link.inverse_dynamics(
        np.array([0.0, 1.0]), np.zeros(2), np.array([2.0, 0.0])
    ))  # fmt: skip


def test_single_states_into_an_array(two_link: Model, rng, only_short) -> None:
    q, qd, qdd = (each[0] for each in states(rng, 1))
    out = q  # results are computed aside, so that this is allowed
    expected = two_link.inverse_dynamics(q.copy(), qd, qdd)
    assert two_link.inverse_dynamics(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_parameters_are_those_of_now(two_link: Model, rng) -> None:
    q, qd, qdd = states(rng, 3)
    before = two_link.inverse_dynamics(q, qd, qdd)
    two_link.parameters["payload_mass"] = 7.0
    after = two_link.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(after[2], two_link.inverse_dynamics(q[2], qd[2], qdd[2]))
    assert np.abs(after - before).min() > 0
    two_link.parameters.reset()
    np.testing.assert_array_equal(two_link.inverse_dynamics(q, qd, qdd), before)


def test_everything_else_is_still_right(two_link: Model, rng) -> None:
    """Strides, overlap, other types, views, misaligned memory, broadcasting, empty batches."""
    q, qd, qdd = states(rng, 4)
    expected = two_link.inverse_dynamics(q, qd, qdd)
    wide = np.zeros((4, 4))
    wide[:, ::2] = q
    read_only = q.copy()
    read_only.flags.writeable = False
    raw = np.zeros(q.nbytes + 1, np.uint8)
    misaligned = raw[1:].view(np.float64).reshape(4, 2)
    misaligned[:] = q
    for odd in (wide[:, ::2], np.asfortranarray(q), q[::-1][::-1], read_only, misaligned, q.reshape(4, 2)):
        np.testing.assert_array_equal(two_link.inverse_dynamics(odd, qd, qdd), expected)
    for out in (q.copy(), q, q[:, :]):
        given = out if out.base is None else q
        kept = given.copy()
        result = two_link.inverse_dynamics(given, qd, qdd, out=out)
        assert result is out
        np.testing.assert_array_equal(result, expected)
        given[...] = kept
    block = np.zeros((5, 2))
    block[:4] = q
    np.testing.assert_array_equal(two_link.inverse_dynamics(block[:4], qd, qdd, out=block[1:]), expected)
    np.testing.assert_allclose(two_link.inverse_dynamics(q.astype(np.float32), qd, qdd), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(two_link.inverse_dynamics(q, qd[0], qdd)[0], expected[0])
    assert two_link.inverse_dynamics(q[:0], qd[:0], qdd[:0]).shape == (0, 2)
    np.testing.assert_array_equal(two_link.inverse_dynamics(np.stack([q, q]), qd, qdd)[1], expected)


WRONG_ROWS = (
    [[True, False]], [[1.0, 2.0], [3.0]], [[1.0], [1.0, 2.0, 3.0]], [["a", "b"]], [[1j, 0.0]], [[10**400, 0.0]], [[], []],
    [[[1.0, 2.0]], [1.0, 2.0]],
)  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [["a", "b"], [1j, 0], [[1], [1, 2]], [True, False], [1.0], [None, 1.0], [[1.0, 2.0, 3.0]], *WRONG_ROWS]
)
def test_wrong_lists_are_refused_as_before(two_link: Model, wrong) -> None:
    with pytest.raises(ModelError, match="argument 'q'"):
        two_link.gravity_vector(wrong)


def test_failures_are_reported_as_before(pendulum: Model) -> None:
    pendulum.parameters.update(m=0.0, Izz=0.0)
    try:
        with pytest.raises(ModelError, match=r"3 of 3 states"):
            pendulum.forward_dynamics(np.zeros((3, 1)), np.zeros((3, 1)), np.ones((3, 1)))
    finally:
        pendulum.parameters.reset()


class TakenBetweenLookAndGrasp(list):  # type: ignore[type-arg]
    """A pool that another thread empties after it was seen to be full."""

    def __bool__(self) -> bool:
        return True


@pytest.mark.parametrize("states", [np.zeros((3, 2)), [[0.0, 0.0]] * 3], ids=["array", "lists"])
def test_a_workspace_that_another_thread_takes_first(two_link: Model, states) -> None:
    expected = two_link.gravity_vector(states)
    kernel = two_link.kernel("gravity_vector")
    pools = (kernel.lists if isinstance(states, list) else kernel.dense).__globals__["pools"]
    kept, pools[3] = pools[3], TakenBetweenLookAndGrasp()
    try:
        np.testing.assert_array_equal(two_link.gravity_vector(states), expected)
    finally:
        pools[3] = kept


def test_single_precision(two_link_float: Model, rng, only_short) -> None:
    q, qd, qdd = states(rng, 5, np.float32)
    result = two_link_float.inverse_dynamics(q, qd, qdd)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result[3], two_link_float.inverse_dynamics(q[3], qd[3], qdd[3]))


def into(model: Model, rng: np.random.Generator, count: int | None) -> tuple[list[np.ndarray], np.ndarray]:
    """Arguments of inverse dynamics, and an output that was used once."""
    batch = () if count is None else (count,)
    arguments = [rng.uniform(-1, 1, (*batch, 2)) for _ in range(3)]
    out = np.empty((*batch, 2))
    np.testing.assert_array_equal(model.inverse_dynamics(*arguments, out=out), model.inverse_dynamics(*arguments))
    return arguments, out


def change_shape(out: np.ndarray) -> None:
    out.shape = (*reversed(out.shape), 1)


def change_dtype(out: np.ndarray) -> None:
    out.dtype = np.int64


def make_read_only(out: np.ndarray) -> None:
    out.flags.writeable = False


def make_smaller(out: np.ndarray) -> None:
    out.resize((len(out), 1) if out.ndim == 2 else (1,), refcheck=False)


def make_longer(out: np.ndarray) -> None:
    out.resize((2 * len(out), *out.shape[1:]), refcheck=False)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of numpy, for such changes
@pytest.mark.parametrize("count", [None, 1, 3, 64, 65, 200])
@pytest.mark.parametrize("change", [change_shape, change_dtype, make_read_only, make_smaller, make_longer])
def test_an_output_that_was_changed_in_place_is_refused(two_link: Model, rng, count, change) -> None:
    arguments, out = into(two_link, rng, count)
    change(out)
    kept = out.copy()
    with pytest.raises(ModelError, match=r"out= for 'F': got (shape|a read-only array)"):
        two_link.inverse_dynamics(*arguments, out=out)
    np.testing.assert_array_equal(out, kept)


@pytest.mark.parametrize("count", [None, 3, 200])
def test_an_output_that_was_moved_in_place_is_written_where_it_is_now(two_link: Model, rng, only_short, count) -> None:
    arguments, out = into(two_link, rng, count)
    shape = out.shape
    for size in (50_000, out.size):
        out.resize(size, refcheck=False)
    out.resize(shape, refcheck=False)
    out[...] = 0
    np.testing.assert_array_equal(two_link.inverse_dynamics(*arguments, out=out), two_link.inverse_dynamics(*arguments))


def outcome(call: Callable[[], Any]) -> Any:
    """A result, or the text of an error."""
    try:
        return call()
    except ModelError as error:
        return str(error)


SHAPES = [shape for rank in range(5) for shape in product((1, 2, 3), repeat=rank)]


@pytest.mark.parametrize("count", [None, 1, 2, 3])
@pytest.mark.parametrize("name", ["two_link", "pendulum"])
def test_only_the_right_shape_is_written(request: pytest.FixtureRequest, name: str, count) -> None:
    model: Model = request.getfixturevalue(name)
    batch = () if count is None else (count,)
    q = np.full((*batch, model.nq), 0.5)
    rows: list = [(model.gravity_vector, (*batch, model.nq)), (model.potential_energy, batch)]
    if "mass_matrix" in model.functions:
        rows.append((model.mass_matrix, (*batch, model.nq, model.nq)))
    for method, shape in rows:
        expected = method(q)
        for given in SHAPES:
            for states in (q, q.tolist()):
                out = np.full(given, 7.0)
                if given == shape:
                    np.testing.assert_array_equal(method(states, out=out), expected)
                    continue
                with pytest.raises(ModelError, match="out= for"):
                    method(states, out=out)
                assert (out == 7.0).all()


@pytest.mark.parametrize("name", ["two_link", "pendulum"])
def test_shapes_of_inputs_are_those_of_the_general_way(request: pytest.FixtureRequest, name: str, rng) -> None:
    model: Model = request.getfixturevalue(name)
    kernel = model.kernel("friction_forces")
    for q_shape, qd_shape in product([shape for shape in SHAPES if len(shape) < 4], repeat=2):
        q, qd = rng.uniform(-1, 1, q_shape), rng.uniform(-1, 1, qd_shape)
        short, general = outcome(partial(model.friction_forces, q, qd)), outcome(partial(kernel.batch, (q, qd)))
        assert type(short) is type(general)
        np.testing.assert_array_equal(short, general, strict=True)


@pytest.mark.parametrize("count", [None, 1, 3, 200])
def test_several_outputs_into_arrays(two_link: Model, rng, only_short, count) -> None:
    batch = () if count is None else (count,)
    arguments = dict(zip(("q", "qd", "qdd"), rng.uniform(-1, 1, (3, *batch, 2)), strict=True))
    expected = two_link.evaluate("inverse_dynamics_derivatives", **arguments)
    own = tuple(np.empty((*batch, 2, 2)) for _ in range(3))
    rows = tuple(np.empty((3, *batch, 2, 2)))
    strided = tuple(np.empty((*batch, 2, 4))[..., ::2] for _ in range(3))
    for out in (own, list(own), rows, strided):
        assert two_link.evaluate("inverse_dynamics_derivatives", **arguments, out=out) is out
        for part, right in zip(out, expected, strict=True):
            np.testing.assert_array_equal(part, right)


@pytest.mark.parametrize("count", [None, 3, 200])
def test_several_outputs_are_refused_before_one_is_written(two_link: Model, rng, count) -> None:
    batch = () if count is None else (count,)
    arguments = dict(zip(("q", "qd", "qdd"), rng.uniform(-1, 1, (3, *batch, 2)), strict=True))
    shape = (*batch, 2, 2)
    first, second, read_only = (np.zeros(shape) for _ in range(3))
    read_only.flags.writeable = False
    block = np.zeros((2, *shape)).reshape(-1)
    near = block[2 : 2 + second.size].reshape(shape)  # begins inside the other
    for out, match in (
        ((first, second, read_only), "read-only"),
        ((first, second, np.zeros(shape, int)), "dtype"),
        ((first, second, np.zeros((*batch, 4))), "got shape"),
        ((first, second, second), "overlap"),
        ((first, block[: second.size].reshape(shape), near), "overlap"),
        ((first, second), "a tuple of 3 arrays"),
        (np.zeros((3, *shape)), "a tuple of 3 arrays"),
        ((first, second, second.tolist()), "got list"),
    ):
        with pytest.raises(ModelError, match=match):
            two_link.evaluate("inverse_dynamics_derivatives", **arguments, out=out)
        assert not first.any()
        assert not second.any()


@pytest.mark.parametrize("shift", [-400, -399, -201, -200, -1, 0, 1, 2, 199, 200, 399, 400])
def test_many_states_into_memory_of_an_input(two_link: Model, rng, only_short, shift: int) -> None:
    """Results are right wherever the output begins, before, in or behind an input; views of others' memory too."""
    arguments = rng.uniform(-1, 1, (3, 200, 2))
    expected = two_link.inverse_dynamics(*arguments.copy())
    for k in range(3):
        block = np.zeros(1200)
        given = [each.copy() for each in arguments]
        given[k] = block[400:800].reshape(200, 2)
        given[k][...] = arguments[k]
        out = np.frombuffer(block.data, offset=8 * (400 + shift), count=400).reshape(200, 2)
        np.testing.assert_array_equal(two_link.inverse_dynamics(*given, out=out), expected)


@pytest.mark.parametrize("count", [4, 64, 65, 200])
def test_inputs_of_all_kinds(two_link: Model, rng, only_short, count: int) -> None:
    q, qd, qdd = states(rng, count, np.float32)
    expected = two_link.inverse_dynamics(*(each.astype(np.float64) for each in (q, qd, qdd)))
    np.testing.assert_array_equal(expected[-1], two_link.inverse_dynamics(*(each[-1].astype(float) for each in (q, qd, qdd))))
    read_only = q.astype(float)
    read_only.flags.writeable = False
    wide = np.zeros((count, 4))
    wide[:, ::2] = qd
    assert two_link.inverse_dynamics(q, qd, qdd).dtype == np.float64
    for given in (
        (q, qd, qdd),
        (read_only, wide[:, ::2], qdd),
        (q.astype(">f8"), np.asfortranarray(qd), qdd.astype(np.longdouble)),
    ):
        np.testing.assert_array_equal(two_link.inverse_dynamics(*given), expected)
    ones = np.ones((count, 2), np.int8)
    np.testing.assert_array_equal(two_link.gravity_vector(ones), two_link.gravity_vector(np.ones((count, 2))))


def test_scalars_of_numpy_in_lists(two_link: Model) -> None:
    expected = two_link.gravity_vector(np.array([0.5, 0.25]))
    for given in ([0.5, 0.25], [np.float64(0.5), 0.25], [0.5, np.float32(0.25)]):
        np.testing.assert_array_equal(two_link.gravity_vector(given), expected)
    for wrong in ([np.complex128(0.5), 0.25], [0.5, 1j], [np.array([0.5]), 0.25], [np.True_, np.False_], [0.5, None], [0.5]):
        with pytest.raises(ModelError, match="argument 'q'"):
            two_link.gravity_vector(wrong)


@pytest.fixture(scope="module")
def mixed(cache_dir: Path) -> Model:
    """An own function of arguments of every rank, some with axes of length 1."""
    robot = elastogen.load("two_link")
    inputs = {"gain": None, "arrow": 3, "column": (2, 1), "row": (1, 3), "matrix": (2, 3)}
    s = elastogen.symbols(robot)
    gain, arrow, column, row, matrix = (s.input(*each) for each in inputs.items())
    outputs = {"image": gain * matrix * arrow, "length": gain + arrow.dot(arrow), "outer": column * row}
    return elastogen.build_model(robot.with_function("mixed", inputs=inputs, outputs=outputs), outputs=["mixed"])


@pytest.mark.parametrize("count", [None, 1, 2, 3, 64, 65, 200])
def test_arguments_of_every_rank(mixed: Model, rng, only_short, count) -> None:
    batch = () if count is None else (count,)
    given = {a.name: rng.uniform(-1, 1, (*batch, *a.shape)) for a in mixed.functions["mixed"].inputs}
    gain, arrow, column, row, matrix = given.values()
    expected = (
        np.asarray(gain)[..., None] * np.einsum("...ij,...j->...i", matrix, arrow),
        gain + np.einsum("...i,...i->...", arrow, arrow),
        column * row,
    )
    outs = [tuple(np.empty(part.shape) for part in expected), tuple(np.empty((*part.shape, 2))[..., 1] for part in expected)]
    kinds = [given, given | {"gain": np.asarray(gain)}]
    if count is None:
        kinds.append(given | {"gain": float(gain)})
    for arguments in kinds:
        for out in (None, *outs):
            found = mixed.evaluate("mixed", **arguments, out=out)
            assert out is None or found is out
            for part, right in zip(found, expected, strict=True):
                assert part.shape == right.shape
                np.testing.assert_allclose(part, right, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("count", [None, 1, 2, 3])
@pytest.mark.parametrize("name", ["gain", "arrow", "column", "row", "matrix"])
def test_arguments_of_other_ranks_are_those_of_the_general_way(mixed: Model, rng, name: str, count) -> None:
    batch = () if count is None else (count,)
    arguments = {a.name: rng.uniform(-1, 1, (*batch, *a.shape)) for a in mixed.functions["mixed"].inputs}
    kernel = mixed.kernel("mixed")
    for shape in SHAPES:
        given = list((arguments | {name: rng.uniform(-1, 1, shape)}).values())
        short, general = outcome(partial(mixed._evaluate, "mixed", given)), outcome(partial(kernel.batch, given))
        assert type(short) is type(general)
        for part, right in zip(short, general, strict=True):
            np.testing.assert_array_equal(part, right, strict=True)


@pytest.mark.parametrize("count", [None, 3, 200])
def test_lists_beside_arrays(two_link: Model, rng, only_short, count) -> None:
    batch = () if count is None else (count,)
    q, qd, qdd = rng.uniform(-1, 1, (3, *batch, 2))
    expected = two_link.inverse_dynamics(q, qd, qdd)
    for given in ((q.tolist(), qd, qdd), (q, qd.tolist(), qdd), (q, qd, qdd.tolist()), (q.tolist(), qd, qdd.tolist())):
        np.testing.assert_array_equal(two_link.inverse_dynamics(*given), expected)
