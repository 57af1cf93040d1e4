"""The compiled model of a robot: numpy in, numpy out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime.bridges.bridge_methods import BridgeMethods
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.bound import Bound
from elastogen.runtime.functions.catalogue_methods import CatalogueMethods
from elastogen.runtime.functions.configuration_methods import ConfigurationMethods
from elastogen.runtime.functions.dynamics_methods import DynamicsMethods
from elastogen.runtime.functions.evaluation import Array, ParameterValues
from elastogen.runtime.functions.frames.contact_methods import ContactMethods
from elastogen.runtime.functions.frames.frame_methods import FrameMethods
from elastogen.runtime.functions.frames.ground_methods import GroundMethods
from elastogen.runtime.functions.frames.inverse_kinematics import InverseKinematicsMethods
from elastogen.runtime.functions.higher_order_methods import HigherOrderMethods
from elastogen.runtime.functions.kernel import Kernel
from elastogen.runtime.functions.linear_analysis import LinearAnalysis
from elastogen.runtime.functions.loops.loop_methods import LoopMethods
from elastogen.runtime.functions.metadata import FunctionInfo, Metadata, read_metadata
from elastogen.runtime.functions.parameters import Parameters
from elastogen.runtime.functions.sensing.sensing_methods import SensingMethods
from elastogen.runtime.online.online_methods import OnlineMethods
from elastogen.runtime.simulation.sliding_methods import SlidingMethods

if TYPE_CHECKING:
    from elastogen.runtime.loop.loop import Loop
    from elastogen.runtime.model.maker import Maker

_REAL: dict[str, np.dtype[Any]] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}


class Model(
    CatalogueMethods,
    ConfigurationMethods,
    FrameMethods,
    InverseKinematicsMethods,
    DynamicsMethods,
    HigherOrderMethods,
    LinearAnalysis,
    LoopMethods,
    ContactMethods,
    GroundMethods,
    SensingMethods,
    SlidingMethods,
    OnlineMethods,
    BridgeMethods,
):
    """The compiled functions of one robot.

    Every method takes arrays or lists of shape (..., length) and returns arrays of the model's precision.
    Leading batch axes broadcast against each other and are evaluated in one C loop that releases the GIL.
    All methods take some of

    - ``q``, ``qd``, ``qdd``: coordinates (..., nq) [rad] or [m], velocities and accelerations (..., nv); ``F``: driving forces
      (..., nv) [N m] or [N];
    - ``out``: an array (or a tuple of arrays) for the result, which is also returned. It may be
      non-contiguous or share memory with an argument; then the result is computed aside and copied;
    - ``parameters``: live parameters for this call only, a mapping from names to numbers or to arrays that
      broadcast as batch axes; the others keep the values in :attr:`parameters`;
    - ``on_failure``: "raise" a ModelError where M has no factors, or fill the results of these states with "nan".

    A model that was built with the default outputs builds any other function when it is first called (a few seconds,
    then from the cache); one that was built with ``outputs=`` has just those and raises ModelError for others.
    NaN and infinity pass through as in numpy. Methods may be called from several threads at once.
    """

    _maker: Maker | None = None  # of a model that was built, not loaded

    def __init__(self, lib: Any, ffi: Any, c_directory: Path, *, extension: Path | None = None) -> None:
        source = str(extension or c_directory)
        metadata = read_metadata(ffi.string(lib.eg_metadata()), source)
        if metadata.real not in _REAL:
            raise ModelError(f"{source}: computes in {metadata.real!r}, expected one of {', '.join(_REAL)}.")
        if lib.eg_nparams() != len(metadata.parameters):
            raise ModelError(f"{source}: its metadata and its parameters disagree. Fix: build the robot again.")
        self._lib, self._ffi = lib, ffi
        self._metadata = metadata
        self._quaternions = metadata.quaternions
        self._warned: set[str] = set()
        self._name = metadata.name
        self._extension = extension
        self._c_directory = Path(c_directory)
        self._parameters = Parameters(metadata.name, metadata.parameters, _REAL[metadata.real], metadata.tensors)
        self._kernels = {info.name: Kernel(lib, ffi, metadata.name, info, self._parameters) for info in metadata.functions}
        for kernel in self._kernels.values():
            kernel.diagnose = self._why_singular
            if metadata.loops is not None:
                kernel.problem = "the closed mechanism cannot be solved"

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._name

    @property
    def nq(self) -> int:
        """Number of generalized coordinates."""
        return len(self._metadata.coordinate_names)

    @property
    def nv(self) -> int:
        """Number of velocities, accelerations and forces: nq, less by one for every floating or spherical joint."""
        return len(self._metadata.velocity_names)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the velocities, in the order of qd; the coordinates' names, but for floating and spherical joints."""
        return self._metadata.velocity_names

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the generalized coordinates, in the order of q."""
        return self._metadata.coordinate_names

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the generalized coordinates: "rad", "m", or "" for the amplitude of a mode."""
        return self._metadata.coordinate_units

    @property
    def driven(self) -> tuple[int, ...]:
        """Indices in qd and F of what drives act on: of all joints but a free base, not of elastic coordinates."""
        return tuple(k for k, driven in enumerate(self._metadata.driven) if driven)

    @property
    def driven_coordinates(self) -> tuple[int, ...]:
        """Indices in q of the coordinates of joints with drives: those of ``driven``, but for quaternions."""
        return tuple(k for k, driven in enumerate(self._metadata.driven_coordinates) if driven)

    @property
    def elastic(self) -> tuple[int, ...]:
        """Indices in qd and F of the elastic coordinates."""
        return tuple(k for k, elastic in enumerate(self._metadata.elastic_coordinates) if elastic)

    @property
    def position_limits(self) -> tuple[Array, Array]:
        """Least and greatest positions (nq,) [rad, m] of the robot description; infinite where there is no limit."""
        pairs = np.array(self._metadata.limits, dtype=np.float64).reshape(self.nq, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    @property
    def velocity_limits(self) -> Array:
        """Greatest speeds (nv,) [rad/s, m/s] of the robot description; infinite where there is no limit."""
        return np.array([speed for speed, _ in self._metadata.drive_limits], dtype=np.float64)

    @property
    def force_limits(self) -> Array:
        """Greatest forces of the drives (nv,) [N m, N] of the robot description; infinite where there is no limit."""
        return np.array([force for _, force in self._metadata.drive_limits], dtype=np.float64)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames, in the order of :meth:`forward_kinematics`."""
        return self._metadata.frame_names

    @property
    def point_names(self) -> tuple[str, ...]:
        """Names of the points, in the order of :meth:`point_positions`."""
        return self._metadata.point_names

    @property
    def parameters(self) -> Parameters:
        """The live parameters; assign to change them for all later calls."""
        return self._parameters

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers that the C code computes with, float64 or float32."""
        return self._parameters.snapshot.dtype

    @property
    def functions(self) -> dict[str, FunctionInfo]:
        """The emitted functions by name, with arguments, units and operation counts."""
        return {info.name: info for info in self._metadata.functions}

    @property
    def metadata(self) -> Metadata:
        """Everything the compiled module says about itself."""
        return self._metadata

    @property
    def c_files(self) -> tuple[Path, ...]:
        """The generated C files."""
        return tuple(self._c_directory / name for name in self._metadata.c_files)

    @property
    def extension(self) -> Path | None:
        """The compiled module, for :func:`elastogen.runtime.load_model`."""
        return self._extension

    def evaluate(
        self,
        function: str,
        /,
        *,
        out: Array | Sequence[Array] | None = None,
        parameters: ParameterValues = None,
        on_failure: str = "raise",
        threads: int = 1,
        **arguments: ArrayLike,
    ) -> Any:
        """Evaluate an emitted function by name, arguments by name; see :attr:`functions` for what there is.

        Returns an array, or a tuple of arrays for a function with several outputs. ``on_failure`` is for
        functions that factorize the mass matrix: "raise" a ModelError, or fill the failed states with "nan". ``threads``
        share large batches, each a block of 2000 states or more.
        """
        kernel = self.kernel(function)
        names = kernel.input_names
        if arguments.keys() != names.keys():
            missing = [name for name in names if name not in arguments]
            unknown = sorted(arguments.keys() - names.keys())
            problem = f"argument {missing[0]!r} is missing" if missing else f"argument {unknown[0]!r} is unknown"
            raise ModelError(f"{kernel.label}: {problem}, expected {', '.join(names) or 'no arguments'}.")
        values = [arguments[name] for name in names]
        alone = type(threads) is int and threads == 1  # True and 1.0 are refused with the other wrong ones
        return self._evaluate(function, values, out, parameters, on_failure, None if alone else threads)

    def bind(self, function: str) -> Bound:
        """Bind a function to preallocated arrays, for tight loops: see :class:`Bound`."""
        return Bound(self.kernel(function))

    def kernel(self, function: str) -> Kernel:
        """Return the compiled function behind a method."""
        known = self._kernels.get(function) if isinstance(function, str) else None
        return known or self._missing(function)

    def _made_by(self, maker: Maker) -> None:
        """Connect a built model with its builder, which makes what the model lacks: functions, programs, loops, pages."""
        self._maker, self._animator = maker, maker.animate
        if maker.completes:

            def provide(function: str, frames: tuple[str, ...] = ()) -> Kernel:
                other = maker.functions(function, frames)
                return Kernel(other._lib, other._ffi, self._name, other.functions[function], self._parameters)

            self._provider, self._build = provide, maker.functions
        self._sensing = maker.sensing

    def program(self, function: str) -> Any:
        """The program of a function as an object: ``count``, ``text``, ``sparsity(output, by)``, ``evaluate(...)`` with mpmath.

        It is derived again, which takes as long as the first time; only models from ``build_model`` can do it.
        """
        if self._maker is None:
            raise ModelError(f"{self._name}.program: this model was loaded, not built. Fix: elastogen.build_model(robot)")
        if not isinstance(function, str):
            raise ModelError(f"{self._name}.program: function={function!r}, expected the name of one, as 'mass_matrix'.")
        return self._maker.program(function)

    def loop(
        self, *, controller_source: Any = None, plant_source: Any = None, outputs: Sequence[str] | None = None, **options: Any
    ) -> Loop:
        """A real-time loop of this robot with the present live parameters: see :class:`~elastogen.runtime.loop.loop.Loop`.

        ``controller`` may also name an own function of the robot (``robot.with_function``), or a list of them, a chain.
        ``controller_source`` and ``plant_source`` are C text, or paths of .c files, of the user's own, which may call every
        function of the model: those that the text names are compiled in, and those of ``outputs``. ``options`` are the loop's.
        The first call compiles the loop (a few seconds, then from the cache).
        """
        if self._maker is None:
            raise ModelError(
                f"{self._name}: a model that was loaded from a file cannot make a loop. "
                "Fix: elastogen.build_model(robot).loop(...), or Loop(elastogen.build_loop(robot), ...)."
            )
        asked = options.get("controller")
        chain = (asked,) if isinstance(asked, str) else tuple(asked) if isinstance(asked, (list, tuple)) else ()
        own = chain if chain and (len(chain) > 1 or chain[0] in self._maker.own_functions) else None
        options |= {} if own is None else {"controller": "user"}
        observer = options.get("observer")
        sensors = None if observer is None else getattr(observer, "asked", ())
        library = self._maker.loop(controller_source, plant_source, own, outputs, sensors)
        library.model.parameters.update(self._parameters)
        loop = library.loop(**options)
        loop.animator = self._animator
        return loop

    def __reduce__(self) -> Any:
        if self._extension is None:
            raise TypeError(f"{self._name}: only a model that was loaded from a file can be pickled")
        return _restore, (str(self._extension.resolve()), dict(self._parameters))

    def _repr_html_(self) -> str:
        """Return the functions and their operation counts as a table for notebooks."""
        head = "".join(f"<th>{name}</th>" for name in ("function", "takes", "gives", "mul", "add", "sin/cos", "meaning"))
        rows = []
        for info in self._metadata.functions:
            takes, gives = (", ".join(f"{a.name}[{a.size}]" for a in given) for given in (info.inputs, info.outputs))
            counts = (str(info.count.get(key, 0)) for key in ("mul", "add", "sincos"))
            cells = (info.name, takes, gives, *counts, info.brief)
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{''.join(rows)}</table>"

    def __repr__(self) -> str:
        return (
            f"Model({self._name!r}, nq={self.nq}, {self._metadata.real}, {len(self._kernels)} functions, "
            f"{len(self._parameters)} live parameters)"
        )


def _restore(path: str, parameters: dict[str, float]) -> Model:
    """Load a pickled model in another process."""
    from elastogen.runtime.model.loader import load_model

    model = load_model(path)
    model.parameters.update(parameters)
    return model
