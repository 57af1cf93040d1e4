"""A robot as a functional mock-up unit (FMI 2.0 and 3.0): model exchange and co-simulation, sources and a binary."""

from __future__ import annotations

import dataclasses
import platform
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.build.export.archive import zipped
from elastogen.build.export.fmu.variables import FRAME_BLOCKS, Block, Variable, Variables
from elastogen.build.export.libraries import compile_shared, library_ending, parts_of_triple
from elastogen.build.export.project import ExportContext, Files, Project
from elastogen.build.files.model_calls import calls_text, model_call
from elastogen.build.files.templating import fill, one_line, origin
from elastogen.build.known_numbers import CHECK, known_numbers
from elastogen.build.options import CompileOptions
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Robot

TOLERANCES = {"double": "1e-09", "float": "1e-05"}  # of the integrator inside, relative
MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "i386": "x86", "i486": "x86", "i586": "x86", "i686": "x86"}
OLD_PLATFORMS = {"x86_64-linux": "linux64", "x86_64-windows": "win64", "x86_64-darwin": "darwin64", "x86-linux": "linux32"}


@dataclass(frozen=True)
class FmuContext(ExportContext):
    """For the templates in ``export/fmu``, ``export/fmu2`` and ``export/fmu3``."""

    prefix: str = ""
    macro: str = ""
    nq: int = 0
    nv: int = 0
    frames: int = 0
    points: int = 0
    chosen: int = 0  # number of frames that the user chose
    loads: tuple[tuple[str, int, int], ...] = ()  # what beside the tip carries wrenches: kind, first number, how many
    sliding: int = 0  # number of sliding joints
    driven: tuple[int, ...] = ()  # velocities with a drive
    quaternions: tuple[int, ...] = ()
    loop_rows: tuple[int, int] = (0, 0)  # independent ones, and all
    held: tuple[int, ...] = ()  # of a robot with loops, per velocity: 1 for independent drives
    closed: tuple[str, str] = ("1e-12", "1e-9")  # residuals of loops that are closed, and that are closed again
    timed: bool = False  # whether a live parameter is the time
    calls: str = ""  # functions of the model on arrays of double
    fields: tuple[str, ...] = ()  # live parameters, without the time
    blocks: tuple[Block, ...] = ()
    variables: tuple[Variable, ...] = ()
    size: int = 0  # number of variables
    start: tuple[str, ...] = ()  # lines of the initializer of start values
    unknowns: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    units: tuple[str, ...] = ()
    token: str = ""
    tolerance: str = ""
    description: str = ""
    fmu_sources: tuple[str, ...] = ()


CLOSED = {"double": ("1e-12", "1e-9"), "float": ("2e-6", "1e-5")}  # residuals of loops [m or 1]


def fmu_outputs(robot: Robot, frames: Sequence[str]) -> tuple[str, ...]:
    """Return the functions that a unit with these frames needs."""
    evaluated = ["jacobian", "forward_dynamics", "forward_kinematics"]
    evaluated += ["point_positions", "point_forces"] if robot.points else []
    evaluated += ["frame_pose", "frame_velocity", "frame_forces"] if frames else []
    evaluated += ["configuration_rate"] if robot.has_quasi_velocities else []
    return ("simulation", *evaluated, *(f"{name}_tangent" for name in evaluated))


def fmu_files(project: Project, version: int, target: str | None, options: CompileOptions) -> Files:
    """The archive ``<name>.fmu``, a Python script that runs it, and a check of the functions in its sources."""
    context = _context(project, version)
    sources = {
        **project.c_files,
        **_unit(context, version),
    }
    place, ending = _platform(target, version)
    binary = compile_shared(project.name, sources, target, options, hidden=True)
    archive: Files = {
        "modelDescription.xml": fill(f"export/fmu{version}/modelDescription.xml.j2", context),
        f"binaries/{place}/{project.name}{ending}": binary,
        **{f"sources/{file}": text for file, text in sources.items()},
        "documentation/README.md": project.readme()["README.md"],
    }
    if version == 3:
        archive["sources/buildDescription.xml"] = fill("export/fmu3/buildDescription.xml.j2", context)
    return {
        f"{project.name}.fmu": zipped(archive),
        "example.py": fill("export/fmu/example.py.j2", context),
        CHECK: known_numbers(project.derivation, context),
    }


