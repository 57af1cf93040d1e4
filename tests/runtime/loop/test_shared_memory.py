"""State and command in shared memory: lengths, locks, closing, sides that are killed, a driver in C."""

from __future__ import annotations

import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from loop_setup import run_free

import elastogen
from elastogen.runtime.loop.controllers import PDGravity
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import SharedMemory, SharedRobot

ROOT = Path(__file__).parents[3]
OBJECTS = Path("/dev/shm")
pytestmark = pytest.mark.skipif(not OBJECTS.is_dir(), reason="shared memory objects are looked at in /dev/shm")
HEADER = struct.Struct("16I")  # as docs/running/real-time-loop.md lays it out
FIELDS = (
    "magic", "version", "bytes", "nq", "real_bytes", "places", "meaning_0", "meaning_1", "loop_process", "robot_process",
    "command_given", "command_number", "state_given", "state_number", "reserved_0", "reserved_1",
)  # fmt: skip


def header(name: str) -> dict[str, int]:
    with open(OBJECTS / name, "rb") as file:
        return dict(zip(FIELDS, HEADER.unpack(file.read(HEADER.size)), strict=True))


def is_there(name: str) -> bool:
    return (OBJECTS / name).exists()


@pytest.fixture
def pair(library):
    """A loop on shared memory, its plant, and the robot at the other end."""
    plant = SharedMemory(stale_limit=50)
    loop = Loop(library, plant=plant, controller=PDGravity(10.0, 1.0), telemetry=64, rate=1000)
    robot = SharedRobot(library, plant.name)
    yield loop, plant, robot
    loop.stop()
    robot.close()
    plant.close()
    assert not is_there(plant.name)


