"""From a robot to the programs of its functions: every frame assignment is tried, the cheapest is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from elastogen.generator.beams.natural_frequencies import spinning_joints
from elastogen.generator.beams.slopes import link_slopes
from elastogen.generator.bodies.shaped_body import dense_modes
from elastogen.generator.functions import (
    centroidal,
    configuration,
    derivatives,
    dynamics,
    identification,
    inner_forces,
    kinematics,
    points,
    second_order,
)
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, Looped
from elastogen.generator.functions.composed.asked import asked_parts
from elastogen.generator.functions.composed.composition import Composer
from elastogen.generator.functions.composed.confirmed import confirmed
from elastogen.generator.functions.composed.fused import MARK, fused_entry
from elastogen.generator.functions.composed.sensitivities import sensitivity_entry, sensitivity_of
from elastogen.generator.functions.composed.tangents import differentiated, tangent_entry
from elastogen.generator.functions.frames import contacts, ground, wrenches
from elastogen.generator.functions.frames import motion as frame_motion
from elastogen.generator.functions.function import Function, ModelFacts
from elastogen.generator.functions.higher import acceleration_matrices, energies_and_rates, energy_parts
from elastogen.generator.functions.loops import entries as loops
from elastogen.generator.functions.own.functions import own_entries
from elastogen.generator.functions.papers import elements, inertia_matrices, matrix_exponentials, orientation
from elastogen.generator.functions.variants import GRAPH, Variant, VariantFamily
from elastogen.generator.joints.on_beams.selector import Selector
from elastogen.generator.mechanism.isomorphic_subtrees import isomorphic_subtrees
from elastogen.generator.program.collection import paused_collection
from elastogen.generator.program.columns import expanded
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.operations import COST
from elastogen.generator.program.optimize import factor_sums
from elastogen.generator.program.program import InLoops, Program
from elastogen.generator.program.substitute import extract
from elastogen.generator.program.symbolic.carrier import SympyGraph
from elastogen.generator.program.symbolic.lowering import lowered
from elastogen.generator.program.symbolic.shared_parts import share_parts
from elastogen.generator.reference.self_check import SelfCheck
from elastogen.generator.robot.errors import OutputError, close_names, finite_arithmetic, shortened
from elastogen.generator.robot.frames import TIP, checked_frames
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicated, selectors
from elastogen.generator.stages import stage
from elastogen.runtime.interface.argument import Argument

CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        *kinematics.ENTRIES,
        *points.ENTRIES,
        *dynamics.ENTRIES,
        *derivatives.ENTRIES,
        *second_order.ENTRIES,
        *inner_forces.ENTRIES,
        *elements.ENTRIES,
        *energies_and_rates.ENTRIES,
        *energy_parts.ENTRIES,
        *acceleration_matrices.ENTRIES,
        *matrix_exponentials.ENTRIES,
        *orientation.ENTRIES,
        *inertia_matrices.ENTRIES,
        *identification.ENTRIES,
        *centroidal.ENTRIES,
        *configuration.ENTRIES,
        *loops.ENTRIES,
        *contacts.ENTRIES,
        *ground.ENTRIES,
    )
}  # every function that can be emitted, in the order in which they appear in the C
FRAMED: dict[str, Entry] = {entry.name: entry for entry in (*frame_motion.ENTRIES, *wrenches.ENTRIES)}
"""Functions of chosen frames, which come after all others; without frames there are none."""
KINEMATICS = "inverse_kinematics"
SETS = ("default", "simulation", "estimation", KINEMATICS, "all")
SIMULATION = (
    "gravity_vector", "friction_forces", "inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics",
    "kinetic_energy", "potential_energy",
)  # fmt: skip  # what the integrators can use: the set "simulation"; with M for sliding joints
ESTIMATION = ("measurement", "measurement_derivatives", "forward_dynamics", "forward_dynamics_derivatives")
"""What a Kalman filter needs: the set "estimation", of a robot with sensors."""
_OWN = Entry("own", "", ("q",), lambda variant: (), (), "plain")  # a placeholder for own functions where only names count
KEEPING = ("loop_residual", "loop_jacobian")  # what integrators need to keep loops closed
ELSEWHERE = ("forward_dynamics", "forward_dynamics_by_other_coordinates")
"""A function of mechanisms, and what it calls where its independent velocities do not determine the motion."""
SHORT = 3000  # cost of those ways to derive a function by SymPy that are derived to the end
NEARLY = 1.03  # relative difference of costs that counts as none
SMALL_MECHANISM = 12  # velocities, up to which all frame assignments of a robot with loops are tried
ROUNDS = 3  # of taking out common factors; each uncovers a few more


@dataclass(frozen=True)
class ModelDerivation(ModelFacts):
    """Everything that is emitted for one robot."""

    functions: tuple[Function, ...]


def output_names(
    outputs: Iterable[str] | str | None = None, robot: Robot | None = None, frames: Sequence[str] = ()
) -> tuple[str, ...]:
    """Names of the functions to emit, in catalogue order; "default", "simulation", "inverse_kinematics" and "all" are sets.

    "mass_matrix+gravity_vector" is one function for both; such functions come last, in the order given, after tangents and
    sensitivities as "forward_dynamics_tangent" and "forward_dynamics_adjoint". With a robot, "all" is what exists for it, and
    any other name is an error. Functions of frames exist where frames are chosen.
    """
    if outputs is None:
        outputs = ("default",)
    elif isinstance(outputs, str):
        outputs = (outputs,)
    outputs = tuple(outputs) if isinstance(outputs, Iterable) else (outputs,)
    if not all(isinstance(name, str) for name in outputs):
        raise OutputError(f"outputs: got {shortened(outputs)}, expected names of functions, for example ['mass_matrix'].")
    own = () if robot is None else tuple(function.name for function in robot.functions)
    known = {**CATALOGUE, **(FRAMED if frames else {})}
    wanted: set[str] = set()
    fused: dict[str, None] = {}
    tangents: dict[str, None] = {}
    for name in outputs:
        asked = sensitivity_of(name, dict.fromkeys(own, _OWN) | CATALOGUE | FRAMED)
        base = differentiated(name, CATALOGUE | FRAMED) if asked is None else asked[0]
        if MARK in name:
            fused[MARK.join(_parts(name, robot, frames))] = None
        elif name == "default":
            wanted |= {e.name for e in known.values() if e.default and (robot is None or e.applies(robot))} | {*own}
        elif name == "simulation":
            wanted |= {n for n in ("configuration_rate", "integrate") if robot is not None and robot.has_quasi_velocities}
            wanted |= {name for name in SIMULATION if robot is None or CATALOGUE[name].applies(robot)}
            wanted |= {"mass_matrix"} if robot is not None and selectors(robot) else set()
            wanted |= {*KEEPING, "forward_dynamics_derivatives"} if robot is not None and robot.loops else set()
            wanted |= {"ground_motion"} if robot is not None and robot.ground is not None else set()
            wanted |= {"load_friction_forces"} if robot is not None and robot.has_load_friction else set()
        elif name == "estimation":
            if robot is not None and not robot.sensors:
                raise OutputError(
                    f"outputs: 'estimation' of {robot.name} without sensors. Fix: robot.with_sensors('encoders', ...)"
                )
            wanted |= {*ESTIMATION, *(("integrate",) if robot is not None and robot.has_quasi_velocities else ())}
        elif name == "all":
            wanted |= {*(entry.name for entry in known.values() if robot is None or entry.applies(robot)), *own}
        elif name in own:
            wanted.add(name)
        elif base in own:
            tangents[name] = None
        elif ((base or name) in FRAMED or name == KINEMATICS) and not frames:
            raise OutputError(f"outputs: {name} needs frames, got none. Fix: choose them, for example frames=['{TIP}']")
        elif name == KINEMATICS:
            wanted |= {"frame_pose_and_jacobian"}
            on_manifolds = ("integrate", "difference", "random_configuration")
            wanted |= {n for n in on_manifolds if robot is not None and robot.has_quasi_velocities}
        elif name in known or base is not None:
            entry = known[base or name]
            if robot is not None and not entry.applies(robot):
                raise OutputError(f"outputs: {name} does not exist for {robot.name}: {entry.applies_to}")
            if base is None:
                wanted.add(name)
            else:
                tangents[name] = None
        else:
            near = close_names(name, [*own, *CATALOGUE, *FRAMED, *SETS])
            hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(CATALOGUE)}"
            raise OutputError(
                f"outputs: got {name!r}, expected functions, 'default', 'simulation', 'estimation' or 'all'. Fix: {hint}"
            )
    if robot is not None and robot.loops and ELSEWHERE[0] in wanted:
        wanted.add(ELSEWHERE[1])
    if not wanted and not tangents and not fused:
        raise OutputError("outputs: got nothing, expected at least one function. Fix: leave outputs out for the defaults")
    return (*(name for name in (*CATALOGUE, *own, *FRAMED) if name in wanted), *tangents, *fused)


def _parts(name: str, robot: Robot | None, frames: Sequence[str]) -> list[str]:
    """The functions in ``mass_matrix+gravity_vector``; sets of functions are refused."""
    parts = name.split(MARK)
    sets = [part for part in parts if part in SETS]
    if sets:
        raise OutputError(f"fused: got {sets[0]!r} in {name!r}, expected functions. Fix: name them one by one")
    return [found for part in parts for found in output_names((part,), robot, frames)]


def entry_of(name: str, known: Mapping[str, Entry] = CATALOGUE) -> Entry:
    """The entry of a name that :func:`output_names` gave."""
    base = differentiated(name, known)
    if base is not None:
        return tangent_entry(known[base])
    asked = sensitivity_of(name, known)
    if asked is not None:
        return sensitivity_entry(known[asked[0]], asked[1])
    return known[name] if name in known else fused_entry([entry_of(part, known) for part in name.split(MARK)])


DIFFERENTIATED = ("forward_dynamics_", "inverse_dynamics_")
"""Derivatives of these move q as if loops could open: they and what they differentiate are then of the same tree."""


@paused_collection()
def derive_model(
    robot: Robot,
    outputs: Iterable[str] | str | None = None,
    frames: Sequence[str] = (),
    derived: Callable[[ModelDerivation, Function], None] | None = None,
    *,
    derivation: str = GRAPH,
) -> ModelDerivation:
    """Derive the programs of all wanted functions of a robot; ``frames`` are those of the functions of frames.

    ``derived`` is called with each function as soon as it is derived. ``derivation`` is the carrier of the recursions: the
    graph, or SymPy, whose equations are then lowered to the graph.
    """
    names = output_names(outputs, robot, frames)
    family, model = without_functions(robot, names, frames, derivation)
    known = CATALOGUE | FRAMED | own_entries(family, CATALOGUE)
    functions = []
    check = SelfCheck(robot, family.frames, {entry.name: entry.inputs for entry in known.values()})
    composer = Composer(family, names, check, derive_function)
    for k, name in enumerate(names, 1):
        function = _checked(family, name, known, check, f"{name} ({k} of {len(names)})")
        if name == ELSEWHERE[0] and ELSEWHERE[1] in names:
            function.program.otherwise = ELSEWHERE[1]
        function = composer.take(function)
        functions.append(function)
        if derived is not None:
            derived(model, function)
    return replace(model, functions=tuple(functions))


def without_functions(
    robot: Robot, names: Sequence[str], frames: Sequence[str] = (), derivation: str = GRAPH
) -> tuple[VariantFamily, ModelDerivation]:
    """What the functions are derived from, and all data of a model but its functions."""
    opening = any(name.startswith(DIFFERENTIATED) and name != ELSEWHERE[1] for name in names)
    with finite_arithmetic(robot.name, "equations"):
        family = VariantFamily(robot, frames=checked_frames(robot, frames), derivation=derivation, opening=opening)
        plain = family.plain()
    return family, ModelDerivation(
        robot=robot,
        functions=(),
        frame_names=tuple(link.name for link in plain.mechanism.link_frames),
        coordinate_names=robot.coordinate_names,
        coordinate_units=tuple(coordinate.unit for coordinate in robot.coordinates),
        velocity_names=robot.velocity_names,
        velocity_units=tuple(velocity.unit for velocity in robot.velocities),
        elastic_coordinates=tuple(velocity.elastic for velocity in robot.velocities),
        driven=tuple(velocity.driven for velocity in robot.velocities),
        critical_rates=spinning_joints(robot),
        slopes=link_slopes(robot),
        selectors=family.selectors,
        point_names=tuple(point.name for point in robot.points),
        frames=family.frames,
        loops=plain.analysis if robot.loops else None,
    )


def _checked(family: VariantFamily, name: str, known: Mapping[str, Entry], check: SelfCheck, said: str) -> Function:
    """The function if it agrees with the description; else the one derived in the description's own frames."""
    entry, robot = entry_of(name, known), family.robot

    def again() -> Function:
        safe = VariantFamily(robot, frames=family.frames, safe=True, derivation=family.derivation)
        return derive_function(safe, entry_of(name, CATALOGUE | FRAMED | own_entries(safe, CATALOGUE)))

    with stage("deriving", said), finite_arithmetic(robot.name, entry.name):
        function = derive_function(family, entry)
        variant = family.frame_assignments(entry.frame_assignment)[0]
        return confirmed(function, name, asked_parts(name, known, function, variant), check, again)


