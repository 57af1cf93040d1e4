"""The format ``cuda``: batch kernels in CUDA C++, with host code in Python and C."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.kernels import cuda_body, kernel_context
from elastogen.build.export.project import Files, Project
from elastogen.build.files.templating import fill
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return the model's C, the kernels with a host in C, a host in Python, and examples."""
    context, name = kernel_context(project, cuda_body(project)), project.name
    return {
        **project.c_files,
        f"{name}_cuda.cu": fill("export/cuda/kernels.cu.j2", context),
        f"{name}_cuda.h": fill("export/cuda/host.h.j2", context),
        f"{name}_cuda.py": fill("export/cuda/host.py.j2", context),
        "examples/example.c": fill("export/cuda/example.c.j2", context),
        "example.py": fill("export/kernels/example.py.j2", context),
        CHECK: known_numbers(project.derivation, project.context),
    }
