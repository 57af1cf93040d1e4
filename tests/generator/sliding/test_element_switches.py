"""Sliding joints that pass from element to element: one program for all elements, and how a state goes on at a border."""

import itertools
import subprocess

import numpy as np
import pytest
from planar_oracle import Planar

import elastogen
from elastogen.generator.functions.derivation import CATALOGUE, derive_model
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.sliding.elements_inside import selectors

KINDS = (
    ("R", "Pa"), ("R", "Pa nodal"), ("R", "Pb nodal"), ("Pb nodal", "Pa"), ("Pb", "Pa"), ("Pb", "Pa nodal"),
    ("R", "Pa", "Pa"), ("R", "Pb nodal", "Pa nodal"), ("R", "Pb", "Pa"),
)  # fmt: skip
CASES = [(kind, False) for kind in KINDS] + [(KINDS[k], True) for k in (1, 3, 4, 7)]  # with foreshortening every kind once


def links_of(kind, elements, foreshortening=False):
    links = []
    for joint in kind:
        letter, _, slide = joint.partition(" ")
        link = {"joint": letter, "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": elements}
        if letter != "R":
            link |= {"gamma": 0.3, "slide": slide or "smooth"}
        if foreshortening and (letter != "Pb" or slide):
            link["foreshortening"] = True
        links.append(link)
    return links


def robot_of(kind, elements, foreshortening=False, gravity=(0.0, -9.81)):
    planar = {"links": links_of(kind, elements, foreshortening), "payload": {"mass": 0.05}, "gravity": list(gravity)}
    return elastogen.load({"elastogen": 1, "name": "sliding", "planar": planar})


def random_state(robot, rng):
    """Positions with every sliding joint somewhere on its beam, and two more vectors."""
    count = len(robot.coordinates)
    q, (qd, qdd) = 0.02 * rng.normal(size=count), 0.3 * rng.normal(size=(2, count))
    for selector in selectors(robot):
        q[selector.coordinate] = rng.uniform(0.05, 0.78)
        if selector.passage == "clamp":
            clamped = slice(start := selector.nodes + 2 * selector.element(q) - 2, start + 4)
            q[clamped] = qd[clamped] = qdd[clamped] = 0.0
    return q, qd, qdd


def functions(robot, names):
    return {function.name: function for function in derive_model(robot, names).functions}


# ---- one program for all elements


@pytest.mark.parametrize(
    ("kind", "foreshortening"), CASES, ids=lambda case: " ".join(case) if isinstance(case, tuple) else str(case)
)
def test_indicators_choose_the_equations_of_the_elements(kind, foreshortening):
    """With indicators the same comes out as in a derivation for the elements that are inside the joints."""
    robot = robot_of(kind, 3 if len(kind) == 2 and not foreshortening else 2, foreshortening)
    names = ("inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "coriolis_matrix", "jacobian")
    found = functions(robot, names[:2] if foreshortening else names)
    rng = np.random.default_rng(8)
    seen: dict[tuple[int, ...], VariantFamily] = {}
    for _ in range(3):
        q, qd, qdd = random_state(robot, rng)
        elements = {selector.joint: selector.element(q) for selector in selectors(robot)}
        family = seen.setdefault(tuple(elements.values()), VariantFamily(robot, elements))
        given = {"q": q, "qd": qd, "qdd": qdd}
        for name, function in found.items():
            entry = CATALOGUE[name]
            variant = family.frame_assignments(entry.frame_assignment)[0]
            derived = entry.formulations[0](variant)
            for argument, values in zip(entry.outputs(variant), derived.outputs, strict=True):
                expected = _evaluated(variant.graph, values, given)
                result = np.ravel(function.evaluate(given)[argument.name])
                np.testing.assert_allclose(result, expected, rtol=0, atol=1e-11 * np.abs(expected).max(), err_msg=name)
    assert len(seen) > 1


def _evaluated(graph, values, given):
    from elastogen.generator.program.program import Program
    from elastogen.runtime.interface.argument import Argument

    inputs = [Argument(name, np.shape(value), "", "") for name, value in given.items()]
    program = Program(graph, inputs, [(Argument("result", (len(values),), "", ""), [value.ref for value in values])])
    return program.evaluate(given)["result"]


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_forward_dynamics_inverts_inverse_dynamics(kind):
    """The factorization with windows: M^-1 (F - bias) gives back the accelerations."""
    robot = robot_of(kind, 3 if len(kind) == 2 else 2)
    found = functions(robot, ("inverse_dynamics", "forward_dynamics", "mass_matrix"))
    rng = np.random.default_rng(8)
    for _ in range(5):
        q, qd, qdd = random_state(robot, rng)
        F = found["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": qdd})["F"]
        result = found["forward_dynamics"].evaluate({"q": q, "qd": qd, "F": F})["qdd"]
        condition = np.linalg.cond(found["mass_matrix"].evaluate({"q": q})["M"])
        np.testing.assert_allclose(result, qdd, rtol=0, atol=1e-15 * condition * np.abs(qdd).max())


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_cost_is_linear_in_the_elements(name):
    """Three more elements on both links cost the same wherever they are added; the size of the C follows."""
    costs = [functions(robot_of(("R", "Pa"), elements), (name,))[name].program.count.total for elements in (3, 6, 9)]
    first, second = np.diff(costs)
    assert second == pytest.approx(first, rel=0.05)


