"""A bridge that elastogen does not have: a function of one output with derivatives, as SciPy's optimizers take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from elastogen.runtime.bridges.differentiable import Differentiable, target
from elastogen.runtime.model.model import Model


def to_scipy(model: Model, name: str) -> tuple[Callable[..., float], Callable[..., Any], Callable[..., Any]]:
    """f(x), its gradient and its Hessian, x all inputs one after the other."""
    target("scipy", "identify", (1, 10))
    function = Differentiable(model, name)
    function.prepare(2)
    one = np.ones((1, function.ny))
    return (
        lambda x: float(function.value(x[None])[0].sum()),
        lambda x: function.gradient(x[None], one)[0],
        lambda x: function.hessian(x[None], one)[0],
    )
