"""State and command in shared memory: the C files that a loop and a driver share."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.build.files.contexts import Constant, Identity
from elastogen.build.files.templating import origin
from elastogen.build.plain_c.emission import Emission, source

HEADER = "shared_memory/robot_shared.h"
FUNCTIONS = ("put", "get", "read", "ready", "write", "format", "attach", "open", "leave", "close", "remove")
CONSTANTS = tuple(
    Constant(*found) for found in re.findall(r"^#define ROBOT_SHARED_(\w+) +(\S+) +/\* (.*) \*/", source(HEADER), re.MULTILINE)
)
"""Those of the header."""
KEPT = {"robot_process": "robot_process"}
"""A field of the block: the process of the robot, no name of the sample robot."""
PLACES = next(constant.value for constant in CONSTANTS if constant.name == "PLACES").rstrip("u")


@dataclass(frozen=True)
class SharedContext:
    """For the templates in loop/shared_memory."""

    identity: Identity
    prefix: str  # <name>_shared
    nq: int
    nv: int
    meaning: tuple[str, str]  # C literals: hash of what the numbers mean
    functions: tuple[str, ...]  # that the extension module exports
    declarations: tuple[str, ...]  # what cffi reads about types and functions

    @property
    def emission(self) -> Emission:
        """Return the emission of the C files."""
        lines = (
            f"#define ROBOT_SHARED_NQ {self.nq} /* positions */",
            f"#define ROBOT_SHARED_NV {self.nv} /* velocities and forces */",
            f"#define ROBOT_SHARED_MEANING_0 {self.meaning[0]} /* what the numbers mean, see the field `meaning` */",
            f"#define ROBOT_SHARED_MEANING_1 {self.meaning[1]}",
        )
        generated = {"robot_shared_meaning.h": "\n".join((*lines, ""))}
        return Emission(self.identity.name, self.identity.real, {}, origin(self.identity), generated, KEPT)


def _declarations(nq: int, nv: int) -> tuple[str, ...]:
    sizes = {"NQ": str(nq), "NV": str(nv), "PLACES": PLACES}
    words = {"robot_scalar_t": "eg_real_t", **KEPT, **{f"ROBOT_SHARED_{name}": size for name, size in sizes.items()}}
    declarations = Emission("eg", generated={"robot_shared_meaning.h": ""}, words=words)
    known = ("robot_shared_types.h", "robot_shared_functions.h", "robot_shared_system.h")
    return tuple(declarations.part(file, {*known} - {file}) for file in known)


def shared_context(identity: Identity, names: Sequence[str], units: Sequence[str], velocities: Sequence[str]) -> SharedContext:
    """Return the context for a robot with these coordinates and velocities."""
    meant = [identity.name, identity.real, list(names), list(units)]
    what = json.dumps(meant if list(velocities) == list(names) else [*meant, list(velocities)])
    digest = hashlib.sha256(what.encode()).digest()
    words = tuple(f"0x{digest[k : k + 4].hex()}u" for k in (0, 4))
    nq, nv = len(names), len(velocities)
    return SharedContext(identity, f"{identity.name}_shared", nq, nv, (words[0], words[1]), FUNCTIONS, _declarations(nq, nv))


def shared_files(context: SharedContext) -> dict[str, str]:
    """Return the texts by file name."""
    return {f"{context.prefix}.{kind}": context.emission.file(f"shared_memory/robot_shared.{kind}") for kind in ("h", "c")}
