"""What of a loop may change while it runs, each change as a whole, and over a ramp where it acts on the command."""

from __future__ import annotations

import threading
from typing import Any

from numpy.typing import ArrayLike

from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.controllers import Controller, UserController
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.options import LONGEST_MOVE, as_controller
from elastogen.runtime.loop.pointers import address_of, function_address
from elastogen.runtime.loop.tuning import Limits, Tuning
from elastogen.runtime.model.model import Model
from elastogen.runtime.motion.shaping import Shaper

RAMP = 0.1  # of gains, parameters and controllers, unless another time is given [s]


class ChangeMethods:
    """Gains, limits, shaper, live parameters and controllers of a loop."""

    model: Model
    library: LoopLibrary
    period: float
    tuning: Tuning
    controller: Controller
    controllers: tuple[Controller, ...]
    _ffi: Any
    _lock: threading.Lock
    _loop: Any
    _law: int  # index of the present controller
    _law_values: list[dict[str, Any]]  # gains of each controller
    _delay_rows: int
    _shaper: Shaper | None
    _own: Any = None  # memory of own functions with states

    def set_gains(
        self,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        K: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        seconds: float = RAMP,
    ) -> None:
        """Change gains; None leaves them as they are. See :mod:`elastogen.runtime.loop.controllers` for units.

        The command goes over to the new gains in ``seconds``; 0: at once.
        """
        ramp = self._ramp("set_gains", seconds)
        with self._lock:
            self.tuning.set_gains(kp, kd, K, values)
            self.tuning.publish(self._loop, ramp)

    def set_limits(self, limits: Limits) -> None:
        """Change all limits, but for ``overruns``, which holds from the next start on."""
        with self._lock:
            self.tuning.set_limits(limits, self.period)
            self.tuning.publish(self._loop)

    def set_shaper(self, shaper: Shaper | None) -> None:
        """Change the input shaper; None: none."""
        with self._lock:
            self.tuning.set_shaper(shaper, self.period, self._delay_rows)
            self._shaper = shaper
            self.tuning.publish(self._loop)

    def set_parameters(self, *, seconds: float = RAMP, **values: float) -> None:
        """Change live parameters of the controller's model, for example a payload that was picked up, in ``seconds``."""
        ramp = self._ramp("set_parameters", seconds)
        with self._lock:
            self.tuning.set_parameters(values)
            self.tuning.publish(self._loop, ramp)

    def use(self, controller: str | Controller, *, seconds: float = RAMP) -> None:
        """Change to another of the loop's ``controllers``, by its name or the object; the command goes over in ``seconds``.

        The new law acts at once; what the last command had more than it gives falls to nothing in that time.
        """
        ramp = self._ramp("use", seconds)
        names = [law.name for law in self.controllers]
        index = next((k for k, law in enumerate(self.controllers) if controller is law or controller == law.name), None)
        if index is None:
            raise ModelError(
                f"{self.model.name}.use: got {shortened(controller)}, expected one of {', '.join(names)}."
                f"{suggestion(controller, names)} Fix: name it in controllers= when the loop is made."
            )
        with self._lock:
            self._law_values[self._law] = self.tuning.law_values()
            self._law, self.controller = index, self.controllers[index]
            self.tuning.use_law(index, self.controller, self._law_values[index])
            self.tuning.publish(self._loop, ramp)

    def _ramp(self, method: str, seconds: float) -> int:
        what, expected = f"{self.model.name}.{method}: seconds", f"seconds from 0 to {LONGEST_MOVE:g}"
        return round(checks.number(what, seconds, 0.0, LONGEST_MOVE, expected) / self.period)

    def _connect_controllers(self) -> None:
        """Let the C side call them; the first is the loop's controller, the others stand beside it."""
        loop, ffi = self._loop, self._ffi
        for index, controller in enumerate(self.controllers):
            place = loop if index == 0 else loop.others[index - 1]
            if isinstance(controller, UserController):
                function = controller.function
                address = (
                    self.library.controller("user") if function is None else function_address(ffi, "user controller", function)
                )
                place.controller = ffi.cast("eg_loop_controller_t", address)
                place.context = ffi.cast("void *", address_of(ffi, self._own_memory(controller)))
            else:
                place.controller = self.library.controller(controller.name)
                place.context = ffi.cast("void *", controller.memory(self.library) or ffi.addressof(loop.elastic))

    def _own_memory(self, controller: UserController) -> Any:
        """What own functions keep from cycle to cycle; they set it where the loop begins."""
        if not self.library.own_numbers or controller.function is not None or controller.context is not None:
            return controller.context
        if self._own is None:
            self._own = self._ffi.new("double[]", self.library.own_numbers)
        return self._own


def all_controllers(controller: str | Controller | None, controllers: Any, most: int) -> tuple[Controller, ...]:
    """The controllers of a loop, that which it begins with first."""
    expected = "a list of controllers, names or objects of elastogen.runtime.loop.controllers"
    if isinstance(controllers, (str, bytes)) or not hasattr(controllers, "__iter__"):
        raise ModelError(f"loop: got controllers={shortened(controllers)}, expected {expected}.")
    others = [as_controller(given) for given in controllers]
    first = (
        others[0] if controller is None and others else as_controller("computed_torque" if controller is None else controller)
    )
    laws = [first, *(law for law in others if law is not first and (controller is None or law.name != first.name))]
    names = [law.name for law in laws]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(f"loop: got controllers with the name {twice!r} twice, expected each once.")
    if len(laws) > most + 1:
        raise ModelError(f"loop: got {len(laws)} controllers, expected at most {most + 1}.")
    return tuple(laws)
