"""The format ``opencl``: batch kernels in OpenCL C, with host code in Python and C."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.kernels import kernel_context, opencl_body
from elastogen.build.export.project import Files, Project
from elastogen.build.files.templating import fill
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return the model's C, the kernels, both hosts and an example."""
    context, name = kernel_context(project, opencl_body(project)), project.name
    return {
        **project.c_files,
        f"{name}.cl": fill("export/opencl/kernels.cl.j2", context),
        f"{name}_opencl.py": fill("export/opencl/host.py.j2", context),
        f"{name}_opencl.h": fill("export/opencl/host.h.j2", context),
        f"{name}_opencl.c": fill("export/opencl/host.c.j2", context),
        "examples/example.c": fill("export/opencl/example.c.j2", context),
        "example.py": fill("export/kernels/example.py.j2", context),
        CHECK: known_numbers(project.derivation, project.context),
    }
