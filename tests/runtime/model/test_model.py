"""The compiled model behind numpy arrays: shapes, batches, out=, precision, failures."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import elastogen
from elastogen import Model, ModelError
from elastogen.generator.functions.higher import acceleration_matrices
from elastogen.generator.functions.papers import elements, matrix_exponentials

OF_PAPERS = {entry.name for module in (acceleration_matrices, elements, matrix_exponentials) for entry in module.ENTRIES}


@pytest.fixture
def state(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(rng.normal(size=(3, 2)))


# What the model says about itself.


def test_metadata(puma560: Model) -> None:
    assert puma560.name == "puma560"
    assert puma560.nq == 6
    assert puma560.coordinate_names[0] == "waist"
    assert puma560.coordinate_units == ("rad",) * 6
    assert len(puma560.frame_names) == 7
    assert all(path.is_file() for path in puma560.c_files)
    assert "puma560" in repr(puma560)


def test_every_function_has_a_method_with_its_arguments(two_link: Model) -> None:
    for name, info in two_link.functions.items():
        method = re.sub(r"(_\d)+$|_[xyz]{3}$", "", name)
        if method != name:  # one function for each order or set of angles, one method for all
            assert callable(getattr(Model, method))
            continue
        if name in OF_PAPERS:  # by Model.evaluate
            continue
        signature = inspect.signature(getattr(Model, name))
        positional = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        if name in ("stiffness_matrix", "damping_matrix"):  # q is for robots with telescopic joints only
            assert positional.pop() == "q"
        assert positional == ["self", *(argument.name for argument in info.inputs)], name
        assert ("on_failure" in signature.parameters) == info.can_fail, name
        assert getattr(Model, name).__doc__


def test_every_function_runs_single_batched_and_bound_alike(two_link: Model, rng: np.random.Generator) -> None:
    for name, info in two_link.functions.items():
        arguments = {a.name: rng.normal(size=(5, *a.shape)) for a in info.inputs}
        batched = two_link.evaluate(name, **arguments)
        batched = batched if isinstance(batched, tuple) else (batched,)
        bound = two_link.bind(name)
        for k in range(5):
            one = two_link.evaluate(name, **{key: value[k] for key, value in arguments.items()})
            one = one if isinstance(one, tuple) else (one,)
            for key, value in arguments.items():
                setattr(bound, key, value[k])
            assert bound() == 0
            for result, many, output in zip(one, batched, info.outputs, strict=True):
                expected = many[k] if info.inputs else many
                assert np.shape(result) == output.shape
                np.testing.assert_array_equal(result, expected, err_msg=name)
                np.testing.assert_array_equal(bound.arguments[output.name], expected, err_msg=name)


# Physics that holds for any arguments: the arrays reach the right places.


def test_textbook_mass_matrix(two_link: Model) -> None:
    q2 = 0.7
    M = two_link.mass_matrix([0.3, q2])
    a, b = 5 / 3 + np.cos(q2), 1 / 3 + np.cos(q2) / 2
    np.testing.assert_allclose(M, [[a, b], [b, 1 / 3]], rtol=1e-14)


def test_forward_undoes_inverse(puma560: Model, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, 50, 6))
    forces = puma560.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(puma560.forward_dynamics(q, qd, forces), qdd, rtol=1e-9, atol=1e-10)


# Inputs.


def test_lists_integers_and_strided_arrays(two_link: Model, state: tuple[np.ndarray, ...]) -> None:
    q, qd, qdd = state
    expected = two_link.inverse_dynamics(q, qd, qdd)
    padded = np.zeros((2, 3))
    padded[:, 1] = q
    for variant in (list(q), padded[:, 1], q.astype(">f8"), q[::-1].copy()[::-1], np.ma.array(q)):
        np.testing.assert_array_equal(two_link.inverse_dynamics(variant, qd, qdd), expected)
    np.testing.assert_array_equal(two_link.mass_matrix([1, 2]), two_link.mass_matrix(np.array([1.0, 2.0])))
    np.testing.assert_array_equal(two_link.mass_matrix(np.array([1, 2], dtype=np.int8)), two_link.mass_matrix([1, 2]))


def test_unaligned_and_read_only_inputs(two_link: Model, state: tuple[np.ndarray, ...]) -> None:
    q = state[0]
    raw = np.zeros(17, dtype=np.uint8)
    unaligned = raw[1:].view(np.float64)
    unaligned[:] = q
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(two_link.mass_matrix(unaligned), two_link.mass_matrix(q))
    np.testing.assert_array_equal(two_link.mass_matrix(unaligned[None])[0], two_link.mass_matrix(q))
    q.flags.writeable = False
    assert two_link.mass_matrix(q).shape == (2, 2)


def test_batch_axes_broadcast(two_link: Model, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(5, 1, 2)), rng.normal(size=(4, 2)), rng.normal(size=2)
    forces = two_link.inverse_dynamics(q, qd, qdd)
    assert forces.shape == (5, 4, 2)
    for i in range(5):
        for j in range(4):
            np.testing.assert_array_equal(forces[i, j], two_link.inverse_dynamics(q[i, 0], qd[j], qdd))


@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (1, 1), (3, 0), (2, 1)])
def test_unusual_batches(two_link: Model, shape: tuple[int, ...]) -> None:
    q = np.full((*shape, 2), 0.3)
    assert two_link.mass_matrix(q).shape == (*shape, 2, 2)
    assert two_link.kinetic_energy(q, [1, 2]).shape == shape
    assert two_link.inverse_dynamics(q, q, q).shape == (*shape, 2)


def test_single_numbers_come_back_as_numbers(two_link: Model) -> None:
    energy = two_link.kinetic_energy([0, 0.5], [1, 2])
    assert isinstance(energy, float)
    assert energy == two_link.kinetic_energy([[0, 0.5]], [1, 2])[0]


@pytest.mark.parametrize(
    ("q", "words"),
    [
        ([1, 2, 3], ["shape (3,)", "(..., 2)"]),
        (1.0, ["shape ()", "(..., 2)"]),
        (np.zeros((2, 1)), ["shape (2, 1)"]),
        ([1, 2j], ["complex128"]),
        (["a", "b"], ["<U1"]),
        ([None, 1], ["object"]),
        ([True, False], ["bool"]),
        ([[1, 2], [3]], ["cannot become an array"]),
    ],
)
def test_wrong_arguments_are_named(two_link: Model, q: object, words: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        two_link.inverse_dynamics(q, [0, 0], [0, 0])  # type: ignore[arg-type]
    for word in ["two_link.inverse_dynamics", "'q'", *words]:
        assert word in str(caught.value)


def test_batches_that_do_not_broadcast(two_link: Model) -> None:
    with pytest.raises(ModelError, match=r"q \(3,\), qd \(4,\)"):
        two_link.coriolis_vector(np.zeros((3, 2)), np.zeros((4, 2)))


def test_nan_passes_through(two_link: Model) -> None:
    forces = two_link.inverse_dynamics([[np.nan, 0], [0, 0]], [0, 0], [0, 0])
    assert np.isnan(forces[0]).any()
    assert np.isfinite(forces[1]).all()


# out=


def test_out_is_written_and_returned(two_link: Model, rng: np.random.Generator) -> None:
    q = rng.normal(size=(7, 2))
    expected = two_link.mass_matrix(q)
    out = np.empty((7, 2, 2))
    assert two_link.mass_matrix(q, out=out) is out
    np.testing.assert_array_equal(out, expected)
    for other in (np.empty((2, 2, 7)).T, np.empty((14, 2, 2))[::2], np.empty((7, 2, 2), dtype=np.float32)):
        assert two_link.mass_matrix(q, out=other) is other
        np.testing.assert_allclose(other, expected, rtol=1e-6)
    single = np.empty((2, 2))
    np.testing.assert_array_equal(two_link.mass_matrix(q[3], out=single), expected[3])


def test_out_may_be_an_input(two_link: Model, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, 9, 2))
    expected = two_link.inverse_dynamics(q, qd, qdd)
    two_link.inverse_dynamics(q, qd, qdd, out=q)
    np.testing.assert_array_equal(q, expected)


def test_out_of_several_outputs(two_link: Model, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, 4, 2))
    out = tuple(np.empty((3, 4, 2, 2)))
    assert two_link.inverse_dynamics_derivatives(q, qd, qdd, out=out) is out
    for got, expected in zip(out, two_link.inverse_dynamics_derivatives(q, qd, qdd), strict=True):
        np.testing.assert_array_equal(got, expected)
    columns = np.empty((4, 2, 6))
    beside = tuple(columns[..., k::3] for k in range(3))  # in one block of memory, but no number twice
    two_link.inverse_dynamics_derivatives(q, qd, qdd, out=beside)
    for got, expected in zip(beside, out, strict=True):
        np.testing.assert_array_equal(got, expected)
    for shared in ((out[0], out[1], out[0]), (columns[..., :2], columns[..., 1:3], columns[..., 4:])):
        with pytest.raises(ModelError, match="overlap"):
            two_link.inverse_dynamics_derivatives(q, qd, qdd, out=shared)
    with pytest.raises(ModelError, match="tuple of 3 arrays"):
        two_link.inverse_dynamics_derivatives(q, qd, qdd, out=out[0])


@pytest.mark.parametrize("out", [np.empty(3), np.empty((2, 2), dtype=int), [[0, 0], [0, 0]], np.broadcast_to(0.0, (2, 2))])
def test_unusable_out_is_refused(two_link: Model, out: object) -> None:
    with pytest.raises(ModelError, match=r"mass_matrix: out="):
        two_link.mass_matrix([0, 0], out=out)  # type: ignore[arg-type]


# Precision.


def test_float32(two_link: Model, two_link_float: Model, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, 20, 2))
    exact = two_link.inverse_dynamics(q, qd, qdd)
    rounded = two_link_float.inverse_dynamics(q, qd, qdd)
    assert rounded.dtype == np.float32
    np.testing.assert_allclose(rounded, exact, rtol=1e-4, atol=1e-4)
    single = two_link_float.inverse_dynamics(*(a[0].astype(np.float32) for a in (q, qd, qdd)))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, rounded[0])


# Failures.


def test_singular_mass_matrix(two_link: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_link.parameters, "_tensors", ())  # who takes no tensor that no body has
    q, zero = np.zeros((2, 3, 2)), np.zeros(2)
    weightless = {"payload_inertia_zz": np.array([0.0, -100.0, 0.0])}
    with pytest.raises(ModelError, match=r"forward_dynamics.*2 of 6 states, first at index \(0, 1\)"):
        two_link.forward_dynamics(q, zero, zero, parameters=weightless)
    got = two_link.forward_dynamics(q, zero, zero, parameters=weightless, on_failure="nan")
    assert np.isnan(got[:, 1]).all()
    assert np.isfinite(got[:, ::2]).all()
    two_link.parameters["payload_inertia_zz"] = -100.0
    with pytest.raises(ModelError, match=r"cause: a negative inertia: M\[1\]\[1\] = -99\.\d, what elbow moves"):
        two_link.mass_matrix_solve(zero, zero)
    assert np.isnan(two_link.mass_matrix_solve(zero, zero, on_failure="nan")).all()
    bound = two_link.bind("forward_dynamics")
    assert bound() < 0
    np.testing.assert_array_equal(bound.qdd, 0)


def test_nan_in_a_factorization_is_reported(two_link: Model) -> None:
    with pytest.raises(ModelError, match="NaN or infinity in the arguments"):
        two_link.forward_dynamics([0, np.nan], [0, 0], [0, 0])
    with pytest.raises(ModelError, match="on_failure='ignore'"):
        two_link.forward_dynamics([0, 0], [0, 0], [0, 0], on_failure="ignore", out=np.empty(2))  # type: ignore[arg-type]


def test_functions_that_were_not_emitted() -> None:
    model = elastogen.build_model("two_link", outputs=["inverse_dynamics"])
    with pytest.raises(ModelError) as caught:
        model.jacobian_tip(np.zeros(2))
    for word in ("two_link", "'jacobian_tip'", "outputs=", "inverse_dynamics"):
        assert word in str(caught.value)
    with pytest.raises(ModelError, match="outputs="):
        model.bind("no_such_function")


def test_a_default_model_builds_other_functions_when_they_are_called() -> None:
    model = elastogen.build_model("two_link")
    assert "jacobian_tip" not in model.functions
    model.parameters["gravity_y"] = -1.62
    q, qd, qdd = np.array([0.3, -0.4]), np.array([0.1, 0.2]), np.array([1.0, 2.0])
    tip = model.forward_kinematics(q)[-1]
    np.testing.assert_allclose(tip[:3, :3] @ model.jacobian_tip(q)[:3], model.jacobian(q)[:3], atol=1e-14)
    forces = model.regressor(q, qd, qdd) @ model.inertial_parameters()  # with the changed gravity
    np.testing.assert_allclose(forces, model.inverse_dynamics(q, qd, qdd), rtol=1e-13)
    with pytest.raises(elastogen.OutputError, match="no_such_function"):
        model.bind("no_such_function")


def test_evaluate_checks_argument_names(two_link: Model) -> None:
    with pytest.raises(ModelError, match="'qd' is missing, expected q, qd"):
        two_link.evaluate("coriolis_vector", q=[0, 0])
    with pytest.raises(ModelError, match="'x' is unknown, expected q"):
        two_link.evaluate("mass_matrix", q=[0, 0], x=1)


ORDERED = {"acceleration_energy": 2, "inertia_force_rate": 3, "inverse_dynamics_rate": 3, "transform_rate": 1}


def test_methods_of_every_order(two_link: Model, rng: np.random.Generator) -> None:
    motion = rng.normal(size=(7, 4, 2))
    seen = 0
    for name in two_link.functions:
        method, order = name[:-2], name[-1]
        if method in ORDERED and order.isdigit():
            arrays = motion[: ORDERED[method] + int(order)]
            names = [argument.name for argument in two_link.functions[name].inputs]
            expected = two_link.evaluate(name, **dict(zip(names, arrays, strict=True)))
            np.testing.assert_array_equal(getattr(two_link, method)(int(order), *arrays), expected)
            seen += 1
    assert seen == 4 + 4 + 4 + 4


def test_orders_follow_each_other(two_link: Model, rng: np.random.Generator) -> None:
    """Each order is the time derivative of the one before, along a polynomial motion."""
    c = rng.normal(size=(6, 2))
    step = 1e-5

    def motion(t: float, count: int) -> list[np.ndarray]:
        polynomial = np.polynomial.Polynomial
        return [np.array([polynomial(c[:, i]).deriv(k)(t) if k else polynomial(c[:, i])(t) for i in range(2)])
                for k in range(count)]  # fmt: skip

    for method, at_zero in ORDERED.items():
        if method == "acceleration_energy":
            continue
        call = getattr(two_link, method)
        for k in range(3):
            after, before = (call(k, *motion(0.1 + h, at_zero + k)) for h in (step, -step))
            exact = call(k + 1, *motion(0.1, at_zero + k + 1))
            np.testing.assert_allclose((after - before) / (2 * step), exact, rtol=1e-5, atol=1e-5 * abs(exact).max())


@pytest.mark.parametrize(("p", "arrays"), [(0, 3), (5, 7), (2, 3), (1, 4), (1.0, 3), (True, 3)])
def test_orders_are_checked(two_link: Model, p: int, arrays: int) -> None:
    with pytest.raises(ModelError, match=r"acceleration_energy: p="):
        two_link.acceleration_energy(p, *np.zeros((arrays, 2)))
    with pytest.raises(ModelError, match="inertia_force_rate"):
        two_link.inertia_force_rate(9, *np.zeros((arrays, 2)))


def test_rate_of_order_zero_is_the_force(two_link: Model, state: tuple[np.ndarray, ...]) -> None:
    np.testing.assert_array_equal(two_link.inertia_force_rate(0, *state), two_link.inertia_forces(*state))