def _unit(context: FmuContext, version: int) -> dict[str, str]:
    """Return the shared core and the functions of one version of the interface: headers and sources."""
    features = {
        "SLIDING": context.sliding,
        "QUATERNIONS": len(context.quaternions),
        "TIMED": int(context.timed),
        "LOOPS": context.loop_rows[0],
        "LOOP_ROWS": context.loop_rows[1],
        "FMU_POINTS_COUNT": context.points,
        "FMU_FRAMES_COUNT": context.chosen,
    }
    generated = {
        "robot_fmu_variables.h": fill("export/fmu/variables.h.j2", context),
        "robot_fmu_tables.h": fill("export/fmu/tables.h.j2", context),
        "robot_fmu_calls.h": context.calls,
    }
    emission = Emission(context.identity.name, "double", features, origin(context.identity), generated)
    entry = f"export/fmu{version}/robot_fmui{version}"
    return {
        f"{context.identity.name}{path.rpartition('robot')[2]}.{kind}": emission.file(f"{path}.{kind}")
        for path in ("export/fmu/robot_fmu", entry)
        for kind in ("h", "c")
    }


def _platform(target: str | None, version: int) -> tuple[str, str]:
    """Return the folder of a binary and the ending of its name."""
    machine, system = parts_of_triple(target or f"{platform.machine().lower()}-{sys.platform}")
    family = {".dylib": "darwin", ".dll": "windows"}.get(library_ending(system), "linux")
    folder = f"{MACHINES.get(machine, machine)}-{family}"
    return (OLD_PLATFORMS.get(folder, folder) if version == 2 else folder), library_ending(system)


def _context(project: Project, version: int) -> FmuContext:
    derivation, identity = project.derivation, project.context.identity
    if not project.context.simulated:
        raise OutputError(f"format 'fmu{version}': {project.name} cannot be simulated in C, which a unit needs.")
    variables, known = Variables(derivation), derivation.loops
    prefix, sliding = f"{project.name}_fmu", len(derivation.selectors)
    points, chosen = len(derivation.point_names), len(derivation.frames)
    functions = {function.name: function for function in derivation.functions}
    values = [repr(0.0), *(x.start for x in variables.all if x.start)]
    placed = ("TIP", "POINTS", *FRAME_BLOCKS)
    called = [name for name in fmu_outputs(derivation.robot, derivation.frames) if name in functions]
    calls = tuple(model_call(functions[name], "fmu", sliding, "robot_fmu_t") for name in called)
    return FmuContext(
        **{field.name: getattr(project.context, field.name) for field in dataclasses.fields(project.context)},
        prefix=prefix,
        macro=prefix.upper(),
        nq=len(derivation.coordinate_names),
        nv=len(derivation.velocity_names),
        frames=len(derivation.frame_names),
        points=points,
        chosen=chosen,
        loads=tuple(load for load in (("point", 6, 6 * points), ("frame", 6 + 6 * points, 6 * chosen)) if load[2]),
        sliding=sliding,
        driven=variables.driven,
        quaternions=derivation.robot.quaternions,
        loop_rows=(0, 0) if known is None else (len(known.choice.pivots), len(known.rows)),
        held=() if known is None else tuple(int(d and k in known.choice.independent) for k, d in enumerate(derivation.driven)),
        closed=CLOSED[identity.real],
        timed=TIME in {parameter.name for parameter in derivation.robot.live_parameters},
        calls=calls_text(calls, converts=identity.real != "double"),
        fields=tuple(x.name for x in variables.all if x.causality == "parameter"),
        blocks=tuple(variables.blocks),
        variables=tuple(variables.all),
        size=len(variables.all),
        start=tuple(", ".join(values[k : k + 8]) + ("," if k + 8 < len(values) else "") for k in range(0, len(values), 8)),
        unknowns={
            "Outputs": variables.references("Q", "QD", *placed),
            "Derivatives": variables.references("DERIVATIVES"),
            "InitialUnknowns": variables.references("DERIVATIVES", *placed),
            "EventIndicators": variables.references("MARGIN"),
        },
        units=tuple(dict.fromkeys(x.unit for x in variables.all if x.unit)),
        token=f"{{{uuid.uuid5(uuid.NAMESPACE_OID, f'elastogen {identity.tool_version} {identity.sha256}')}}}",
        tolerance=TOLERANCES[identity.real],
        description=one_line(project.context.summary),
        fmu_sources=(*project.context.sources, f"{prefix}.c", f"{prefix}i{version}.c"),
    )
