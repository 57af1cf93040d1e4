"""Evaluation of compiled functions, through which all methods of a model go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.choices import one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.kernel import ON_FAILURE, RAISE, Kernel
from elastogen.runtime.functions.parameters import Parameters
from elastogen.runtime.functions.quaternions import unit_quaternions
from elastogen.runtime.functions.singular import why_singular

Array: TypeAlias = "NDArray[np.floating[Any]]"
Triple: TypeAlias = "tuple[Array, Array, Array]"
Quadruple: TypeAlias = "tuple[Array, Array, Array, Array]"
ParameterValues: TypeAlias = "Mapping[str, ArrayLike] | None"
OnFailure: TypeAlias = Literal["raise", "nan"]


class Evaluation:
    """The compiled functions of a model, by name."""

    _name: str
    _kernels: dict[str, Kernel]
    _parameters: Parameters
    velocity_names: Any
    _quaternions: tuple[int, ...] = ()  # where in q they start
    _provider: Callable[..., Kernel] | None = None  # makes functions that were not emitted, by name and frames, when called

    def _evaluate(
        self,
        function: str,
        arguments: Sequence[Any],
        out: Array | Sequence[Array] | None = None,
        parameters: ParameterValues = None,
        on_failure: str = "raise",
        threads: int | None = None,
    ) -> Array:
        """Evaluate a function by the fast path if it applies, otherwise by the general one, also with ``threads``.

        The result is an array, or a tuple of arrays for a function with several outputs.
        """
        kernel = self._kernels.get(function)
        if kernel is None:
            kernel = self._missing(function)
        if self._quaternions:
            arguments = [
                unit_quaternions(given, self._quaternions) if argument.name in ("q", "q0", "q1") else given
                for argument, given in zip(kernel.info.inputs, arguments, strict=False)
            ]
        if on_failure is not RAISE:  # the very word is in most calls, and costs the least
            one_of(f"{kernel.label}: on_failure", on_failure, ON_FAILURE)
        if parameters is None and threads is None:
            result: Array | None = kernel.single(arguments, out)
            if result is not None:
                return result
            own = _as_own_arrays(arguments, kernel.real)
            if own is not None:
                arguments = own
                result = kernel.single(arguments, out)
                if result is not None:
                    return result
        answer: Array = kernel.batch(arguments, out, parameters, on_failure, 1 if threads is None else threads)
        return answer

    def _evaluate_at(
        self, function: str, q: ArrayLike | None, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Evaluate a function that is constant for most robots and depends on q for some."""
        kernel = self._kernels.get(function) or self._missing(function)
        if not kernel.info.inputs:
            return self._evaluate(function, (), out, parameters)
        if q is None:
            raise ModelError(f"{self._name}.{function} depends on q: beams slide, or own terms bend it. Fix: pass q.")
        return self._evaluate(function, (q,), out, parameters)

    def _mass_matrix_at(self, q: NDArray[Any], values: NDArray[Any]) -> Array:
        """Return M at q with these values of the live parameters, for the report of a failure."""
        M: Array = self._kernels["mass_matrix"].batch((q,), None, dict(zip(self._parameters, values, strict=True)))
        return M

    def _why_singular(self, q: NDArray[Any], values: NDArray[Any]) -> str:
        """Return the likely cause of a mass matrix that cannot be factorized."""
        if "mass_matrix" not in self._kernels:
            return "a link without inertia, or lost accuracy (build the model with the output mass_matrix to see which)"
        return why_singular(self._mass_matrix_at(q, values), self.velocity_names)

    def _missing(self, function: str) -> Kernel:
        """Build a function that was not emitted if the model has the default outputs; otherwise raise an error."""
        if not isinstance(function, str):
            raise ModelError(f"{self._name}: function={function!r}, expected the name of one, for example 'mass_matrix'.")
        if self._provider is not None:
            self._kernels[function] = kernel = self._provider(function)
            kernel.diagnose = self._why_singular
            kernel.problem = next(iter(self._kernels.values())).problem
            return kernel
        raise ModelError(
            f"{self._name} was built without the function {function!r}. "
            f"Available: {', '.join(self._kernels)}. "
            "Fix: name it in the option outputs= of elastogen.build_model."
        )


def _as_own_arrays(arguments: Sequence[Any], real: np.dtype[Any]) -> list[Any] | None:
    """Convert lists and arrays of real numbers to dense arrays of the model's type; None if there is nothing to convert."""
    arrays = []
    changed = False
    for given in arguments:
        array = given
        if isinstance(given, list):
            try:
                array = np.array(given)
            except ValueError:  # ragged
                return None
        elif type(given) is not np.ndarray:
            return None
        if array.dtype is not real or not (array.flags.c_contiguous and array.flags.aligned):
            if array.dtype.kind not in "iuf":
                return None
            array = array.astype(real, order="C")
        changed = changed or array is not given
        arrays.append(array)
    return arrays if changed else None
