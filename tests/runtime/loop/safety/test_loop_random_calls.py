"""Random sequences of calls, faults and pushes: forces keep to their limits, nothing moves after a fault, status is true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from loop_setup import BENDING_ARM, STATUS
from loops.faulty_robot import FaultyRobot, faulty_source

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity, StateFeedback
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.positions import positions_of

FORCE = 300.0  # limit [N m]
SENSORS = {"nan": "STATE_NOT_FINITE", "infinite": "STATE_NOT_FINITE", "jump": "JUMP", "read": "READ", "stale": "STALE_STATE",
           "far": "IMPLAUSIBLE", "diverged": "DIVERGED", "nan_velocity": "STATE_NOT_FINITE"}  # fmt: skip
KINDS = [*SENSORS, "all_frozen", "write"]
PHASES = {("running", "running"), ("running", "stopping"), ("stopping", "stopping"), ("stopping", "holding"),
          ("stopping", "ended"), ("holding", "holding"), ("holding", "stopping"), ("holding", "ended"),
          ("ended", "ended")}  # fmt: skip
NAMES = ("running", "stopping", "holding", "ended")
NUMBERS = st.floats(-1.0, 1.0)


class Calls(RuleBasedStateMachine):
    """One loop, and what is known about it from outside."""

    library: object = None
    middle = (0.0, 0.0)  # of the positions of its drives
    reach = 1.0  # of what is commanded on both sides of that [rad, m]

    @initialize(
        stop=st.sampled_from(["damped", "ramp", "hold", "off"]),
        after=st.sampled_from(["hold", "end"]),
        predict=st.booleans(),
        bridge=st.sampled_from([0, 3]),
        start=st.tuples(NUMBERS, NUMBERS),
        force_rate=st.sampled_from([3000.0, 20_000.0]),
    )
    def begin(self, stop, after, predict, bridge, start, force_rate) -> None:
        model = self.library.model
        self.drives = list(model.driven)
        self.places = positions_of(model, self.drives)  # in q
        q = np.array(model.neutral(), dtype=float)
        q[self.places] = self._place(start)
        self.plant = FaultyRobot(q)
        self.limits = {"force": FORCE, "force_rate": force_rate, "velocity": 8.0, "bridge": bridge}
        self.limits["position"] = tuple(self._place([side, side]) for side in (-3.0, 3.0))
        n = len(self.drives)
        K = np.hstack([np.zeros((n, 2 * model.nv))])
        for row, i in enumerate(self.drives):
            K[row, i], K[row, model.nv + i] = 60.0, 12.0
        self.loop = Loop(
            self.library, controllers=[PDGravity(80.0, 16.0), ComputedTorqueLaw(100.0, 20.0), StateFeedback(K=K)],
            plant=self.plant, limits=Limits(**self.limits), safe=SafeCommand(stop=stop, after=after, predict=predict),
            telemetry=1 << 14, free_running=True,
        )  # fmt: skip
        rounding = float(np.finfo(model.dtype).eps) * FORCE
        self.most_step = force_rate * 1e-3 * (1.0 + 1e-9) + rounding
        self.force, self.phase, self.code = np.zeros(model.nv), "running", 0
        self.broken = ""  # the fault of the sensors that is there at present
        self.new_reference = self.visible = False

    # What is called.

    @rule(cycles=st.sampled_from([1, 2, 7, 60, 250, 1300]))
    def step(self, cycles) -> None:
        begin, since = self.plant.q[self.places].copy(), self.phase
        was_broken = self.broken
        self._resumes()
        self.loop.step(cycles)
        self._look(cycles)
        if was_broken in SENSORS and cycles > 5 and since == "running" and (was_broken != "jump" or self.visible):
            assert not self.loop.status, f"{was_broken} was not seen"
        self.visible = False
        if self.broken == "" and since == "holding" and self.phase == "holding":
            assert np.abs(self.plant.q[self.places] - begin).max() < 0.05, "it moves while it is held"

    @rule(goal=st.tuples(NUMBERS, NUMBERS), seconds=st.floats(0.3, 1.5))
    def move_to(self, goal, seconds) -> None:
        self._refused_or(lambda: self.loop.move_to(self._place(goal), seconds))

    @rule(goal=st.tuples(NUMBERS, NUMBERS), seconds=st.sampled_from([0.0, 0.2, 0.5]))
    def set_reference(self, goal, seconds) -> None:
        self._refused_or(lambda: self.loop.set_reference(self._place(goal), seconds=seconds))

    @rule(row=st.integers(1, 300), seconds=st.sampled_from([0.0, 0.3]))
    def follow(self, row, seconds) -> None:
        model = self.library.model
        q, qd = np.tile(model.neutral(), (row, 1)), np.zeros((row, model.nv))
        q[:, self.places] = self._place((0.3, 0.3) * np.sin(np.arange(row) * 1e-3)[:, None])
        if row > 1:
            qd[:, self.drives] = np.gradient(q[:, self.places], 1e-3, axis=0)
        self._refused_or(lambda: self.loop.follow(q, qd, 0 * qd, seconds=seconds))

    @rule(kp=st.floats(0.0, 150.0), kd=st.floats(5.0, 25.0), seconds=st.sampled_from([0.0, 0.1]))
    def set_gains(self, kp, kd, seconds) -> None:
        self.loop.set_gains(kp=kp, kd=kd, seconds=seconds)

    @rule(law=st.sampled_from(["pd_gravity", "computed_torque", "state_feedback"]), seconds=st.sampled_from([0.0, 0.1, 0.4]))
    def use(self, law, seconds) -> None:
        self.loop.use(law, seconds=seconds)

    @rule(velocity=st.sampled_from([0.05, 8.0]), error=st.sampled_from([0.01, 10.0]))
    def set_limits(self, velocity, error) -> None:
        self.loop.set_limits(Limits(**{**self.limits, "velocity": velocity, "error": error}))

    @rule(speed=st.sampled_from([0.0, 1.5]))
    def stop_in_c(self, speed) -> None:
        """At rest, or in a motion that takes some time to stop."""
        if self.phase == "running":
            self.plant.qd[self.drives[1]] += speed
        self.library.lib.eg_loop_stop(self.loop._loop)
        self._resumes()
        self.loop.step(2)
        self._look(2)

    @rule(status=st.sampled_from(["TRIPPED", "BLOCKED", "OVERRUN"]))
    def trip(self, status) -> None:
        self.library.lib.eg_loop_trip(self.loop._loop, STATUS[f"STATUS_{status}"])
        self.loop.step(1)  # does not go on after an end
        self._look(1)
        assert not self.loop.status

    @rule()
    def reset(self) -> None:
        before = self.phase, self.code
        try:
            self.loop.reset()
        except elastogen.ModelError:
            assert (self.loop.phase, self.loop.status.code) == before, "a reset that is refused changes nothing"
            return
        if before[0] != "running":
            assert self.broken not in SENSORS or self.broken == "jump", f"{self.broken} persists"
            assert not (self.visible and before[0] == "holding"), "a position that jumps is believed"
            assert (self.loop.phase, self.loop.blind) == ("running", False)
            self.phase, self.code, self.new_reference = "running", 0, False

    @rule()
    def ask_reset_in_c(self) -> None:
        """It is answered in the next cycle."""
        block = self.loop._loop
        before = self.phase
        self.library.lib.eg_loop_ask_reset(block)
        if before == "ended" and not self.code:
            return  # step() would resume it
        tick = self.library.lib.eg_loop_step(block)
        assert block.reset_answered == block.reset_asked
        if block.reset_answer == 0 and before != "running":
            self.phase, self.code, self.new_reference = "running", 0, False
        self._look(1)
        assert tick == self.loop.status.code

    @rule(cycles=st.sampled_from([1, 50, 700]))
    def start(self, cycles) -> None:
        if self.code:
            with pytest.raises(elastogen.ModelError, match=r"start\(\) after a fault"):
                self.loop.start(cycles=cycles)
            return
        self.loop.read()
        self.loop.start(cycles=cycles)
        self.loop.wait(60.0)
        if self.loop.phase == "holding":
            self.loop.stop()
        records = self.loop.read()
        self.phase, self.code, self.force = "running", 0, records["F"][0]  # a start puts a loop at its beginning
        self._look(None, records, ended=True)
        assert self.loop.phase == "ended"
        self.phase, self.force = "ended", records["F"][-1] * 0.0
        if self.broken not in ("write", "briefly"):  # what cannot be written does not reach the drives
            assert not any(self.plant._plant.F[0 : self.library.model.nv]), "a loop that has ended drives nothing"

    @rule(
        kind=st.sampled_from([*SENSORS, "all_frozen", "write"]), ticks=st.sampled_from([1, 3, 1 << 40]), index=st.integers(0, 1)
    )
    def fail(self, kind, ticks, index) -> None:
        value = {"far": 1e9, "jump": 0.4}.get(kind, 0.0)
        tick = int(self.loop._loop.tick)
        at = (self.drives if kind == "nan_velocity" else self.places)[index]
        self.plant.fail(kind, tick, ticks, index=at, value=value)
        self.broken = kind if ticks > 3 else "briefly"
        self.visible = kind == "jump" and ticks > 3 and bool(self.loop._loop.seen) and not self.loop.blind

    @rule()
    def heal(self) -> None:
        self.plant.heal()
        self.broken, self.visible = "", False

    @precondition(lambda self: self.phase in ("holding", "running"))
    @rule(speed=st.floats(-3.0, 3.0), index=st.integers(0, 1))
    def push(self, speed, index) -> None:
        self.plant.qd[self.drives[index]] += speed

    # What must be.

    def _place(self, numbers) -> np.ndarray:
        """Positions of the drives by numbers from -1 to 1."""
        return np.asarray(self.middle) + self.reach * np.asarray(numbers)

    def _refused_or(self, send) -> None:
        try:
            send()
        except elastogen.ModelError:
            return  # beyond a limit
        self.new_reference = True

    def _resumes(self) -> None:
        """step() goes on with a loop that has ended without a fault."""
        if self.phase == "ended" and not self.code:
            self.phase = "running"

    def _look(self, cycles, records=None, ended=False) -> None:
        records = self.loop.read() if records is None else records
        assert cycles is None or len(records) == cycles
        F = np.vstack([self.force, records["F"]])
        assert np.isfinite(F).all(), "a force is no number"
        assert np.abs(F).max() <= FORCE, "a force beyond its limit"
        steps = np.abs(np.diff(F.astype(float), axis=0)).max()
        assert steps <= self.most_step, f"a force jumps by {steps}, at most {self.most_step} is allowed"
        passive = [i for i in range(F.shape[1]) if i not in self.drives]
        assert not F[:, passive].any()
        for record in records:
            code, phase = int(record["status"]), NAMES[int(record["phase"])]
            assert (self.phase, phase) in PHASES, (self.phase, phase)
            assert not self.code or code == self.code, "the first fault keeps its name"
            assert code or phase != "holding"
            assert not (phase == "running" and (code or record["blind"]))
            assert code or not record["blind"], "sensors failed, and there is no fault"
            self.phase, self.code = phase, code
        if not self.new_reference and self.phase == "running" and len(records) > 1:
            stays = records["q_ref"][:, self.places]
            assert np.abs(stays - stays[-1]).max() == 0.0, "it moves without a new reference"
        self.force = F[-1]
        assert (self.loop.phase, self.loop.status.code) == (("ended" if ended else self.phase), self.code)
        assert bool(self.loop.status) == (self.code == 0)


def sequences(library, number: int, *, same: bool = True, **places) -> None:
    """So many random sequences on this robot, the same ones in every run or others."""
    machine = type("CallsOf", (Calls,), {"library": library, **places})
    options = settings(
        max_examples=number, stateful_step_count=25, deadline=None, derandomize=same, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    run_state_machine_as_test(machine, settings=options)


@pytest.fixture(scope="module")
def rigid(cache_dir):
    return elastogen.build_loop("two_link", plant_source=faulty_source("two_link", 2))


@pytest.fixture(scope="module")
def flexible(cache_dir):
    return elastogen.build_loop(BENDING_ARM, plant_source=faulty_source("bending_arm", 6), cflags="-O1")


@pytest.mark.filterwarnings("ignore::elastogen.runtime.loop.status.LoopWarning")
def test_random_calls_of_a_rigid_arm(rigid) -> None:
    sequences(rigid, 60)


@pytest.mark.filterwarnings("ignore::elastogen.runtime.loop.status.LoopWarning")
def test_random_calls_of_a_flexible_arm(flexible) -> None:
    sequences(flexible, 15)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::elastogen.runtime.loop.status.LoopWarning")
def test_many_other_random_calls(rigid, flexible) -> None:
    sequences(rigid, 1000, same=False)
    sequences(flexible, 200, same=False)


ELASTIC = {
    "elastogen": 1, "name": "elastic", "gravity": [0, -9.81, 0],
    "links": [{"name": "base"}, *({"name": n, "mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.01, 0.1, 0.1]} for n in "ab")],
    "joints": [
        {"name": f"j{n}", "type": "revolute", "child": n, "axis": [0, 0, 1], "motor": {"inertia": 0.1},
         "elasticity": {"stiffness": 2000.0, "damping": 3.0}} | ({"placement": {"xyz": [0.6, 0, 0]}} if n == "b" else {})
        for n in "ab"
    ],
}  # fmt: skip
OTHERS = {  # robot: coordinates, velocities, precision, where its drives may be
    "elastic": (ELASTIC, 4, 4, "double", {}),
    "floating": ("satellite", 13, 12, "double", {}),
    "sliding": ("par_table3", 8, 8, "double", {"middle": (0.5, 0.0), "reach": 0.1}),
    "mechanism": ("five_bar", 4, 4, "double", {"reach": 0.2}),
    "single": ("two_link", 2, 2, "float", {}),
    "flexible in single": (BENDING_ARM, 6, 6, "float", {}),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.filterwarnings("ignore::elastogen.runtime.loop.status.LoopWarning")
def test_random_calls_of_other_robots(name: str, cache_dir) -> None:
    """Elastic joints, a free base, a joint that slides along a beam, a closed chain, single precision."""
    robot, *sizes, precision, places = OTHERS[name]
    prefix = robot if isinstance(robot, str) else robot["name"]
    source = faulty_source(prefix, *sizes)
    sequences(elastogen.build_loop(robot, plant_source=source, precision=precision, cflags="-O1"), 40, **places)