def test_twelve_elements_on_three_links():
    """144 combinations of elements are one program; tip and potential energy against quadrature."""
    plan = Planar(links_of(("R", "Pa", "Pa"), 12), 0.05, (0.0, -9.81))
    robot = elastogen.load(plan.description("long_arm"))
    found = functions(robot, ("potential_energy", "forward_kinematics"))
    q, qd, qdd = random_state(robot, np.random.default_rng(1))
    expected = plan.evaluate(q, qd, qdd)
    given = {"q": q, "qd": qd}
    assert found["potential_energy"].evaluate(given)["V"] == pytest.approx(expected["V"], rel=1e-12)
    tip = found["forward_kinematics"].evaluate(given)["T"][-1][:2, 3]
    np.testing.assert_allclose(tip, expected["tip"], rtol=0, atol=1e-13)


# ---- motions through borders


@pytest.fixture(scope="module")
def smooth():
    return elastogen.build_model(robot_of(("R", "Pa"), 3, gravity=(0, -2.0)), outputs="simulation")


@pytest.fixture(scope="module")
def clamped():
    return elastogen.build_model(robot_of(("R", "Pb nodal"), 3, gravity=(0, -2.0)), outputs="simulation")


def start_of(model, d, speed):
    q, qd = np.zeros(model.nq), np.zeros(model.nq)
    (joint,) = model.metadata.sliding
    q[0], q[joint.coordinate], qd[joint.coordinate] = 0.3, d, speed
    return q, qd


METHODS = {
    "tsit5": ({"rtol": 1e-11, "atol": 1e-12}, 1e-9),
    "rk4": ({"step": 2e-5}, 1e-9),
    "generalized_alpha": ({"step": 2e-4, "rtol": 1e-10, "atol": 1e-12}, 1e-4),
}


@pytest.mark.filterwarnings("ignore:.*turned at")
@pytest.mark.parametrize("method", METHODS)
def test_energy_goes_on_through_borders(smooth, method):
    """Only integration errors, forth over two borders and back over one."""
    options, tolerance = METHODS[method]
    q, qd = start_of(smooth, 0.2, 3.0)
    motion = smooth.simulate(q, qd, t=0.13, method=method, **options)
    assert [(s.joint, s.before, s.after) for s in motion.switches] == [("joint2", 1, 2), ("joint2", 2, 3)]
    scale = np.abs(motion.kinetic).max()
    assert np.abs(motion.energy - motion.energy[0]).max() < tolerance * scale
    assert all(abs(s.energy_change) < 1e-10 * scale for s in motion.switches), motion.switches
    back = smooth.simulate(motion.q[-1], -motion.qd[-1], t=0.13, method=method, **options)
    assert [(s.before, s.after) for s in back.switches] == [(3, 2), (2, 1)]
    np.testing.assert_allclose(back.q[-1], q, rtol=0, atol=1e4 * tolerance if method == "generalized_alpha" else 1e-7)


