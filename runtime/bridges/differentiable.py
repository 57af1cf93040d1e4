"""A function of a model with its first and second derivatives, as bridges hand it to other tools."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.choices import flag
from elastogen.runtime.errors import ModelError, ModelWarning

if TYPE_CHECKING:
    from elastogen.runtime.functions.kernel import Kernel
    from elastogen.runtime.model.model import Model

Array = NDArray[Any]
POSITIONS = ("q", "q0", "q1")
PARAMETERS = "parameters"  # the trailing input of a function whose live parameters are inputs
BY_PARAMETERS = "_by_parameters"


class Differentiable:
    """One function of a model, flat and batched: x are all inputs one after the other, y all outputs, row by row.

    ``sizes`` and ``shapes`` belong to the inputs, ``result_shapes`` to the outputs. With ``parameters`` the live parameters are
    the last input. All arrays have one leading axis, the batch. Quaternions are taken as they are: bridges normalize them.
    """

    def __init__(self, model: Model, name: str, parameters: bool = False) -> None:
        self.model, self.name, self.label = model, name, f"{model.name}.{name}"
        self.with_parameters = parameters = flag(f"{model.name}: parameters", parameters)
        if not isinstance(name, str) or "+" in name:
            raise ModelError(f"{model.name}: got {name!r}, expected one function of the model, for example 'forward_dynamics'.")
        kernel = model.kernel(name)
        if not kernel.info.inputs:
            raise ModelError(
                f"{model.name}.{name} has no inputs, expected a function of the state. Fix: call it once in Python."
            )
        warn_of_kinks(kernel)
        self.inputs = tuple(argument.name for argument in kernel.info.inputs)
        self.shapes = [tuple(argument.shape) for argument in kernel.info.inputs]
        self.result_shapes = [tuple(argument.shape) for argument in kernel.info.outputs]
        self.results = tuple(argument.name for argument in kernel.info.outputs)
        self.live = tuple(model.parameters) if parameters else ()
        if parameters and not self.live:
            raise ModelError(
                f"{model.name} has no live parameters. Fix: name them in live= of elastogen.load, or leave them out."
            )
        if parameters:
            self.inputs, self.shapes = (*self.inputs, PARAMETERS), [*self.shapes, (len(self.live),)]
        self.sizes, self.result_sizes = [prod(shape) for shape in self.shapes], [prod(shape) for shape in self.result_shapes]
        self.nx, self.ny = sum(self.sizes), sum(self.result_sizes)
        self.dtype = model.dtype
        self.fixed: dict[str, float] | None = None  # values of live parameters that are not inputs; None: the present ones
        starts = model.metadata.quaternions if self.inputs[0] in POSITIONS else ()
        offsets = np.cumsum([0, *self.sizes])
        self.quaternions = tuple(
            int(offsets[k]) + start for k, word in enumerate(self.inputs) if word in POSITIONS for start in starts
        )  # where they start in x

    def value(self, x: Array) -> Array:
        """Y (batch, ny) at x (batch, nx); NaN where the mass matrix is singular."""
        return self._evaluate("", x)

    def jacobian(self, x: Array) -> Array:
        """dy/dx, (batch, ny, nx)."""
        return self._evaluate("_sensitivity", x).reshape(len(x), self.ny, self.nx)

    def gradient(self, x: Array, w: Array) -> Array:
        """(dy/dx)^T w, (batch, nx), for weights w (batch, ny)."""
        return self._evaluate("_adjoint", x, w)

    def hessian(self, x: Array, w: Array) -> Array:
        """d2(w^T y)/dx2, (batch, nx, nx)."""
        return self._evaluate("_hessian", x, w).reshape(len(x), self.nx, self.nx)

    def prepare(self, order: int) -> None:
        """Build what derivatives of this order need now, so that nothing is compiled, or refused, inside a solver."""
        for ending in ("", "_sensitivity", "_adjoint", "_hessian")[: 1 + {0: 0, 1: 2, 2: 3}[order]]:
            self.kernel(ending)

    def kernel(self, ending: str) -> Kernel:
        """The compiled function of y, or of its "_sensitivity", "_adjoint" or "_hessian"."""
        return self.model.kernel(self._function(ending))

    def kernels(self) -> tuple[Kernel, Kernel, Kernel]:
        """The compiled functions of y, of dy/dx and of the Hessian by weights."""
        value, jacobian, hessian = (self.kernel(each) for each in ("", "_sensitivity", "_hessian"))
        return value, jacobian, hessian

    def split(self, x: Array) -> list[Array]:
        """The inputs of the function from x."""
        parts = np.split(x, np.cumsum(self.sizes)[:-1], axis=-1)
        return [part.reshape(*x.shape[:-1], *shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def leading(self, given: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The batch axes of inputs of these shapes; ModelError where one does not fit."""
        axes = []
        for word, shape, found in zip(self.inputs, self.shapes, given, strict=True):
            split = len(found) - len(shape)
            if split < 0 or found[split:] != shape:
                wanted = ", ".join(map(str, ("...", *shape)))
                raise ModelError(f"{self.label}: {word} has shape {found}, expected ({wanted}).")
            axes.append(found[:split])
        try:
            return np.broadcast_shapes(*axes)
        except ValueError:
            listed = ", ".join(f"{word} {shape}" for word, shape in zip(self.inputs, axes, strict=True))
            raise ModelError(f"{self.label}: the batch axes do not broadcast against each other: {listed}.") from None

    def _function(self, ending: str) -> str:
        return self.name + ending + (BY_PARAMETERS if ending and self.with_parameters else "")

    def _evaluate(self, ending: str, x: Array, w: Array | None = None) -> Array:
        kernel = self.kernel(ending)
        given = self.split(np.asarray(x, dtype=self.dtype))
        live: Any = self.fixed
        if self.with_parameters:
            values = given.pop()
            live = {name: values[..., k] for k, name in enumerate(self.live)}
        weights = [] if w is None else [np.asarray(w, dtype=self.dtype)]
        found: Any = kernel.batch([np.ascontiguousarray(each) for each in (*given, *weights)], None, live, "nan", 1)
        found = found if isinstance(found, tuple) else (found,)
        return np.concatenate([np.reshape(each, (len(x), -1)) for each in found], axis=-1)


