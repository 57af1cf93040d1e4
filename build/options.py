"""What a user may choose about emission and compilation, checked before anything else happens."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from elastogen.generator.robot.errors import OutputError
from elastogen.runtime.interface.error import shortened

COMPILER_SECONDS = 1800.0  # a compiler that needs longer hangs; the longest that was seen needs minutes
LONGEST_WAIT = 10**6  # [s] for a compiler: the system counts milliseconds in 32 bits
CHOICES = {
    "precision": ("double", "float"),
    "sincos": ("fast", "libm"),
    "fp_contract": ("off", "fast"),
    "derivation": ("graph", "sympy"),
}
ONLINE = {
    "external_forces": "forces of the environment from the generalized momentum, and collisions: "
    "<name>_momentum_observer.h, <name>_collision_detector.h",
    "elastic_states": "elastic coordinates along a motion of the joints, with derivatives: <name>_elastic_states.h",
    "payload": "the payload by recursive least squares: <name>_online_estimator.h",
    "friction": "viscous and Coulomb friction and offsets of the drives, in the same file",
}
"""What C can estimate while a robot moves, for ``identification=``."""


@dataclass(frozen=True)
class EmitOptions:
    """Choices that change the emitted C."""

    outputs: tuple[str, ...] | None = None  # functions to emit; None: the default set
    precision: str = "double"  # "double" or "float"
    sincos: str = "fast"  # "fast": inline, vectorized, the same bits everywhere; "libm": sin and cos of the C library
    frames: tuple[str, ...] = field(default=(), metadata={"later": True})  # those that functions of frames are about
    derivation: str = field(default="graph", metadata={"later": True})  # what carries the recursions: "graph" or "sympy"
    identification: tuple[str, ...] = field(default=(), metadata={"later": True})  # estimates that C makes while a robot moves

    def __post_init__(self) -> None:
        unknown = [name for name in self.identification if name not in ONLINE]
        if unknown:
            raise OutputError(f"identification: got {shortened(unknown[0])}, expected some of {', '.join(ONLINE)}.")
        _check_choice("precision", self.precision)
        _check_choice("sincos", self.sincos)
        _check_choice("derivation", self.derivation)


@dataclass(frozen=True)
class CompileOptions:
    """Choices that change how the emitted C is compiled into an extension module."""

    compiler: str | None = None  # command; None: $CC, else cc, gcc or clang
    cflags: tuple[str, ...] = ()  # those of $ELASTOGEN_CFLAGS, then the caller's; they come last, so they win
    native: bool = True  # use every instruction of this machine's processor
    fp_contract: str = "off"  # "off": bits as the program says; "fast": fused multiply-add where the processor has it
    lanes: bool = False  # batches evaluate several states at once in the processor's vectors
    timeout: float | None = COMPILER_SECONDS  # for each call of the compiler; None: no limit
    verbose: bool = False  # print the commands

    @property
    def optimizes(self) -> bool:
        """Whether the compiler is to optimize: the last word of the user counts."""
        return [flag for flag in self.cflags if flag.startswith("-O")][-1:] != ["-O0"]

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is compiled beside the functions themselves: part of the name of a build."""
        return ("lanes",) if self.lanes else ()

    def __post_init__(self) -> None:
        _check_choice("fp_contract", self.fp_contract)
        if not all(isinstance(flag, str) for flag in self.cflags):
            raise OutputError(f"cflags: got {shortened(self.cflags)}, expected a string or a list of strings.")
        number = isinstance(self.timeout, (int, float)) and not isinstance(self.timeout, bool)
        if self.timeout is not None and not (number and 0 < self.timeout <= LONGEST_WAIT):
            expected = f"a positive number of seconds, at most {LONGEST_WAIT}, or None for no limit"
            raise OutputError(f"timeout: got {shortened(self.timeout)}, expected {expected}.")


