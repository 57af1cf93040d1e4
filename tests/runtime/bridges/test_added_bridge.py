"""The recipe for a new bridge in docs/architecture.md, and what every bridge has of it."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from added_kinds.to_scipy import to_scipy
from scipy.optimize import minimize

import elastogen
from elastogen.runtime.bridges.bridge_methods import BridgeMethods

ROOT = Path(__file__).resolve().parents[3]
TITLES = {"casadi": "CasADi", "torch": "PyTorch", "jax": "JAX", "control": "python-control"}


def test_a_new_bridge_minimizes() -> None:
    """The potential energy of an arm is least where it hangs."""
    model = elastogen.build_model("two_link")
    value, gradient, hessian = to_scipy(model, "potential_energy")
    found = minimize(value, np.array([0.3, -0.4]), jac=gradient, hess=hessian, method="trust-exact", tol=1e-9)
    assert found.success
    assert np.abs(model.gravity_vector(found.x)).max() < 1e-7
    assert np.linalg.eigvalsh(hessian(found.x)).min() > 0


def test_a_new_bridge_names_what_is_missing_and_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy

    model = elastogen.build_model("two_link")
    with pytest.raises(elastogen.ModelError, match="has no inputs"):
        to_scipy(model, "stiffness_matrix")
    monkeypatch.setattr(scipy, "__version__", "1.9.3")
    with pytest.raises(elastogen.ModelError, match=r"scipy 1\.9\.3 is installed, expected 1\.10 or newer"):
        to_scipy(model, "potential_energy")
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(elastogen.ModelError, match=r"scipy is needed.*pip install 'elastogen\[identify\]'"):
        to_scipy(model, "potential_energy")


@pytest.mark.parametrize("path", sorted((ROOT / "runtime" / "bridges").glob("to_*.py")), ids=lambda path: path.stem)
def test_every_bridge_is_a_module_a_method_an_extra_a_section_and_a_test(path: Path) -> None:
    tool, text = path.stem.removeprefix("to_"), path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert "target(" in text
    assert inspect.getdoc(getattr(BridgeMethods, path.stem))
    assert re.search(rf"^{tool} = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    page = (ROOT / "docs" / "running" / "bridges.md").read_text(encoding="utf-8")
    section = page.split(f"\n## {TITLES.get(tool, tool.capitalize())}\n")[1].split("\n## ")[0]
    assert "```python" in section
    tests = [each for each in Path(__file__).parent.glob("test_*.py") if f".{path.stem}(" in each.read_text(encoding="utf-8")]
    assert tests
