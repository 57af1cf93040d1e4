"""The ROS 2 package: built by CMake and called with interface headers of ours, which stand in for those of ROS 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from ruamel.yaml import YAML
from simulated_robots import BENDING, FLOATING

import elastogen

STAND_IN = Path(__file__).resolve().parents[2] / "helpers" / "devices" / "ros2_stand_in"
FUNCTIONS = """
function(pluginlib_export_plugin_description_file)
endfunction()
function(ament_export_targets)
endfunction()
function(ament_export_dependencies)
endfunction()
function(ament_package)
endfunction()
"""
TARGETS = {"rclcpp": "rclcpp::rclcpp", "Eigen3": "Eigen3::Eigen"}  # others give <name>_TARGETS
CALLER = r"""
#include <cstdio>
#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>
extern "C" inverse_dynamics_solver::InverseDynamicsSolver* make_plugin();
static void print(const Eigen::VectorXd& v)
{
    for (Eigen::Index k = 0; k < v.size(); ++k) { std::printf("%.17g ", v(k)); }
}
int main()
{
    auto* const solver = make_plugin();
    auto parameters = std::make_shared<rclcpp::node_interfaces::NodeParametersInterface>();
    parameters->values["arm.payload_mass"] = rclcpp::Parameter(1.5);
    solver->initialize(parameters, "arm", "");
    Eigen::VectorXd q(6), qd(6), qdd(6);
    for (int k = 0; k < 6; ++k) { q(k) = 0.1 * k - 0.2, qd(k) = 0.3 - 0.15 * k, qdd(k) = 0.5 * k; }
    const auto M = solver->getInertiaMatrix(q);
    for (int r = 0; r < 6; ++r) { for (int c = 0; c < 6; ++c) { std::printf("%.17g ", M(r, c)); } }
    print(solver->getCoriolisVector(q, qd)), print(solver->getGravityVector(q)), print(solver->getFrictionVector(qd));
    print(solver->getTorques(q, qd, qdd));
    std::printf("\n");
    try { solver->getGravityVector(Eigen::VectorXd(5)); } catch (const std::exception& e) { std::printf("%s\n", e.what()); }
    parameters->values["arm.payload_mass"] = rclcpp::Parameter(std::string("heavy"));
    try { solver->initialize(parameters, "arm", ""); } catch (const std::exception& e) { std::printf("%s\n", e.what()); }
    delete solver;
}
"""


def write_packages(folder: Path) -> None:
    """What find_package reads, in place of ROS 2."""
    for name in ("ament_cmake", "Eigen3", "inverse_dynamics_solver", "pluginlib", "rclcpp", "sensor_msgs"):
        target = TARGETS.get(name, f"{name}::{name}")
        text = f"add_library({target} INTERFACE IMPORTED)\nset({name}_TARGETS {target})\n"
        text += f'target_include_directories({target} INTERFACE "{STAND_IN}")\n'
        (folder / name).mkdir(parents=True)
        (folder / name / f"{name}Config.cmake").write_text(text + (FUNCTIONS if name == "ament_cmake" else ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") is None:
        pytest.skip("CMake is not installed: pip install cmake")
    package, packages = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("packages")
    elastogen.export(elastogen.load("puma560_geared").with_sensors("encoders"), package, format="ros2")
    write_packages(packages)
    (package / "caller.cpp").write_text(CALLER)
    cmake = (package / "CMakeLists.txt").read_text()
    cmake += "add_executable(caller caller.cpp)\ntarget_link_libraries(caller PRIVATE ${PROJECT_NAME})\n"
    (package / "CMakeLists.txt").write_text(cmake)
    flags = "-g0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O0"
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in (
        [
            "cmake",
            "-S",
            ".",
            "-B",
            "out",
            f"-DCMAKE_PREFIX_PATH={packages}",
            f"-DCMAKE_CXX_FLAGS={flags}",
            "-DCMAKE_BUILD_TYPE=Debug",
        ],
        ["cmake", "--build", "out"],
        ["cmake", "--install", "out", "--prefix", "there"],
    ):
        done = subprocess.run(command, cwd=package, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
    return package


def test_the_plugin_gives_the_numbers_of_the_model(built: Path) -> None:
    done = subprocess.run([built / "out" / "caller"], capture_output=True, text=True, check=True)
    numbers, size, kind = done.stdout.splitlines()
    k = np.arange(6)
    q, qd, qdd = 0.1 * k - 0.2, 0.3 - 0.15 * k, 0.5 * k
    model = elastogen.build_model("puma560_geared")
    model.parameters["payload_mass"] = 1.5
    friction = model.friction_forces(q, qd)
    expected = [model.mass_matrix(q), model.coriolis_vector(q, qd), model.gravity_vector(q), friction]
    expected.append(model.inverse_dynamics(q, qd, qdd))
    assert np.count_nonzero(np.abs(friction) > 0.1) == 5  # the elbow stands still
    flat = np.concatenate([x.ravel() for x in expected])
    assert np.allclose([float(x) for x in numbers.split()], flat, rtol=1e-12, atol=1e-13)
    assert size == "puma560_geared: joint_positions has 5 numbers, expected 6, one for each joint."
    assert kind == "puma560_geared: parameter arm.payload_mass is no finite number, expected one with a decimal point."


def test_the_node_answers_states_in_any_order(built: Path) -> None:
    model = elastogen.build_model("puma560_geared")
    names, q, qd = model.coordinate_names, np.linspace(-1, 1, 6), np.linspace(0.5, -0.4, 6)
    order = [3, 1, 5, 0, 2, 4]
    line = f"7 gripper 0.1 0 {' '.join(f'{names[k]} {float(q[k])!r} {float(qd[k])!r}' for k in order)}"
    node = built / "there" / "lib" / "puma560_geared_dynamics" / "puma560_geared_dynamics_node"
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(built / "there" / "lib")}
    done = subprocess.run([node], input=f"{line}\n1 waist 0 0\n", capture_output=True, text=True, check=True, env=libraries)
    *forces, refused = done.stdout.splitlines()
    assert [each.split()[0] for each in forces] == [*names]
    assert np.allclose([float(each.split()[1]) for each in forces], model.inverse_dynamics(q, qd, 0 * q), rtol=1e-12)
    assert refused == "joint_states has no position of shoulder: nothing is published"


def test_the_estimator_is_the_filter_of_the_model(built: Path) -> None:
    """An arm falls with forces held, in steps of 10 ms; a stamp comes twice, a message is late, the clock starts again."""
    model, steps, dt = elastogen.build_model("puma560_geared"), 30, 0.01
    start, forces = np.array([0.2, -0.7, 0.3, 0.1, 0.4, -0.2]), np.array([6.0, 1.0, -4.0, 0.3, -0.2, 0.1])
    motion = model.simulate(start, np.zeros(6), t=dt * np.arange(steps), F=forces, method="rk4", step=1e-3, stops="ignore")
    read = motion.q + 1e-4 * np.random.default_rng(0).standard_normal(motion.q.shape)
    held = " ".join(map(repr, forces.tolist()))

    def message(q: np.ndarray, nanoseconds: int) -> str:
        joints = " ".join(f"{name} {float(x)!r} 0" for name, x in zip(model.coordinate_names, q, strict=True))
        return f"6 {joints} {nanoseconds // 10**9} {nanoseconds % 10**9} {held}"

    stamps = [5 * 10**9 + 10**7 * k for k in range(steps)]
    late = [(read[3], stamps[-1]), (read[3], stamps[-1] + 10**9), (read[4], 10**9)]
    lines = [*map(message, read, stamps), *(message(*each) for each in late)]
    node = built / "there" / "lib" / "puma560_geared_dynamics" / "puma560_geared_dynamics_estimator"
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(built / "there" / "lib")}
    done = subprocess.run([node], input="\n".join(lines), capture_output=True, text=True, check=True, env=libraries)
    *printed, anew = done.stdout.split("joint_states of waist come out of order: later stamps are waited for\n")
    found = np.array([line.split()[1:] for line in printed[0].splitlines()], dtype=float).reshape(steps, 6, 3)
    values = YAML(typ="safe").load((built / "config" / "puma560_geared_dynamics.yaml").read_text())
    unknown = values["puma560_geared_dynamics_estimator"]["ros__parameters"]["force"]
    assert np.allclose(unknown, 0.2 * model.mass_matrix(np.zeros(6)).diagonal(), rtol=0.05)
    ekf = model.ekf(
        read[0], np.zeros(6), force=unknown, noise=1e-4, position_error=1e-3, velocity_error=1.0, sensors=["encoders"]
    )
    expected = [(ekf.q, ekf.qd)]
    for k in range(1, steps):
        ekf.step(forces, read[k], dt=dt)
        expected.append((ekf.q, ekf.qd))
    assert np.allclose(found[:, :, :2].swapaxes(1, 2), expected, rtol=1e-9, atol=1e-9)
    assert np.array_equal(found[:, :, 2], np.tile(forces, (steps, 1)))
    differences = np.diff(read, axis=0)[-10:] / dt
    assert 3 * np.abs(found[-10:, :, 1] - motion.qd[-10:]).max() < np.abs(differences - motion.qd[-10:]).max()
    again = np.array([line.split()[1:3] for line in anew.splitlines()], dtype=float)
    assert np.array_equal(again[:, 0], np.concatenate([read[3], read[4]]))
    assert np.array_equal(again[:, 1], np.zeros(12))


@pytest.mark.parametrize(("sensors", "there"), [((), False), (("tip",), False), (("encoders", "tachometers"), True)])
def test_the_estimator_is_there_where_joint_states_has_what_sensors_read(tmp_path: Path, sensors, there: bool) -> None:
    robot = elastogen.load("two_link")
    elastogen.export(robot.with_sensors(*sensors) if sensors else robot, tmp_path, format="ros2")
    assert (tmp_path / "src" / "estimator.cpp").exists() == there
    for file in ("CMakeLists.txt", "launch/two_link_dynamics.launch.py", "config/two_link_dynamics.yaml", "README.md"):
        assert ("_estimator" in (tmp_path / file).read_text()) == there, file
    if there:
        text = (tmp_path / "src" / "estimator.cpp").read_text()
        assert "{1, false}, // elbow\n    {0, true}, // shoulder.rate" in text


def test_manifest_plugin_launch_and_parameters_name_the_same(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "puma560_geared_dynamics"
    package = ElementTree.parse(built / "package.xml").getroot()
    assert (package.get("format"), package.findtext("name")) == ("3", name)
    cmake = (built / "CMakeLists.txt").read_text()
    for depend in package.findall("depend"):
        assert f"find_package({ {'eigen': 'Eigen3'}.get(depend.text, depend.text) } REQUIRED)" in cmake
    plugin = ElementTree.parse(built / f"{name}.xml").getroot()
    assert (plugin.get("path"), plugin[0].get("type")) == (name, f"{name}::Solver")
    values = YAML(typ="safe").load((built / "config" / f"{name}.yaml").read_text())[name]["ros__parameters"]
    model = elastogen.build_model("puma560_geared")
    assert values["joints"] == list(model.coordinate_names)
    assert values["dynamics"] == dict(model.parameters)
    assert all(isinstance(value, float) for value in values["dynamics"].values())
    launched: list[dict] = []
    stand_ins = {
        "ament_index_python": {}, "ament_index_python.packages": {"get_package_share_directory": lambda each: f"/share/{each}"},
        "launch": {"LaunchDescription": list}, "launch_ros": {}, "launch_ros.actions": {"Node": lambda **o: launched.append(o)},
    }  # fmt: skip
    for module, names in stand_ins.items():
        made = types.ModuleType(module)
        vars(made).update(names)
        monkeypatch.setitem(sys.modules, module, made)
    scope: dict = {}
    exec(compile((built / "launch" / f"{name}.launch.py").read_text(), "launch", "exec"), scope)
    scope["generate_launch_description"]()
    assert launched[0]["executable"] == f"{name}_node"
    assert launched[1]["executable"] == f"{name}_estimator"
    assert launched[0]["parameters"] == launched[1]["parameters"] == [f"/share/{name}/config/{name}.yaml"]


def test_small_numbers_stay_numbers(tmp_path: Path) -> None:
    robot = elastogen.load({
        "elastogen": 1, "name": "small", "live": ["payload"], "payload": {"mass": 1e-5},
        "links": [{"name": "base"}, {"name": "bar", "mass": 1, "com": [0.4, 0, 0], "inertia": [0.01, 0.08, 0.08]}],
        "joints": [{"name": "hinge", "type": "revolute", "child": "bar"}],
    })  # fmt: skip
    elastogen.export(robot, tmp_path, format="ros2")
    text = (tmp_path / "config" / "small_dynamics.yaml").read_text()
    assert "payload_mass: 1.0e-05 # kg" in text


@pytest.mark.parametrize(
    ("robot", "kind"),
    [(BENDING, "elastic coordinates"), (FLOATING, "quaternions"), ("four_bar", "loops")],
    ids=["flexible", "floating", "loops"],
)
def test_robots_that_the_interface_cannot_take_are_named(tmp_path: Path, robot, kind: str) -> None:
    with pytest.raises(elastogen.OutputError, match=f"format 'ros2': .* has {kind}, expected joints with one coordinate each"):
        elastogen.export(robot, tmp_path / "out", format="ros2")
    assert not (tmp_path / "out").exists()
