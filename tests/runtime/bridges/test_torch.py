"""PyTorch: values, first and second derivatives against torch's own differences, batches, vmap, precision."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_robots import BENDING, FLOATING

import elastogen

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make bridges", exc_type=ImportError)
ROBOTS = {"two_link": "two_link", "flexible": BENDING}


@pytest.fixture(scope="module", params=ROBOTS)
def model(request: pytest.FixtureRequest) -> elastogen.Model:
    return elastogen.build_model(ROBOTS[request.param])


def tensors(model: elastogen.Model, count: int, *leading: int) -> list:
    rng = np.random.default_rng(5)
    return [torch.tensor(rng.uniform(-0.5, 0.5, (*leading, model.nv)), requires_grad=True) for _ in range(count)]


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
def test_derivatives_are_those_of_differences(model: elastogen.Model, name: str) -> None:
    function = model.to_torch(name)
    given = tensors(model, 1 if name == "mass_matrix" else 3)
    largest = max(float(j.abs().max()) for j in torch.autograd.functional.jacobian(function, tuple(given)))
    assert torch.autograd.gradcheck(function, given, atol=1e-7 * largest, rtol=1e-6)
    assert torch.autograd.gradgradcheck(function, given, atol=1e-5 * largest, rtol=1e-5)


def test_forward_mode(model: elastogen.Model) -> None:
    """``torch.func.jvp`` and ``hessian``, which goes forward over reverse, and dual numbers."""
    function = model.to_torch("forward_dynamics")
    q, qd, F = (tensor.detach() for tensor in tensors(model, 3))
    by_q, _, by_F = model.forward_dynamics_derivatives(q.numpy(), qd.numpy(), F.numpy())
    value, moved = torch.func.jvp(lambda q, F: function(q, qd, F), (q, F), (qd, F))
    assert np.allclose(value, function(q, qd, F), rtol=1e-14)
    assert np.allclose(moved, by_q @ qd.numpy() + by_F @ F.numpy(), rtol=1e-11, atol=1e-11)
    with torch.autograd.forward_ad.dual_level():
        dual = function(torch.autograd.forward_ad.make_dual(q, qd), qd, F)
        assert np.allclose(torch.autograd.forward_ad.unpack_dual(dual).tangent, by_q @ qd.numpy(), rtol=1e-11, atol=1e-11)
    weights = torch.linspace(0.5, 1.0, model.nv, dtype=torch.float64)
    hessian = torch.func.hessian(lambda q: weights @ function(q, qd, F))(q)
    exact = model.evaluate("forward_dynamics_hessian", q=q, qd=qd, F=F, output_weights=weights)[: model.nv, : model.nv]
    assert np.allclose(hessian, exact, rtol=1e-12, atol=1e-12)
    rows = torch.func.jacfwd(torch.func.jacrev(lambda q: function(q, qd, F)))(q)
    assert np.allclose(np.tensordot(weights, rows, 1), exact, rtol=1e-12, atol=1e-11)


def test_a_number_for_one_state_has_derivatives() -> None:
    """An energy: a tensor without axes, with a batch of one axis."""
    model = elastogen.build_model("two_link")
    for name, count in (("potential_energy", 1), ("kinetic_energy", 2)):
        function, given = model.to_torch(name), tensors(model, count)
        assert function(*given).shape == ()
        assert torch.autograd.gradcheck(function, given)
        assert torch.autograd.gradgradcheck(function, given)
        many = torch.vmap(function)(*(torch.stack([each.detach(), 2 * each.detach()]) for each in given))
        assert torch.equal(many[0], function(*given))
    (q,) = tensors(model, 1)
    (slope,) = torch.autograd.grad(model.to_torch("potential_energy")(q), q)
    assert np.allclose(slope, model.gravity_vector(q.detach().numpy()), rtol=1e-13)


def test_batches_broadcast(model: elastogen.Model) -> None:
    function = model.to_torch("forward_dynamics")
    q, qd, F = tensors(model, 3, 4, 3)
    found = function(q, qd, F[0, 0])
    expected = model.forward_dynamics(q.detach().numpy(), qd.detach().numpy(), F[0, 0].detach().numpy())
    assert found.shape == (4, 3, model.nv)
    assert np.array_equal(found.detach().numpy(), expected)
    found.sum().backward()
    assert F.grad is not None
    assert F.grad[1:].abs().max() == 0


def test_vmap_and_functional_derivatives(model: elastogen.Model) -> None:
    function = model.to_torch("forward_dynamics")
    q, qd, F = (tensor.detach() for tensor in tensors(model, 3, 5))
    assert torch.equal(torch.vmap(function)(q, qd, F), function(q, qd, F))
    jacobians = torch.vmap(torch.func.jacrev(function, argnums=(0, 1, 2)))(q, qd, F)
    for found, expected in zip(jacobians, model.forward_dynamics_derivatives(q.numpy(), qd.numpy(), F.numpy()), strict=True):
        assert np.allclose(found.numpy(), expected, rtol=1e-10, atol=1e-12)


def test_live_parameters_are_inputs() -> None:
    model = elastogen.build_model("two_link")
    function = model.to_torch("gravity_vector", parameters=True)
    q = torch.tensor([0.3, -0.4], dtype=torch.float64, requires_grad=True)
    products = ("inertia_xy", "inertia_xz", "inertia_yz")  # small ones: the tensor of a payload stays possible
    changes = [0.02 if name.endswith(products) else 0.2 for name in model.parameters]
    values = [float(model.parameters[name]) + change for name, change in zip(model.parameters, changes, strict=True)]
    live = torch.tensor(values, requires_grad=True, dtype=torch.float64)
    assert torch.autograd.gradcheck(function, (q, live))
    assert torch.autograd.gradgradcheck(function, (q, live))
    expected = model.gravity_vector(
        q.detach().numpy(), parameters=dict(zip(model.parameters, live.detach().numpy(), strict=True))
    )
    assert np.array_equal(function(q, live).detach().numpy(), expected)


def test_quaternions_of_any_length() -> None:
    model = elastogen.build_model(FLOATING)
    function = model.to_torch("forward_dynamics")
    rng = np.random.default_rng(3)
    q = torch.tensor(model.random_configuration(rng) * 1.0, requires_grad=True)
    with torch.no_grad():
        q[3:7] *= 1.7
    qd, F = (torch.tensor(rng.uniform(-1, 1, model.nv), requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(function, (q, qd, F), atol=1e-5, rtol=1e-6)


def test_wrong_tensors_are_named() -> None:
    model = elastogen.build_model("two_link")
    function = model.to_torch("forward_dynamics")
    good = torch.zeros(2, dtype=torch.float64)
    with pytest.raises(elastogen.ModelError, match=r"q is torch.float32, expected torch.float64"):
        function(good.float(), good, good)
    with pytest.raises(elastogen.ModelError, match=r"F has shape \(3,\), expected \(\.\.\., 2\)"):
        function(good, good, torch.zeros(3, dtype=torch.float64))
    with pytest.raises(elastogen.ModelError, match="expected q, qd, F"):
        function(good, good)
    with pytest.raises(elastogen.ModelError, match=r"qd is on meta, expected the CPU.*Fix: tensor.cpu\(\)"):
        function(good, good.to("meta"), good)
    for wrong in ("forward_dynamics+mass_matrix", 7):
        with pytest.raises(elastogen.ModelError, match=r"two_link: got .* expected one function of the model"):
            model.to_torch(wrong)
    with pytest.raises(elastogen.ModelError, match="has no inputs"):
        elastogen.build_model(BENDING).to_torch("stiffness_matrix")
    with pytest.raises(elastogen.ModelError, match="no live parameters"):
        elastogen.build_model(BENDING).to_torch("gravity_vector", parameters=True)


def test_tensors_of_any_kind_give_the_same() -> None:
    """Single states, batches, parameters of modules, strided and expanded tensors; no number gives NaN."""
    model = elastogen.build_model("two_link")
    function = model.to_torch("forward_dynamics")
    q, qd, F = (tensor.detach() for tensor in tensors(model, 3, 6))
    expected = torch.from_numpy(model.forward_dynamics(q.numpy(), qd.numpy(), F.numpy()))
    strided = torch.stack([q, q], dim=-1)[..., 0]
    assert not strided.is_contiguous()
    for first in (q, torch.nn.Parameter(q), strided, q[None]):
        assert torch.equal(function(first, qd, F).detach().reshape(6, 2), expected)
    one = torch.nn.Parameter(q[0].clone())
    assert torch.equal(function(one, qd[0], F[0]).detach(), expected[0])
    (gradient,) = torch.autograd.grad(function(one, qd[0], F[0]).square().sum(), one)
    general = torch.func.grad(lambda x: function(x, qd[0], F[0]).square().sum())(one.detach())
    assert torch.allclose(gradient, general, rtol=1e-13)
    q[0] = torch.nan
    assert torch.isnan(function(q[0], qd[0], F[0])).all()
    assert torch.equal(torch.isnan(function(q, qd, F)), torch.arange(6)[:, None].expand(6, 2) == 0)
