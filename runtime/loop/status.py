"""How a loop is and how it ended, in words."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.runtime.interface.error import ReadableMessage

NOTICES = {
    "NOTICE_FIFO": "SCHED_FIFO was refused; the loop runs with default scheduling and will be late more often. "
    "Fix: run as root, give the executable CAP_SYS_NICE, or raise RLIMIT_RTPRIO (ulimit -r).",
    "NOTICE_CPU": "the processor was refused; the loop runs on any. Fix: name one that exists and this process may use.",
    "NOTICE_MEMORY": "memory could not be locked; page faults may delay the loop. Fix: run as root, give CAP_IPC_LOCK, "
    "or raise RLIMIT_MEMLOCK (ulimit -l).",
}
MEANING = {
    "STATUS_OK": "no fault",
    "STATUS_READ": "the state could not be read",
    "STATUS_STATE_NOT_FINITE": "NaN or infinity in the measured state",
    "STATUS_POSITION": "a position left its limits",
    "STATUS_VELOCITY": "a velocity exceeded its limit",
    "STATUS_TRACKING": "the tracking error exceeded its limit",
    "STATUS_CONTROLLER": "the controller failed",
    "STATUS_COMMAND_NOT_FINITE": "NaN or infinity in the command",
    "STATUS_FORCE": "a command exceeded force_trip",
    "STATUS_WRITE": "the command could not be written",
    "STATUS_STALE_STATE": "no new state for too long",
    "STATUS_STALE_REFERENCE": "no new reference or heartbeat for too long",
    "STATUS_OVERRUN": "a cycle took longer than its period",
    "STATUS_OUTSIDE": "a sliding joint left its beam",
    "STATUS_DIVERGED": "the motion of the simulated robot diverged",
    "STATUS_IMPLAUSIBLE": "a measured position or velocity that cannot be",
    "STATUS_JUMP": "a measured position jumped",
    "STATUS_FROZEN": "a measured position stays the same while its reference moves",
    "STATUS_BLOCKED": "too many periods in a row were over when a cycle ended",
    "STATUS_REFERENCE": "a reference beyond the limits",
    "STATUS_TRIPPED": "stopped from outside",
    "STATUS_OBSERVER": "the observer's estimate contradicts its readings, or there are none",
}
PHASES = ("running", "stopping", "holding", "ended")
FIX = {
    "STATUS_DIVERGED": "Fix: smaller kp and kd for {coordinate} (without them they are chosen), a higher rate, or more "
    "substeps of the simulated robot.",
    "STATUS_OUTSIDE": "Fix: references that keep {coordinate} on its beam, or a position limit that stops it before.",
    "STATUS_OVERRUN": "Fix: a lower rate, a processor of its own (cpu=), or real-time scheduling (fifo=True).",
    "STATUS_STALE_STATE": "Fix: see whether the robot's side still runs and writes.",
    "STATUS_POSITION": "Fix: move the robot back by hand, or allow more by set_limits, before reset().",
    "STATUS_IMPLAUSIBLE": "Fix: see to the sensor of {coordinate}: its unit, its counter, its cable.",
    "STATUS_JUMP": "Fix: see to the sensor of {coordinate}: a counter that wraps, a cable; or allow more by Limits(jump=...).",
    "STATUS_FROZEN": "Fix: see to the sensor of {coordinate}, or allow longer by Limits(frozen=...).",
    "STATUS_BLOCKED": "Fix: see what blocks read, write or the controller, or allow more by Limits(overruns=...).",
    "STATUS_REFERENCE": "Fix: references of {coordinate} within its limits, a longer move_to for example.",
    "STATUS_OBSERVER": "Fix: see loop.observer.doubt: a sensor, noise or forces of the observer, parameters of the model.",
    "STATUS_STALE_REFERENCE": "Fix: send references or heartbeats more often, or allow longer gaps.",
}


class LoopWarning(ReadableMessage, UserWarning):
    """The system refused something that a loop asked for; the loop runs without it."""


@dataclass(frozen=True)
class LoopStatus:
    """How a loop is, or how it ended. True where there is no fault."""

    code: int
    name: str
    coordinate: str  # that caused the fault, or ""
    phase: str = "running"  # "running", "stopping", "holding" or "ended"

    def __bool__(self) -> bool:
        return self.code == 0

    @property
    def meaning(self) -> str:
        """What happened, and to which coordinate."""
        where = f" ({self.coordinate})" if self.coordinate else ""
        return f"{MEANING.get(self.name, self.name)}{where}"

    def __str__(self) -> str:
        fix = FIX.get(self.name, "").format(coordinate=self.coordinate)
        return f"{self.meaning}. {fix}" if fix else self.meaning
