"""The cost of a model on a processor: code, constants, stack and instructions of every function."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elastogen.build.export.executed import executed, not_executed
from elastogen.build.export.libraries import check_triple, compiler_for
from elastogen.build.files.render import RenderedModel
from elastogen.build.files.write import write_all, writing_to
from elastogen.build.module.compile import Toolchain, find_toolchain
from elastogen.build.module.compilers import run_compiler
from elastogen.build.options import COMPILER_SECONDS, BuildOptions, CompileOptions
from elastogen.build.pipeline import render
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.robot.errors import BuildError, OutputError, close_names

OPTIMIZATIONS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-Oz")
PROCESSORS = {  # names for --target that stand for a compiler and its flags
    "cortex-m4f": (
        "arm-none-eabi-gcc",
        ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    ),
    "cortex-m7": ("arm-none-eabi-gcc", ("-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-d16", "-mfloat-abi=hard")),
}
_NO_INSTRUCTION = re.compile(r"\.|nop|cs nop|data16|xchg\s+%ax,%ax")  # as objdump writes constants and padding
DRIVER_FLAGS = ("-fPIC", "-fvisibility=hidden", "-O2")  # of extension modules, not of firmware


@dataclass(frozen=True)
class FunctionSize:
    """One function of the model with the static functions that are its parts."""

    name: str
    code: int  # bytes
    stack: int  # bytes: its own frame and the largest of what it calls of the model
    instructions: int  # in the code, each counted once
    executed: int | None = None  # by one call, functions of libm included; None where it was not emulated


@dataclass(frozen=True)
class ModelSize:
    """The size of a model as compiled by one compiler."""

    robot: str
    compiler: str  # first line of --version
    flags: tuple[str, ...]
    functions: tuple[FunctionSize, ...]  # in the order of the header; what several share comes last, as "(shared)"
    constants: int  # bytes of read-only data
    not_executed: str = ""  # why `executed` is None

    @property
    def code(self) -> int:
        """Return the bytes of all functions."""
        return sum(function.code for function in self.functions)

    def table(self) -> str:
        """Return the table of all functions for a terminal."""
        width = max(len(function.name) for function in self.functions)
        lines = [f"{'function':<{width}} {'code [B]':>9} {'stack [B]':>9} {'instructions':>12} {'executed':>9}"]
        for f in self.functions:
            executed = "-" if f.executed is None else str(f.executed)
            lines.append(f"{f.name:<{width}} {f.code:>9} {f.stack:>9} {f.instructions:>12} {executed:>9}")
        if self.not_executed:
            lines.append(f"executed: {self.not_executed}")
        total = f"{self.robot}: code {self.code} B, constants {self.constants} B"
        return "\n".join([*lines, "", total, f"{self.compiler}, {' '.join(self.flags)}"])


def model_size(
    robot: RobotSource,
    *,
    outputs: Sequence[str] | str | None = None,
    precision: str = "double",
    sincos: str = "fast",
    frames: Sequence[str] | str = (),
    derivation: str = "graph",
    target: str | None = None,
    compiler: str | None = None,
    cflags: Sequence[str] | str | None = None,
    optimize: str = "-O2",
) -> ModelSize:
    """Compile a robot's model for this machine, for "cortex-m4f", "cortex-m7" or a triple, and measure what came out.

    Instructions are counted in the code; on a Cortex-M4F those that one call executes are counted, too, where QEMU is installed
    (qemu-system-arm): sine and cosine are a loop over the angles. Raises RobotError, OutputError or BuildError.
    """
    if optimize not in OPTIMIZATIONS:
        raise OutputError(f"optimize: got {optimize!r}, expected one of {', '.join(OPTIMIZATIONS)}.")
    options = BuildOptions.checked(
        outputs=outputs, precision=precision, sincos=sincos, frames=frames, derivation=derivation,
        compiler=compiler, cflags=cflags, native=False, environment=False,
    )  # fmt: skip
    toolchain = _toolchain(options.compile, target, optimize)  # refused before anything is derived
    return _measured(render(load(robot), options), toolchain, target)


def measured(model: RenderedModel, options: CompileOptions, target: str | None, optimize: str = "-O2") -> ModelSize:
    """Measure a model that is rendered already."""
    return _measured(model, _toolchain(options, target, optimize), target)


def at_hand(model: RenderedModel, options: CompileOptions, target: str | None, board: bool) -> ModelSize | None:
    """Measure with an available compiler, for a board that of a Cortex-M4F; None if nothing can measure."""
    if target is None and board and shutil.which(PROCESSORS["cortex-m4f"][0]):
        options, target = replace(options, compiler=None), "cortex-m4f"
    try:
        return measured(model, options, target)
    except BuildError:  # no compiler, or one without nm, size and objdump
        return None


def _toolchain(options: CompileOptions, target: str | None, optimize: str) -> Toolchain:
    command, flags = options.compiler, tuple[str, ...]()
    if target in PROCESSORS:
        usual, flags = PROCESSORS[target]
        command = command or usual
        if shutil.which(command.split()[0]) is None:
            raise BuildError(
                f"target {target!r}: the compiler {command!r} was not found. Fix: apt-get install gcc-arm-none-eabi."
            )
    elif target is not None:
        near = close_names(target, PROCESSORS, cutoff=0.75)
        if near:
            raise BuildError(f"target: got {target!r}, expected a processor or a target of zig. Fix: did you mean {near[0]!r}?")
        check_triple(target)
        command = command or compiler_for(target)
    found = find_toolchain(replace(options, compiler=command))
    kept = tuple(flag for flag in found.flags if flag not in DRIVER_FLAGS)
    return replace(found, flags=(optimize, *flags, *kept))


def _measured(model: RenderedModel, toolchain: Toolchain, target: str | None) -> ModelSize:
    with tempfile.TemporaryDirectory() as folder:
        with writing_to(Path(folder), "set $TMPDIR to a folder"):
            write_all(Path(folder), model.c_files)
        command = [*toolchain.command, *toolchain.flags, "-fstack-usage", "-c", f"{model.name}.c", "-o", "model.o"]
        run_compiler(command, Path(folder), COMPILER_SECONDS, model.name)
        symbols = _tool(toolchain, "nm", ["-S", "model.o"], folder)
        sections = _tool(toolchain, "size", ["-A", "model.o"], folder)
        listing = _tool(toolchain, "objdump", ["-d", "--no-show-raw-insn", "model.o"], folder)
        usage = Path(folder) / "model.su"
        if not usage.exists():  # zig does not hand it over
            raise BuildError(f"{toolchain.version} does not tell how much stack functions use. Fix: measure with gcc or clang.")
        stacks = usage.read_text()
        prototypes = [f.prototype for f in model.about.functions]
        calls = executed(model.name, prototypes, toolchain, target, Path(folder))
    code = {name.split(".")[0]: 0 for name in re.findall(r" [tT] (\S+)", symbols)}
    for size, name in re.findall(r"^\S+ (\S+) [tT] (\S+)", symbols, re.M):
        code[name.split(".")[0]] += int(size, 16)
    frames = {name.split(".")[0]: int(size) for name, size in re.findall(r":(\w[\w.]*)\t(\d+)", stacks)}
    bodies = {name.split(".")[0]: body for name, body in re.findall(r"<([^>+]+)>:\n(.*?)(?=\n\n|\Z)", listing, re.S)}
    compiled = _Compiled(code, frames, bodies)
    public = [prototype.name for prototype in prototypes]
    rows = tuple(_row(name, public, compiled, model.name, calls.get(name)) for name in [*public, ""])
    constants = sum(int(size) for size in re.findall(r"^\.rodata\S*\s+(\d+)", sections, re.M))
    reason = "" if calls else not_executed(target)
    return ModelSize(model.name, toolchain.version, toolchain.flags, tuple(r for r in rows if r.code), constants, reason)


@dataclass(frozen=True)
class _Compiled:
    """What the tools report about every function in the object file, by its name."""

    code: dict[str, int]  # bytes
    frames: dict[str, int]  # bytes
    bodies: dict[str, str]  # disassembled

    def stack(self, name: str) -> int:
        """Return the bytes of its frame and of the deepest call; there is no recursion."""
        called = {callee.split(".")[0] for callee in re.findall(r"<([\w.]+)>$", self.bodies.get(name, ""), re.M)}
        return self.frames.get(name, 0) + max(map(self.stack, called - {name}), default=0)

    def instructions(self, name: str) -> int:
        """Return the number of instructions, without padding and constants between them."""
        lines = re.findall(r"^\s+[0-9a-f]+:\t(.*)", self.bodies.get(name, ""), re.M)
        return sum(not _NO_INSTRUCTION.match(line) for line in lines)


def _row(owner: str, public: list[str], compiled: _Compiled, robot: str, executed: int | None) -> FunctionSize:
    """Return the row of a function with its parts, whose names begin with its own; "" has what belongs to no function."""
    mine = [name for name in compiled.code if _owner(name, public) == owner]
    return FunctionSize(
        owner.removeprefix(f"{robot}_") or "(shared)",
        sum(compiled.code[name] for name in mine),
        compiled.stack(owner) if owner else max(map(compiled.stack, mine), default=0),
        sum(map(compiled.instructions, mine)),
        executed,
    )


def _owner(name: str, public: list[str]) -> str:
    return max((other for other in public if name == other or name.startswith(f"{other}_")), key=len, default="")


def _tool(toolchain: Toolchain, name: str, arguments: list[str], folder: str) -> str:
    """Run one of the compiler's own binary tools."""
    asked = subprocess.run([*toolchain.command, f"-print-prog-name={name}"], capture_output=True, text=True, check=False)
    tool = shutil.which(asked.stdout.strip()) or shutil.which(name) or shutil.which(f"llvm-{name}")
    if tool is None:
        raise BuildError(f"the tool {name!r} was not found. Fix: install binutils for {toolchain.command[0]}.")
    done = subprocess.run([tool, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{tool} failed on the compiled model: {done.stderr.strip()}")
    return done.stdout
