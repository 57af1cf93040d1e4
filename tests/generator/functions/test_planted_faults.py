"""A wrong constant in a derived program is noticed, in every family of functions: each is compared with the description."""

import copy
import warnings

import numpy as np
import pytest
import sympy

import elastogen
from elastogen.generator.functions.composed.asked import asked_parts
from elastogen.generator.functions.derivation import CATALOGUE, FRAMED, derive_model, entry_of
from elastogen.generator.functions.own.functions import own_entries
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.program.graph import Op
from elastogen.generator.reference.expected.registry import ALL_EXPECTATIONS, NOT_COMPARED
from elastogen.generator.reference.self_check import MASK, OPEN, TOLERANCE, SelfCheck
from elastogen.generator.robot.loops.contacts import with_contacts

ARM = {
    "elastogen": 1, "name": "arm", "gravity": [0.3, -0.4, -9.7],
    "links": [{"name": "base"},
              *({"name": f"l{k}", "mass": k, "com": [0.1, -0.2, 0.1], "inertia": [1, 2, 2.5, 0.1, 0.05, -0.2]}
                for k in (1, 2, 3))],
    "joints": [{"name": "j1", "type": "revolute", "placement": {"xyz": [0.3, 0.1, 0.2], "rpy": [1, 0.7, 1]},
                "motor": {"gear_ratio": 10, "inertia": 0.001}, "friction": {"viscous": 0.3, "coulomb": 0.2}},
               {"name": "j2", "type": "prismatic", "placement": {"xyz": [0.3, 0.2, 0.2], "rpy": [2, 0.7, 0]}},
               {"name": "j3", "type": "revolute", "placement": {"xyz": [0.3, 0.3, 0.2], "rpy": [3, 0.7, -1]},
                "friction": {"coulomb": 0.1, "viscous": 0.1}}],
    "points": [{"name": "lens", "link": "l2", "xyz": [0.1, 0.2, 0.3], "rpy": [0.1, 0.2, 0.3]}],
}  # fmt: skip
BEAM = {
    "elastogen": 1, "name": "beam", "gravity": [0, -9.81, 0],
    "links": [{"name": "base"},
              {"name": "arm", "mass": 0.3, "flexible": {"type": "elements", "length": 0.8, "elements": 2, "EI": 20.0,
               "mass_per_length": 0.9, "foreshortening": True}},
              {"name": "hand", "mass": 0.4, "com": [0.1, 0.02, 0], "inertia": [0.01, 0.02, 0.03]}],
    "joints": [{"name": "turn", "type": "revolute"}, {"name": "wrist", "type": "revolute"}],
    "points": [{"name": "gauge", "link": "arm", "x": 0.3, "strain": {"direction": "y", "offset": 0.01}},
               {"name": "middle", "link": "arm", "x": 0.5}],
}  # fmt: skip
FAMILIES = {
    "points": ("arm", ["point_positions", "point_velocities", "point_accelerations", "point_jerks", "point_jacobians",
                       "point_jacobian_rates", "point_forces", "accelerometers", "gyroscopes"]),
    "frames": ("arm", ["frame_pose", "frame_jacobian_local", "frame_jacobian_rate_base", "frame_acceleration_local",
                       "frame_velocity_base", "frame_forces", "inverse_dynamics_with_wrenches",
                       "forward_dynamics_with_wrenches"]),
    "derivatives": ("arm", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives", "inverse_dynamics_second_order",
                            "forward_dynamics_second_order", "inverse_dynamics_rate_1", "inverse_dynamics_rate_3"]),
    "derived": ("arm", ["forward_dynamics_tangent", "inverse_dynamics_sensitivity", "forward_dynamics_adjoint",
                        "gravity_vector_hessian", "jacobian_adjoint"]),
    "derived on a free base": ("free", ["forward_dynamics_tangent", "inverse_dynamics_sensitivity", "gravity_vector_adjoint",
                                        "gravity_vector_hessian"]),
    "angles": ("arm", ["operational_vector_zyz", "operational_vector_xyz", "operational_vector_yxz"]),
    "energies": ("arm", ["kinetic_energy_parts", "acceleration_energy_parts_1", "acceleration_energy_parts_3"]),
    "energies of beams": ("beam", ["kinetic_energy_parts", "acceleration_energy_parts_1", "acceleration_energy_parts_2"]),
    "inner forces": ("arm", ["joint_reactions", "joint_reactions_base", "link_resultants"]),
    "regressors": ("arm", ["regressor", "base_regressor"]),
    "papers": ("arm", ["transform_second_partials", "jacobian_coriolis", "jacobian_centrifugal_tip", "coriolis_coefficients",
                       "centrifugal_coefficients", "driving_forces", "exponential_operators", "exponential_factors",
                       "exponential_transforms", "exponential_differentials", "exponential_second_differentials",
                       "exponential_transfer_factors", "joint_operators", "acceleration_matrix"]),
    "beams": ("beam", ["point_strains", "point_curvatures", "point_accelerations", "section_loads", "joint_reactions",
                       "element_mass_matrices", "element_stiffness_matrices", "element_shapes", "regressor",
                       "forward_dynamics_derivatives", "elastic_inverse_dynamics"]),
    "loops": ("four_bar", ["loop_residual", "loop_jacobian", "loop_bias", "driven_map", "driven_bias", "constraint_forces",
                           "loop_forces", "reduced_mass_matrix", "reduced_coriolis_vector", "reduced_gravity_vector",
                           "reduced_jacobian", "forward_dynamics", "inverse_dynamics", "joint_reactions",
                           "forward_dynamics_derivatives"]),
    "loops of beams": ("slider_crank", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives", "forward_dynamics",
                                        "inverse_dynamics_rate_1", "base_regressor"]),
    "contacts": ("standing", ["contact_dynamics", "contact_impulse", "contact_inverse_dynamics"]),
    "coordinates": ("free", ["integrate", "difference", "motion_on_path", "start_of_path", "random_configuration",
                                  "inverse_dynamics_derivatives"]),
}  # fmt: skip
SOURCES = {"arm": ARM, "beam": BEAM, "free": ARM, "standing": ARM}