@dataclass(frozen=True)
class BuildOptions:
    """All choices of one build."""

    emit: EmitOptions = field(default_factory=EmitOptions)
    compile: CompileOptions = field(default_factory=CompileOptions)
    cache_dir: Path | None = None  # None: $ELASTOGEN_CACHE_DIR, else the user's cache directory

    @classmethod
    def checked(
        cls,
        *,
        outputs: Sequence[str] | str | None = None,
        fused: Sequence[Sequence[str]] = (),
        precision: str = "double",
        sincos: str = "fast",
        frames: Sequence[str] | str = (),
        derivation: str = "graph",
        identification: Sequence[str] | str = (),
        cache_dir: str | os.PathLike[str] | None = None,
        compiler: str | None = None,
        cflags: Sequence[str] | str | None = None,
        native: bool = True,
        fp_contract: str = "off",
        lanes: bool = False,
        timeout: float | None = COMPILER_SECONDS,
        verbose: bool = False,
        environment: bool = True,
    ) -> BuildOptions:
        """Gather the keyword arguments of ``build_model``; ``environment`` says whether $ELASTOGEN_CFLAGS counts."""
        check_flags(native=native, lanes=lanes, verbose=verbose)
        given = _words("cflags", cflags) if isinstance(cflags, str) else () if cflags is None else cflags
        if not isinstance(given, Sequence):
            raise OutputError(f"cflags: got {shortened(cflags)}, expected a string or a list of strings.")
        if compiler is not None and not isinstance(compiler, str):
            raise OutputError(f"compiler: got {shortened(compiler)}, expected a command, for example 'gcc'.")
        if not all(is_plain(flag) for flag in given):
            raise OutputError(f"cflags: got {shortened(cflags)}, expected flags of printable characters.")
        flags = (*_words("$ELASTOGEN_CFLAGS", os.environ.get("ELASTOGEN_CFLAGS", "") if environment else ""), *given)
        return cls(
            emit=EmitOptions(
                _with_fused(_checked_outputs(outputs), fused),
                precision,
                sincos,
                _checked_names("frames", frames, "tip"),
                derivation,
                tuple(dict.fromkeys(_checked_names("identification", identification, "external_forces"))),
            ),
            compile=CompileOptions(compiler, tuple(flags), native, fp_contract, lanes, timeout, verbose),
            cache_dir=None if cache_dir is None else checked_path("cache_dir", cache_dir),
        )

    def with_outputs(self, outputs: tuple[str, ...] | None, frames: tuple[str, ...] | None = None) -> BuildOptions:
        """The same choices for other functions; None: for the same frames."""
        return replace(self, emit=replace(self.emit, outputs=outputs, frames=self.emit.frames if frames is None else frames))


def check_flags(**given: object) -> None:
    """Refuse what is neither True nor False, by its name: "no" would count as True."""
    for name, flag in given.items():
        if not isinstance(flag, bool):
            raise OutputError(f"{name}: got {shortened(flag)}, expected True or False.")


def checked_path(name: str, given: object) -> Path:
    """A path that was given as one: text without a null character, or a Path."""
    if not isinstance(given, (str, os.PathLike)) or not is_plain(os.fspath(given)):
        raise OutputError(f"{name}: got {shortened(given)}, expected a path.")
    return Path(given)


def is_plain(text: object) -> bool:
    """Whether the system takes this as a path or an argument: text without a null character or halves of characters."""
    try:
        return isinstance(text, str) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _words(name: str, text: str) -> list[str]:
    """The words of a command line."""
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise OutputError(f"{name}: got {shortened(text)}, expected flags as in a shell ({problem}).") from None


def _checked_names(what: str, given: Sequence[str] | str, example: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else (given,)
    if not all(isinstance(name, str) for name in names):
        raise OutputError(f"{what}: got {shortened(given)}, expected names of {what}, for example [{example!r}].")
    return names


def _check_choice(name: str, given: object) -> None:
    if not isinstance(given, str) or given not in CHOICES[name]:
        expected = " or ".join(repr(choice) for choice in CHOICES[name])
        raise OutputError(f"{name}: got {shortened(given)}, expected {expected}.")


def _with_fused(outputs: tuple[str, ...] | None, fused: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
    """The outputs, and one for each group of names."""
    if not fused:
        return outputs
    given = [fused] if isinstance(fused, str) or not isinstance(fused, Sequence) else fused
    groups = [tuple(group) if isinstance(group, Sequence) and not isinstance(group, str) else (group,) for group in given]
    if any(len(group) < 2 or not all(isinstance(name, str) for name in group) for group in groups):
        raise OutputError(
            f"fused: got {shortened(fused)}, expected groups of functions, for example [['mass_matrix', 'gravity_vector']]."
        )
    return (*(outputs or ("default",)), *("+".join(group) for group in groups))


def _checked_outputs(outputs: Sequence[str] | str | None) -> tuple[str, ...] | None:
    if outputs is None:
        return None
    try:
        names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    except TypeError:  # also what calls itself iterable and is not, such as an array without axes
        names = ()
    if not names or not all(isinstance(name, str) for name in names):
        raise OutputError(f"outputs: got {shortened(outputs)}, expected names of functions, for example ['inverse_dynamics'].")
    return tuple(dict.fromkeys(names))
