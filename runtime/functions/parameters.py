"""The live parameters of a model: a mapping from name to value that feeds every call."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError, UnknownNameError, suggestion
from elastogen.runtime.functions.metadata import ParameterInfo, TensorInfo
from elastogen.runtime.interface.error import shortened

SHOWN = 8  # parameters in a repr
RELATIVE = 1e-6  # rounding of a principal moment, as for robot files; relative to the largest entry of its tensor


class Parameters(Mapping[str, float]):
    """Current values of the live parameters, in the order of the generated ``<name>_params_t``.

    >>> model.parameters["payload_mass"] = 2.5
    >>> model.parameters.update(payload_mass=2.5, gravity_z=-1.62)
    >>> model.parameters.reset()

    Names are fixed; values are checked to be finite, masses to be zero or more, and tensors of inertia to be those of a body:
    numbers of one tensor are changed together, by ``update``. ``snapshot`` is a read-only array that is replaced as
    a whole when a value changes, so that calls running in other threads see either the old or the new set.
    """

    def __init__(
        self, model_name: str, infos: Sequence[ParameterInfo], real: np.dtype[Any], tensors: Sequence[TensorInfo] = ()
    ) -> None:
        self._model_name = model_name
        self._tensors = tuple(tensors)
        self._infos = {info.name: info for info in infos}
        self._index = {info.name: k for k, info in enumerate(infos)}
        self._nominal = np.array([info.value for info in infos], dtype=real)
        self._nominal.flags.writeable = False
        self.snapshot: NDArray[Any] = self._nominal
        self._lock = threading.Lock()  # of those who change values; readers take the snapshot

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "snapshot" and not name.startswith("_"):  # it would be kept, and feed no call
            raise ModelError(
                f"{self._model_name}.parameters: got the attribute {name!r}, expected a value by its name. "
                f"Fix: write parameters[{name!r}] = ..., or parameters.update({name}=...)."
            )
        super().__setattr__(name, value)

    @property
    def nominal(self) -> Mapping[str, float]:
        """Return the values of the robot description."""
        return MappingProxyType({name: float(self._nominal[k]) for name, k in self._index.items()})

    def info(self, name: str) -> ParameterInfo:
        """Return a parameter's unit and documentation."""
        self._position(name)
        return self._infos[name]

    def reset(self, *names: str) -> None:
        """Set the named parameters, or all of them, back to their nominal values."""
        if not names:
            self.snapshot = self._nominal
            return
        self.update({name: float(self._nominal[self._position(name)]) for name in names})

    def update(self, values: Mapping[str, float] | None = None, /, **more: float) -> None:
        """Set several parameters at once; if one of them is refused, none is set."""
        if values is not None and not isinstance(values, Mapping):
            raise ModelError(
                f"{self._model_name}.parameters.update: got {shortened(values)}, expected a mapping from names to numbers."
            )
        wanted: dict[int, Any] = {}
        for name, value in {**(values or {}), **more}.items():
            checked = self._checked(name, value)
            if checked.ndim:
                raise ModelError(
                    f"{self._model_name}.parameters[{name!r}]: got an array of shape {checked.shape}, "
                    f"expected one number. Fix: pass arrays per call, parameters={{{name!r}: array}}."
                )
            wanted[self._position(name)] = checked
        with self._lock:  # two threads that change different parameters must not undo each other's
            changed = self.snapshot.copy()
            for position, checked in wanted.items():
                changed[position] = checked
            self._check_tensors(changed, wanted)
            changed.flags.writeable = False
            self.snapshot = changed

    def __reduce__(self) -> Any:
        infos = tuple(self._infos.values())
        return _restore, (self._model_name, infos, self._nominal.dtype, dict(self), self._tensors)

    def merged(self, overrides: Mapping[str, ArrayLike]) -> NDArray[Any]:
        """Return the current values with some replaced, shape (..., number of parameters).

        Arrays among the overrides are batches; their shapes broadcast against each other.
        """
        if not isinstance(overrides, Mapping):
            raise ModelError(
                f"{self._model_name}: parameters= got {type(overrides).__name__}, expected a mapping "
                "from parameter names to numbers or arrays."
            )
        arrays = {self._position(name): self._checked(name, value) for name, value in overrides.items()}
        try:
            batch = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        except ValueError as error:
            shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in overrides.items())
            raise ModelError(f"{self._model_name}: parameters= has arrays whose shapes do not broadcast: {shapes}.") from error
        merged = np.empty((*batch, len(self._index)), dtype=self.snapshot.dtype)
        merged[...] = self.snapshot
        for position, array in arrays.items():
            merged[..., position] = array
        self._check_tensors(merged, arrays)
        return merged

    def _check_tensors(self, values: NDArray[Any], changed: Collection[int]) -> None:
        """Refuse values (..., number of parameters) with which some tensor of inertia has a negative principal moment."""
        for tensor in self._tensors:
            names = [name for name in tensor.names if self._index[name] in changed]
            if not names:
                continue
            entries = [tensor.entry(k, values, self._index) for k in range(6)]
            xx, yy, zz, xy, xz, yz = np.broadcast_arrays(*entries)
            matrices = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(*xx.shape, 3, 3)
            least = np.linalg.eigvalsh(matrices)[..., 0]
            wrong = least < -RELATIVE * np.abs(matrices).max(axis=(-2, -1))
            if wrong.any():
                first = tuple(np.argwhere(wrong)[0])
                given = ", ".join(f"{name}={float(values[first][self._index[name]]):g}" for name in names)
                raise ModelError(
                    f"{self._model_name}.parameters: got {given}: the inertia of {tensor.of} would have a principal moment of "
                    f"{float(least[first]):.3g} kg m^2, expected none below zero. Fix: change the numbers of one tensor "
                    "together, parameters.update(...), or in one parameters={...}."
                )

    def _position(self, name: str) -> int:
        try:
            return self._index[name]
        except (KeyError, TypeError):
            raise UnknownNameError(
                f"{self._model_name} has no live parameter {name!r}.{suggestion(name, self._index)} "
                "A parameter is live when the robot description marks it so."
            ) from None

    def _checked(self, name: str, value: ArrayLike) -> NDArray[Any]:
        position = self._position(name)
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.empty(0, dtype=object)
        if array.dtype.kind not in "iuf":
            raise ModelError(
                f"{self._model_name}.parameters[{name!r}]: got {shortened(value)}, expected a real number"
                f"{self._unit(name)} like {self._nominal[position]:g}."
            )
        with np.errstate(over="ignore"):
            converted = array.astype(self.snapshot.dtype)
        if not np.isfinite(converted).all():
            raise ModelError(
                f"{self._model_name}.parameters[{name!r}]: got {shortened(value)}, expected finite values{self._unit(name)}."
            )
        if self._infos[name].unit == "kg" and np.min(converted, initial=0.0) < 0:
            raise ModelError(
                f"{self._model_name}.parameters[{name!r}]: got {shortened(value)}, expected a mass of zero or more [kg]."
            )
        return converted

    def _unit(self, name: str) -> str:
        unit = self._infos[name].unit
        return f" [{unit}]" if unit else ""

    def __getitem__(self, name: str) -> float:
        return float(self.snapshot[self._position(name)])

    def __setitem__(self, name: str, value: float) -> None:
        self.update({name: value})

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        entries = [f"{name}={self[name]:g}{self._unit(name)}" for name in self]
        if len(entries) > SHOWN:
            entries[SHOWN:] = [f"... {len(entries) - SHOWN} more"]
        return f"Parameters({', '.join(entries)})"


def _restore(
    name: str, infos: Sequence[ParameterInfo], real: np.dtype[Any], values: dict[str, float], tensors: Sequence[TensorInfo]
) -> Parameters:
    """Restore the parameters of another process."""
    parameters = Parameters(name, infos, real, tensors)
    parameters.update(values)
    return parameters
