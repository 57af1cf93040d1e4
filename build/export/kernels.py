"""Batch kernels around a model's C, for the formats ``opencl`` and ``cuda``.

One state per work item; number i of an array of state k stands at i * n + k, n the number of states.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from elastogen.build.export.project import ExportContext, Project
from elastogen.generator.robot.errors import OutputError

VECTORS = "defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))"  # of templates/model/_vectors.j2
OPENCL_WORDS = re.compile(
    r"kernel|global|local|constant|generic|half|quad|pipe|uniform|read_only|write_only|read_write|"
    r"uchar|ushort|uint|ulong|(?:u?(?:char|short|int|long)|half|float|double|bool|quad)(?:2|3|4|8|16)|"
    r"vec_step|sampler_t|event_t|queue_t|ndrange_t|clk_event_t|reserve_id_t|image\w+_t|as_\w+|convert_\w+"
)
"""Words of OpenCL C that C and C++ leave free: a variable of the model must not have one."""


@dataclass(frozen=True)
class KernelArgument:
    """An array of a kernel."""

    name: str  # the name in the model
    place: str  # in the kernel: "x0", "y1"
    size: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class KernelFunction:
    """A function of the model and the kernel that calls it."""

    name: str  # without the robot's prefix
    brief: str
    inputs: tuple[KernelArgument, ...]
    outputs: tuple[KernelArgument, ...]
    can_fail: bool


@dataclass(frozen=True)
class KernelContext(ExportContext):
    """For the templates in ``export/kernels``, ``export/opencl`` and ``export/cuda``."""

    kernels: tuple[KernelFunction, ...] = ()
    body: str = ""  # the model's C, as the device's compiler takes it
    most: int = 0  # arrays of a kernel, parameters and status included


def kernel_context(project: Project, body: str) -> KernelContext:
    """Return the context of a project whose C, adapted to a device, is ``body``."""
    functions = project.manifest.functions
    return KernelContext(
        **{field.name: getattr(project.context, field.name) for field in dataclasses.fields(project.context)},
        kernels=tuple(
            KernelFunction(
                f.name,
                f.brief,
                tuple(KernelArgument(a.name, f"x{k}", a.size, a.shape) for k, a in enumerate(f.inputs)),
                tuple(KernelArgument(a.name, f"y{k}", a.size, a.shape) for k, a in enumerate(f.outputs)),
                f.status,
            )
            for f in functions
        ),
        body=body,
        most=2 + max(len(f.inputs) + len(f.outputs) for f in functions),
    )


def opencl_body(project: Project) -> str:
    """Return header and source in OpenCL C: without includes, nominal parameters, and ``static`` before tables."""
    text = _without_nominal(project)
    text = re.sub(r"^static const ", "__constant const ", text, flags=re.MULTILINE)
    text = re.sub(r"^( +)static const ", r"\1const ", text, flags=re.MULTILINE)
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    taken = next((word for word in re.findall(r"[A-Za-z_]\w*", code) if OPENCL_WORDS.fullmatch(word)), None)
    if taken is not None:
        raise OutputError(
            f"format 'opencl': got the name {taken!r}, expected names that OpenCL C does not keep for itself. "
            f"Fix: rename it, for example my_{taken}."
        )
    return text


def cuda_body(project: Project) -> str:
    """Return header and source as CUDA C++: functions and tables of the device, without nominal parameters."""
    text = re.sub(r"^ *#pragma GCC .*\n", "", _without_nominal(project), flags=re.MULTILINE)
    text = re.sub(r"^static const ", "static __constant__ const ", text, flags=re.MULTILINE)
    text = text.replace(f"#define {project.name.upper()}_PART static", f"#define {project.name.upper()}_PART static __device__")
    real = rf"(?:void|int|double|float|{project.name}_real_t) \w+\("
    return re.sub(rf"^(static (?:inline )?)?({real})", r"\1__device__ \2", text, flags=re.MULTILINE)


def _without_nominal(project: Project) -> str:
    """Return header and source without the values of the live parameters, which the host supplies."""
    text, nominal = _joined(project), f"{project.name}_params_nominal"
    text = re.sub(rf"^const \w+ {nominal} = \{{.*?^\}};\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(rf"^/\*\*[^\n]*\*/\nextern const \w+ {nominal};\n", "", text, flags=re.MULTILINE)


def _joined(project: Project) -> str:
    """Return header and source without their includes and without vectors of the host's processor."""
    text = project.c_files[f"{project.name}.h"] + "\n" + project.c_files[f"{project.name}.c"]
    return re.sub(r"^ *#include .*\n", "", text.replace(VECTORS, "0"), flags=re.MULTILINE)
