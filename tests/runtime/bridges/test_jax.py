"""JAX: values, first and second derivatives in both modes against differences, jit, vmap, scan, precision, wrong input."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from simulated_robots import BENDING, FLOATING

import elastogen
from elastogen.runtime.bridges.differentiable import Differentiable
from elastogen.runtime.bridges.xla_calls import XlaCalls

jax = pytest.importorskip("jax", reason="JAX is not installed: make bridges", exc_type=ImportError)
from jax import numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

ROBOTS = {"two_link": "two_link", "flexible": BENDING}
MODES = ("fwd", "rev")
NAMES = [f"forward_dynamics{ending}" for ending in ("", "_sensitivity", "_adjoint", "_hessian")]


@pytest.fixture(autouse=True)
def _doubles():
    """Other tests of this process keep JAX's own setting."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module", params=ROBOTS)
def model(request: pytest.FixtureRequest) -> elastogen.Model:
    return elastogen.build_model(ROBOTS[request.param])


@pytest.fixture(scope="module")
def two_link() -> elastogen.Model:
    return elastogen.build_model("two_link")


def arrays(model: elastogen.Model, count: int, *leading: int) -> list:
    rng = np.random.default_rng(5)
    return [jnp.asarray(rng.uniform(-0.5, 0.5, (*leading, model.nv))) for _ in range(count)]


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
def test_derivatives_are_those_of_differences(model: elastogen.Model, name: str) -> None:
    function = model.to_jax(name)
    given = arrays(model, 1 if name == "mass_matrix" else 3)
    jacobians = jax.jacfwd(function, argnums=tuple(range(len(given))))(*given)
    largest = max(float(jnp.abs(jacobian).max()) for jacobian in jacobians) or 1.0  # the mass of this beam is constant
    scaled = jax.jit(lambda *x: function(*x) / largest)
    check_grads(scaled, given, order=2, modes=MODES, atol=1e-6, rtol=1e-6, eps=1e-5)


def test_jacobians_are_those_of_the_model(model: elastogen.Model) -> None:
    function = model.to_jax("forward_dynamics")
    q, qd, F = arrays(model, 3, 5)
    expected = model.forward_dynamics_derivatives(*map(np.asarray, (q, qd, F)))
    for derive in (jax.jacfwd, jax.jacrev):
        jacobians = jax.jit(jax.vmap(derive(function, argnums=(0, 1, 2))))(q, qd, F)
        for found, wanted in zip(jacobians, expected, strict=True):
            assert np.allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_batches_broadcast_and_vmap_is_a_batch(model: elastogen.Model) -> None:
    function = model.to_jax("forward_dynamics")
    q, qd, F = arrays(model, 3, 4, 3)
    expected = model.forward_dynamics(np.asarray(q), np.asarray(qd), np.asarray(F[0, 0]))
    assert expected.shape == (4, 3, model.nv)
    assert np.array_equal(function(q, qd, F[0, 0]), expected)
    assert np.array_equal(jax.jit(function)(q, qd, F[0, 0]), expected)
    mapped = jax.vmap(jax.vmap(function, in_axes=(0, 0, None)), in_axes=(1, 1, None), out_axes=1)
    assert np.array_equal(mapped(q, qd, F[0, 0]), expected)
    assert np.array_equal(jax.jit(mapped)(q, qd, F[0, 0]), expected)
    assert function(q[:0], qd[:0], F[:0]).shape == (0, 3, model.nv)


def test_an_indefinite_mass_matrix_gives_nan_in_its_row_only(two_link: elastogen.Model) -> None:
    function = two_link.to_jax("forward_dynamics", parameters=True)
    q, qd, F = arrays(two_link, 3)
    live = jnp.asarray(list(two_link.parameters.values()))
    wrong = live.at[list(two_link.parameters).index("payload_inertia_zz")].set(-100.0)
    found = jax.jit(function)(q, qd, F, jnp.stack([live, wrong, live]))
    for row in (0, 2):
        assert np.array_equal(found[row], two_link.forward_dynamics(*map(np.asarray, (q, qd, F))))
    assert np.isnan(found[1]).all()


