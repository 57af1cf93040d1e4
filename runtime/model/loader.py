"""Load a compiled model from its extension module."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from pathlib import Path
from types import ModuleType

from elastogen.runtime.errors import ModelError
from elastogen.runtime.model.model import Model

_BUILD = "Fix: build the robot with elastogen.build_model."


def load_model(path: str | os.PathLike[str]) -> Model:
    """Return the model in the extension module at ``path`` that ``elastogen.build_model`` compiled.

    The C sources are expected beside it. A missing, foreign, damaged or outdated file raises ModelError.
    """
    extension = extension_path(path)
    module = import_extension(extension)
    lib, ffi = getattr(module, "lib", None), getattr(module, "ffi", None)
    if ffi is None or not hasattr(lib, "eg_metadata"):
        raise ModelError(f"{extension}: an extension module, but not one of elastogen's. {_BUILD}")
    return Model(lib, ffi, extension.parent, extension=extension)


def extension_path(given: str | os.PathLike[str]) -> Path:
    """Return the path of an extension module; ModelError if it is not one."""
    try:
        path = Path(given)
        path.exists()  # too long, or with a null character
    except (TypeError, ValueError, OSError) as problem:
        raise ModelError(f"{given!r:.200}: expected the path of a compiled model ({problem!s:.80}). {_BUILD}") from None
    return path


def import_extension(extension: Path) -> ModuleType:
    """Import a compiled extension module from its file, whatever its name; ModelError names problems of the file."""
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    if not extension.is_file():
        what = "is a folder" if extension.is_dir() else "does not exist"
        raise ModelError(f"{extension}: {what}, expected a compiled model (*{suffixes[0]}). {_BUILD}")
    suffix = next((suffix for suffix in suffixes if extension.name.endswith(suffix)), None)
    if suffix is None:
        raise ModelError(
            f"{extension}: not a compiled model for this Python, expected a name that ends in {suffixes[0]}. {_BUILD}"
        )
    name = extension.name[: -len(suffix)]
    spec = importlib.util.spec_from_file_location(name, extension.resolve())
    if spec is None or spec.loader is None:
        raise ModelError(f"{extension}: Python cannot load it. {_BUILD}")
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ModelError(f"{extension}: cannot be loaded ({error}). {_BUILD}") from error
    return module
