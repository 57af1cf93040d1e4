"""Options of an export, and the check that the format accepts them."""

from __future__ import annotations

from dataclasses import dataclass, field

from elastogen.build.export.registry import FORMATS, Format
from elastogen.build.options import CompileOptions
from elastogen.generator.robot.errors import OutputError


@dataclass(frozen=True)
class Choices:
    """Options that only some formats accept."""

    header_only: bool = False
    target: str | None = None  # a triple, for the formats that compile
    compile: CompileOptions = field(default_factory=CompileOptions)


def check_choices(kind: str, loop: bool, outputs: bool, choices: Choices) -> Format:
    """Return the format of that name; options that it does not accept are refused."""
    if not isinstance(kind, str) or kind not in FORMATS:
        raise OutputError(f"format: got {kind!r}, expected one of {', '.join(FORMATS)}.")
    chosen = FORMATS[kind]
    for given, taken, option in (
        (loop, chosen.takes_loop, "loop=True"),
        (outputs, not chosen.chooses, "outputs="),
        (choices.header_only, chosen.takes_header_only, "header_only=True"),
        (choices.target is not None, chosen.takes_target, "target="),
    ):
        if given and not taken:
            raise OutputError(f"format {kind!r}: got {option}, which it does not take. Fix: leave it out, or another format.")
    return chosen
