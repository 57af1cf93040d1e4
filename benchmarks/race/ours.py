"""The emitted C as timed kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from benchmarks.race.kernels import DERIVATIVES, FUNCTIONS, SIGNATURES, Kernel, adapter, load_kernel, shared_library
from elastogen.build.files.render import RenderedModel, render_model
from elastogen.build.module.compile import Toolchain, find_toolchain
from elastogen.build.options import CompileOptions, EmitOptions
from elastogen.generator.functions.derivation import ModelDerivation, derive_model
from elastogen.generator.robot.robot import Robot


@lru_cache(maxsize=8)
def toolchain(fp_contract: str = "off", extra: tuple[str, ...] = ()) -> Toolchain:
    """The compiler and the flags with which a model is built, ``extra`` flags last."""
    return find_toolchain(CompileOptions(fp_contract=fp_contract, cflags=extra))


def derived(robot: Robot) -> ModelDerivation:
    """The derivation of all timed functions."""
    return derive_model(robot, tuple(FUNCTIONS))


def rendered(derivation: ModelDerivation, sincos: str = "fast") -> RenderedModel:
    """The C text of a derivation."""
    return render_model(derivation, EmitOptions(tuple(FUNCTIONS), "double", sincos))


def one_kernel(
    derivation: ModelDerivation, name: str, size: int, work: Path, positions: int = 0, command: Sequence[str] = ()
) -> Kernel:
    """One function of a derivation that has no other, by default compiled with the flags of a build."""
    model = render_model(derivation, EmitOptions((name,), "double", "fast"))
    states = ", ".join(f"x{k}" for k in range(len(SIGNATURES[name][0])))
    results = f"y, y + {size**2}, y + {2 * size**2}" if name in DERIVATIVES else "y"
    call = f"(void){model.name}_{name}(&{model.name}_params_nominal, {states}, {results});"
    text = f'#include <stddef.h>\n#include "{model.name}.h"\n{adapter(name, size, call, positions)}'
    chosen = command or (*toolchain().command, *toolchain().flags)
    flags = [flag for flag in chosen if flag != "-fvisibility=hidden"]
    library = shared_library(work, f"ours-{model.name}", {**model.c_files, "adapter.c": text}, flags)
    return load_kernel("elastogen", library, name)


def our_kernels(model: RenderedModel, size: int, work: Path, label: str, command: Sequence[str] = ()) -> dict[str, Kernel]:
    """The functions of the emitted C, in a translation unit of their own; by default with the flags of a build."""
    text = f'#include <stddef.h>\n#include "{model.name}.h"\n'
    for name, (inputs, _) in FUNCTIONS.items():
        states = ", ".join(f"x{k}" for k in range(len(inputs)))
        text += adapter(name, size, f"(void){model.name}_{name}(&{model.name}_params_nominal, {states}, y);")
    chosen = command or (*toolchain().command, *toolchain().flags)
    flags = [flag for flag in chosen if flag != "-fvisibility=hidden"]
    library = shared_library(work, f"ours-{model.name}", {**model.c_files, "adapter.c": text}, flags)
    return {name: load_kernel(label, library, name) for name in FUNCTIONS}
