"""State and command in shared memory: the files that a loop and a driver of the robot have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.build.files.contexts import Constant, Identity
from elastogen.build.files.templating import fill

PLACES = 4  # values of each side that the block holds; a reader is disturbed only if three new ones come while it copies
LAYOUT = 1  # version of the block's layout
STALE = 2  # what a loop's read function returns for a state that is too old
FUNCTIONS = ("put", "get", "read", "ready", "write", "format", "attach", "open", "leave", "close", "remove")
CONSTANTS = (
    Constant("MAGIC", "0x53474c45u", "first word of a block"),
    Constant("VERSION", f"{LAYOUT}u", "of the layout"),
    Constant("PLACES", f"{PLACES}u", "values of each side that the block holds"),
    Constant("LOOP", "0", "side: the control loop, which makes the block"),
    Constant("ROBOT", "1", "side: the driver of the robot"),
    Constant("OK", "0", "done; get: the command is new"),
    Constant("OLD", "1", "get: the same command as before"),
    Constant("STALE", str(STALE), "read: no state, or one that is too old"),
    Constant("NONE", "3", "get: no loop has given a command"),
    Constant("ERROR_ARGUMENT", "(-1)", "the name does not begin with '/', is too long, or the side is none"),
    Constant("ERROR_ABSENT", "(-2)", "there is no block yet"),
    Constant("ERROR_FOREIGN", "(-3)", "the object is not a block of elastogen"),
    Constant("ERROR_MISMATCH", "(-4)", "the block is of another robot, precision or version"),
    Constant("ERROR_BUSY", "(-5)", "another process has this side"),
    Constant("ERROR_SYSTEM", "(-6)", "the system refused, see the field error"),
)


@dataclass(frozen=True)
class SharedContext:
    """For the templates in loop/shared_memory."""

    identity: Identity
    prefix: str  # <name>_shared
    macro: str  # the same in upper case
    nq: int
    nv: int
    places: int
    meaning: tuple[str, str]  # C literals: hash of what the numbers mean
    constants: tuple[Constant, ...]
    functions: tuple[str, ...]  # that the extension module exports


def shared_context(identity: Identity, names: Sequence[str], units: Sequence[str], velocities: Sequence[str]) -> SharedContext:
    """For a robot with these coordinates and velocities."""
    meant = [identity.name, identity.real, list(names), list(units)]
    what = json.dumps(meant if list(velocities) == list(names) else [*meant, list(velocities)])
    digest = hashlib.sha256(what.encode()).digest()
    words = tuple(f"0x{digest[k : k + 4].hex()}u" for k in (0, 4))
    prefix = f"{identity.name}_shared"
    return SharedContext(
        identity, prefix, prefix.upper(), len(names), len(velocities), PLACES, (words[0], words[1]), CONSTANTS, FUNCTIONS
    )  # fmt: skip


def shared_files(context: SharedContext) -> dict[str, str]:
    """File name -> text."""
    return {f"{context.prefix}.{kind}": fill(f"loop/shared_memory/shared.{kind}.j2", context) for kind in ("h", "c")}
