"""``elastogen.export``: a robot as a complete project for another tool."""

from __future__ import annotations

import os
from collections.abc import Sequence

from elastogen.build.export.choices import Choices, check_choices
from elastogen.build.export.libraries import check_triple, library_name, toolchain_for
from elastogen.build.export.project import make_project
from elastogen.build.export.registry import FORMATS
from elastogen.build.export.size import at_hand
from elastogen.build.files.write import check_directory, write_files
from elastogen.build.options import BuildOptions, check_flags, checked_path
from elastogen.build.pipeline import GeneratedFiles
from elastogen.generator.description.load_robot import RobotSource, load


def export(
    robot: RobotSource,
    directory: str | os.PathLike[str],
    *,
    format: str = "c",
    loop: bool = False,
    header_only: bool = False,
    outputs: Sequence[str] | str | None = None,
    precision: str | None = None,
    sincos: str = "fast",
    frames: Sequence[str] | str = (),
    derivation: str = "graph",
    target: str | None = None,
    compiler: str | None = None,
    cflags: Sequence[str] | str | None = None,
    force: bool = False,
) -> GeneratedFiles:
    """Write a robot as a project of the given format into ``directory``, with a README, an example and a manifest.

    ``format`` is a name of ``elastogen.build.export.registry.FORMATS``, which says what each of them takes. Those for boards
    are float unless ``precision`` says otherwise, the others double. ``loop`` adds the control loop (for boards without its
    thread), ``header_only`` puts the model's C into its header. ``target`` is the triple of another machine; ``outputs``,
    ``sincos``, ``frames``, ``derivation``, ``compiler`` and ``cflags`` are those of ``build_model``. All files
    appear, or none; the same robot and options give the same bytes.
    Files that elastogen did not write are refused by name unless ``force``. Raises RobotError, OutputError or BuildError.
    """
    folder = checked_path("directory", directory)
    check_flags(loop=loop, header_only=header_only, force=force)
    usual = FORMATS[format].precision if isinstance(format, str) and format in FORMATS else "double"
    options = BuildOptions.checked(
        outputs=outputs, precision=precision or usual, sincos=sincos, frames=frames, derivation=derivation,
        compiler=compiler, cflags=cflags, native=False, environment=False,
    )  # fmt: skip
    if target is not None:
        check_triple(target)
    choices = Choices(header_only, target, options.compile)
    chosen = check_choices(format, loop, outputs is not None, choices)
    check_directory(folder)
    if chosen.compiles or target is not None or compiler is not None:
        toolchain_for(target, options.compile)
    loaded = load(robot)
    if chosen.chooses:
        options = options.with_outputs(chosen.outputs(loaded, options.emit.frames))
    elif chosen.adds:
        options = options.with_outputs(chosen.added(options.emit.outputs))
    project = make_project(loaded, options, format, loop, chosen.parts, in_double=chosen.simulates)
    if chosen.takes_target:
        project = project.compiled_to(library_name(loaded.name, target) if chosen.compiles else "", target or "")
    size = at_hand(project.model, options.compile, target, board=chosen.precision == "float")
    if size is not None:
        rows = {f"{project.name}_{f.name}": f"{f.code} / {f.stack} / {f.instructions}" for f in size.functions}
        project = project.with_sizes(rows, f"{size.compiler}, `{' '.join(size.flags)}`")
    written = write_files(
        folder,
        {**chosen.files(project, choices), project.manifest.file: project.manifest.text(), **project.readme()},
        by=f"{format} {project.name}",
        force=force,
    )
    by_name = {path.name: path for path in written}
    header = by_name.get(f"{project.name}.h", written[0])
    return GeneratedFiles(folder, header, by_name.get(f"{project.name}.c", header), tuple(written))