def derive_function(family: VariantFamily, entry: Entry) -> Function:
    """The cheapest program of one function.

    Frame assignments and formulations are compared. The best two are derived again in a graph of their own, where names and
    sections of the intermediates are those of this function.
    """
    variants = family.frame_assignments(entry.frame_assignment)
    small = family.plain().size <= entry.largest
    formulations = (
        entry.formulations_for(variants[0])
        if entry.formulations_for is not None
        else entry.formulations
        if small
        else entry.formulations[:1]
    )
    candidates, finalists = _different(entry, _variants_to_try(family, entry, variants), formulations), entry.finalists
    if len(candidates) > 1:
        with family.graph.apart():  # shared by all candidates
            costs = [_cost(family.graph, _refs(formulation(variant))) for variant, formulation in candidates]
        ranked = sorted(zip(costs, candidates, strict=True), key=lambda pair: pair[0])
        if family.robot.loops:  # formulations differ much there: of those that cost the same one is enough
            ranked = list({cost: (cost, candidate) for cost, candidate in reversed(ranked)}.values())[::-1]
        candidates = [candidate for _, candidate in ranked]
        if isinstance(family.graph, SympyGraph):  # before they are lowered, its values say less about costs
            finalists = max(finalists, sum(total <= SHORT for total in accumulate(cost for cost, _ in ranked)))
    chosen = family.selectors
    best: list[Program] = []
    for variant, formulation in candidates[:finalists]:
        with family.graph.apart():
            best.append(program_of(entry, variant, formulation(variant), chosen, dense_modes(family.robot)))
    program = min(best, key=lambda candidate: candidate.straight_count.cost)
    if family.robot.loops:  # costs are rough: of those that are nearly equal, the fewest operations
        near = [candidate for candidate in best if candidate.straight_count.cost <= program.straight_count.cost * NEARLY]
        program = min(near, key=lambda candidate: candidate.straight_count.total)
    slides = bool(program.inputs) and program.inputs[0].name == "q"
    return Function(entry.name, entry.brief, program, chosen if slides else ())


