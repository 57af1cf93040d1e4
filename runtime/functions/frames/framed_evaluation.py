"""Evaluation of functions about frames that are given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError, UnknownNameError, suggestion
from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.interface.error import shortened

Wrenches = Mapping[str, ArrayLike]


class _FramePath(NamedTuple):
    """A compiled function that has certain frames, and how its results are indexed."""

    key: str
    parts: list[tuple[Any, ...]]  # of each result, what belongs to the frames that were asked for
    axes: list[tuple[Any, ...]]  # gives an array of one frame the axis of the frames
    only: bool  # one frame was asked for, and there is no other


class FramedEvaluation(Evaluation):
    """Functions of frames that were chosen when the model was built; others are built when they are called."""

    _metadata: Metadata

    @property
    def _known_frames(self) -> tuple[str, ...]:
        data = self._metadata
        return tuple(dict.fromkeys((data.base_name, *data.frame_names, *data.point_names)))

    def _asked_frames(self, function: str, frames: object) -> str | tuple[Any, ...]:
        """Return the names of one or several frames, which need not exist."""
        if isinstance(frames, str):
            return frames
        try:
            return tuple(frames)  # type: ignore[arg-type]
        except TypeError:
            problem = f"frames={frames!r}, expected the name of a frame, or several names"
            raise ModelError(f"{self._name}.{function}: {problem}.") from None

    def _checked_frames(self, function: str, frames: Sequence[str]) -> tuple[str, ...]:
        for name in frames:
            if not isinstance(name, str) or name not in self._known_frames:
                raise UnknownNameError(
                    f"{self._name}.{function}: got {name!r}, expected a link, a point or 'tip'."
                    f"{suggestion(name, self._known_frames)}"
                )
        if not frames or len(set(frames)) < len(frames):
            raise ModelError(f"{self._name}.{function}: got frames {list(frames)!r}, expected one or more, each once.")
        return tuple(frames)

    def _framed_function(self, function: str, frames: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Return the key of a compiled function that has these frames, and all of its frames in order."""
        built: dict[tuple[str, ...], str] = self.__dict__.setdefault("_framed_kernels", {}).setdefault(function, {})
        if function in self._kernels:
            built.setdefault(self._metadata.chosen_frames, function)
        enough = [there for there in built if set(frames) <= set(there)]
        if not enough:
            if self._provider is None:
                raise ModelError(
                    f"{self._name} was built without {function} of {', '.join(frames)}. Fix: name them in the options "
                    "outputs= and frames= of elastogen.build_model"
                )
            key = f"{function} of {', '.join(frames)}"
            self._kernels[key] = kernel = self._provider(function, frames)
            kernel.diagnose = self._why_singular
            built[frames] = key
            enough = [frames]
        there = min(enough, key=len)
        return built[there], there

    def _of_frames(
        self,
        function: str,
        frames: str | Sequence[str],
        arguments: Sequence[ArrayLike],
        out: Any,
        parameters: ParameterValues,
    ) -> Any:
        """Evaluate a function for one frame or for several, which then have an axis of the results."""
        way = self._frame_path(function, frames)
        several = len(way.parts) > 1
        if way.only and (isinstance(out, (tuple, list)) if several else isinstance(out, np.ndarray)):
            try:
                rows = [a[axis] for a, axis in zip(out, way.axes, strict=True)] if several else out[way.axes[0]]
                self._evaluate(way.key, arguments, rows, parameters)
                return out
            except (ModelError, TypeError, IndexError, ValueError):  # reported below, without the axis of the frame
                pass
        found: Any = self._evaluate(way.key, arguments, None, parameters)
        results = [array[part] for array, part in zip(found, way.parts, strict=True)] if several else [found[way.parts[0]]]
        if out is None:
            results = [array if array.flags.c_contiguous else array.copy() for array in results]
            return tuple(results) if several else results[0]
        given = tuple(out) if several and isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(results) or not all(map(_fits, given, results)):
            shapes = ", ".join(str(array.shape) for array in results)
            label = self._kernels[way.key].label
            raise ModelError(f"{label}: out= does not fit, expected writeable arrays of shape {shapes}.")
        for array, destination in zip(results, given, strict=True):
            destination[...] = array
        return out

    def _frame_path(self, function: str, frames: str | Sequence[str]) -> _FramePath:
        asked = self._asked_frames(function, frames)
        paths: dict[Any, _FramePath] = self.__dict__.setdefault("_frame_paths", {})
        try:
            return paths[function, asked]
        except (KeyError, TypeError):  # the latter of what has no hash, and is not a name
            pass
        names = self._checked_frames(function, (asked,) if isinstance(asked, str) else asked)
        key, there = self._framed_function(function, names)
        at = there.index(asked) if isinstance(asked, str) else [there.index(name) for name in names]
        after = [(slice(None),) * (len(argument.shape) - 1) for argument in self._kernels[key].info.outputs]
        parts, axes = [(..., at, *own) for own in after], [(..., None, *own) for own in after]
        path = paths[function, asked] = _FramePath(key, parts, axes, only=at == 0 and len(there) == 1)
        return path

    def _under_wrenches(
        self,
        function: str,
        arguments: Sequence[ArrayLike],
        wrenches: Wrenches,
        out: Array | None,
        parameters: ParameterValues,
        on_failure: str = "raise",
    ) -> Array:
        """Evaluate a function that takes wrenches on frames as its last argument."""
        if not isinstance(wrenches, Mapping):
            raise ModelError(
                f"{self._name}.{function}: wrenches={wrenches!r}, expected a mapping from frames to arrays (..., 6), "
                "for example {'tip': [0, 0, -10, 0, 0, 0]}."
            )
        names = self._checked_frames(function, sorted(wrenches, key=str))
        key, there = self._framed_function(function, names)
        rows = {name: self._wrench(function, name, wrenches[name]) for name in names}
        try:
            batch = np.broadcast_shapes(*(row.shape[:-1] for row in rows.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {row.shape}" for name, row in rows.items())
            raise ModelError(f"{self._name}.{function}: the batch axes of wrenches do not broadcast: {shapes}.") from None
        stacked = np.zeros((*batch, len(there), 6), dtype=self._kernels[key].real)
        for name, row in rows.items():
            stacked[..., there.index(name), :] = row
        return self._evaluate(key, (*arguments, stacked), out, parameters, on_failure)

    def _wrench(self, function: str, frame: str, given: ArrayLike) -> NDArray[Any]:
        expected = "expected real numbers (..., 6): force [N], then moment [N m], in base components."
        try:
            row = np.asarray(given)
        except (TypeError, ValueError):
            raise ModelError(f"{self._name}.{function}: wrench on {frame}: got {shortened(given)}, {expected}") from None
        if row.dtype.kind not in "iuf" or row.ndim < 1 or row.shape[-1] != 6:
            raise ModelError(
                f"{self._name}.{function}: wrench on {frame} has shape {row.shape} and dtype {row.dtype}, {expected}"
            )
        return row


def act(wrenches: Wrenches | None) -> bool:
    """Whether there are any wrenches; what is not a mapping counts, and is refused where it is used."""
    return wrenches is not None and not (isinstance(wrenches, Mapping) and not wrenches)


def _fits(given: Any, result: NDArray[Any]) -> bool:
    return (
        isinstance(given, np.ndarray)
        and given.shape == result.shape
        and given.flags.writeable
        and (given.dtype == result.dtype or np.can_cast(result.dtype, given.dtype, "same_kind"))
    )