@pytest.mark.filterwarnings("ignore:.*turned at")
def test_methods_meet_borders_at_the_same_time(smooth):
    q, qd = start_of(smooth, 0.2, 3.0)
    times = []
    for method, (options, _) in METHODS.items():
        times.append([s.time for s in smooth.simulate(q, qd, t=0.13, method=method, **options).switches])
    np.testing.assert_allclose(times[0], times[1], rtol=1e-9)
    np.testing.assert_allclose(times[0], times[2], rtol=1e-5)


def border_state(rng, speed):
    """A state of the R P_a robot at the border of elements 1 and 2, and its oracle."""
    plan = Planar(links_of(("R", "Pa"), 3), 0.05, (0.0, -2.0))
    q, qd = 0.1 * rng.normal(size=plan.nq), rng.normal(size=plan.nq)
    q[plan.starts[1]], qd[plan.starts[1]] = 0.8 / 3, speed
    return plan, q, qd


def test_momenta_along_the_border_and_energy_go_on(smooth):
    """Against mass matrices by quadrature on both sides; the speed takes up the jump, however slow the joint is."""
    rng = np.random.default_rng(11)
    for speed in (2.0, -2.0, 0.002, -0.002) * 4:
        plan, q, qd = border_state(rng, speed)
        d = plan.starts[1]
        position, velocity, switch = smooth.switch_element("joint2", q, qd)
        sides = [1, 2] if speed > 0 else [2, 1]
        assert switch.before == sides[0]
        assert abs(position[d] - q[d]) < 1e-15
        beyond = np.array(position)
        beyond[d] = np.nextafter(position[d], -np.sign(speed) * np.inf)
        while plan.inside(beyond)[1] != sides[0]:
            beyond[d] = np.nextafter(beyond[d], -np.sign(speed) * np.inf)
        zero = np.zeros(plan.nq)
        M = {side: plan.evaluate(at, zero, zero)["M"] for side, at in zip(sides, (beyond, position), strict=True)}
        before, after = M[switch.before] @ qd, M[switch.after] @ velocity
        others = [k for k in range(plan.nq) if k != d]
        np.testing.assert_allclose(after[others], before[others], rtol=0, atol=1e-11 * np.abs(before).max())
        assert velocity @ after == pytest.approx(qd @ before, rel=1e-11)
        assert switch.energy_after == pytest.approx(switch.energy_before, rel=1e-11)
        assert switch.after == sides[1]
        mobility = [np.linalg.inv(M[side])[d, d] for side in sides]
        assert velocity[d] == pytest.approx(speed * np.sqrt(mobility[1] / mobility[0]), rel=1e-9)
        assert abs(velocity[d] / speed - 1) > 1e-4


