"""The format ``casadi``: C sources of functions with derivatives, to be linked with C code that CasADi generates."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.files.externals.casadi import KINDS, external_source
from elastogen.build.known_numbers import CHECK, known_numbers
from elastogen.generator.robot.errors import OutputError

USUAL = ("forward_dynamics",)


def added(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the functions together with their derivatives."""
    chosen = tuple(names or USUAL)
    fused = next((name for name in chosen if "+" in name), None)
    if fused is not None:
        raise OutputError(f"format 'casadi': got {fused!r}, expected functions of the catalogue one by one.")
    return tuple(dict.fromkeys(name + kind for name in chosen for kind in ("", *KINDS)))


def files(project: Project, choices: Choices) -> Files:
    """Return the model's C and one file for each function with its derivatives."""
    manifest = project.manifest
    values = {each["name"]: each["value"] for each in manifest.parameters}
    handed = [f.name for f in manifest.functions if {f.name + kind for kind in KINDS} <= {*f.derivatives}]
    sources = {f"{project.name}_{name}_casadi.c": external_source(manifest, name, False, values) for name in handed}
    return {**project.c_files, **sources, CHECK: known_numbers(project.derivation, project.context)}
