"""The controllers of a loop on rigid arms, references, and code of the user's own."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from loop_setup import finish, run_free

import elastogen
from elastogen.build.start import build_loop
from elastogen.runtime.loop.controllers import (
    ComputedTorqueLaw,
    Feedforward,
    PDGravity,
    StateFeedback,
    UserController,
)
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Callbacks, Simulated
from elastogen.runtime.motion.trajectory import quintic


def test_without_a_reference_the_loop_holds_where_it_is(library) -> None:
    loop, cycles = run_free(library, 500, plant=Simulated([0.3, -0.4]))
    records = finish(loop, cycles)
    np.testing.assert_allclose(records["q"], [[0.3, -0.4]] * 500, atol=1e-4)
    np.testing.assert_array_equal(records["q_ref"], [[0.3, -0.4]] * 500)


def reference_of_euler(steps: int, period: float):
    """A motion that semi-implicit Euler steps reproduce exactly."""
    t = period * np.arange(steps)
    qdd = np.stack([2.0 * np.sin(5 * t), -3.0 * np.cos(3 * t)], axis=1)
    qd = np.vstack([np.zeros((1, 2)), period * np.cumsum(qdd, axis=0)])[:-1]
    q = np.array([0.2, -0.1]) + np.vstack([np.zeros((1, 2)), period * np.cumsum(qd[1:], axis=0)])
    return q, qd, qdd


def test_computed_torque_tracks_a_rigid_arm_to_rounding(library) -> None:
    q, qd, qdd = reference_of_euler(3000, 1e-3)
    loop, cycles = run_free(library, 3000, plant=Simulated(q[0], method="semi_implicit"))
    loop.follow(q, qd, qdd)
    records = finish(loop, cycles)
    np.testing.assert_array_equal(records["q_ref"], q)
    assert np.abs(records["q"] - q).max() < 1e-12
    assert np.abs(q - q[0]).max() > 0.5


def test_forces_of_a_reference_are_added(library) -> None:
    """State feedback without gains commands the forces that come with the reference, and no others."""
    law = StateFeedback(K=np.zeros((2, 4)), feedforward=False)
    loop = Loop(library, controller=law, plant=Simulated([0.1, 0.2]), rate=1000)
    loop.set_reference([0.1, 0.2], F=[0.3, -0.2])
    loop.step(5)
    np.testing.assert_allclose(loop.read()["F"][-1], [0.3, -0.2], rtol=1e-12)


def test_errors_by_held_commands_vanish_with_the_rate(library) -> None:
    errors = []
    for rate in (500, 1000, 2000):
        loop, cycles = run_free(library, rate, rate=rate, controller=ComputedTorqueLaw(100, 20))
        loop.move_to([1.0, -0.5], 0.8)
        records = finish(loop, cycles)
        errors.append(np.abs(records["q"] - records["q_ref"]).max())
        np.testing.assert_allclose(records["q_ref"][-1], [1.0, -0.5])
    assert errors[0] / errors[1] > 1.8
    assert errors[1] / errors[2] > 1.8


def test_pd_with_gravity_compensation_settles(library) -> None:
    loop, cycles = run_free(library, 3000, controller=PDGravity(kp=[100, 50], kd=[40, 15]))
    loop.set_reference([0.8, -0.5])
    records = finish(loop, cycles)
    np.testing.assert_allclose(records["q"][-1], [0.8, -0.5], atol=1e-3)
    assert records["reference"].tolist() == [1] * 3000


def test_moves_begin_where_the_reference_is(library) -> None:
    loop, _ = run_free(library, 0)
    loop.move_to([1.0, 1.0], 0.5)
    loop.step(200)
    loop.move_to([0.0, 0.5], 0.5)
    loop.step(600)
    records = loop.read()
    q, qd = records["q_ref"], records["qd_ref"]
    np.testing.assert_allclose(q[-1], [0.0, 0.5])
    assert np.abs(np.diff(qd, axis=0)).max() < 0.05  # velocity has no jump
    np.testing.assert_allclose(np.diff(q[300:500], axis=0), 0.5e-3 * (qd[300:499] + qd[301:500]), atol=1e-7, rtol=0)


def test_moves_of_rigid_arms_are_quintics(library) -> None:
    loop, _ = run_free(library, 0, plant=Simulated([0.2, -0.1]))
    loop.move_to([1.0, 0.7], 0.5)
    loop.step(600)
    records, t = loop.read(), 1e-3 * np.arange(500)
    expected = quintic([[0.2, -0.1], [1.0, 0.7]], [0.0, 0.5])
    np.testing.assert_allclose(records["q_ref"][:500], expected(t), atol=1e-13)
    np.testing.assert_allclose(records["qd_ref"][:500], expected(t, derivative=1), atol=1e-12)
    np.testing.assert_array_equal(records["q_ref"][500:], [[1.0, 0.7]] * 100)
    np.testing.assert_array_equal(records["qd_ref"][500:], 0.0)


def test_feedforward_of_a_rigid_arm_needs_no_feedback(library) -> None:
    loop, cycles = run_free(library, 1000, controller=Feedforward(kp=0, kd=0), rate=10000)
    loop.move_to([0.3, 0.2], 0.05)
    records = finish(loop, cycles)
    assert np.abs(records["q"] - records["q_ref"]).max() < 2e-3


def test_users_own_controller_and_plant(library) -> None:
    ffi = library.ffi
    calls, state = ffi.new("long *"), ffi.new("double[4]")
    controller = UserController(context=calls, values=[100.0, 20.0])
    loop, cycles = run_free(library, 2000, controller=controller, plant=Callbacks(io=state))
    loop.set_reference([0.5, 0.25])
    records = finish(loop, cycles)
    assert calls[0] == 900
    assert loop.status.name == "STATUS_READ"  # the plant refuses after 900 cycles
    np.testing.assert_allclose(records["q"][-2], [0.5, 0.25], atol=1e-3)
    np.testing.assert_allclose(records["F"][10], 100 * (np.array([0.5, 0.25]) - records["q"][10]) - 20 * records["qd"][10])


@pytest.mark.parametrize("kind", ["address", "cffi", "ctypes"])
def test_a_function_at_an_address_can_control(library, kind: str) -> None:
    function = library.controller("pd_gravity")
    if kind != "cffi":
        function = int(library.ffi.cast("uintptr_t", function))
    if kind == "ctypes":
        function = ctypes.CFUNCTYPE(ctypes.c_int, *3 * [ctypes.c_void_p])(function)
    records = []
    for controller in (UserController(50.0, 10.0, function=function), PDGravity(50.0, 10.0)):
        loop, cycles = run_free(library, 100, controller=controller)
        loop.move_to([0.3, 0.3], 0.1)
        records.append(finish(loop, cycles))
        assert loop.status
    assert (np.abs(records[0]["F"]).max(axis=0) > 1).all()
    np.testing.assert_array_equal(records[0]["F"], records[1]["F"])


def test_a_controller_may_come_from_a_file(tmp_path, cache_dir) -> None:
    path = tmp_path / "my_controller.c"
    path.write_text(
        "int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)\n"
        "{ (void)context; two_link_gravity_vector(view->p, view->q, F); return 0; }\n"
    )
    loop, cycles = run_free(build_loop("two_link", controller_source=path), 50, controller="user", plant=Simulated([0.4, 0.2]))
    records = finish(loop, cycles)
    np.testing.assert_allclose(records["F"], loop.model.gravity_vector(records["q"]), rtol=1e-12)
    np.testing.assert_allclose(records["q"], [[0.4, 0.2]] * 50, atol=1e-9)


def test_a_loaded_model_says_how_to_get_a_loop(bender) -> None:
    with pytest.raises(elastogen.ModelError, match="build_loop"):
        elastogen.load_model(bender.extension).loop()


CALLS_MORE = """
/* two_link_kinetic_energy(in a comment) is not called. */
int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)
{
    double M[4];
    (void)context;
    two_link_mass_matrix(view->p, view->q, M);
    two_link_gravity_vector(view->p, view->q, F);
    F[0] += M[0] * 1e-3;
    return 0;
}
"""


def test_own_code_may_call_every_function_of_the_model(two_link) -> None:
    """Those that its text names are compiled in; one that no model has is named."""
    loop = two_link.loop(controller_source=CALLS_MORE, controller="user", plant=Simulated([0.4, 0.2]))
    assert loop.step()
    expected = two_link.gravity_vector([0.4, 0.2])
    expected[0] += 1e-3 * two_link.mass_matrix([0.4, 0.2])[0, 0]
    np.testing.assert_allclose(loop.read()["F"][0], expected, rtol=1e-13)
    with pytest.raises(
        elastogen.BuildError, match=r"user_controller.c calls two_link_mass_matrx, .* Did you mean 'mass_matrix'"
    ):
        two_link.loop(controller_source=CALLS_MORE.replace("mass_matrix(", "mass_matrx("), controller="user")
    more = elastogen.build_loop("two_link", controller_source=CALLS_MORE, outputs=["kinetic_energy"])
    assert more.model.kinetic_energy([0.4, 0.2], [1.0, 0.0]) > 0