@pytest.mark.filterwarnings("ignore:.*turned at")
def test_a_clamped_element_takes_its_deflection_along(clamped):
    """Nodal P_b: what becomes clamped vanishes, all else goes on; the energy it had is reported and balanced."""
    (joint,) = clamped.metadata.sliding
    q, qd = start_of(clamped, 0.2, 2.0)
    motion = clamped.simulate(q, qd, t=0.3, rtol=1e-10, atol=1e-12)
    assert [(s.before, s.after) for s in motion.switches] == [(3, 2), (2, 1)]
    assert abs(motion.switches[0].energy_change) > 1e-9
    assert np.abs(motion.balance).max() < 1e-9 * np.abs(motion.kinetic).max()
    for sample, position, velocity in zip(motion.t, motion.q, motion.qd, strict=True):
        element = joint.first - sum(s.time <= sample for s in motion.switches)
        inside = slice(joint.nodes + 2 * element - 2, joint.nodes + 2 * element + 2)
        assert not position[inside].any()
        assert not velocity[inside].any()
    state = motion.q[100].copy(), motion.qd[100].copy()
    state[0][joint.coordinate] = 0.8 / 3
    after_q, after_qd, switch = clamped.switch_element(joint.joint, *state)
    changed = [k for k in range(clamped.nq) if after_q[k] != state[0][k] and k != joint.coordinate]
    assert set(changed) <= set(range(joint.nodes + 2, joint.nodes + 6))
    energies = [float(clamped.kinetic_energy(a, b) + clamped.potential_energy(a)) for a, b in (state, (after_q, after_qd))]
    assert switch.energy_change == pytest.approx(energies[1] - energies[0], rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*turned at")
def test_the_printed_slide_keeps_positions_and_velocities():
    """Nodal P_a: the link jumps, and the energy with it, as reported."""
    model = elastogen.build_model(robot_of(("R", "Pa nodal"), 2), outputs="simulation")
    q, qd = start_of(model, 0.4, 1.0)
    q[1:5] = 0.01, 0.05, 0.04, 0.1
    position, velocity, switch = model.switch_element("joint2", q, qd)
    np.testing.assert_array_equal(velocity, qd)
    np.testing.assert_allclose(position, q, rtol=0, atol=1e-15)
    assert (switch.before, switch.after) == (1, 2)
    assert abs(switch.energy_change) > 1e-4
    motion = model.simulate(*start_of(model, 0.35, 1.0), t=0.1, rtol=1e-10, atol=1e-12)
    assert motion.switch_count == 1
    assert np.abs(motion.balance).max() < 1e-9 * np.abs(motion.kinetic).max()


def test_the_end_of_the_beam_ends_the_motion():
    """A rigid link slides freely along a straight beam: it leaves it when it should, from whatever method."""
    links = [
        {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 4},
        {"joint": "Pa", "gamma": 0.0, "length": 0.3, "rigid": True, "mass": 0.5},
    ]
    robot = elastogen.load({"elastogen": 1, "name": "free_slide", "planar": {"links": links}})
    model = elastogen.build_model(robot, outputs="simulation")
    q, qd = start_of(model, 0.1, 2.0)
    q[0] = 0.0
    for method in METHODS:
        motion = model.simulate(q, qd, t=1.0, method=method, on_failure="keep")
        assert motion.status == "OUT_OF_RANGE"
        assert motion.time_reached == pytest.approx(0.35, abs=1e-11)
        assert motion.switch_count == 3
        assert [s.time for s in motion.switches] == pytest.approx([0.05, 0.15, 0.25], abs=1e-11)
        assert motion.t[-1] < 0.35 + 1e-12
    q[model.metadata.sliding[0].coordinate] = 0.9
    with pytest.raises(elastogen.SimulationError, match=r"t = 0 s: joint2 left its beam, 0 to 0\.8 m"):
        model.simulate(q, qd, t=1.0)


@pytest.mark.filterwarnings("ignore:.*turned at")
def test_batches_reports_and_files(smooth, tmp_path):
    starts = np.array([start_of(smooth, d, 3.0) for d in (0.2, 0.3)])
    motions = smooth.simulate(starts[:, 0], starts[:, 1], t=0.13, rtol=1e-10, atol=1e-12)
    assert motions.switch_count.tolist() == [2, 1]
    assert [s.motion for s in motions.switches] == [(0,), (0,), (1,)]
    assert np.abs(motions.balance).max() < 1e-9 * np.abs(motions.kinetic).max()
    assert "3 borders of elements passed" in motions.report()
    saved = np.load(motions.save(tmp_path / "motion.npz"))["switches"]
    assert saved["joint"].tolist() == ["joint2"] * 3
    np.testing.assert_array_equal(saved["time"], [s.time for s in motions.switches])


@pytest.mark.filterwarnings("ignore:.*turned at")
def test_single_precision_passes_borders(smooth):
    single = elastogen.build_model(robot_of(("R", "Pa"), 3, gravity=(0, -2.0)), outputs="simulation", precision="float")
    q, qd = start_of(smooth, 0.2, 3.0)
    coarse, fine = (model.simulate(q, qd, t=0.1, method="rk4", step=1e-4) for model in (single, smooth))
    assert [(s.before, s.after) for s in coarse.switches] == [(s.before, s.after) for s in fine.switches]
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], rtol=0, atol=1e-3)
    q[smooth.metadata.sliding[0].coordinate] = np.nextafter(0.8 / 3, 1.0)  # the node itself in single precision
    assert (smooth.elements(q).tolist(), single.elements(q).tolist()) == ([2], [1])
    position, _, switch = single.switch_element("joint2", q, qd)
    assert (switch.before, switch.after) == (1, 2)
    assert abs(position - q).max() < 1e-7