def mutants(program, rng, count=4):
    """The program with one constant each changed by a thousandth, where that changes its outputs."""
    refs = [ref for _, outputs in program.outputs for ref in outputs]
    graph = program.graph
    nodes = [k for k in graph.cone(refs) if graph.op[k] is Op.CONSTANT]
    for node in rng.permutation(nodes)[: 3 * count]:
        number = graph.number[node]
        graph.number[node] = number * (1 + 1e-3)
        try:
            yield program
        finally:
            graph.number[node] = number


def outputs_of(program, sample, parameters):
    with np.errstate(all="ignore"):
        found = program.evaluate(sample, parameters)
    return np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in found.values()])


SLOW = ("beams", "coordinates", "loops of beams", "derivatives", "derived on a free base")


@pytest.mark.parametrize("family", [pytest.param(f, marks=pytest.mark.nightly if f in SLOW else ()) for f in FAMILIES])
def test_a_wrong_constant_is_noticed(family):
    source, wanted = FAMILIES[family]
    robot = elastogen.load(SOURCES.get(source, source), **({"base": "floating"} if source in ("free", "standing") else {}))
    if source == "standing":
        robot = with_contacts(robot, ["lens", {"frame": "tip", "rows": 6}, "l1"])
    frames = ["tip", robot.links[1].name] if family == "frames" else []
    rng = np.random.default_rng(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derived = derive_model(robot, wanted, frames)
    noticed_in(derived, robot, frames, rng)


def noticed_in(derived, robot, frames, rng):
    """Every function of a derivation has a constant whose change is noticed, and none whose change passes."""
    variants = VariantFamily(robot, frames=tuple(frames))
    known = CATALOGUE | FRAMED | own_entries(variants, CATALOGUE)
    check = SelfCheck(robot, frames, {entry.name: entry.inputs for entry in known.values()})
    for function in derived.functions:
        if function.name in NOT_COMPARED:  # what a mechanism needs beside the functions that were asked for
            continue
        entry = entry_of(function.name, known)
        variant = variants.frame_assignments(entry.frame_assignment)[0]
        parts = asked_parts(function.name, known, function, variant)
        assert check.error(function.program, parts) < 0.2 * TOLERANCE, function.name
        seen = 0
        program = copy.copy(function.program)
        sample = (check.open_samples if function.name in OPEN else check.samples)[0].arguments
        given = {
            **sample,
            **{
                a.name: np.full((len(sample["q"]), *a.shape), 1.0 if a.name == MASK else 0.7)
                for a in program.inputs
                if a.name not in sample
            },
        }
        before = outputs_of(program, given, check.parameters)
        for spoiled in mutants(program, rng):
            after = outputs_of(spoiled, given, check.parameters)
            change = np.nanmax(np.abs(after - before), initial=0.0) / max(1e-300, np.nanmax(np.abs(before), initial=0.0))
            error = check.error(spoiled, parts)
            if change > 1e-6:
                assert error > TOLERANCE, (function.name, change, error)
                seen += 1
        assert seen or not [n for n in function.program.graph.number if n not in (0.0, 1.0, 0.5, 2.0)], function.name


@pytest.mark.nightly
def test_wrong_constants_in_own_functions_and_terms_are_noticed():
    robot = elastogen.load(ARM)
    s = elastogen.symbols(robot)
    lens = s.position("lens")
    robot = robot.with_terms(potential=37 * (lens.dot(lens) + 0.3) ** sympy.Rational(3, 2), dissipation=0.7 * s.qd[0] ** 4)
    s = elastogen.symbols(robot)
    law = s.f.mass_matrix(s.q) * (13 * (sympy.Matrix(s.input("r", 3)) - s.q)) + s.f.gravity_vector(s.q)
    robot = robot.with_function("law", inputs={"r": 3}, outputs={"F": law}).derivatives_of("law", by=["q", "r"])
    wanted = ["law", "gravity_vector", "friction_forces", "potential_energy", "inverse_dynamics", "law_adjoint"]
    wanted += [f.name for f in robot.functions if f.by]
    noticed_in(derive_model(robot, wanted), robot, [], np.random.default_rng(6))


def test_where_the_description_has_no_number_states_beside_it_are_compared(monkeypatch):
    """The gradient of a root at its zero: there is none, and a wrong one passed."""
    robot = elastogen.load(ARM)
    s = elastogen.symbols(robot)
    start = SelfCheck(robot).samples[0].arguments["q"][:, 0]
    gap = (s.q[0] - start[0]) ** 2 * (s.q[0] - start[1]) ** 2
    robot = robot.with_terms(potential=sympy.sqrt(gap))
    (function,) = derive_model(robot, ["gravity_vector"]).functions
    check = SelfCheck(robot)
    parts = asked_parts("gravity_vector", CATALOGUE, function, None)
    assert check.error(function.program, parts) <= TOLERANCE

    class Wrong:
        inputs, outputs = function.program.inputs, function.program.outputs

        def evaluate(self, arguments, parameters):
            found = {name: np.array(value) for name, value in function.program.evaluate(arguments, parameters).items()}
            found["G"][:, 0] = np.where(np.isnan(found["G"][:, 0]), 1.0, found["G"][:, 0] + 1.0)
            return found

    assert check.error(Wrong(), parts) > TOLERANCE


def test_the_list_of_what_is_not_compared_is_short():
    assert set(NOT_COMPARED) == {
        *("inertial_parameters", "base_parameters", "exponential_partial_products"),
        *("link_inertia_matrices", "forward_dynamics_by_other_coordinates", "closed_configuration"),
    }
    assert set(ALL_EXPECTATIONS) == {*CATALOGUE, *FRAMED} - set(NOT_COMPARED)
