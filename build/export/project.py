"""The C files of a robot, and the context of the templates of all formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from elastogen.build.files.contexts import BundleContext
from elastogen.build.files.functions_manifest import ModelManifest, functions_manifest
from elastogen.build.files.render import RenderedModel, render_model
from elastogen.build.files.templating import fill
from elastogen.build.loop import loop_outputs, with_loop
from elastogen.build.options import BuildOptions
from elastogen.build.user_code import UserCode
from elastogen.generator.functions.derivation import ModelDerivation, derive_model
from elastogen.generator.robot.robot import Robot

Files = dict[str, str | bytes]


@dataclass(frozen=True)
class ExportContext(BundleContext):
    """For the templates in ``export/``."""

    format: str = ""
    version: str = "1.0.0"  # of the exported project
    sources: tuple[str, ...] = ()  # C files, the model's own first
    headers: tuple[str, ...] = ()  # the model's own first
    threads: bool = False  # whether a C file needs threads and POSIX
    library: str = ""  # file name of the compiled library
    target: str = ""  # what it was compiled for
    sizes: Mapping[str, str] = field(default_factory=dict)  # by C name: bytes of code, bytes of stack and instructions
    measured_by: str = ""  # compiler and flags; "" where nothing could be measured


@dataclass(frozen=True)
class Project:
    """A robot that is to be exported."""

    derivation: ModelDerivation
    model: RenderedModel
    c_files: dict[str, str]  # file name -> text: model, simulation, switches, loop
    context: ExportContext
    manifest: ModelManifest

    @property
    def name(self) -> str:
        """Return the robot's name."""
        return self.model.name

    def filled(self, template: str) -> str:
        """Fill a template of this format or, with a folder in its name, one of all formats."""
        path = template if "/" in template else f"{self.context.format}/{template}"
        return fill(f"export/{path}", self.context)

    def readme(self) -> Files:
        """Return README.md: the robot, how to use it in this format, the licence."""
        return {"README.md": fill("export/README.md.j2", self.context)}

    def with_sizes(self, sizes: Mapping[str, str], measured_by: str) -> Project:
        """Return the project with the sizes of its functions."""
        return dataclasses.replace(self, context=dataclasses.replace(self.context, sizes=sizes, measured_by=measured_by))

    def compiled_to(self, library: str, target: str) -> Project:
        """Return the project with a compiled library."""
        return dataclasses.replace(self, context=dataclasses.replace(self.context, library=library, target=target))


def make_project(
    robot: Robot, options: BuildOptions, kind: str, loop: bool, parts: tuple[str, ...] | None, *, in_double: bool
) -> Project:
    """Derive a robot's model, with its loop if asked, and print its C files; ``parts`` are the endings that are wanted.

    Integrators have the model's precision throughout, as beside ``generate``; ``in_double``: time and state are double.
    """
    outputs = options.emit.outputs
    if loop:
        outputs = tuple(dict.fromkeys((*(outputs or ("default",)), *loop_outputs(robot))))
    derivation = derive_model(robot, outputs, options.emit.frames, derivation=options.emit.derivation)
    model = render_model(derivation, options.emit)
    files = {**model.c_files, **(model.simulation if in_double else model.emitted_simulation)}
    if loop:
        files |= with_loop(derivation, model, options, UserCode()).simulation
    if parts is not None:
        files = {name: text for name, text in files.items() if name[:-2] in {f"{model.name}{part}" for part in parts}}
    context = ExportContext(
        **{field.name: getattr(model.about, field.name) for field in dataclasses.fields(model.about)},
        format=kind,
        sources=tuple(name for name in files if name.endswith(".c")),
        headers=tuple(name for name in files if name.endswith(".h")),
        threads=any("<pthread.h>" in text for text in files.values()),
    )
    return Project(derivation, model, files, context, functions_manifest(derivation, options.emit.precision))
