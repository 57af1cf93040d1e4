"""A function bound to memory of its own, for tight loops in Python."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.functions.kernel import Kernel


class Bound(partial):  # type: ignore[type-arg]  # partial: a call costs no Python frame
    """One function with preallocated arrays: write the inputs, call, read the outputs.

    >>> b = model.bind("inverse_dynamics")
    >>> b.q[:] = 0.1; b.qd[:] = 0; b.qdd[:] = 0
    >>> b()          # 0: done; negative: the mass matrix was not positive definite, outputs are zero
    0
    >>> b.F

    Arguments are attributes by name, numpy views into one block of memory; ``b.q = x`` copies into the view.
    ``b.parameters`` holds the live parameters in the order of ``model.parameters``, with the values they had
    when the function was bound. A bound function belongs to one thread at a time; bind again for another one.
    """

    parameters: NDArray[Any]

    def __new__(cls, kernel: Kernel) -> Bound:
        """Bind a kernel; users call :meth:`Model.bind`."""
        pointer, inputs, outputs, parameters = kernel.workspace()
        self = super().__new__(cls, kernel.call, pointer)
        names = [argument.name for argument in (*kernel.info.inputs, *kernel.info.outputs)]
        arguments = dict(zip(names, (*inputs, *outputs), strict=True))
        self.__dict__.update(arguments, parameters=parameters, arguments=arguments, label=kernel.label)
        return self

    if TYPE_CHECKING:  # at run time a missing attribute must not slow down the others
        arguments: dict[str, NDArray[Any]]
        """All views by name, inputs first, then outputs."""
        label: str
        """Model and function."""

        def __getattr__(self, name: str) -> NDArray[Any]: ...

    def __setattr__(self, name: str, value: Any) -> None:
        """Copy values into a view."""
        view = self.parameters if name == "parameters" else self.arguments.get(name)
        if view is None:
            raise ModelError(f"{self.label} has no argument {name!r}.{suggestion(name, self.arguments)}")
        try:
            view[...] = value
        except (ValueError, TypeError) as error:
            raise ModelError(
                f"{self.label}: argument {name!r} got {value!r}, expected real numbers of shape {view.shape}."
            ) from error

    def __repr__(self) -> str:
        return f"Bound({self.label}: {', '.join(self.arguments)}, parameters)"

    def __reduce__(self) -> Any:
        raise TypeError("a bound function holds memory of this process and cannot be pickled; bind it again")
