"""A compiled control loop: the extension module that holds a model and its loop."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.model.loader import extension_path, import_extension
from elastogen.runtime.model.model import Model

if TYPE_CHECKING:
    from elastogen.runtime.loop.loop import Loop

_BUILD = "Fix: build it with elastogen.build_loop."
_KINDS = {"double": "f8", "float": "f4"}


@dataclass(frozen=True, eq=False)
class LoopLibrary:
    """The C side of a loop: ``lib`` and ``ffi`` of its extension, its constants, and the model inside it."""

    lib: Any
    ffi: Any
    model: Model
    constants: dict[str, int]
    shared: dict[str, int]  # constants of <name>_shared.h
    controllers: tuple[str, ...]  # built in
    user_controller: bool  # whether the user's own was compiled in
    user_plant: bool
    own_numbers: int = 0  # that own functions keep as the controller "user"

    def loop(self, **options: Any) -> Loop:
        """A loop, with the options of :class:`~elastogen.runtime.loop.loop.Loop`."""
        from elastogen.runtime.loop.loop import Loop

        return Loop(self, **options)

    def controller(self, name: str) -> Any:
        """Address of a controller by name; "user" is the one that was compiled in."""
        if name == "user":
            if not self.user_controller:
                raise ModelError(
                    f"{self.model.name}: controller='user', but none was compiled in. Fix: pass controller_source=, "
                    "C text or the path of a file that defines user_controller."
                )
            return self.ffi.addressof(self.lib, "user_controller")
        if name not in self.controllers:
            raise ModelError(
                f"{self.model.name}: got controller={name!r}, expected a name, a Controller or an address."
                f"{suggestion(name, (*self.controllers, 'user'))}"
            )
        return self.ffi.addressof(self.lib, f"eg_loop_{name}")

    def address(self, function: str) -> Any:
        """Address of a function of the extension."""
        return self.ffi.addressof(self.lib, function)

    def view(self, owner: Any, type_name: str, field: str) -> NDArray[Any]:
        """A field of real numbers in a struct that ``ffi.new`` made, as an array that keeps the struct alive."""
        ctype = self.ffi.typeof(type_name)
        place = dict(ctype.fields)[field]
        count = self.ffi.sizeof(place.type) // self.model.dtype.itemsize
        result: NDArray[Any] = np.frombuffer(self.ffi.buffer(owner), self.model.dtype, count, place.offset)
        return result

    def dtype(self, type_name: str) -> np.dtype[Any]:
        """The numpy type of a C struct of numbers and arrays of numbers."""
        ctype = self.ffi.typeof(type_name)
        names, formats, offsets = [], [], []
        for name, field in ctype.fields:
            kind, shape = field.type, []
            while kind.kind == "array":
                shape.append(kind.length)
                kind = kind.item
            names.append(name)
            formats.append((_number(kind, self.model.metadata.real), tuple(shape)))
            offsets.append(field.offset)
        layout = {"names": names, "formats": formats, "offsets": offsets, "itemsize": self.ffi.sizeof(ctype)}
        result: np.dtype[Any] = np.dtype(layout)  # type: ignore[call-overload]
        return result


def load_loop(path: str | os.PathLike[str]) -> LoopLibrary:
    """Load the extension module at ``path`` that ``elastogen.build_loop`` compiled."""
    extension = extension_path(path)
    module = import_extension(extension)
    lib, ffi = getattr(module, "lib", None), getattr(module, "ffi", None)
    if ffi is None or not hasattr(lib, "eg_loop_metadata"):
        raise ModelError(f"{extension}: not a control loop of elastogen. {_BUILD}")
    data = json.loads(ffi.string(lib.eg_loop_metadata()))  # type: ignore[union-attr]
    return LoopLibrary(
        lib=lib,
        ffi=ffi,
        model=Model(lib, ffi, extension.parent, extension=extension),
        constants=data["constants"],
        shared=data["shared"],
        controllers=tuple(data["controllers"]),
        user_controller=data["user_controller"],
        user_plant=data["user_plant"],
    )


def _number(ctype: Any, real: str) -> str:
    name = ctype.cname
    if name in ("double", "float"):
        return _KINDS[name]
    if name == "eg_real_t":
        return _KINDS[real]
    if name.startswith(("uint", "int")) and name.endswith("_t"):
        return f"{name[0] if name[0] == 'u' else 'i'}{int(''.join(c for c in name if c.isdigit())) // 8}"
    raise ModelError(f"a field of C type {name!r} has no numpy type.")
