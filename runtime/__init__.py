"""Load a compiled model and call it with numpy arrays. Imports nothing of the generator."""

from elastogen.runtime.bound import Bound
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loader import load_model
from elastogen.runtime.metadata import ABI_VERSION
from elastogen.runtime.model import Model
from elastogen.runtime.parameters import Parameters

__all__ = ["ABI_VERSION", "Bound", "Model", "ModelError", "Parameters", "load_model"]
