"""The two environments that are pinned: the lowest versions that pyproject.toml allows, and those that the tests run with.

``python -m environments lowest`` prints requirements for ``make lowest``: every dependency of elastogen, and the tools without
which no test can be read, at the lower bound that pyproject.toml gives. ``python -m environments constraints`` prints the
versions of everything that the extras of ``make test`` and ``make docs`` brought into this environment: tests/constraints.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement

RUNNERS = ("pytest", "pytest-xdist", "hypothesis", "jsonschema", "scipy", "threadpoolctl")  # what test modules import at once
EXTRAS = ("test", "docs", "plot", "report")  # what the Makefile installs for `make test`, `make docs` and `make demo`
OLDEST_PINNED = "3.11"  # some of the pinned versions do not exist for Python 3.10


def required(package: str, extras: Sequence[str] = ()) -> Iterator[Requirement]:
    """What an installed package needs here, its extras included."""
    for text in distribution(package).requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def lowest() -> list[str]:
    """Pins of the lower bounds."""
    of_tests = {requirement.name: requirement for requirement in required("elastogen", ("test",))}
    wanted = [*(requirement.name for requirement in required("elastogen")), *RUNNERS]
    return [f"{name}=={_bound(of_tests[name])}" for name in wanted]


def _bound(requirement: Requirement) -> str:
    bounds = [one.version for one in requirement.specifier if one.operator == ">="]
    if len(bounds) != 1:
        raise SystemExit(f"pyproject.toml: {requirement} needs one lower bound, such as {requirement.name}>=1.2")
    return bounds[0]


def constraints() -> list[str]:
    """Pins of everything that the extras need, as installed here."""
    found: dict[str, str] = {}
    asked: set[tuple[str, str]] = set()
    rest = [("elastogen", extra) for extra in ("", *EXTRAS)]
    while rest:
        name, extra = rest.pop()
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        try:
            version = distribution(name).version
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed: run make test and make docs-tools first") from None
        found[normal(name)] = version
        rest += [(other.name, more) for other in required(name, (extra,)) for more in ("", *other.extras)]
    del found["elastogen"]
    return [f'{name}=={version} ; python_version >= "{OLDEST_PINNED}"' for name, version in sorted(found.items())]


def normal(name: str) -> str:
    """The name of a package as indexes have it."""
    return re.sub(r"[-_.]+", "-", name).lower()
