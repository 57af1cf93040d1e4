"""Faults at random moments of random moves: the robot is at rest in time, its energy falls, forces stay within their limits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from loop_setup import BENDING_ARM, STATUS
from loops.faulty_robot import FaultyRobot, faulty_source

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand


@dataclass(frozen=True)
class Fault:
    """What happens, and the status that it should have."""

    status: str
    sensor: bool = False  # whether the sensors failed
    kind: str = "none"  # of FaultyRobot
    value: float = 0.0
    limits: str = ""  # field of Limits that is exceeded, by a push
    tripped: bool = False  # found by who calls the loop, as by the thread
    late: bool = False  # nobody sends references any more
    law: bool = False  # the controller fails
    holds: bool = False  # the controller has worked against what stays for a while: its last forces are large


FAULTS = {
    "velocity": Fault("STATUS_VELOCITY", limits="velocity"),
    "position": Fault("STATUS_POSITION", limits="position"),
    "error": Fault("STATUS_TRACKING", limits="error"),
    "force": Fault("STATUS_FORCE", limits="force_trip"),
    "controller": Fault("STATUS_CONTROLLER", law=True),
    "nan": Fault("STATUS_STATE_NOT_FINITE", True, "nan"),
    "infinite": Fault("STATUS_STATE_NOT_FINITE", True, "infinite"),
    "frozen": Fault("STATUS_FROZEN", True, "frozen"),
    "all frozen": Fault("STATUS_FROZEN", True, "all_frozen", holds=True),
    "nan velocity": Fault("STATUS_STATE_NOT_FINITE", True, "nan_velocity"),
    "wrap": Fault("STATUS_JUMP", True, "jump", -2 * np.pi),
    "jump": Fault("STATUS_JUMP", True, "jump", 0.3),
    "far": Fault("STATUS_IMPLAUSIBLE", True, "far", 1e9),
    "read": Fault("STATUS_READ", True, "read"),
    "lost partner": Fault("STATUS_STALE_STATE", True, "stale"),
    "diverged": Fault("STATUS_DIVERGED", True, "diverged"),
    "write": Fault("STATUS_WRITE", kind="write"),
    "blocked": Fault("STATUS_BLOCKED", tripped=True),
    "late reference": Fault("STATUS_STALE_REFERENCE", late=True),
}


@pytest.fixture(scope="module")
def robots(cache_dir):
    """A rigid and a flexible arm that can fail."""
    energies = {"outputs": ["kinetic_energy", "potential_energy"], "cflags": "-O1"}
    rigid = elastogen.build_loop("two_link", plant_source=faulty_source("two_link", 2), **energies)
    flexible = elastogen.build_loop(BENDING_ARM, plant_source=faulty_source("bending_arm", 6), **energies)
    return rigid, flexible


def given_energy(model, records) -> np.ndarray:
    """Kinetic and potential energy less the work of the forces that carry the weights, from the first record on [J]."""
    energy = model.kinetic_energy(records["q"], records["qd"]) + model.potential_energy(records["q"])
    weights = model.gravity_vector(records["q"])[:, list(model.driven)]
    power = (weights * records["qd"][:, list(model.driven)]).sum(axis=1)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1])) * 1e-3])
    return np.asarray(energy - work - energy[0])


def a_move(library, name: str, rng: np.random.Generator) -> str:
    """One move with one fault; "" or what is wrong."""
    model, fault = library.model, FAULTS[name]
    drives = list(model.driven)
    stop = str(rng.choice(["damped", "ramp", "hold"]))
    start = np.zeros(model.nq)
    start[drives] = rng.uniform(-1.5, 1.5, len(drives))
    goal = start[drives] + rng.uniform(0.4, 1.2, len(drives)) * rng.choice([-1.0, 1.0], len(drives))
    duration = float(rng.uniform(0.8, 1.5))
    moment = int(rng.uniform(0.25, 0.6) * duration * 1000)
    joint = int(rng.integers(len(drives)))
    limits = {"force": 400.0, "force_rate": 40_000.0}
    if fault.late:
        limits["reference_age"] = moment * 1e-3
    plant = FaultyRobot(start)
    flexible = bool(model.elastic)
    seconds = 2.0 if flexible else 1.0
    law = PDGravity() if flexible else ComputedTorqueLaw(400.0, 40.0)
    loop = Loop(
        library, controller=law, plant=plant, limits=Limits(**limits), telemetry=1 << 13,
        safe=SafeCommand(stop=stop, seconds=seconds, predict=fault.sensor),
    )  # fmt: skip
    if flexible:
        loop.step(300)  # the links hang in
    begin = int(loop._loop.tick)
    loop.move_to(goal, duration)
    loop.step(moment)
    if not loop.status and not fault.late:
        return f"{loop.status} before the fault"
    loop.read()
    index = drives[joint]
    if fault.kind != "none":
        ticks = 5 if fault.kind == "write" else 1 << 62  # what is never written cannot stop a robot
        plant.fail(fault.kind, begin + moment, ticks, index=index, value=fault.value)
    if fault.limits:
        beyond = {
            "velocity": Limits(**limits, velocity=0.5 * abs(float(plant.qd[index]))),
            "position": Limits(**limits, position=(float(plant.q[index]) + 0.05, 100.0)),
            "error": Limits(**limits, error=0.0),
            "force_trip": Limits(**limits, force_trip=0.0),
        }[fault.limits]
        loop.set_limits(beyond)
    if fault.tripped:
        library.lib.eg_loop_trip(loop._loop, STATUS[fault.status])
    if fault.law:
        loop.tuning._block.law = 5
        loop.tuning.publish(loop._loop)
    for _ in range(400):  # until it is found
        loop.step()
        if not loop.status:
            break
    if loop.status.name != fault.status:
        return f"{loop.status.name}, expected {fault.status}"
    loop.step(int(seconds * 1000) - 2)
    records = loop.read()
    stopping = records[records["status"] != 0]
    if np.abs(stopping["q"][-1] - plant.q).max() > 0.05:  # of a cycle ago; without sensors this is what the model says
        return "the robot is elsewhere"
    first = float(model.kinetic_energy(stopping["q"][0], stopping["qd"][0]))
    written = stopping[10:] if fault.kind == "write" else stopping
    more = float(given_energy(model, written).max())
    allowed = 0.04 * first + 2e-3  # the controller's last force is held for a cycle, and falls at its rate
    if fault.holds:
        F, qd = (np.abs(stopping[0][field][drives]) for field in ("F", "qd"))
        allowed += float((F * qd * (1.0 + F / 40.0)).sum()) * 1e-3
    if more > allowed:
        return f"energy {first} J and {more} J more"
    if np.abs(plant.qd[drives]).max() > 0.025:
        return f"still moves: {plant.qd[drives]}"
    steps = np.abs(np.diff(records["F"][:, drives], axis=0)).max()
    if steps > 40.0 * (1 + 1e-6) or np.abs(records["F"]).max() > 400.0:
        return f"forces jump by {steps}"
    if not np.isfinite(records["F"]).all():
        return "a force is not a number"
    if loop.status.name != fault.status or loop.blind != fault.sensor:
        return f"{loop.status}, blind {loop.blind}"
    if loop.phase not in (("stopping",) if fault.sensor else ("stopping", "holding")):
        return loop.phase
    return ""


def moves(robots, number: int, seed: int) -> list[str]:
    """What went wrong, of so many moves: all faults in turn, the flexible arm in every third."""
    rng, wrong = np.random.default_rng(seed), []
    names = list(FAULTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(number):
            name = names[k % len(names)]
            answer = a_move(robots[int(k // len(names) % 3 == 2)], name, rng)
            if answer:
                wrong.append(f"move {k}, {name}: {answer}")
    return wrong


def test_faults_in_some_moves(robots) -> None:
    wrong = moves(robots, 3 * len(FAULTS), 20261118)
    assert not wrong, "\n".join(wrong)


@pytest.mark.nightly
def test_faults_in_a_thousand_moves(robots) -> None:
    wrong = moves(robots, 1000, 1)
    assert not wrong, "\n".join(wrong)
