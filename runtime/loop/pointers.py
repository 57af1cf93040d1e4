"""Addresses of functions and data, as a user gives them and as a loop takes them."""

from __future__ import annotations

import ctypes
from typing import Any

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened


def address_of(ffi: Any, given: Any) -> int:
    """The address in an integer, a cffi pointer, a ctypes function or pointer, or None (0)."""
    if given is None:
        return 0
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 1 << 64:
        return given
    if isinstance(given, (ctypes._SimpleCData, ctypes._Pointer)) or hasattr(given, "argtypes"):
        return ctypes.cast(given, ctypes.c_void_p).value or 0
    if isinstance(given, ffi.CData):
        return int(ffi.cast("uintptr_t", given))
    raise ModelError(f"got {shortened(given)}, expected an address, or a pointer of cffi or ctypes.")


def function_address(ffi: Any, what: str, given: Any) -> int:
    """The address of a function that a loop will call; it must not be null."""
    address = address_of(ffi, given)
    if address == 0:
        raise ModelError(f"{what}: got a null pointer ({shortened(given)}), expected the address of a C function.")
    return address


def connect_functions(ffi: Any, loop: Any, read: Any, write: Any, io: Any) -> None:
    """Let a loop read and write by two functions, whose first argument is ``io``."""
    loop.read = ffi.cast("eg_loop_read_t", function_address(ffi, "plant, read", read))
    loop.write = ffi.cast("eg_loop_write_t", function_address(ffi, "plant, write", write))
    loop.io = ffi.cast("void *", address_of(ffi, io))
