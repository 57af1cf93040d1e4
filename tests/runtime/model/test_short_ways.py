"""Dense arrays of states and lists take a short way into the C code, with the same bits; everything else the general one."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_single_precision(two_link_float: Model, rng, only_short) -> None:
    q, qd, qdd = states(rng, 5, np.float32)
    result = two_link_float.inverse_dynamics(q, qd, qdd)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result[3], two_link_float.inverse_dynamics(q[3], qd[3], qdd[3]))
