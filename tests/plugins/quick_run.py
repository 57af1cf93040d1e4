"""``pytest --quick``: the tests that took little time when they last ran, and those that failed; see ``make quick``.

Every run notes how long each test and each fixture took, in pytest's own cache. A quick run takes the tests that failed,
those that never ran, and then the shortest ones for as long as the time of its processes lasts: however many tests
there are, it takes about ``SECONDS`` and the time to find them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

SECONDS = 16.0  # of tests and fixtures, for each process of a run
NOTES = "elastogen/seconds"  # key in pytest's cache: test or fixture -> seconds when it last ran, 0 after a failure


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only tests that took little time when they last ran, or failed")
    parser.addoption("--quick-seconds", type=float, default=SECONDS, help="time of each process (default %(default)s)")


def quick_ones(items: list[pytest.Item], seconds: dict[str, float], budget: float) -> set[pytest.Item]:
    """The shortest tests, with the fixtures that they need, that fit into a number of seconds; one without notes takes none."""
    kept, made = set(), set[str]()
    for item in sorted(items, key=lambda item: _alone(item, seconds)):
        needed = [name for name in _fixtures(item) if name not in made]
        cost = seconds.get(item.nodeid, 0.0) + sum(seconds.get(name, 0.0) for name in needed)
        if seconds.get(item.nodeid, 0.0) == 0.0 or cost <= budget:
            kept.add(item)
            made.update(needed)
            budget -= cost
    return kept


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cache = getattr(config, "cache", None)
    if config.getoption("quick") and cache:
        processes = getattr(config, "workerinput", {}).get("workercount", 1)
        kept = quick_ones(items, cache.get(NOTES, {}), config.getoption("quick_seconds") * processes)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


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
            self.seconds[report.nodeid] = 0.0 if report.failed else max(round(report.duration, 3), 0.001)

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self.config, "cache", None)  # not there with -p no:cacheprovider
        if self.collects and cache and self.seconds:
            before = cache.get(NOTES, {})
            if self.config.getoption("quick"):  # it finds models that earlier runs compiled: the next edit needs new ones
                self.seconds = {name: s and max(s, before.get(name, 0.0)) for name, s in self.seconds.items()}
            cache.set(NOTES, {**before, **self.seconds})


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Stopwatch(config), "stopwatch")


def _fixture(definition: pytest.FixtureDef[Any]) -> str:
    return f"{definition.baseid}::{definition.argname}"


def _fixtures(item: pytest.Item) -> list[str]:
    found = getattr(item, "_fixtureinfo", None)
    return [_fixture(definitions[-1]) for definitions in found.name2fixturedefs.values()] if found else []


def _alone(item: pytest.Item, seconds: dict[str, float]) -> tuple[float, str]:
    """What orders the tests: their seconds with all of their fixtures, then their names."""
    return seconds.get(item.nodeid, 0.0) + sum(seconds.get(name, 0.0) for name in _fixtures(item)), item.nodeid