def test_a_simulation_in_scan_has_gradients(two_link: elastogen.Model) -> None:
    forward, dt = two_link.to_jax("forward_dynamics"), 0.01

    def last(q: jax.Array, forces: jax.Array) -> jax.Array:
        def step(state: tuple, F: jax.Array) -> tuple:
            q, qd = state
            qd = qd + dt * forward(q, qd, F)
            return (q + dt * qd, qd), None

        (q, qd), _ = jax.lax.scan(step, (q, jnp.zeros_like(q)), forces)
        return jnp.sum(q**2) + jnp.sum(qd**2)

    forces = jnp.asarray(np.random.default_rng(2).uniform(-1, 1, (20, 2)))
    check_grads(jax.jit(last), (jnp.asarray([0.3, -0.4]), forces), order=2, modes=MODES, atol=1e-5, rtol=1e-5, eps=1e-5)
    numpy_q, numpy_qd = np.array([0.3, -0.4]), np.zeros(2)
    for F in np.asarray(forces):
        numpy_qd = numpy_qd + dt * two_link.forward_dynamics(numpy_q, numpy_qd, F)
        numpy_q = numpy_q + dt * numpy_qd
    assert np.isclose(last(jnp.asarray([0.3, -0.4]), forces), (numpy_q**2).sum() + (numpy_qd**2).sum(), rtol=1e-12)


