"""Every argument of a loop, wrong once: a ModelError that names it, never a raw exception."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from loop_setup import run_free

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, Feedforward, PDGravity, StateFeedback, UserController
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.plants import Callbacks, SharedMemory, SharedRobot, Simulated
from elastogen.runtime.loop.status import LoopWarning
from elastogen.runtime.motion import shaping

NAN, INF = float("nan"), float("inf")
NUMBERS = (None, "x", NAN, INF, -1.0, 1j, [1.0], True, 10**400)  # where one finite number from 0 is expected
WHOLE = (None, "x", NAN, -1, 1.5, [1], True, 10**400)

WRONG = {
    "rate": (*NUMBERS, "1000", 0, 1e6),
    "controller": (7, "pd_gravty", ComputedTorqueLaw, [1], ComputedTorqueLaw(kp=[1, 2, 3]), ComputedTorqueLaw(kp="x"),
                   PDGravity(kd=NAN), PDGravity(kp=INF), PDGravity(kp=1j), "state_feedback", StateFeedback(K=np.zeros((3, 3))),
                   StateFeedback(K="x"),
                   StateFeedback(K=np.full((2, 4), NAN)), StateFeedback(K=np.zeros((2, 4)), feedforward=2),
                   UserController(function="x"), UserController(function=-1), UserController(context="x"),
                   UserController(function=ctypes.c_void_p(0)), UserController(values=np.zeros(99)), UserController(values="x"),
                   UserController(values=[NAN])),
    "plant": (None, 7, "simulatd", Simulated, [1], Simulated([1.0]), Simulated(0.5), Simulated([NAN, 0]), Simulated("ab"),
              Simulated([0, 0], "ab"), Simulated([0, 0], [INF, 0]), Simulated(parameters={"masss": 1}), Simulated(measured=[0]),
              Simulated(parameters={"payload_mass": "x"}), Simulated(measured=[0, 5]), Simulated(measured=["a", 0]),
              Simulated(measured=[0, 0]), Simulated(measured=7), Callbacks(None, None), Callbacks("usr", "user"),
              Callbacks(0, 0), Callbacks("user", 1.5), Callbacks("user", "user", "x"), SharedMemory),
    "on_overrun": (None, 7, "panic", ["skip"]),
    "free_running": (None, 7, "yes"),
    "fifo": (None, "high", 100, -1, 1.5, [1]),
    "cpu": ("x", -1, 1.5, 2**40, True),
    "lock_memory": (7, "yes", 1.5),
    "spin": (*NUMBERS, 1.0),
    "limits": (7, "x", [1], Limits, Limits(force=NAN), Limits(force="x"), Limits(force=-1), Limits(force=[1, 2, 3]),
               Limits(force_trip=-1.0), Limits(velocity=1j), Limits(error=[[1]]), Limits(position=1.0), Limits(position=(1,)),
               Limits(position=(1, -1)), Limits(position=("a", "b")), Limits(position=[(-3, 3), (-3, 3)]),
               Limits(force_rate=-1), Limits(force_rate="x"), Limits(jump=-1), Limits(jump=[1, 2, 3]),
               *(Limits(frozen=x) for x in NUMBERS), *(Limits(bridge=x) for x in WHOLE),
               *(Limits(overruns=x) for x in WHOLE if x is not None), *(Limits(reference_age=x) for x in NUMBERS)),
    "controllers": (7, "x", [7], ["pd_gravty"], [PDGravity(), PDGravity()], "pd_gravity", ["pd_gravity", "pd_gravity"],
                    [PDGravity(kp=[1, 2, 3])], None),
    "safe": (7, "x", SafeCommand, SafeCommand(stop="brake"), SafeCommand(stop=None), SafeCommand(after="stay"),
             SafeCommand(predict=2), SafeCommand(rest=0), SafeCommand(rest=-1.0), SafeCommand(kp=-1), SafeCommand(kd=[1, 2, 3]),
             SafeCommand(damping=1e6), SafeCommand(kp=1e9, kd=1.0), SafeCommand(fade=2.0),
             *(SafeCommand(seconds=x) for x in (*NUMBERS, 0)), *(SafeCommand(fade=x) for x in NUMBERS),
             SafeCommand(force=NAN), SafeCommand(force="x"), SafeCommand(damping=INF),
             SafeCommand(damping=[1, 2, 3]), SafeCommand(damping=[0, -1]), SafeCommand(gravity=7)),
    "shaper": (7, "zv", [1], shaping.zv, shaping.zv(1e-4)),
    "shaper_memory": tuple(x for x in NUMBERS if x is not None),
    "telemetry": (*WHOLE, 2**40),
    "keep": (None, 7, "all", ["newest"]),
}  # fmt: skip


@pytest.mark.parametrize("argument", WRONG)
def test_arguments_of_the_loop(library, argument: str) -> None:
    for wrong in WRONG[argument]:
        with pytest.raises(elastogen.ModelError):
            Loop(library, **{argument: wrong})


def test_messages_name_what_was_given(library) -> None:
    for options, message in (
        ({"rate": 0}, "rate: got 0"),
        ({"rate": 1e6}, "50000 Hz"),
        ({"controller": "pd_gravty"}, "Did you mean 'pd_gravity'"),
        ({"plant": "simulatd"}, "Did you mean 'simulated'"),
        ({"on_overrun": "panic"}, "catch_up"),
        ({"keep": "all"}, "keep='all', expected 'newest' or 'oldest'"),
        ({"spin": 1.0}, "less than the period"),
        ({"fifo": 100}, "1 to 99"),
        ({"controller": ComputedTorqueLaw(kp=[1, 2, 3])}, "kp has shape"),
        ({"controller": "state_feedback"}, "without K"),
        ({"limits": Limits(force=np.nan)}, "NaN"),
    ):
        with pytest.raises(elastogen.ModelError, match=message):
            Loop(library, **options)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (
            Simulated,
            {"method": ("euler", None, ["rk4"]), "substeps": (0, -1, 1.5, "x", 10**9, True), "parameters": ("x", 7, [1])},
        ),
        (Simulated, {"library": (7, "two_link")}),
        (SharedMemory, {"stale_limit": NUMBERS, "stale_seconds": NUMBERS, "timeout": NUMBERS}),
    ],
)
def test_arguments_of_plants(make, options) -> None:
    for name, values in options.items():
        for wrong in values:
            with pytest.raises(elastogen.ModelError, match=name):
                make(**{name: wrong})


def test_arguments_of_methods(library) -> None:
    loop, _ = run_free(library, 0)
    q = [0.1, 0.2]
    table = np.zeros((5, 2))
    vectors = (None, "x", [1.0], [1, 2, 3], [NAN, 0], [INF, 0], [1j, 0], [[0, 0]], ["a", "b"], [[1], [1, 2]])
    calls = [
        *((loop.start, (x,)) for x in (*NUMBERS[1:], 0.0)),
        *((lambda n: loop.start(cycles=n), (x,)) for x in (*WHOLE[1:], 0)),
        *((loop.step, (x,)) for x in WHOLE),
        *((loop.wait, (x,)) for x in ("x", NAN, -1.0, [1], True)),
        *((loop.set_reference, (x,)) for x in vectors),
        *((loop.set_reference, (q, x)) for x in vectors),
        *((loop.set_reference, (q, q, q, x)) for x in vectors),
        *((loop.move_to, (x, 1.0)) for x in vectors),
        *((loop.move_to, (q, x)) for x in (*NUMBERS, 0.0, 1e-300, 1e300)),
        *((loop.follow, (x, table, table)) for x in (*vectors, 1.0, np.zeros((0, 2)), np.zeros((4, 2)), np.full((5, 2), NAN))),
        *((loop.follow, (table, table, x)) for x in vectors),
        *((loop.set_gains, (x,)) for x in vectors if x is not None),
        *((loop.set_gains, (None, None, x)) for x in vectors if x is not None),
        *((loop.set_gains, (None, None, None, x)) for x in ("x", [NAN], np.zeros((2, 2)), np.zeros(99), [1j])),
        *((lambda s: loop.set_gains(kp=1, seconds=s), (x,)) for x in NUMBERS),
        *((lambda s: loop.set_parameters(payload_mass=1, seconds=s), (x,)) for x in NUMBERS),
        *((lambda s: loop.set_reference(q, seconds=s), (x,)) for x in NUMBERS),
        *((lambda s: loop.follow(table, table, table, seconds=s), (x,)) for x in NUMBERS),
        *((lambda s: loop.use("computed_torque", seconds=s), (x,)) for x in NUMBERS),
        *((loop.use, (x,)) for x in (None, 7, "pd_gravity", "computed_torqe", PDGravity())),
        *((loop.set_limits, (x,)) for x in (None, 7, Limits(force=-1))),
        *((loop.set_shaper, (x,)) for x in (7, "zv", shaping.zv(10.0))),
        *((lambda m: loop.set_parameters(payload_mass=m), (x,)) for x in (None, "x", NAN, INF, [1.0])),
        *((lambda m: loop.set_parameters(**{m: 1.0}), (x,)) for x in ("masss", "")),
    ]
    for call, arguments in calls:
        with pytest.raises(elastogen.ModelError):
            call(*arguments)
    with pytest.raises(elastogen.ModelError, match="both or none"):
        loop.follow(table, table, table, qddd=table)
    assert loop.step(3), "nothing of all this reached the loop"


def test_libraries_and_sources(library) -> None:
    for wrong in (None, library.model, "two_link"):
        with pytest.raises(elastogen.ModelError, match="build_loop"):
            Loop(wrong)
    for wrong in (7, b"\0", "no such file.c", "int other(void)\n{ return 0; }\n"):
        with pytest.raises(elastogen.BuildError, match="controller_source"):
            elastogen.build_loop("two_link", controller_source=wrong)
    for wrong in NUMBERS:
        with pytest.raises(elastogen.ModelError, match="timeout"):
            SharedRobot(library, "nobody", timeout=wrong)


@pytest.mark.parametrize("law", [PDGravity, ComputedTorqueLaw, Feedforward])
def test_negative_gains_are_refused(library, law) -> None:
    """By the constructor and while the loop runs; what was set together with a wrong one is not set either."""
    for name in ("kp", "kd"):
        for wrong, where in ((-1, "-1 for shoulder, -1 for elbow"), ([0, -2.5], "-2.5 for elbow"), ([-1e-300, 3], "-1e-300")):
            message = f"two_link: {law.name}: {name}: got {where}.*, expected numbers from 0"
            with pytest.raises(elastogen.ModelError, match=message):
                Loop(library, controller=law(**{name: wrong}))
            loop = Loop(library, controller=law(kp=100, kd=20))
            with pytest.raises(elastogen.ModelError, match=message):
                loop.set_gains(**({"kp": 7, "kd": 7} | {name: wrong}))
            assert [loop.tuning.array(gain).tolist() for gain in ("kp", "kd")] == [[100, 100], [20, 20]]
    loop.set_gains(kp=0, kd=[-0.0, 1])


def test_gains_of_other_laws_have_any_sign(library) -> None:
    loop = Loop(library, controller=UserController(kp=-1, values=[-3.0]))
    loop.set_gains(kd=-2, values=[-4.0])
    assert [loop.tuning.array(gain)[0] for gain in ("kp", "kd", "user")] == [-1, -2, -4]
    with pytest.warns(LoopWarning, match="unstable"):
        Loop(library, controller=StateFeedback(K=-np.ones((2, 4))))
