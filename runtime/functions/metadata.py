"""The metadata of a compiled model: typed data, read from the JSON inside the extension module."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.abi import ABI_VERSION
from elastogen.runtime.interface.argument import Argument
from elastogen.runtime.interface.channel import Channel
from elastogen.runtime.interface.plane import Plane


@dataclass(frozen=True)
class SlidingInfo:
    """A joint that slides along a beam, or whose beam slides through it, and how its element follows from q.

    The element is ``first`` + ``step`` times the number of thresholds, sum of weight * q[index] > bound, that q is beyond.
    """

    joint: str
    coordinate: int  # index in q
    upper: float  # q[coordinate] is between 0 and this [m]
    positive: bool  # whether 0 itself is out of range
    first: int
    step: int
    thresholds: tuple[tuple[tuple[tuple[int, float], ...], float], ...]
    passage: str  # what goes on at a border between elements: "keep", "refract" or "clamp"
    nodes: int
    smooth: bool = False  # whether a border is one of the formula alone: the beam's shape is one function on both sides

    def in_single_precision(self) -> SlidingInfo:
        """Return the same with the bounds that a model in single precision has."""
        rounded = tuple(
            (tuple((i, float(np.float32(weight))) for i, weight in terms), float(np.float32(bound)))
            for terms, bound in self.thresholds
        )
        return replace(self, upper=float(np.float32(self.upper)), thresholds=rounded)

    def is_out_of_range(self, q: Sequence[float]) -> bool:
        """Whether the joint is beyond the end of its beam."""
        d = q[self.coordinate]
        return not (0 <= d <= self.upper) or (self.positive and d == 0)

    def element(self, q: Sequence[float]) -> int:
        """Return the number of the element inside the joint, -1 if the joint is out of range."""
        if self.is_out_of_range(q):
            return -1
        beyond = sum(sum(weight * q[i] for i, weight in terms) > bound for terms, bound in self.thresholds)
        return self.first + self.step * beyond


@dataclass(frozen=True)
class FunctionInfo:
    """A compiled function: its arguments, and the exact operation counts of its C."""

    name: str
    brief: str
    can_fail: bool
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    count: dict[str, int]
    sliding: tuple[SlidingInfo, ...] = ()  # joints that may be out of range
    states: dict[str, tuple[float, ...]] = field(default_factory=dict)  # inputs that a loop keeps, and what they begin with
    kinks: bool = False  # whether it chooses between formulas: derivatives are missing where it changes its choice


@dataclass(frozen=True)
class ParameterInfo:
    """A live parameter with its nominal value."""

    name: str
    value: float
    unit: str
    doc: str


@dataclass(frozen=True)
class TensorInfo:
    """A tensor of inertia about a centre of mass that live parameters change: xx, yy, zz, xy, xz, yz [kg m^2].

    Each entry is a constant and factors of parameters by their names.
    """

    of: str
    entries: tuple[tuple[float, Mapping[str, float]], ...]

    @property
    def names(self) -> list[str]:
        """Return the parameters that occur, each once."""
        return list(dict.fromkeys(name for _, factors in self.entries for name in factors))

    def entry(self, k: int, values: NDArray[Any], index: Mapping[str, int]) -> NDArray[Any]:
        """Return one entry at values of all parameters (..., n), whose places are ``index``."""
        constant, factors = self.entries[k]
        total: NDArray[Any] = np.full(values.shape[:-1], constant)
        for name, factor in factors.items():
            total = total + factor * values[..., index[name]]
        return total


@dataclass(frozen=True)
class CriticalRate:
    """A flexible link without foreshortening, the coordinates of the joints that spin it, and its critical rate [rad/s]."""

    link: str
    coordinates: tuple[int, ...]
    rate: float


@dataclass(frozen=True)
class LinkSlopes:
    """Rotations of places on a flexible link against its undeformed state, linear in its coordinates; the tip comes first.

    Each place lists indices in q and rotation vectors [rad] per unit coordinate. ``stretched`` is empty, or the index in q of
    the length outside of a telescopic joint and the length for which the vectors are. ``by_series``: the rotation of the
    tip is a series that is exact up to 2 rad.
    """

    link: str
    places: tuple[tuple[tuple[int, tuple[float, ...]], ...], ...]
    stretched: tuple[tuple[int, float], ...]
    by_series: bool

    def largest(self, q: NDArray[Any]) -> NDArray[Any]:
        """Return the largest rotation [rad] of any place at states q of shape (..., nq)."""
        result = np.zeros(q.shape[:-1])
        for place in self.places:
            rows = q[..., [index for index, _ in place]] @ np.array([vector for _, vector in place])
            result = np.fmax(result, np.linalg.norm(rows, axis=-1))
        for index, length in self.stretched:
            result = result * length / q[..., index]
        return result


@dataclass(frozen=True)
class LoopsInfo:
    """Data about a robot's loops; indices are those of velocities or of rows."""

    names: tuple[str, ...]
    rows: tuple[str, ...]  # of all loops, one after the other
    redundant: tuple[int, ...]  # rows that follow from the others
    independent: tuple[int, ...]  # velocities that determine all others; drives as far as possible
    unforced: tuple[int, ...]  # independent velocities of joints without drives
    start: tuple[float, ...]  # the closed configuration nearest to that in which no joint has moved

    @property
    def rank(self) -> int:
        """Return the number of independent rows."""
        return len(self.rows) - len(self.redundant)


