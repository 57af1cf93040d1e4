"""Motions of a batch in SIMD lanes: blocks of motions take the same steps together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from numpy.typing import NDArray

from elastogen.runtime.simulation.motions import Motions, Passed
from elastogen.runtime.simulation.stops import StopData

TASKS_PER_THREAD = 8  # so that none of them waits long for the others at the end


class LaneBlocks:
    """The C structs of a batch of motions, which exist as long as this object."""

    def __init__(
        self, lib: Any, ffi: Any, motions: Motions, times: NDArray[Any], given: Any, options: Any, stops: StopData | None
    ) -> None:
        self._lib, self._ffi, self._motions, number = lib, ffi, motions, len(motions)
        self._batch = batch = ffi.new("eg_sim_batch_t *")
        self._status = ffi.new("int[]", [int(lib.EG_SIM_STATUS_CANCELLED)] * number)
        self._keep: list[Any] = [times, given, options]
        for field, array in (("q0", motions.q0), ("qd0", motions.qd0), ("times", times)):
            setattr(batch, field, ffi.from_buffer("double[]", array))
        batch.nparams, batch.samples = motions.parameters.shape[1], len(times)
        if batch.nparams:
            batch.params = ffi.from_buffer("eg_real_t[]", motions.parameters)
        batch.input, batch.options, batch.status, batch.controls = given, options, self._status, motions.controls
        for field, array in motions.samples.items():
            setattr(batch.record, field, ffi.from_buffer("double[]", array))
        self._stops = None if stops is None else self._watch(stops, number)

    def _watch(self, stops: StopData, number: int) -> Any:
        """Return what checks the limits after every step, for each motion."""
        ffi, batch = self._ffi, self._batch
        limits, each = ffi.new("eg_sim_stops_t *"), ffi.new("eg_sim_stops_t[]", number)
        limits.lower, limits.upper = (ffi.from_buffer("double[]", array) for array in (stops.lower, stops.upper))
        limits.ends, limits.index = int(stops.ends), -1
        batch.limits, batch.stops = limits, each
        batch.options.event = ffi.addressof(self._lib, "eg_sim_watch")
        self._keep += [limits, stops]
        return each

    def tasks(self, workers: int) -> list[Callable[[], None]]:
        """Return runs of whole blocks of lanes, several for every worker; only the very last may be short."""
        number, lanes = len(self._motions), int(self._lib.eg_sim_lanes())
        blocks = -(-number // lanes)
        length = lanes * max(1, blocks // (workers * TASKS_PER_THREAD))
        return [partial(self._run, first, min(length, number - first)) for first in range(0, number, length)]

    def _run(self, first: int, count: int) -> None:
        memory = self._ffi.new("char[]", self._lib.eg_sim_memory())
        self._lib.eg_simulate_batch(self._batch, first, count, memory)

    def tell(self, names: Mapping[int, str]) -> None:
        """Store how every motion ended."""
        for k, (motion, status) in enumerate(
            zip(self._motions, self._ffi.unpack(self._status, len(self._motions)), strict=True)
        ):
            motion.status = names[status]
            if self._stops is not None and self._stops[k].index >= 0:
                stops = self._stops[k]
                motion.passed = Passed(int(stops.index), bool(stops.side > 0), float(stops.time))
