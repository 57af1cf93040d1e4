"""Material for the tests of emission and compilation: random programs, hand-made models, one way to compile them."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elastogen.build.files.render import RenderedModel, render_model
from elastogen.build.module.cache import Cache
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import build_extension, compile_cached
from elastogen.build.stamps import sha256
from elastogen.generator.functions.function import Function
from elastogen.generator.joints import kinds
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.program import Program
from elastogen.generator.robot.robot import Joint, Link, Parameter, Robot
from elastogen.runtime.interface.argument import Argument

NASTY_LABELS = [
    "double",
    "t1",
    "t2",
    "y0",
    "gamma",
    "sin",
    "p",
    "w",
    "i",
    "omega_1x",
    "3D",
    "a[1]*/",
    "sine",
    "linux",
    "x" * 80,
]
LIVE = {"load": 1.25, "offset": -0.75}


@dataclass(frozen=True)
class SampleModel:
    """Stands in for a derivation of the generator: the same attributes, functions of any kind."""

    robot: Robot
    functions: tuple[Function, ...]
    frame_names: tuple[str, ...] = ("base", "tip")
    coordinate_names: tuple[str, ...] = ("first", "second")
    coordinate_units: tuple[str, ...] = ("rad", "m")
    velocity_names: tuple[str, ...] = ("first", "second")
    velocity_units: tuple[str, ...] = ("rad", "m")
    elastic_coordinates: tuple[bool, ...] = (False, False)
    driven: tuple[bool, ...] = (True, True)
    critical_rates: tuple[object, ...] = ()
    slopes: tuple[object, ...] = ()
    selectors: tuple[()] = ()
    loops: None = None
    point_names: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


def sample_robot(name: str = "sample", live: dict[str, float] | None = None, **changes: Any) -> Robot:
    parameters = {
        key: Parameter(key, value, "kg", f"the {key}", live=True) for key, value in (LIVE if live is None else live).items()
    }
    joint = Joint("first", kinds.REVOLUTE, "base", "tip")
    return Robot(name, (Link("base"), Link("tip")), (joint,), tip="tip", parameters=parameters, **changes)


FURTHER = {  # functions of two values a, b with bounds x, y: the new value inside its domain, and its bound
    "exp": lambda g, a, b, x, y: (g.elementary(Op.EXP, g.sin(a)), 2.8),
    "log": lambda g, a, b, x, y: (g.elementary(Op.LOG, a * a + 0.5), max(0.7, x)),
    "asin": lambda g, a, b, x, y: (g.elementary(Op.ASIN, g.sin(a) * 0.9), 1.2),
    "acos": lambda g, a, b, x, y: (g.elementary(Op.ACOS, -g.cos(a) * 0.9), 2.8),
    "atan": lambda g, a, b, x, y: (g.elementary(Op.ATAN, a), 1.6),
    "sinh": lambda g, a, b, x, y: (g.elementary(Op.SINH, g.sin(a)), 1.2),
    "cosh": lambda g, a, b, x, y: (g.elementary(Op.COSH, g.sin(a)), 1.6),
    "asinh": lambda g, a, b, x, y: (g.elementary(Op.ASINH, a), x),
    "acosh": lambda g, a, b, x, y: (g.elementary(Op.ACOSH, a * a + 1.5), 1.0 + x),
    "atanh": lambda g, a, b, x, y: (g.elementary(Op.ATANH, g.sin(a) * 0.9), 1.5),
    "erf": lambda g, a, b, x, y: (g.elementary(Op.ERF, a), 1.0),
    "floor": lambda g, a, b, x, y: (b * g.elementary(Op.FLOOR, g.sin(a) * 0.4 + 2.5) / 2.0, y),  # far from its steps
    "abs": lambda g, a, b, x, y: (g.elementary(Op.ABS, a), x),
    "atan2": lambda g, a, b, x, y: (g.elementary(Op.ATAN2, a, b * b + 0.5), 1.6),
    "pow": lambda g, a, b, x, y: (g.elementary(Op.POW, a * a + 0.5, g.sin(b)), x * x + 2.0),
    "cube root": lambda g, a, b, x, y: (g.elementary(Op.POW, b * b + 0.5, -1.0 / 3.0), 1.3),
    "min": lambda g, a, b, x, y: (g.elementary(Op.MIN, a, b), max(x, y)),
    "max": lambda g, a, b, x, y: (g.elementary(Op.MAX, a, b), max(x, y)),
    "select": lambda g, a, b, x, y: (g.choose(a - 0.25, a, -b), max(x, y)),
}
ARITHMETIC = ["add"] * 4 + ["mul"] * 4 + ["div", "sqrt"]
MOSTLY_SUMS = ["add"] * 40 + ["mul"] * 40 + ["div", "sqrt"]  # few sines, as in the dynamics of a robot


@dataclass
class Recipe:
    """What a random program is made of."""

    operations: int = 120
    inputs: tuple[int, ...] = (3, 4)
    outputs: tuple[tuple[int, ...], ...] = ((5,), (2, 3))
    transcendental: bool = True
    live: tuple[str, ...] = tuple(LIVE)
    labels: float = 0.05
    pivots: int = 0
    choices: list[str] = field(default_factory=lambda: ARITHMETIC)


def random_program(seed: int, recipe: Recipe | None = None) -> Program:
    """A program over all operations whose values stay below 6 for arguments below 2, so that errors do not grow."""
    recipe = recipe or Recipe()
    rng = random.Random(seed)
    graph = Graph()
    arguments = [Argument(f"x{k}", (size,), "m", f"input {k}") for k, size in enumerate(recipe.inputs)]
    pool: list[tuple[Value, float]] = []
    for argument in arguments:
        for index in range(argument.size):
            pool.append((graph.input(argument.element(index)), 2.0))
    pool += [(graph.input(name), 2.0) for name in recipe.live]
    choices = recipe.choices + (["sin", "cos", "tanh", *FURTHER] if recipe.transcendental else [])
    for step in range(recipe.operations):
        with graph.section(f"step {step // 25}: values"):
            value, bound = _random_operation(graph, rng, pool, rng.choice(choices))
            if bound > 6.0:
                value, bound = value * round(2.0 / bound, 6), 2.0
        if rng.random() < recipe.labels:
            graph.name(value, rng.choice(NASTY_LABELS))
        pool.append((value, bound))
    outputs = []
    for k, shape in enumerate(recipe.outputs):
        argument = Argument(f"z{k}", shape, "N", f"output {k}")
        outputs.append((argument, [_random_output(graph, rng, pool) for _ in range(argument.size)]))
    positive = [(v * v + 0.5).ref for v, _ in rng.sample(pool, recipe.pivots)]
    return Program(graph, arguments, outputs, positive)


def _random_operation(graph: Graph, rng: random.Random, pool: list[tuple[Value, float]], kind: str) -> tuple[Value, float]:
    """A new value and a bound of its magnitude."""
    recent = pool[-40:]
    (a, x), (b, y) = rng.choice(recent), rng.choice(recent if rng.random() < 0.8 else pool)
    if rng.random() < 0.15:
        y = round(rng.uniform(0.5, 3.0), 3)
        b = graph.value(y)
    a = -a if rng.random() < 0.3 else a
    b = -b if rng.random() < 0.3 else b
    if kind == "add":
        return a + b, x + y
    if kind == "mul":
        return a * b, x * y
    if kind == "div":
        return a / (b * b + 1.5), x / 1.5
    if kind == "sqrt":
        return graph.sqrt(a * a + 0.5), x + 0.5
    if kind in FURTHER:
        return FURTHER[kind](graph, a, b, x, y)
    return {"sin": graph.sin, "cos": graph.cos, "tanh": graph.tanh}[kind](a), 1.0


def _random_output(graph: Graph, rng: random.Random, pool: list[tuple[Value, float]]) -> int:
    luck = rng.random()
    if luck < 0.1:
        return graph.zero
    if luck < 0.15:
        return graph.constant(-1.75)
    value = rng.choice(pool if luck < 0.4 else pool[-30:])[0]
    return (-value if rng.random() < 0.4 else value).ref


def model_of(*programs: Program, robot: Robot | None = None, names: list[str] | None = None) -> SampleModel:
    names = names or [f"function{k}" for k in range(len(programs))]
    functions = (Function(name, f"What {name} computes.", program) for name, program in zip(names, programs, strict=True))
    return SampleModel(robot or sample_robot(), tuple(functions))


def render(model: SampleModel, **options: Any) -> RenderedModel:
    return render_model(model, BuildOptions.checked(**options).emit)  # type: ignore[arg-type]


def load_extension(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.name.partition(".")[0], path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(model: SampleModel, directory: Path, **options: Any) -> Any:
    """The extension module of a model."""
    checked = BuildOptions.checked(cache_dir=directory, **options)
    rendered = render_model(model, checked.emit)  # type: ignore[arg-type]
    toolchain = find_toolchain(checked.compile)
    key = sha256(rendered.source, rendered.wrapper, toolchain.identity)
    return load_extension(compile_cached(rendered, key, Cache(directory), toolchain, checked))


def real_type(module: Any) -> Any:
    return np.float32 if module.ffi.sizeof("eg_real_t") == 4 else np.float64


def call(module: Any, function: Function, arguments: dict[str, Any], live: dict[str, float]) -> tuple[int, dict[str, Any]]:
    """One evaluation on a packed workspace."""
    program, real = function.program, real_type(module)
    parts = [np.array(list(live.values()), dtype=real)]
    parts += [np.asarray(arguments[argument.name], dtype=real).ravel() for argument in program.inputs]
    parts += [np.full(argument.size, np.nan, dtype=real) for argument, _ in program.outputs]
    workspace = np.concatenate(parts)
    status = getattr(module.lib, f"eg_call_{function.name}")(module.ffi.from_buffer(workspace))
    results, start = {}, len(workspace) - sum(argument.size for argument, _ in program.outputs)
    for argument, _ in program.outputs:
        results[argument.name] = workspace[start : start + argument.size].reshape(argument.shape)
        start += argument.size
    return status, results


def random_arguments(program: Program, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {argument.name: rng.uniform(-2.0, 2.0, argument.shape) for argument in program.inputs}


def operations_used(program: Program) -> set[Op]:
    return {program.graph.op[node] for node in program.order}


# ---- one small model, built through the pipeline

NAMES = ["simple", "may_fail"]


def sample_model() -> SampleModel:
    return model_of(random_program(21, Recipe(25)), random_program(22, Recipe(25, pivots=1)), names=NAMES)


def build(folder: Path, **options: Any) -> Path:
    return build_extension(sample_model().robot, BuildOptions.checked(cache_dir=folder, **options))


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "modules").iterdir()) if (folder / "modules").exists() else []


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob("scratch-*"))
