"""``pytest --quick``: the tests that took little time when they last ran, and those that failed; see ``make quick``.

Every run notes how long each test and each fixture took, in pytest's own cache. A quick run leaves out tests that were
longer than ``LONGEST_TEST``, and those that need a fixture longer than ``LONGEST_FIXTURE``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

LONGEST_TEST = 0.3  # seconds
LONGEST_FIXTURE = 3.0  # seconds
NOTES = "elastogen/seconds"  # key in pytest's cache: test or fixture -> seconds when it last ran, 0 after a failure


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only tests that took little time when they last ran, or failed")


def is_quick(item: pytest.Item, seconds: dict[str, float]) -> bool:
    """Whether a test and what it needs were quick the last time; one that never ran is."""
    fixtures = getattr(item, "_fixtureinfo", None)
    needed = [definitions[-1] for definitions in fixtures.name2fixturedefs.values()] if fixtures else []
    return seconds.get(item.nodeid, 0.0) <= LONGEST_TEST and all(
        seconds.get(_fixture(definition), 0.0) <= LONGEST_FIXTURE for definition in needed
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cache = getattr(config, "cache", None)
    if config.getoption("quick") and cache:
        seconds = cache.get(NOTES, {})
        quick = [is_quick(item, seconds) for item in items]
        config.hook.pytest_deselected(items=[item for item, keep in zip(items, quick, strict=True) if not keep])
        items[:] = [item for item, keep in zip(items, quick, strict=True) if keep]


class Stopwatch:
    """Notes seconds. Fixtures are timed where the tests run; the notes travel with the report of a test."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.collects = config, not hasattr(config, "workerinput")
        self.seconds: dict[str, float] = {}
        self.fixtures: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.fixtures[_fixture(fixturedef)] = round(time.perf_counter() - start, 3)

    def pytest_runtest_call(self, item: pytest.Item) -> None:
        item.user_properties += self.fixtures.items()
        self.fixtures = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.collects and report.when == "call":
            self.seconds |= dict(report.user_properties)
            self.seconds[report.nodeid] = 0.0 if report.failed else round(report.duration, 3)

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self.config, "cache", None)  # not there with -p no:cacheprovider
        if self.collects and cache and self.seconds:
            cache.set(NOTES, {**cache.get(NOTES, {}), **self.seconds})


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Stopwatch(config), "stopwatch")


def _fixture(definition: pytest.FixtureDef[Any]) -> str:
    return f"{definition.baseid}::{definition.argname}"