@dataclass(frozen=True)
class Metadata:
    """All data that a compiled model has about itself."""

    name: str
    tool_version: str
    sha256: str
    real: str
    coordinate_names: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    velocity_names: tuple[str, ...]
    velocity_units: tuple[str, ...]
    quaternions: tuple[int, ...]  # where in q they start
    elastic_coordinates: tuple[bool, ...]  # per velocity
    driven: tuple[bool, ...]  # per velocity: whether a drive acts on it
    driven_coordinates: tuple[bool, ...]  # per coordinate: whether it is that of a joint with drives
    limits: tuple[tuple[float, float], ...]  # of the coordinates [rad, m]; infinite: none
    critical_rates: tuple[CriticalRate, ...]
    slopes: tuple[LinkSlopes, ...]
    frame_names: tuple[str, ...]
    parameters: tuple[ParameterInfo, ...]
    functions: tuple[FunctionInfo, ...]
    c_files: tuple[str, ...]
    sliding: tuple[SlidingInfo, ...] = ()
    point_names: tuple[str, ...] = ()
    base_name: str = ""  # of the base link
    drive_limits: tuple[tuple[float, float], ...] = ()  # of the velocities: speed [rad/s, m/s], force [N m, N]; infinite: none
    chosen_frames: tuple[str, ...] = ()  # those that functions of frames are about
    loops: LoopsInfo | None = None  # of a robot with loops
    sensors: tuple[Channel, ...] = ()  # what the function measurement reads
    contacts: tuple[str, ...] = ()  # frames that touch something
    ground: Plane | None = None  # that points of the robot touch
    tensors: tuple[TensorInfo, ...] = ()  # that live parameters change


def read_metadata(text: bytes, source: str) -> Metadata:
    """Read and check the metadata of an extension module; ``source`` names it in messages."""
    rebuild = "Fix: build the robot again with elastogen.build_model."
    try:
        data = json.loads(text)
        abi = data["abi"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{source}: its metadata cannot be read ({error!r}). {rebuild}") from error
    if abi != ABI_VERSION:
        raise ModelError(
            f"{source}: compiled for ABI {abi!r} by elastogen {data.get('tool_version', '?')}, "
            f"this runtime expects ABI {ABI_VERSION}. {rebuild}"
        )
    try:
        sliding = tuple(_sliding(entry) for entry in data.get("sliding", ()))
        return Metadata(
            name=data["name"],
            tool_version=data["tool_version"],
            sha256=data["sha256"],
            real=data["real"],
            coordinate_names=tuple(data["coordinate_names"]),
            coordinate_units=tuple(data["coordinate_units"]),
            velocity_names=tuple(data["velocity_names"]),
            velocity_units=tuple(data["velocity_units"]),
            quaternions=tuple(data["quaternions"]),
            elastic_coordinates=tuple(data["elastic_coordinates"]),
            driven=tuple(data["driven"]),
            driven_coordinates=tuple(data["driven_coordinates"]),
            limits=tuple(_range(*pair) for pair in data["limits"]),
            drive_limits=tuple(
                (math.inf if speed is None else speed, math.inf if force is None else force)
                for speed, force in data["drive_limits"]
            ),
            critical_rates=tuple(
                CriticalRate(rate["link"], tuple(rate["coordinates"]), rate["rate"]) for rate in data["critical_rates"]
            ),
            slopes=tuple(LinkSlopes(**entry) for entry in data["slopes"]),
            frame_names=tuple(data["frame_names"]),
            parameters=tuple(ParameterInfo(**entry) for entry in data["parameters"]),
            functions=tuple(_function(entry, sliding) for entry in data["functions"]),
            c_files=tuple(data["c_files"]),
            sliding=sliding,
            point_names=tuple(data["point_names"]),
            base_name=data["base_name"],
            chosen_frames=tuple(data["chosen_frames"]),
            loops=_loops(data.get("loops")),
            sensors=tuple(Channel(*entry) for entry in data.get("sensors", ())),
            contacts=tuple(data.get("contacts", ())),
            ground=Plane.read(data["ground"]) if "ground" in data else None,
            tensors=tuple(
                TensorInfo(entry["of"], tuple((constant, factors) for constant, factors in entry["entries"]))
                for entry in data.get("tensors", ())
            ),
        )
    except (KeyError, TypeError) as error:
        raise ModelError(f"{source}: its metadata is incomplete ({error!r}). {rebuild}") from error


def _loops(data: dict[str, Any] | None) -> LoopsInfo | None:
    return None if data is None else LoopsInfo(**{key: tuple(values) for key, values in data.items()})


def _function(entry: dict[str, Any], sliding: tuple[SlidingInfo, ...]) -> FunctionInfo:
    return FunctionInfo(
        name=entry["name"],
        brief=entry["brief"],
        can_fail=bool(entry["can_fail"]),
        inputs=tuple(_argument(argument) for argument in entry["inputs"]),
        outputs=tuple(_argument(argument) for argument in entry["outputs"]),
        count=dict(entry["count"]),
        sliding=sliding if entry.get("slides") else (),
        states={name: tuple(values) for name, values in entry.get("states", {}).items()},
        kinks=bool(entry.get("kinks")),
    )


def _sliding(entry: dict[str, Any]) -> SlidingInfo:
    thresholds = tuple(
        (tuple((int(index), float(weight)) for index, weight in threshold["terms"]), float(threshold["bound"]))
        for threshold in entry["thresholds"]
    )
    return SlidingInfo(**{**entry, "thresholds": thresholds})


def _range(lower: float | None, upper: float | None) -> tuple[float, float]:
    return -math.inf if lower is None else float(lower), math.inf if upper is None else float(upper)


def _argument(entry: dict[str, Any]) -> Argument:
    return Argument(entry["name"], tuple(entry["shape"]), entry["unit"], entry["doc"])