def _different(
    entry: Entry, variants: Sequence[Variant], formulations: Sequence[Formulation]
) -> list[tuple[Variant, Formulation]]:
    """Frame assignments and formulations that can differ: one of each kind."""
    found: dict[tuple[object, ...], tuple[Variant, Formulation]] = {}
    for variant in variants:
        for formulation in formulations:
            moment = "" if formulation in entry.any_moment else variant.moment
            found.setdefault(
                (id(variant.mechanism), id(variant.carrier), variant.merge, moment, formulation), (variant, formulation)
            )
    return list(found.values())


def _variants_to_try(family: VariantFamily, entry: Entry, variants: Sequence[Variant]) -> Sequence[Variant]:
    """All frame assignments if that is cheap, else the best one for inverse dynamics or forward kinematics."""
    size = family.plain().size
    if len(variants) == 1 or (entry.explore and size <= entry.largest) or (family.robot.loops and size <= SMALL_MECHANISM):
        return variants
    probes = {"kinematic": "forward_kinematics", "points": "point_positions", "frames": "frame_pose"}
    probe = (CATALOGUE | FRAMED)[probes.get(entry.frame_assignment, "inverse_dynamics")]
    with family.graph.apart():
        return [family.best(entry.frame_assignment, lambda variant: _cost(family.graph, _refs(probe.formulations[0](variant))))]


