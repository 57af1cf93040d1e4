"""Models of ``sympy.physics.mechanics`` as models of elastogen: emitted, compiled, simulated."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import sympy

from elastogen.build.files.render import render_model
from elastogen.build.files.write import check_directory, write_files
from elastogen.build.module.cache import safe_cache
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import BuildOptions, check_flags, checked_path
from elastogen.build.pipeline import compile_cached, module_key
from elastogen.generator.functions.own.mechanics import derivation_of, equations_of
from elastogen.generator.robot.errors import OutputError
from elastogen.runtime.model.loader import load_model
from elastogen.runtime.model.model import Model

_EMITTED = "mechanics"


def from_mechanics(
    method: Any,
    parameters: Mapping[Any, float] = MappingProxyType({}),
    *,
    live: Iterable[Any] = (),
    name: str = "mechanics",
    directory: str | os.PathLike[str] | None = None,
    force: bool = False,
    **options: Any,
) -> Model:
    """Emit, compile and load the equations of ``method``, SymPy's ``KanesMethod`` or ``LagrangesMethod``.

    Its M and forcing become ``mass_matrix``, ``inverse_dynamics`` (F = M qdd - forcing), ``forward_dynamics``,
    ``gravity_vector`` (all forces at rest), ``coriolis_vector`` (all that velocities add, damping too), ``inertia_forces``,
    ``kinetic_energy`` and ``inverse_dynamics_derivatives``; ``simulate`` works as of every model. ``parameters`` gives the
    values of all other symbols, by symbol or name; ``live`` are those that stay inputs of the C. Functions of time that
    are no coordinates (inputs) are live, and zero unless given. Coordinates keep their names. With ``directory`` the C files
    are written, too; ``force`` replaces those that elastogen did not write. ``options`` are those of
    ``build_model``. Raises OutputError or BuildError.
    """
    if "outputs" in options or "fused" in options or "frames" in options:
        raise OutputError("from_mechanics: outputs, fused and frames are for robots. Fix: leave them out")
    check_flags(force=force)
    chosen = BuildOptions.checked(**options)
    toolchain = find_toolchain(chosen.compile)
    target = None if directory is None else checked_path("directory", directory)
    if target is not None:
        check_directory(target)
    named = (live,) if isinstance(live, (str, sympy.Basic)) else live
    derivation = derivation_of(equations_of(method, parameters, named), name)
    model = render_model(derivation, chosen.emit, lanes=chosen.compile.lanes)
    if target is not None:
        files = {**model.c_files, **model.emitted_simulation, **model.bundle}
        write_files(target, files, by=f"{_EMITTED} {model.name}", force=force)
    path = compile_cached(model, module_key(model, toolchain), safe_cache(chosen.cache_dir), toolchain, chosen)
    return load_model(path)
