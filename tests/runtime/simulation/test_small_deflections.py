"""Simulations that leave the range of linear beams, and how far off they are: the built-in ones stay within it."""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import elastogen
from elastogen import command_line
from elastogen.runtime.simulation.results import SMALL_SLOPE, deflection_error

FLEXIBLE = ["flexible_two_link", "flexible_six_joint", "par_experiment", "par_table3", "rpb_table3", "satellite"]


@pytest.mark.parametrize("slope", [0.2, SMALL_SLOPE, 0.6, 1.0])
def test_the_expected_error_is_that_of_euler_s_elastica(slope):
    """EI theta'' = -P cos theta, EI = L = 1: shooting for the curvature at the clamp, that of the tip is zero."""
    force = 2 * slope  # linear: slope P / 2, deflection P / 3

    def bent(curvature):
        def rates(s, state):
            theta, bend = state[2:]
            return [np.cos(theta), np.sin(theta), bend, -force * np.cos(theta)]

        return solve_ivp(rates, (0, 1), [0, 0, 0, curvature], rtol=1e-10, atol=1e-12).y[:, -1]

    curvature = brentq(lambda curvature: bent(curvature)[3], 0, force)
    too_large = (force / 3) / bent(curvature)[1] - 1
    assert too_large == pytest.approx(deflection_error(slope), rel=0.2)


def within_range(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", elastogen.ModelWarning)
        assert command_line.main(["simulate", name]) == 0


def test_the_experiment_of_one_link_stays_within_the_range_of_its_beam():
    """It bent its beam by 1.9 rad once, and ended 56 % off."""
    shown = elastogen.load("flexible_one_link").experiment
    model = elastogen.build_model("flexible_one_link", outputs=["forward_dynamics"])
    pushes = [shown.drive.amplitude.get(name, 0.0) for name in model.velocity_names]
    with warnings.catch_warnings():
        warnings.simplefilter("error", elastogen.ModelWarning)
        s = model.simulate(np.zeros(model.nq), t=shown.seconds, F=elastogen.BangBang(pushes, shown.drive.duration))
    assert 0.1 < s.largest_slopes.max() < SMALL_SLOPE


@pytest.mark.nightly
@pytest.mark.parametrize("name", FLEXIBLE)
def test_experiments_stay_within_the_range_of_their_beams(name, capsys):
    within_range(name)
    assert "bent by" not in capsys.readouterr().err
