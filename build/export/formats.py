"""The formats, one function each: from a project to its files. A new format is one function and one line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from elastogen.build.export.fmu.unit import fmu_files, fmu_outputs
from elastogen.build.export.libraries import compile_shared
from elastogen.build.export.mex import mex_files
from elastogen.build.export.project import Files, Project
from elastogen.build.export.wheels import cross_wheel
from elastogen.build.module.compile import module_source
from elastogen.build.options import CompileOptions
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.reserved import LIBRARY_FUNCTIONS
from elastogen.generator.robot.robot import Robot

WRAPPER_NAMES = ("real", "parameters", "array", "nq", "nframes", "as_matrix")  # of templates/export/cpp/wrapper.hpp.j2


@dataclass(frozen=True)
class Choices:
    """What some formats let a user choose."""

    header_only: bool = False
    target: str | None = None  # a triple, for the formats that compile
    compile: CompileOptions = field(default_factory=CompileOptions)


@dataclass(frozen=True)
class Format:
    """A format of export."""

    doc: str
    files: Callable[[Project, Choices], Files]
    takes_loop: bool = True
    compiles: bool = False  # a library, whose name the README tells
    takes_target: bool = False
    takes_header_only: bool = False
    precision: str = "double"  # where the user asks for none
    needs: Callable[[Robot, Sequence[str]], tuple[str, ...]] | None = None  # its functions, by frames; None: the user chooses
    parts: tuple[str, ...] | None = None  # endings of the C files that it takes, without threads and POSIX; None: all
    simulates: bool = False  # its own code calls the integrators, in double whatever the model's precision is


def _c(project: Project, choices: Choices) -> Files:
    example = project.model.bundle["example.c"]
    if not choices.header_only:
        return {**project.c_files, "example.c": example}
    own = f'#include "{project.name}.h"'
    sources = {name: text for name, text in project.c_files.items() if name.endswith(".c")}
    headers = {name: text for name, text in project.c_files.items() if name.endswith(".h")}
    main = headers.pop(f"{project.name}.h")
    implementation = sources.pop(f"{project.name}.c").replace(own, "")
    macro = project.context.identity.macro
    single = f"{main}\n#ifdef {macro}_IMPLEMENTATION\n{implementation}\n#endif /* {macro}_IMPLEMENTATION */\n"
    example = example.replace(own, f"#define {macro}_IMPLEMENTATION\n{own}")
    return {f"{project.name}.h": single, **headers, **sources, "example.c": example}


def _cpp(project: Project, choices: Choices) -> Files:
    if project.name in LIBRARY_FUNCTIONS:
        raise OutputError(
            f"format 'cpp': got the robot {project.name!r}, expected a name that a namespace can have beside C's functions. "
            f"Fix: load(..., name='{project.name}_arm')."
        )
    for function in project.context.functions:
        if (own := function.prototype.name.removeprefix(f"{project.name}_")) in WRAPPER_NAMES:
            raise OutputError(
                f"format 'cpp': got the own function {own!r}, expected a name that the wrapper does not use for its types. "
                f"Fix: rename it, for example my_{own}."
            )
    wrapper = {f"{project.name}.hpp": project.filled("wrapper.hpp.j2"), "example.cpp": project.filled("example.cpp.j2")}
    return {**project.c_files, **wrapper}


def _cmake(project: Project, choices: Choices) -> Files:
    placed: Files = {f"{'src' if name.endswith('.c') else 'include'}/{name}": text for name, text in project.c_files.items()}
    return {
        **placed,
        "CMakeLists.txt": project.filled("CMakeLists.txt.j2"),
        f"cmake/{project.name}-config.cmake.in": project.filled("config.cmake.in.j2"),
        f"cmake/{project.name}.pc.in": project.filled("pkgconfig.pc.in.j2"),
        "examples/example.c": project.model.bundle["example.c"],
    }


def _python(project: Project, choices: Choices) -> Files:
    folder = f"{project.name}_model"
    package: Files = {
        **{f"{folder}/{name}": text for name, text in project.c_files.items()},
        f"{folder}/__init__.py": project.filled("package.py.j2"),
        f"{folder}/py.typed": "",
        f"{folder}/_{project.name}.c": module_source(project.model, f"_{project.name}"),
    }
    wheel = {} if choices.target is None else cross_wheel(project, package, choices.target, choices.compile)
    return {
        **{f"src/{name}": text for name, text in package.items()},
        **wheel,
        "pyproject.toml": project.filled("pyproject.toml.j2"),
        "setup.py": project.filled("setup.py.j2"),
        "example.py": project.filled("example.py.j2"),
    }


def _shared(project: Project, choices: Choices) -> Files:
    headers: Files = {name: text for name, text in project.c_files.items() if name.endswith(".h")}
    library = compile_shared(project.name, project.c_files, choices.target, choices.compile)
    return {**headers, project.context.library: library, "example.py": project.filled("example.py.j2")}


def _arduino(project: Project, choices: Choices) -> Files:
    placed: Files = {f"src/{name}": text for name, text in project.c_files.items()}
    sketch = f"{project.name}_example"
    return {
        **placed,
        "library.properties": project.filled("library.properties.j2"),
        f"examples/{sketch}/{sketch}.ino": project.filled("example.ino.j2"),
    }


def _platformio(project: Project, choices: Choices) -> Files:
    placed: Files = {f"src/{name}": text for name, text in project.c_files.items()}
    manifest = project.filled("library.json.j2")
    return {**placed, "library.json": manifest, "examples/example.c": project.model.bundle["example.c"]}


def _zephyr(project: Project, choices: Choices) -> Files:
    placed: Files = {f"{'src' if name.endswith('.c') else 'include'}/{name}": text for name, text in project.c_files.items()}
    filled = {f"zephyr/{name}": project.filled(f"{name}.j2") for name in ("module.yml", "CMakeLists.txt", "Kconfig")}
    return {**placed, **filled, "examples/example.c": project.model.bundle["example.c"]}


def _fmu2(project: Project, choices: Choices) -> Files:
    return fmu_files(project, 2, choices.target, choices.compile)


def _fmu3(project: Project, choices: Choices) -> Files:
    return fmu_files(project, 3, choices.target, choices.compile)


def _mex(project: Project, choices: Choices) -> Files:
    return mex_files(project)


BARE_METAL = ("", "_ik", "_simulate", "_switch", "_loop")

FORMATS = {
    "c": Format("C99 files that drop in anywhere", _c, takes_header_only=True),
    "cpp": Format("the C files with a header-only C++17 wrapper", _cpp),
    "cmake": Format("a CMake project: target, install rules, find_package, pkg-config", _cmake),
    "python": Format(
        "a project that builds a wheel of the compiled model", _python, takes_loop=False, takes_target=True, simulates=True
    ),
    "shared": Format("a compiled library with its headers", _shared, compiles=True, takes_target=True),
    "fmu2": Format(
        "a functional mock-up unit, FMI 2.0", _fmu2, takes_loop=False, takes_target=True, needs=fmu_outputs, simulates=True
    ),
    "fmu3": Format(
        "a functional mock-up unit, FMI 3.0", _fmu3, takes_loop=False, takes_target=True, needs=fmu_outputs, simulates=True
    ),
    "mex": Format("a gateway and a package for MATLAB and Octave", _mex, takes_loop=False, parts=("",)),
    "arduino": Format("an Arduino library with a sketch", _arduino, precision="float", parts=BARE_METAL),
    "platformio": Format("a PlatformIO library", _platformio, precision="float", parts=BARE_METAL),
    "zephyr": Format("a Zephyr module", _zephyr, precision="float", parts=BARE_METAL),
}


def check_choices(kind: str, loop: bool, outputs: bool, choices: Choices) -> Format:
    """The format of that name; refuse what it does not take."""
    if not isinstance(kind, str) or kind not in FORMATS:
        raise OutputError(f"format: got {kind!r}, expected one of {', '.join(FORMATS)}.")
    chosen = FORMATS[kind]
    for given, taken, option in (
        (loop, chosen.takes_loop, "loop=True"),
        (outputs, chosen.needs is None, "outputs="),
        (choices.header_only, chosen.takes_header_only, "header_only=True"),
        (choices.target is not None, chosen.takes_target, "target="),
    ):
        if given and not taken:
            raise OutputError(f"format {kind!r}: got {option}, which it does not take. Fix: leave it out, or another format.")
    return chosen
