"""What output error found: numbers with error bars, how well sensors are predicted, and the robot file with these numbers."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from elastogen.generator.robot.robot import Robot
from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.read_table import Array
from elastogen.identification.output_error.numbers import Number, _loaded, content_of, with_values
from elastogen.identification.output_error.prediction import Track, channel_named, lagged
from elastogen.identification.results.estimates import Estimate
from elastogen.identification.results.result import Reading
from elastogen.runtime import Model
from elastogen.runtime.whole_files import replacing


@dataclass(frozen=True)
class ChannelQuality:
    """How well one run's signals are predicted: relative RMS of each, without its mean."""

    source: str
    channels: dict[str, float]


def channel_quality(tracks: Sequence[Track], differences: Sequence[Array]) -> tuple[ChannelQuality, ...]:
    """Per run."""
    found: dict[str, list[tuple[Array, Array]]] = {}
    for track, difference in zip(tracks, differences, strict=True):
        found.setdefault(track.motion.source, []).append((difference, track.measured))
    result = []
    for source, pairs in found.items():
        d, m = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
        size = np.maximum(np.linalg.norm(m - m.mean(axis=0), axis=0), 1e-300)
        names = [channel.name for channel in tracks[0].channels]
        result.append(ChannelQuality(source, dict(zip(names, map(float, np.linalg.norm(d, axis=0) / size), strict=True))))
    return tuple(result)


@dataclass(frozen=True)
class Refinement:
    """The result of :func:`elastogen.identify` for numbers of a robot file."""

    described: Robot = field(repr=False)
    content: Mapping[str, Any] = field(repr=False)
    numbers: tuple[Number, ...] = field(repr=False)
    values: tuple[float, ...] = field(repr=False)
    identified: Mapping[str, Any] = field(repr=False)
    source: Any = field(repr=False)
    parameters: tuple[str, ...]
    estimates: tuple[Estimate, ...] = field(repr=False)
    covariance: Array = field(repr=False)
    noise: Array = field(repr=False)
    inflation: Array = field(repr=False)
    condition: float
    cutoff: float  # [Hz]
    notes: tuple[str, ...] = field(repr=False)
    reading: Reading = field(repr=False)
    channels: tuple[str, ...]
    sensors: Mapping[str, Mapping[str, float]] = field(repr=False)
    trained: tuple[ChannelQuality, ...]
    model: Model = field(repr=False)
    live_values: Array = field(repr=False)
    validated: tuple[ChannelQuality, ...] = ()

    @cached_property
    def robot(self) -> Robot:
        """The robot with the identified numbers."""
        return _loaded(self.identified, content_of(self.source)[1], [])

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of that path."""
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise KeyError(name)

    def correlations(self) -> Array:
        """Of the errors of all unknowns: the numbers, sensors, starts of the runs."""
        size = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.asarray(self.covariance / np.maximum(np.outer(size, size), 1e-300))

    def validate(self, data: object) -> tuple[ChannelQuality, ...]:
        """How well signals of other runs are predicted; only the starts of their elastic coordinates are fitted."""
        pairs = self.compared(data)
        return channel_quality([track for track, _ in pairs], [difference for _, difference in pairs])

    def compared(self, data: object) -> list[tuple[Track, Array]]:
        """The pieces of all runs, and predicted less measured signals (rows, channels) of each."""
        channels = tuple(channel_named(self.described, name) for name in self.channels)
        motions = [motion for run in self.reading.runs(data, self.cutoff) for motion in run]
        tracks = [Track(self.model, motion, channels) for motion in motions]
        return [(track, self._differences(track)) for track in tracks]

    def _differences(self, track: Track) -> Array:
        start = np.zeros(track.starts)
        for _ in range(3):  # readings are almost linear in the start
            readings, slopes = track.predict(self.live_values, start)
            columns, rows = [], []
            for c, name in enumerate(self.channels):
                lag, gain, offset = (
                    self.sensors.get(kind, {}).get(name, neutral)
                    for kind, neutral in (("sensor_lag", 0.0), ("sensor_gain", 1.0), ("sensor_offset", 0.0))
                )
                step = track.motion.low_pass.step
                value = track.motion.compared(gain * lagged(readings[:, c], lag, step)) + offset - track.measured[:, c]
                columns.append(value * track.counts[:, c])
                own = slopes[:, c, len(self.live_values) :]
                rows.append(track.motion.compared(gain * lagged(own, lag, step)) * track.counts[:, c : c + 1])
            difference = np.column_stack(columns)
            if not track.starts:
                break
            A = np.concatenate([row / noise for row, noise in zip(rows, self.noise, strict=True)])
            b = np.concatenate([difference[:, c] / self.noise[c] for c in range(len(rows))])
            start = start - np.linalg.lstsq(A, b, rcond=None)[0]
        return difference

    def table(self) -> str:
        """All estimates as text."""
        lines = [f"{'number':52s} {'described':>12s} {'estimate':>12s} {'+-':>10s}  by"]
        for e in self.estimates:
            lines.append(
                f"{e.name:52s} {e.described:12.5g} {e.value:12.5g} {e.standard_error:10.2g}  {e.determined_by} [{e.unit}]"
            )
        lines += ["", f"condition {self.condition:.3g}, low pass {self.cutoff:.3g} Hz"]
        for title, runs in (("trained on", self.trained), ("tested on", self.validated)):
            for run in runs:
                shown = ", ".join(f"{name} {100 * value:.2f} %" for name, value in run.channels.items())
                lines.append(f"{title} {run.source}: {shown}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def json(self) -> str:
        """Everything as JSON."""
        content = {
            "robot": self.described.name,
            "parameters": self.parameters,
            "estimates": [asdict(estimate) for estimate in self.estimates],
            "condition": self.condition,
            "noise": dict(zip(self.channels, self.noise.tolist(), strict=True)),
            "cutoff": self.cutoff,
            "correlations": np.round(self.correlations(), 6).tolist(),
            "trained": [asdict(run) for run in self.trained],
            "validated": [asdict(run) for run in self.validated],
            "notes": self.notes,
        }
        return json.dumps(content, indent=2)

    def page(self, path: str | Path, data: object) -> Path:
        """Write a page that needs no network: signals of ``data`` as measured and predicted, numbers with bars."""
        from elastogen.identification.output_error.page import page

        target, text = Path(path), page(self, data)
        with replacing(target) as scratch:
            scratch.write_text(text, encoding="utf-8")
        return target

    def save(self, path: str | Path, base: str | Path | None = None) -> Path:
        """Write the robot file with the identified numbers; comments and order of the user's file stay."""
        from ruamel.yaml import YAML

        target, writer = Path(path), YAML()
        writer.preserve_quotes = True
        writer.width = 160
        source = base if base is not None else self.source
        own = source.files[0] if isinstance(source, Robot) and source.files else source
        editable = isinstance(own, (str, Path)) and Path(own).suffix.lower() in (".yaml", ".yml") and Path(own).is_file()
        content: Any = dict(self.identified)
        if editable:
            edit = writer.load(Path(str(own)).read_text(encoding="utf-8"))
            content = with_values(self.content, self.numbers, self.values, edit=edit)
        stream = io.StringIO()
        writer.dump(content, stream)
        text = stream.getvalue()
        folder = Path(str(own)).parent if editable else Path()
        back = _loaded(YAML(typ="safe", pure=True).load(text), folder, [])
        if back.name != self.described.name or not target.resolve().parent.is_dir():
            raise IdentificationError("save", str(target), "a file in a folder that exists", f"make {target.resolve().parent}")
        with replacing(target) as scratch:
            scratch.write_text(text, encoding="utf-8")
        return target
