"""Functions without derivatives at some states are named when a bridge is made, whatever it leads to; smooth ones are not."""

from __future__ import annotations

import warnings

import pytest
import sympy

import elastogen
from elastogen.runtime.bridges.differentiable import Differentiable


def with_spring(energy) -> elastogen.Model:
    robot = elastogen.load("two_link")
    symbols = elastogen.symbols(robot)
    return elastogen.build_model(robot.with_terms(potential=energy(symbols.q[0])))


def test_kinks_are_named_at_construction() -> None:
    model = with_spring(lambda angle: sympy.Max(0, angle - 0.5) ** 2 * 40)
    with pytest.warns(elastogen.ModelWarning, match=r"two_link.forward_dynamics has kinks .*Fix: smooth formulas"):
        Differentiable(model, "forward_dynamics")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Differentiable(model, "mass_matrix")
        Differentiable(with_spring(lambda angle: 40 * angle**4), "forward_dynamics")
        Differentiable(elastogen.build_model("four_bar"), "forward_dynamics")  # its check of pivots is no kink


def test_every_bridge_names_them() -> None:
    model = with_spring(lambda angle: sympy.Max(0, angle - 0.5) ** 2 * 40)
    for module, make in (
        ("casadi", lambda: model.to_casadi("forward_dynamics")),
        ("torch", lambda: model.to_torch("forward_dynamics")),
        ("crocoddyl", lambda: model.to_crocoddyl(dt=0.01)),
    ):
        try:
            __import__(module)
        except ImportError:
            continue
        with pytest.warns(elastogen.ModelWarning, match="forward_dynamics has kinks"):
            make()
