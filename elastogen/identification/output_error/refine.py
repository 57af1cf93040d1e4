"""Estimates by output error: nonlinear least squares over what sensors read, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import elastogen
from elastogen.identification.equations.bodies import check_open, check_rates
from elastogen.identification.errors import IdentificationError
from elastogen.identification.estimation.fit import LATEST, ROUNDS, WEIGHTS
from elastogen.identification.measurements.read_table import Array
from elastogen.identification.measurements.signals import chosen_cutoff, prepare
from elastogen.identification.output_error.names import SENSORS
from elastogen.identification.output_error.numbers import Number, choose_numbers, with_values
from elastogen.identification.output_error.prediction import (
    Channel,
    Track,
    channels_of,
    lag_slope,
    lagged,
    outputs_for,
)
from elastogen.identification.output_error.refinement import Refinement, channel_quality
from elastogen.identification.results.estimates import BY_DATA, BY_PRIOR, Estimate
from elastogen.identification.results.result import Reading

LOOSE = 10.0  # relative uncertainty of what is described: tells what the motion does not show, and moves nothing else
FIRST_LAG = 0.02  # [s]


@dataclass
class _Unknowns:
    """The layout of the vector of unknowns: numbers over their descriptions, sensors, starts of every track."""

    numbers: Sequence[Number]
    scale: Array  # of the numbers
    live: list[int]  # where the numbers stand among the live parameters
    nominal: Array  # of all live parameters
    readings: list[int]  # channels that are readings of points
    kinds: tuple[str, ...]  # of unknowns of sensors
    starts: list[int]  # per track

    @property
    def size(self) -> int:
        return len(self.numbers) + len(self.kinds) * len(self.readings) + sum(self.starts)

    def first(self) -> Array:
        sensors = [{"sensor_lag": FIRST_LAG, "sensor_gain": 1.0, "sensor_offset": 0.0}[kind] for kind in self.kinds]
        ones = np.array([number.value for number in self.numbers]) / self.scale
        return np.concatenate([ones, np.repeat(sensors, len(self.readings)), np.zeros(sum(self.starts))])

    def bounds(self) -> tuple[Array, Array]:
        lower, upper = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        for k, number in enumerate(self.numbers):
            if number.least is not None:
                lower[k] = number.least if number.value > 0 else 0.0
        for i, kind in enumerate(self.kinds):
            if kind == "sensor_lag":
                lower[self._sensor(i)], upper[self._sensor(i)] = 0.0, 2.0
        return lower, upper

    def _sensor(self, i: int) -> slice:
        first = len(self.numbers) + i * len(self.readings)
        return slice(first, first + len(self.readings))

    def sensor(self, x: Array, kind: str) -> dict[int, float]:
        """Values of one kind by channel."""
        if kind not in self.kinds:
            return {}
        return dict(zip(self.readings, x[self._sensor(self.kinds.index(kind))], strict=True))

    def column(self, kind: str, channel: int) -> int:
        """Where an unknown of a sensor stands."""
        return len(self.numbers) + self.kinds.index(kind) * len(self.readings) + self.readings.index(channel)

    def values(self, x: Array) -> Array:
        """All live parameters."""
        found = self.nominal.copy()
        found[self.live] = x[: len(self.numbers)] * self.scale
        return np.asarray(found)

    def start(self, x: Array, track: int) -> slice:
        first = self.size - sum(self.starts) + sum(self.starts[:track])
        return slice(first, first + self.starts[track])


def _compared(track: Track, k: int, of: _Unknowns, x: Array) -> tuple[Array, Array]:
    """Differences (rows, channels) of a track and their derivatives (rows, channels, unknowns)."""
    readings, slopes = track.predict(of.values(x), x[of.start(x, k)])
    step, filtered = track.motion.low_pass.step, track.motion.compared
    lags, gains, offsets = (of.sensor(x, kind) for kind in ("sensor_lag", "sensor_gain", "sensor_offset"))
    rows = track.motion.rows
    difference = np.zeros((len(rows), len(track.channels)))
    J = np.zeros((len(rows), len(track.channels), of.size))
    count, starts = len(of.numbers), of.start(x, k)
    for c in range(len(track.channels)):
        lag, gain, offset = lags.get(c, 0.0), gains.get(c, 1.0), offsets.get(c, 0.0)
        value = lagged(readings[:, c], lag, step)
        slope = lagged(slopes[:, c], lag, step)
        difference[:, c] = filtered(gain * value)[:] + offset - track.measured[:, c]
        down = filtered(gain * slope)
        J[:, c, :count] = down[:, of.live] * of.scale
        J[:, c, starts] = down[:, len(of.nominal) :]
        if c in lags:
            J[:, c, of.column("sensor_lag", c)] = filtered(gain * lag_slope(readings[:, c], lag, step))
        if c in gains:
            J[:, c, of.column("sensor_gain", c)] = filtered(value)
        if c in offsets:
            J[:, c, of.column("sensor_offset", c)] = 1.0
    return difference * track.counts, J * track.counts[:, :, None]


@dataclass
class _Problem:
    tracks: list[Track]
    of: _Unknowns
    pull: Array  # of the prior
    centre: Array
    loss: str

    def both(self, x: Array) -> tuple[list[Array], list[Array]]:
        pairs = [_compared(track, k, self.of, x) for k, track in enumerate(self.tracks)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def solve(self, x: Array, noise: Array, tolerance: float) -> Array:
        known: dict[bytes, tuple[Array, Array]] = {}

        def rows(x: Array) -> tuple[Array, Array]:
            key = x.tobytes()
            if key not in known:
                known.clear()
                differences, slopes = self.both(x)
                r = np.concatenate([(d / noise).ravel() for d in differences])
                J = np.concatenate([(s / noise[:, None]).reshape(-1, self.of.size) for s in slopes])
                root = np.sqrt(WEIGHTS[self.loss](r))
                weighted, sloped = root * r, root[:, None] * J
                known[key] = np.append(weighted, self.pull * (x - self.centre)), np.vstack([sloped, np.diag(self.pull)])
            return known[key]

        lower, upper = self.of.bounds()
        found = least_squares(
            lambda x: rows(x)[0], np.clip(x, lower, upper), jac=lambda x: rows(x)[1], bounds=(lower, upper), x_scale="jac",
            xtol=tolerance, ftol=tolerance, gtol=tolerance, max_nfev=60,
        )  # fmt: skip
        return np.asarray(found.x)


def _noise(differences: list[Array], tracks: list[Track], unknowns: int) -> Array:
    """Standard deviation of every channel."""
    squares = sum((d**2).sum(axis=0) for d in differences)
    counted = sum(track.counts.sum(axis=0) for track in tracks)
    share = unknowns / max(float(np.sum(counted)), 1.0)
    return np.asarray(np.maximum(np.sqrt(squares / np.maximum(counted * (1 - min(share, 0.9)), 1.0)), 1e-300))


def _inflation(differences: list[Array]) -> Array:
    """1 + 2 sum of autocorrelations of each channel, up to the first that is not positive."""
    found = np.ones(differences[0].shape[1])
    for c in range(len(found)):
        sums = np.zeros(LATEST + 1)
        for d in differences:
            x = d[:, c]
            sums += [float(x[: len(x) - lag] @ x[lag:]) if len(x) > lag else 0.0 for lag in range(LATEST + 1)]
        if sums[0] > 0:
            rho = sums / sums[0]
            last = next((lag for lag in range(1, LATEST + 1) if rho[lag] <= 0.05), LATEST)
            found[c] = max(1.0, 1.0 + 2.0 * float(rho[1:last].sum()))
    return found


def refine(
    robot: Any,
    data: object,
    parameters: Sequence[str],
    *,
    validate: object = None,
    columns: Mapping[str, object] | None = None,
    gains: Mapping[str, float] | None = None,
    degrees: bool = False,
    cutoff: float | None = None,
    prior: float = LOOSE,
    loss: str = "linear",
    tell: Callable[[str], None] = lambda text: None,
) -> Refinement:
    """Estimate numbers of a robot file by output error; :func:`elastogen.identify` calls it for such parameters."""
    if loss not in WEIGHTS:
        raise IdentificationError("loss", repr(loss), f"one of {', '.join(WEIGHTS)}", "choose one of them")
    kinds = tuple(kind for kind in SENSORS if kind in parameters)
    live, numbers, content = choose_numbers(robot, [name for name in parameters if name not in SENSORS])
    check_open(live)
    check_rates(live)
    reading = Reading(live, columns, gains, degrees)
    pieces, notes = reading.pieces(data)
    cut = chosen_cutoff(pieces) if cutoff is None else float(cutoff)
    motions = [prepare(piece, cut) for piece in pieces]
    channels = channels_of(live, motions)
    tell(f"{len(pieces)} pieces of motion, low pass at {cut:.3g} Hz, {len(channels)} signals")
    model = elastogen.build_model(
        replace(live, functions=()), outputs=["inverse_dynamics", *outputs_for(channels)], identification=["elastic_states"]
    )
    tracks = [Track(model, motion, tuple(channels)) for motion in motions]
    names = list(model.parameters)
    values = np.array([number.value for number in numbers])
    scale = np.where(values == 0, 1.0, np.abs(values))
    readings = [c for c, channel in enumerate(channels) if channel.function]
    of = _Unknowns(
        numbers, scale, [names.index(n.live) for n in numbers], np.array([model.parameters[n] for n in names]),
        readings, kinds, [track.starts for track in tracks],
    )  # fmt: skip
    _check_amount(tracks, of)
    centre = of.first()
    pull = np.zeros(of.size)
    pull[: len(numbers)] = 1.0 / prior
    problem = _Problem(tracks, of, pull, centre, loss)
    x = centre.copy()
    noise = np.maximum(np.sqrt(np.mean(np.concatenate([t.measured for t in tracks]) ** 2, axis=0)), 1e-300)
    for last in range(ROUNDS):
        x = problem.solve(x, noise, 1e-13 if last == ROUNDS - 1 else 1e-5)
        differences, slopes = problem.both(x)
        noise = _noise(differences, tracks, of.size)
    inflation = _inflation(differences)
    sigma = noise * np.sqrt(inflation)
    J = np.concatenate([(s / sigma[:, None]).reshape(-1, of.size) for s in slopes])
    size = np.maximum(np.linalg.norm(np.vstack([J, np.diag(pull)]), axis=0), 1e-300)
    _, singular, right = np.linalg.svd(np.vstack([J, np.diag(pull)]) / size, full_matrices=False)
    half = (right.T / np.maximum(singular, 1e-12 * singular[0])) / size[:, None]
    covariance = half @ half.T
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    found = x[: len(numbers)] * scale
    estimates = _estimates(numbers, found, errors, scale, prior, of, x, channels)
    new = with_values(content, numbers, found)
    quality = channel_quality(tracks, differences)
    result = Refinement(
        described=live, content=content, numbers=tuple(numbers), values=tuple(map(float, found)), identified=new, source=robot,
        parameters=tuple(parameters), estimates=tuple(estimates), covariance=covariance, noise=noise, inflation=inflation,
        condition=float(singular[0] / max(singular[-1], 1e-300)), cutoff=cut, notes=tuple(notes), reading=reading,
        channels=tuple(channel.name for channel in channels), sensors={
            kind: {channels[c].name: float(value) for c, value in of.sensor(x, kind).items()} for kind in kinds
        }, trained=quality, model=model, live_values=of.values(x),
    )  # fmt: skip
    return result if validate is None else replace(result, validated=result.validate(validate))


def _check_amount(tracks: list[Track], of: _Unknowns) -> None:
    rows = sum(int(track.counts.sum()) for track in tracks)
    if rows < 3 * of.size:
        raise IdentificationError(
            "data", f"{rows} independent samples", f"{3 * of.size} or more for {of.size} unknowns", "record longer motions"
        )


def _estimates(
    numbers: Sequence[Number], found: Array, errors: Array, scale: Array, prior: float, of: _Unknowns, x: Array,
    channels: Sequence[Channel],
) -> list[Estimate]:  # fmt: skip
    result = []
    lower, _ = of.bounds()
    for k, number in enumerate(numbers):
        share = (errors[k] / prior) ** 2
        by = "data" if share < BY_DATA else "prior" if share > BY_PRIOR else "both"
        by = "bound" if x[k] <= lower[k] + 1e-9 else by
        result.append(Estimate(number.path, number.unit, number.value, float(found[k]), float(errors[k] * scale[k]), by))
    units = {"sensor_lag": "s", "sensor_gain": "1", "sensor_offset": "of the sensor"}
    for kind in of.kinds:
        for c, value in of.sensor(x, kind).items():
            first = {"sensor_lag": 0.0, "sensor_gain": 1.0, "sensor_offset": 0.0}[kind]
            error = float(errors[of.column(kind, c)])
            result.append(Estimate(f"{channels[c].name}.{kind}", units[kind], first, float(value), error, "data"))
    return result
