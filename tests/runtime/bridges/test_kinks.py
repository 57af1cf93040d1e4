"""Functions without derivatives at some states are named when a bridge is made, whatever it leads to; smooth ones are not."""

from __future__ import annotations

import warnings

import numpy as np
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


def test_borders_of_elements_are_named() -> None:
    """A joint that slides along two elements of a bent beam: accelerations jump where the second begins."""
    beam = {"joint": "R", "elements": 2, "length": 0.8, "mass_per_length": 0.5, "EI": 0.4}
    slider = {"joint": "Pa", "gamma": 0.3, "length": 0.3, "rigid": True, "mass": 0.5}
    model = elastogen.build_model({"elastogen": 1, "name": "slider", "planar": {"links": [beam, slider]}})
    with pytest.warns(elastogen.ModelWarning, match=r"kinks \(where an element of a beam ends in joint2\).*Fix: stay within"):
        function = Differentiable(model, "forward_dynamics")
    q = np.array([0.2, 0.01, 0.1, 0.03, -0.1, 0.4])
    x = np.concatenate([q, np.linspace(-0.5, 0.5, 6), np.ones(6)])
    sides = np.array([x + side * np.eye(18)[list(model.coordinate_names).index("joint2")] for side in (-1e-9, -5e-10, 1e-9)])
    left, near, right = function.value(sides)
    assert np.abs(left - near).max() < 1e-5 * np.abs(right - left).max()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Differentiable(elastogen.build_model("rpb_table3"), "forward_dynamics")  # its elements grow with what is outside


def test_borders_between_pieces_of_one_function_are_no_kinks() -> None:
    """The eigenfunctions of a beam are written in pieces, and are one function: nothing jumps where a piece ends."""
    eigenfunction = {"direction": "y", "eigenfunction": 1}
    flexible = {"type": "modes", "length": 0.8, "mass_per_length": 0.5, "EI": 0.4, "modes": [eigenfunction]}
    links = [{"name": "base"}, {"name": "beam", "flexible": flexible}, {"name": "cart", "mass": 0.5}]
    joints = [{"name": "turn", "type": "revolute"}, {"name": "slide", "type": "sliding", "gamma": 0.3}]
    description = {"elastogen": 1, "name": "rail", "links": links, "joints": joints}

    def function(**changed) -> Differentiable:
        links[1]["flexible"] = {**flexible, **changed}
        return Differentiable(elastogen.build_model(description), "forward_dynamics")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        smooth = function()
    (slide,) = [joint for joint in smooth.kernel("").info.sliding if joint.thresholds]
    border, place = slide.thresholds[0][1], slide.coordinate
    x = np.array([0.2, 0.05, border, -0.3, 0.4, 0.5, 1.0, 0.0, -1.0])
    sides = np.array([x + side * np.eye(9)[place] for side in (-1e-9, 1e-9)])
    for found in (smooth.value, smooth.jacobian):
        before, after = found(sides)
        assert np.abs(after - before).max() < 1e-6 * np.abs(after).max()
    table = {"direction": "y", "table": {"x": [0, 0.4, 0.8], "displacement": [0, 0.3, 1]}}
    with pytest.warns(elastogen.ModelWarning, match="where an element of a beam ends in slide"):
        function(modes=[table])


def test_a_mask_is_no_kink() -> None:
    """Which contacts are active is data; an own term that chooses by the state is a kink with contacts, too."""
    contacts = [{"frame": "tip", "rows": 3}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = elastogen.build_model("two_link", contacts=contacts)
        function = Differentiable(model, "contact_dynamics")
        Differentiable(model, "contact_impulse")
    x, step = np.array([[0.4, 0.9, 0.3, -0.2, 1.0, 2.0, 1.0]]), 1e-6
    for mask in (0.0, 1.0):
        x[:, 6] = mask
        ends = [function.value(x + sign * step * np.eye(7)[:6]) for sign in (1, -1)]
        slope = (ends[0] - ends[1]).T / (2 * step)
        assert np.abs(function.jacobian(x)[0, :, :6] - slope).max() < 1e-7 * np.abs(slope).max()
    robot = elastogen.load("two_link")
    bent = robot.with_terms(potential=sympy.Max(0, elastogen.symbols(robot).q[0] - 0.5) ** 2 * 40)
    with pytest.warns(elastogen.ModelWarning, match="contact_dynamics has kinks"):
        Differentiable(elastogen.build_model(bent, contacts=contacts), "contact_dynamics")


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