def _refs(derived: Derived) -> list[int]:
    return [value.ref for values in (*derived.outputs, derived.pivots) for value in values]


def _cost(graph: Graph, refs: Sequence[int]) -> float:
    """Cost of computing the references, before factors are taken out."""
    return sum(COST.get(graph.op[node], 0.0) for node in graph.cone(refs))


def program_of(entry: Entry, variant: Variant, derived: Derived, chosen: Sequence[Selector], modes: int = 0) -> Program:
    """The program of one formulation in one frame assignment, common factors taken out; ``modes``: see Program."""
    looped = derived.looped or Looped(derived.outputs, derived.pivots, ())
    wanted = [value.ref for values in (*looped.outputs, looped.pivots) for value in values]
    by_sympy = isinstance(variant.graph, SympyGraph)
    apart = lowered if by_sympy else extract
    small, refs = apart(variant.graph, [*wanted, *(ref for columns in looped.columns for ref in columns.refs)])
    for _ in range(ROUNDS):
        refs = share_parts(small, factor_sums(small, refs)) if by_sympy else factor_sums(small, refs)
    small, refs = extract(small, refs)
    arguments, in_loops = entry.outputs(variant), None
    if looped.columns:
        columns, rest = [], refs[len(wanted) :]
        for each in looped.columns:
            columns.append(each.renamed(rest[: len(each.refs)]))
            rest = rest[len(each.refs) :]
        in_loops = InLoops(small, *_shared_out(arguments, refs[: len(wanted)]), tuple(columns))
        small, refs = extract(small, expanded(small, refs[: len(wanted)], columns))
    outputs, pivots = _shared_out(arguments, refs[: len(wanted)])
    used = {small.label[node].partition("[")[0] for node in small.cone(refs) if small.op[node] is Op.INPUT}
    inputs = entry.input_arguments(variant, used)
    indicators = Argument(INDICATORS, (len(indicated(chosen)),), "", "1 for the elements inside the joints, 0 for all others")
    if INDICATORS in used:
        inputs.append(indicators)
    return Program(small, inputs, outputs, pivots, in_loops, isomorphic_subtrees(variant.mechanism), modes)


def _shared_out(
    arguments: Sequence[Argument], refs: Sequence[int]
) -> tuple[list[tuple[Argument, Sequence[int]]], Sequence[int]]:
    """The references of every output, and the remaining ones."""
    outputs = []
    for argument in arguments:
        outputs.append((argument, refs[: argument.size]))
        refs = refs[argument.size :]
    return outputs, refs
