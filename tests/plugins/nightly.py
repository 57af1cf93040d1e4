"""``@pytest.mark.nightly``: tests that take long. ``make test`` leaves them out, ``make nightly`` runs them alone."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="only the tests marked nightly; without it all others")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nightly: takes long; runs in `make nightly` and not in `make test`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = bool(config.getoption("nightly"))
    if any("::" in argument for argument in config.args):  # a test that is asked for by name runs
        return
    kept = [item for item in items if (item.get_closest_marker("nightly") is not None) == wanted]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