def warn_of_kinks(kernel: Kernel) -> None:
    """Say that a function has no derivative at some states, before a solver meets one."""
    if kernel.info.kinks:
        borders = [joint.joint for joint in kernel.info.sliding if joint.thresholds and not joint.smooth]
        cause, fix = "a choice, |x|, min or max", "smooth formulas, for example sqrt(x**2 + c) for |x|"
        if borders:
            cause, fix = f"where an element of a beam ends in {', '.join(borders)}", "stay within an element, or assumed modes"
        message = f"{kernel.label} has kinks ({cause}): there it has no derivative, and that of one side is given"
        warnings.warn(f"{message}. Fix: {fix}.", ModelWarning, stacklevel=4)


def target(module: str, extra: str, least: tuple[int, ...] = ()) -> Any:
    """The module of another tool, or an error in our words where it is not installed or too old."""
    try:
        found = import_module(module)
    except ImportError as problem:
        raise ModelError(
            f"{module} is needed for this, and is not installed here ({problem}). Fix: pip install 'elastogen[{extra}]'."
        ) from None
    version = getattr(found, "__version__", "")
    numbers = tuple(int(part) for part in version.split("+")[0].split(".")[: len(least)] if part.isdigit())
    if least and numbers < least:
        wanted = ".".join(map(str, least))
        raise ModelError(
            f"{module} {version} is installed, expected {wanted} or newer. Fix: pip install -U 'elastogen[{extra}]'."
        )
    return found