def test_nodes_are_where_they_are_said_to_be():
    """l = 0.6 with three elements has a node at 0.2, not a rounding error beside it."""
    for name, first in (("Pa nodal", [1, 2]), ("Pb nodal", [3, 2])):
        links = [{**link, "length": 0.6} for link in links_of(("R", name), 3)]
        robot = elastogen.load({"elastogen": 1, "name": "nodes", "planar": {"links": links}})
        (selector,) = selectors(robot)
        assert [threshold.bound for threshold in selector.thresholds] == [0.2, 0.4]
        q = np.zeros(len(robot.coordinates))
        found = []
        for d in (0.2, 0.4):
            q[selector.coordinate] = d
            found.append(selector.element(q))
        assert found == first


def test_a_telescopic_joint_without_length_is_out_of_range(clamped):
    q, qd = start_of(clamped, 0.0, 1.0)
    with pytest.raises(elastogen.SimulationError, match="t = 0 s: joint2 left its beam"):
        clamped.simulate(q, qd, t=0.1)


def test_errors_of_switch_element(smooth):
    q, qd = start_of(smooth, 0.2, 1.0)
    with pytest.raises(elastogen.ModelError, match=r"got joint='joint1', expected one of \['joint2'\]"):
        smooth.switch_element("joint1", q, qd)
    with pytest.raises(elastogen.ModelError, match=r"joint2 is at 0\.2 m, expected the border"):
        smooth.switch_element("joint2", q, qd)
    bare = elastogen.build_model(robot_of(("R", "Pa"), 3), outputs=["forward_dynamics"])
    with pytest.raises(elastogen.ModelError, match=r"built without .*mass_matrix"):
        bare.simulate(q, qd, t=0.1)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("kind", [("R", "Pa"), ("R", "Pb nodal"), ("R", "Pb")], ids=" ".join)
def test_the_c_compiles_without_warnings(kind, precision, tmp_path):
    elastogen.generate(robot_of(kind, 2), tmp_path, outputs="simulation", precision=precision)
    flags = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wfloat-equal"
    flags += " -Wdouble-promotion -Wcast-qual"
    for name in ("", "_switch", "_simulate"):
        command = ["cc", "-std=c99", "-O0", "-Werror", *flags.split(), "-c", f"sliding{name}.c", "-o", f"{name}.o"]
        subprocess.run(command, cwd=tmp_path, check=True)


def test_elements_and_functions_for_them_in_c(smooth, tmp_path):
    """*_in computes with the elements that it is reported; the plain function with those of q; wrong ones are refused."""
    source = next(path for path in smooth.c_files if path.suffix == ".c")
    program = """
    #include "sliding.h"
    int main(void) {
        const sliding_params_t *p = &sliding_params_nominal;
        double q[SLIDING_NQ] = {0.1, 0.02, 0.1, 0.05, 0.2, 0.1, 0.3}, a = 0, b = 0, c = 0;
        int k[1] = {2};
        q[7] = 0.3;
        if (sliding_potential_energy(p, q, &a) != 0 || sliding_potential_energy_in(p, k, q, &b) != 0 || a != b) return 1;
        k[0] = 1;
        if (sliding_potential_energy_in(p, k, q, &c) != 0 || c == a) return 2;
        k[0] = 4;
        if (sliding_potential_energy_in(p, k, q, &c) != SLIDING_ERROR_OUT_OF_RANGE || c != 0.0) return 3;
        return 0;
    }
    """
    (tmp_path / "main.c").write_text(program)
    subprocess.run(["cc", f"-I{source.parent}", str(source), "main.c", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def test_closed_forms_ask_for_the_elements():
    form = elastogen.derive(robot_of(("R", "Pa"), 2))
    with pytest.raises(elastogen.OutputError, match=r"Fix: say which, for example elements=\{'joint2': 1\}"):
        form.function("potential_energy")
    with pytest.raises(elastogen.OutputError, match=r"got elements=\{'joint2': 3\}, expected one of \[1, 2\]"):
        form.function("potential_energy", {"joint2": 3})
    energies = [form.function("potential_energy", {"joint2": k})["V"] for k in (1, 2)]
    assert all(a != b for a, b in itertools.pairwise(energies))