def test_the_header_says_what_the_documentation_says(pair, library) -> None:
    _, plant, robot = pair
    robot.put([0.5, 1.5], [2.5, 3.5])
    found = header(plant.name)
    assert found["magic"].to_bytes(4, "little") == b"ELGS"
    assert (found["version"], found["nq"], found["real_bytes"], found["places"]) == (1, 2, 8, 4)
    assert found["bytes"] == (OBJECTS / plant.name).stat().st_size == 64 + 8 * 4 * (4 + 2)
    assert found["loop_process"] == found["robot_process"] == os.getpid()
    assert (found["state_given"], found["state_number"], found["command_given"]) == (1, 1, 0)
    data = (OBJECTS / plant.name).read_bytes()
    assert struct.unpack_from("4d", data, 64 + 32 * (found["state_number"] % 4)) == (0.5, 1.5, 2.5, 3.5)
    assert oct((OBJECTS / plant.name).stat().st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("wrong", [[0.1], [0.1, 0.2, 0.3], 0.1, [[0.1, 0.2]], "ab", [1j, 0.0], None, [[1, 2], [3]]])
def test_lengths_are_checked(pair, wrong) -> None:
    _, plant, robot = pair
    for arguments in ((wrong, [0.0, 0.0]), ([0.0, 0.0], wrong)):
        with pytest.raises(elastogen.ModelError, match="expected"):
            robot.put(*arguments)
    assert header(plant.name)["state_given"] == 0


def test_a_loop_does_not_invent_the_first_state(pair) -> None:
    loop, _, robot = pair
    with pytest.raises(elastogen.ModelError, match="no command yet"):
        robot.get()
    assert loop.step().name == "STATUS_STALE_STATE"


def test_start_waits_for_the_robot_and_says_who_is_missing(library) -> None:
    with SharedMemory(timeout=0.05) as plant:
        loop = Loop(library, plant=plant, telemetry=0)
        with pytest.raises(elastogen.ModelError, match=r"nobody is its robot side.* within 0.05 s"):
            loop.start()
        with SharedRobot(library, plant.name) as robot:
            with pytest.raises(elastogen.ModelError, match=rf"process {os.getpid()}.* within 0.05 s"):
                loop.start()
            robot.put([0.0, 0.0], [0.0, 0.0])
            loop.start(cycles=1)
            loop.wait(timeout=10)
            robot.get(timeout=0.01)
            with pytest.raises(elastogen.ModelError, match=r"no new command within 0.02 s"):
                robot.get(timeout=0.02)


def test_waiting_for_commands_is_bounded(pair) -> None:
    loop, _, robot = pair
    robot.put([0.0, 0.0], [0.0, 0.0])
    loop.step()
    first = robot.get(timeout=1.0)
    np.testing.assert_array_equal(robot.get(), first)  # without a timeout: the last one, new or not
    with pytest.raises(elastogen.ModelError, match=f"process {os.getpid()}"):
        robot.get(timeout=0.02)


def test_one_process_per_side(pair, library) -> None:
    _, plant, _ = pair
    with pytest.raises(elastogen.ModelError, match=rf"process {os.getpid()} is its robot side"):
        SharedRobot(library, plant.name, timeout=0.0)
    with pytest.raises(elastogen.ModelError, match=rf"process {os.getpid()} is its loop side"):
        Loop(library, plant=SharedMemory(plant.name))


def test_foreign_objects_are_left_alone(library) -> None:
    name = f"elastogen_test_{os.getpid()}"
    for content in (b"somebody else's" * 100, b"short"):
        (OBJECTS / name).write_bytes(content)
        try:
            with pytest.raises(elastogen.ModelError, match="not a block of elastogen"):
                SharedRobot(library, name, timeout=0.0)
            with pytest.raises(elastogen.ModelError, match="not a block of elastogen"):
                Loop(library, plant=SharedMemory(name))
            assert (OBJECTS / name).read_bytes() == content
        finally:
            (OBJECTS / name).unlink()
    with pytest.raises(elastogen.ModelError, match="no loop has made it"):
        SharedRobot(library, name, timeout=0.01)


def test_another_robots_block_is_refused_while_it_is_used(pair, library) -> None:
    _, plant, _ = pair
    path = OBJECTS / plant.name
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        kept = memory[24:28]
        memory[24:28] = b"\0\1\2\3"  # the hash of what the numbers mean
        with pytest.raises(elastogen.ModelError, match="robot side"):
            SharedRobot(library, plant.name, timeout=0.0)
        memory[24:28] = kept


def test_states_from_before_a_robot_came_back_are_void(pair, library) -> None:
    loop, plant, robot = pair
    robot.put([0.5, 1.5], [2.5, 3.5])  # the loop has not read it
    robot.close()
    with SharedRobot(library, plant.name) as again:
        assert loop.step().name == "STATUS_STALE_STATE"
        again.put([0.1, 0.2], [0.0, 0.0])
        loop.step()
        assert loop.read()["q"][-1].tolist() == [0.1, 0.2]


@pytest.mark.parametrize("change", [4096, -8], ids=["longer", "shorter"])
def test_a_block_of_another_size_is_made_anew(pair, library, change: int) -> None:
    _, plant, robot = pair
    robot.put([0.5, 1.5], [2.5, 3.5])
    whole = (OBJECTS / plant.name).read_bytes()
    name = f"elastogen_test_{os.getpid()}"
    (OBJECTS / name).write_bytes(whole[:change] if change < 0 else whole + bytes(change))
    with SharedMemory(name) as other:
        Loop(library, plant=other, telemetry=0)
        assert (OBJECTS / name).stat().st_size == len(whole)
        assert header(name)["state_number"] == 0


@pytest.mark.parametrize("name", ["", "a/b", "/a", "..", "ä", "x" * 63, 7, b"x", "a b"])
def test_names_are_checked(library, name) -> None:
    with pytest.raises(elastogen.ModelError, match="name="):
        SharedMemory(name)
    with pytest.raises(elastogen.ModelError, match="name="):
        SharedRobot(library, name)


def test_steps_after_closing_are_refused(library) -> None:
    plant = SharedMemory()
    loop, _ = run_free(library, 0, plant=plant)
    with SharedRobot(library, plant.name) as robot:
        robot.put([0.0, 0.0], [0.0, 0.0])
        assert loop.step(3)
    with pytest.raises(elastogen.ModelError, match="was closed"):
        robot.put([0.0, 0.0], [0.0, 0.0])
    with pytest.raises(elastogen.ModelError, match="was closed"):
        robot.get()
    plant.close()
    plant.close()
    for call in (loop.step, loop.start):
        with pytest.raises(elastogen.ModelError, match="was closed"):
            call()
    assert not is_there(plant.name)


def test_closing_under_a_running_loop(library) -> None:
    plant = SharedMemory(stale_limit=0, stale_seconds=0)
    loop, _ = run_free(library, 0, plant=plant)
    robot = SharedRobot(library, plant.name)
    robot.put([0.0, 0.0], [0.0, 0.0])
    with loop, pytest.raises(elastogen.ModelError, match="runs on it"):
        plant.close()
    stepping = threading.Event()

    def step() -> None:
        while not stepping.is_set():
            try:
                loop.step(2000)
            except elastogen.ModelError:
                return

    threads = [threading.Thread(target=step)]
    loop2, _ = run_free(library, 0, plant=plant)
    del loop2
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    plant.close()  # in the middle of a step, which must not lose its memory
    robot.close()
    time.sleep(0.02)
    stepping.set()
    for thread in threads:
        thread.join()
    assert not is_there(plant.name)


def test_a_side_that_left_or_died_comes_back(library) -> None:
    """The loop's process is killed; a new loop of the same name finds the robot at work."""
    name = f"elastogen_test_{os.getpid()}"
    code = (
        "import sys, time\n"
        "from elastogen.runtime.loop.library import load_loop\n"
        "from elastogen.runtime.loop.plants import SharedRobot\n"
        "robot = SharedRobot(load_loop(sys.argv[1]), sys.argv[2], timeout=30)\n"
        "while True:\n    robot.put([0.1, 0.2], [0.0, 0.0]); time.sleep(0.001)\n"
    )
    command = [sys.executable, "-c", code, str(library.model.extension), name]
    plant = SharedMemory(name, timeout=30.0)
    loop = Loop(library, plant=plant, telemetry=0)
    process = subprocess.Popen(command)
    try:
        loop.start(cycles=5)
        assert loop.wait(timeout=30)
        plant.close()  # the robot is still there: the block stays
        assert is_there(name)
        assert header(name)["loop_process"] == 0
        again = SharedMemory(name, timeout=30.0)
        loop = Loop(library, plant=again, telemetry=64)
        loop.start(cycles=15)
        assert loop.wait(timeout=30)
        np.testing.assert_array_equal(loop.read()["q"], [[0.1, 0.2]] * 15)
    finally:
        process.kill()
        process.wait()
    with SharedRobot(library, name) as robot:  # takes the place of the one that was killed
        robot.put([0.3, 0.4], [0.0, 0.0])
        loop.start(cycles=10)
        assert loop.wait(timeout=30)
        np.testing.assert_array_equal(loop.read()["q"], [[0.3, 0.4]] * 10)
    again.close()
    assert not is_there(name)


def test_leftovers_of_killed_processes_are_removed(library) -> None:
    code = (
        "import os, signal, sys\n"
        "from elastogen.runtime.loop.library import load_loop\n"
        "from elastogen.runtime.loop.loop import Loop\n"
        "from elastogen.runtime.loop.plants import SharedMemory\n"
        "plant = SharedMemory(); loop = Loop(load_loop(sys.argv[1]), plant=plant)\n"
        "print(plant.name, flush=True); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", code, str(library.model.extension)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    left = done.stdout.strip()
    assert is_there(left)
    with SharedMemory() as plant:
        Loop(library, plant=plant)
        assert not is_there(left)
        assert is_there(plant.name)


@pytest.fixture(scope="module")
def sides(checks) -> Path:
    """The program shared_sides.c, compiled beside the emitted files."""
    shutil.copy(ROOT / "tests" / "c" / "shared_sides.c", checks)
    sources = ["two_link.c", "two_link_loop.c", "two_link_shared.c", "shared_sides.c"]
    command = ["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", *sources, "-lm", "-o", "sides"]
    subprocess.run(command, cwd=checks, check=True)
    return Path(checks) / "sides"


def test_either_side_is_killed_three_hundred_times(sides) -> None:
    """No wrong number (a side would end with 9), no side that waits for ever, nothing left behind."""
    name = f"elastogen_test_{os.getpid()}"
    rng = random.Random(11)
    running: dict[str, subprocess.Popen[bytes]] = {}

    def start(side: str) -> None:
        running[side] = subprocess.Popen([str(sides), side, f"/{name}"])

    def progress(number: str) -> None:
        finish, first = time.monotonic() + 30, None
        while True:
            assert all(process.poll() is None for process in running.values()), "a side ended: a wrong number"
            if is_there(name) and (OBJECTS / name).stat().st_size:
                now = header(name)
                count = now[f"{number}_number"] if now[f"{number}_given"] else None
                if first is not None and count not in (None, first):
                    return
                first = count if first is None else first
            assert time.monotonic() < finish, f"no {number} any more"
            time.sleep(0.001)

    try:
        start("loop")
        start("robot")
        for kill in range(300):
            victim = rng.choice(["loop", "robot"])
            time.sleep(rng.uniform(0.0, 0.004))
            assert all(process.poll() is None for process in running.values()), "a side ended: a wrong number"
            running[victim].kill()
            assert running[victim].wait() == -signal.SIGKILL
            start(victim)
            if kill % 20 == 19:
                progress("state")
                progress("command")
        for process in running.values():
            process.terminate()
        assert [process.wait(timeout=30) for process in running.values()] == [0, 0]
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    assert not is_there(name)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("precision", ["double", "float"])
def test_strict_compilers_accept_the_files(compiler, precision, tmp_path: Path) -> None:
    elastogen.generate_loop("two_link", tmp_path, precision=precision)
    command = [compiler, *WARNINGS, "-O2", "-c", "two_link_shared.c", "-o", "shared.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_the_example_driver(library, tmp_path: Path) -> None:
    """The driver in C++ of examples/driver moves its two integrators where a loop in Python wants them."""
    elastogen.generate_loop("two_link", tmp_path)
    source = str(ROOT / "examples" / "driver" / "driver.cpp")
    for command in (
        ["gcc", "-std=c99", "-O2", "-c", "two_link_shared.c"],
        ["g++", "-Wall", "-Wextra", "-Werror", "-O2", "-I.", source, "two_link_shared.o", "-o", "driver"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    name = f"elastogen_test_{os.getpid()}"
    with SharedMemory(name, timeout=30.0, stale_seconds=5.0) as plant:
        loop = Loop(library, plant=plant, controller=PDGravity(100.0, 20.0), rate=500, telemetry=1 << 12)
        driver = subprocess.Popen([str(tmp_path / "driver"), f"/{name}", "20"], stdout=subprocess.PIPE, text=True)
        try:
            loop.set_reference([0.3, -0.2])
            loop.start()
            finish = time.monotonic() + 30
            while time.monotonic() < finish:
                time.sleep(0.05)
                records = loop.read()
                if len(records) and np.allclose(records["q"][-1], records["q_ref"][-1], atol=0.3):
                    break
            else:
                pytest.fail("the driver does not follow")
            assert loop.stop()
        finally:
            driver.terminate()
            driver.wait(timeout=30)
    assert not is_there(name)