def test_calls_through_python_give_the_same(two_link: elastogen.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that was loaded, not built, has no compiler for calls from XLA."""
    q, qd, F = arrays(two_link, 3, 2)
    calls = [two_link.to_jax("forward_dynamics")]
    monkeypatch.setattr(two_link, "_maker", None)
    calls.append(two_link.to_jax("forward_dynamics"))
    texts = [jax.jit(call).lower(q, qd, F).as_text() for call in calls]
    assert ["elastogen_xla_batch" in text for text in texts] == [True, False]
    assert ["callback" in text for text in texts] == [False, True]
    for derive in (lambda f: f, jax.jacrev, jax.hessian):
        direct, host = (jax.jit(derive(call))(q, qd, F) for call in calls)
        assert np.array_equal(direct, host)


def test_xla_calls_functions_with_two_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    model = elastogen.build_model("two_link", fused=[("mass_matrix", "gravity_vector")])
    function = Differentiable(model, "mass_matrix_and_gravity_vector")
    monkeypatch.setattr(function, "kernels", lambda: (model.kernel(function.name),))  # fused functions have no derivatives
    assert XlaCalls.take(function)
    calls = XlaCalls(jax, function, model._maker.xla_library(Path(jax.ffi.include_dir())))
    (q,) = arrays(model, 1, 3, 2)
    found = jax.jit(lambda x: calls(x, 0))(q)
    expected = [model.mass_matrix(np.asarray(q)).reshape(3, 2, 4), model.gravity_vector(np.asarray(q))]
    assert np.allclose(found, np.concatenate(expected, axis=-1), rtol=1e-13, atol=1e-13)


def test_headers_that_are_missing_are_named(two_link: elastogen.Model, tmp_path: Path) -> None:
    with pytest.raises(elastogen.BuildError, match=r"XLA's header cannot be read .*c_api.h.*elastogen\[jax\]"):
        two_link._maker.xla_library(tmp_path)


def test_live_parameters_keep_their_values() -> None:
    model = elastogen.build_model("two_link")
    function, q = model.to_jax("gravity_vector"), jnp.asarray([0.3, -0.4])
    before = model.gravity_vector(np.asarray(q))
    model.parameters.update({name: 2 * value + 1 for name, value in model.parameters.items()})
    assert not np.allclose(model.gravity_vector(np.asarray(q)), before)
    assert np.array_equal(function(q), before)
    assert np.array_equal(jax.jit(function)(q), before)
    assert np.array_equal(model.to_jax("gravity_vector")(q), model.gravity_vector(np.asarray(q)))


def test_lanes_give_the_same_bits(two_link: elastogen.Model) -> None:
    lanes = elastogen.build_model("two_link", outputs=NAMES, lanes=True, cflags=["-O1"])
    q, qd, F = arrays(lanes, 3, 67)
    found = jax.vmap(lanes.to_jax("forward_dynamics"))(q, qd, F)
    assert np.array_equal(found, lanes.forward_dynamics(*map(np.asarray, (q, qd, F))))
    assert np.allclose(found, two_link.forward_dynamics(*map(np.asarray, (q, qd, F))), rtol=1e-12)


def test_third_derivatives_are_refused(two_link: elastogen.Model) -> None:
    gravity = two_link.to_jax("gravity_vector")
    q = jnp.asarray([0.3, -0.4])
    assert jax.hessian(gravity)(q).shape == (2, 2, 2)
    with pytest.raises(elastogen.ModelError, match="third derivatives are asked for"):
        jax.jacfwd(jax.hessian(gravity))(q)


def test_live_parameters_are_inputs(two_link: elastogen.Model) -> None:
    function = two_link.to_jax("gravity_vector", parameters=True)
    (q,) = arrays(two_link, 1)
    live = jnp.asarray([float(value) + 0.2 for value in two_link.parameters.values()])
    check_grads(jax.jit(function), (q, live), order=2, modes=MODES, atol=1e-5, rtol=1e-6, eps=1e-5)
    named = dict(zip(two_link.parameters, np.asarray(live), strict=True))
    assert np.array_equal(function(q, live), two_link.gravity_vector(np.asarray(q), parameters=named))
    many = jnp.stack([live, live * 1.1])
    assert np.array_equal(jax.vmap(partial(function, q))(many)[1], function(q, many[1]))


def test_quaternions_of_any_length() -> None:
    model = elastogen.build_model(FLOATING)
    function = model.to_jax("forward_dynamics")
    rng = np.random.default_rng(3)
    q = model.random_configuration(rng) * 1.0
    qd, F = (jnp.asarray(rng.uniform(-1, 1, model.nv)) for _ in range(2))
    longer = q.copy()
    longer[3:7] *= 1.7
    assert np.allclose(function(jnp.asarray(longer), qd, F), function(jnp.asarray(q), qd, F), rtol=1e-12, atol=1e-12)
    check_grads(jax.jit(function), (jnp.asarray(longer), qd, F), order=1, modes=MODES, atol=1e-4, rtol=1e-6, eps=1e-5)


def test_single_precision() -> None:
    model = elastogen.build_model("two_link", precision="float")
    jax.config.update("jax_enable_x64", False)
    function = model.to_jax("forward_dynamics")
    q, qd, F = arrays(model, 3, 6)
    found = jax.jit(function)(q, qd, F)
    assert found.dtype == jnp.float32
    assert np.array_equal(found, model.forward_dynamics(*map(np.asarray, (q, qd, F))))
    assert jax.grad(lambda q: function(q, qd, F).sum())(q).dtype == jnp.float32


def test_wrong_arrays_are_named(two_link: elastogen.Model) -> None:
    function = two_link.to_jax("forward_dynamics")
    good = jnp.zeros(2)
    with pytest.raises(elastogen.ModelError, match=r"q is float32, expected float64.*precision='float'"):
        function(good.astype("float32"), good, good)
    with pytest.raises(elastogen.ModelError, match=r"qd is int64, expected float64"):
        jax.jit(function)(good, good.astype(int), good)
    with pytest.raises(elastogen.ModelError, match=r"F has shape \(3,\), expected \(..., 2\)"):
        function(good, good, jnp.zeros(3))
    with pytest.raises(elastogen.ModelError, match="got 2 arrays, expected q, qd, F"):
        function(good, good)
    with pytest.raises(elastogen.ModelError, match=r"do not broadcast.*q \(3,\), qd \(4,\)"):
        function(jnp.zeros((3, 2)), jnp.zeros((4, 2)), good)
    with pytest.raises(elastogen.ElastogenError, match="forward_dynamic"):
        two_link.to_jax("forward_dynamic")
    with pytest.raises(elastogen.ModelError, match="has no inputs"):
        elastogen.build_model(BENDING).to_jax("stiffness_matrix")
    with pytest.raises(elastogen.ModelError, match="no live parameters"):
        elastogen.build_model(BENDING).to_jax("gravity_vector", parameters=True)


def test_doubles_need_x64(two_link: elastogen.Model) -> None:
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(elastogen.ModelError, match=r"to_jax: the model is in float64.*jax_enable_x64"):
        two_link.to_jax("forward_dynamics")
