"""Methods of a model that come from the catalogue: data, stub and recipe."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest

import elastogen
from elastogen.build import python_methods
from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.functions.python_methods import METHODS, PythonMethod
from elastogen.runtime.functions.catalogue_methods import CatalogueMethods, methods


def test_data_and_stub_are_those_of_the_catalogue() -> None:
    assert python_methods.DATA.read_text(encoding="ascii") == python_methods.data(), "run `make methods`"
    assert python_methods.STUB.read_text(encoding="ascii") == python_methods.stub(), "run `make methods`"


def test_every_default_function_is_a_method() -> None:
    missing = {name for name, entry in CATALOGUE.items() if entry.default and not hasattr(elastogen.Model, name)}
    assert missing == {"configuration_rate"}  # for integrators in C; in Python q moves by integrate
    assert METHODS.keys() <= CATALOGUE.keys()


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_takes_the_inputs_of_its_function(name: str) -> None:
    method = getattr(elastogen.Model, name)
    taken = list(inspect.signature(method).parameters)
    inputs = ["q"] if METHODS[name].constant else list(CATALOGUE[name].inputs)
    failure = ["on_failure"] if METHODS[name].on_failure else []
    assert taken == ["self", *inputs, "out", "parameters", *failure]
    assert method.__doc__ == inspect.cleandoc(METHODS[name].doc)
    assert method.__qualname__ == f"CatalogueMethods.{name}"


def test_a_function_of_the_recipe_is_emitted_and_a_method(monkeypatch: pytest.MonkeyPatch, cache_dir) -> None:
    """docs/architecture.md, "a function": an entry of the catalogue and a text."""
    entry = replace(CATALOGUE["gravity_vector"], name="weights", brief="Forces that carry the weights.", default=False)
    monkeypatch.setitem(CATALOGUE, "weights", entry)
    monkeypatch.setitem(METHODS, "weights", PythonMethod("Forces that carry the weights, (..., nq)."))
    model = elastogen.build_model("two_link", outputs=("weights", "gravity_vector"))
    (row,) = [row for row in python_methods.rows() if row["name"] == "weights"]
    weights = methods([row])["weights"]
    assert "def weights(self, q: ArrayLike, *, out: Array | None = None" in python_methods.stub()
    q = np.random.default_rng(1).uniform(-1, 1, (5, 2))
    np.testing.assert_array_equal(weights(model, q), model.gravity_vector(q))
    assert issubclass(elastogen.Model, CatalogueMethods)
