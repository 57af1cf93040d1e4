"""A model that is known starts without the generator and without a compiler; who may write what is started."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import os
import pickle
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import elastogen
from elastogen.build.module.cache import Cache, CacheWarning, remove_orphans
from elastogen.build.module.entry import LOCK, MANIFEST
from elastogen.build.module.trust import distrust
from elastogen.build.request import DeferredRobot, Description
from elastogen.command_line import main
from elastogen.generator.robot.errors import BuildError

ROBOT = """
elastogen: 1
name: swing
links:
  - {name: base}
  - {name: bar, mass: 1.0, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05]}
joints:
  - {name: hinge, type: revolute, child: bar, axis: [0, 0, 1]}
"""
MAPPING = {
    "elastogen": 1,
    "name": "swing",
    "links": [{"name": "base"}, {"name": "bar", "mass": 1.0, "com": [0.3, 0, 0], "inertia": (0.01, 0.05, 0.05)}],
    "joints": [{"name": "hinge", "type": "revolute", "child": "bar", "axis": [0, 0, 1]}],
}
SLOW = ("sympy", "pydantic", "jinja2", "ruamel.yaml", "elastogen.generator.description.load_robot", "cffi")


@pytest.fixture(scope="module")
def warm(tmp_path_factory) -> tuple[Path, Path]:
    """A robot file, and a cache in which its model and its loop are."""
    folder = tmp_path_factory.mktemp("known")
    robot, cache = folder / "swing.yaml", folder / "cache"
    robot.write_text(ROBOT)
    elastogen.build_model(robot, outputs=["inverse_dynamics"], cache_dir=cache)
    elastogen.build_loop(robot, cache_dir=cache)
    return robot, cache


def started(code: str, *arguments: object, **environment: str) -> str:
    """What a new process prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


BUILD = """
import sys, elastogen
model = elastogen.build_model(sys.argv[1], outputs=["inverse_dynamics"], cache_dir=sys.argv[2])
print(float(model.inverse_dynamics([0.0], [0.0], [2.0])[0]))
"""
WAYS = {  # of asking for one model; {path!r} is its file
    "options": "elastogen.build_model(elastogen.load({path!r}, base='floating', lock={{'hinge': 0.3}}))",
    "loaded": "elastogen.build_model(elastogen.load({path!r}))",
    "mapping": "elastogen.build_model({mapping!r})",
    "loaded mapping": "elastogen.build_model(elastogen.load({mapping!r}, name='other'))",
    "loop": "elastogen.build_model(elastogen.load({path!r})).loop(free_running=True)",
}
LOOP = """
import sys, elastogen
from elastogen.runtime.loop.loop import Loop
loop = Loop(elastogen.build_loop(sys.argv[1], cache_dir=sys.argv[2]), free_running=True)
assert loop.step(3)
print(loop.rate)
"""


@pytest.mark.parametrize("code", [BUILD, LOOP], ids=["model", "loop"])
def test_a_known_model_needs_neither_generator_nor_compiler(warm, code: str, tmp_path: Path) -> None:
    look = f"\nprint([name for name in {SLOW!r} if name in sys.modules])"
    printed = started(code + look, *warm, PATH=str(tmp_path)).split("\n")
    assert float(printed[0]) == pytest.approx(1000.0 if code == LOOP else 2.0 * (0.05 + 0.3**2))
    assert printed[1] == "[]"


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_asking_for_a_known_model_needs_no_generator(way: str, tmp_path: Path) -> None:
    path = tmp_path / "swing.yaml"
    path.write_text(ROBOT)
    code = "import sys, elastogen\n" + WAYS[way].format(path=str(path), mapping=MAPPING)
    look = f"\nprint([name for name in {SLOW!r} if name in sys.modules])"
    settings = {"ELASTOGEN_CACHE_DIR": str(tmp_path / "cache")}
    assert started(code + look, **settings) != "[]\n"
    assert started(code + look, **settings) == "[]\n"


def test_a_robot_that_is_known_is_read_when_somebody_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTOGEN_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "swing.yaml"
    path.write_text(ROBOT)
    first = elastogen.load(path, base="floating")
    assert type(first) is elastogen.Robot
    elastogen.build_model(first, outputs=["mass_matrix"])
    looks = {
        "fields": lambda robot: robot.name,
        "equality": lambda robot: robot == first,
        "replace": lambda robot: dataclasses.replace(robot, name="other"),
        "pickle": lambda robot: pickle.loads(pickle.dumps(robot)) == first,
        "copy": lambda robot: copy.copy(robot) == first,
        "text": repr,
    }
    for name, look in looks.items():
        robot = elastogen.load(path, base="floating")
        assert type(robot) is DeferredRobot, name
        assert isinstance(robot, elastogen.Robot)
        assert look(robot) == look(first), name
        assert type(robot) is elastogen.Robot, name
        assert robot == first
        assert robot.files == first.files == (str(path),)
    path.write_text(ROBOT.replace("mass: 1.0", "mass: 7.0"))
    assert elastogen.load(path, base="floating").link("bar").body.mass == 7.0


def test_a_deferred_robot_is_that_of_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTOGEN_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "swing.yaml"
    path.write_text(ROBOT)
    elastogen.build_model(elastogen.load(path), outputs=["mass_matrix"])
    robot = elastogen.load(path)
    path.write_text("nonsense")
    assert robot.link("bar").body.mass == 1.0
    with pytest.raises(elastogen.RobotError):
        elastogen.load(path)


def test_what_changes_is_built_again(warm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, cache = warm
    loads: list[str] = []
    monkeypatch.setattr(Description, "load", lambda content: loads.append(content.shown) or pytest.skip.Exception)

    def is_known(path: Path, **options: object) -> bool:
        loads.clear()
        with contextlib.suppress(TypeError):  # what the replaced loader gives cannot be built
            elastogen.build_model(path, outputs=["inverse_dynamics"], cache_dir=cache, **options)
        return not loads

    assert is_known(robot)
    assert is_known(robot, verbose=True)
    assert not is_known(robot, precision="float")
    assert not is_known(robot, native=False)
    assert not is_known(robot, cflags="-O1")
    other = tmp_path / "swing.yaml"
    other.write_text(ROBOT.replace("0.3", "0.4"))
    assert not is_known(other)
    other.write_text(ROBOT)
    assert is_known(other)  # the content counts, not the place
    monkeypatch.setattr("elastogen.build.known.known_tool_sha256", lambda cache: "another version")
    assert not is_known(robot)


def test_the_tool_is_read_again_when_a_file_of_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elastogen.build import known, stamps
    from elastogen.build.module.cache import Cache

    reads = []

    def tool_sha256() -> str:
        reads.append(1)
        return stamps.sha256(*stamps.sources(tmp_path / room for room in stamps.ROOMS_THAT_SHAPE_CODE))

    for room in stamps.ROOMS_THAT_SHAPE_CODE:
        (tmp_path / room).mkdir(parents=True)
    source = tmp_path / "templates" / "robot.h"
    source.write_text("#define ROBOT_NQ 2\n")
    monkeypatch.setattr(stamps, "PACKAGE", tmp_path)
    monkeypatch.setattr(known, "tool_sha256", tool_sha256)
    cache = Cache(tmp_path / "cache")
    first = known.known_tool_sha256(cache)
    assert known.known_tool_sha256(cache) == first
    assert len(reads) == 2  # a file of this moment is not trusted: it may change again within a tick of the clock
    monkeypatch.setattr(known, "SETTLED_NS", 0)
    assert [known.known_tool_sha256(cache) for _ in range(3)] == [first] * 3
    assert len(reads) == 3
    before = source.stat()
    source.write_text("#define ROBOT_NQ 3\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same time of modification
    assert known.known_tool_sha256(cache) != first
    source.rename(source.with_name("robot.c"))
    assert known.known_tool_sha256(cache) != first
    assert len(reads) == 5


def test_another_compiler_counts_a_missing_one_does_not(warm, monkeypatch: pytest.MonkeyPatch) -> None:
    from elastogen.build import known
    from elastogen.build.options import BuildOptions

    robot, cache = warm
    content = Description.read(robot)
    assert content is not None
    build = known.KnownBuild("model", content, BuildOptions.checked(outputs=["inverse_dynamics"], cache_dir=cache))
    assert build.find() is not None
    monkeypatch.setattr(known, "compiler_stamp", lambda _: None)
    assert build.find() is not None
    monkeypatch.setattr(known, "compiler_stamp", lambda _: ["/usr/bin/other", 1, 2])
    assert build.find() is None


def test_functions_that_are_built_later_are_of_the_file_as_it_was(tmp_path: Path, cache_dir) -> None:
    robot = tmp_path / "swing.yaml"
    robot.write_text(ROBOT)
    model = elastogen.build_model(robot, cache_dir=tmp_path / "cache")
    robot.write_text(ROBOT.replace("mass: 1.0", "mass: 7.0"))
    assert model.mass_matrix([0.0])[0, 0] == pytest.approx(0.05 + 0.09)
    lazily = model.kernel("inverse_dynamics_derivatives")
    assert lazily.info.name == "inverse_dynamics_derivatives"
    assert model.evaluate("inverse_dynamics_derivatives", q=[0.0], qd=[0.0], qdd=[1.0])[2][0, 0] == pytest.approx(0.14)


def test_warnings_of_the_robot_are_repeated(tmp_path: Path) -> None:
    robot = tmp_path / "thin.yaml"
    robot.write_text(ROBOT.replace("[0.01, 0.05, 0.05]", "[0.5, 0.05, 0.05]"))
    for _ in range(2):
        with pytest.warns(elastogen.RobotWarning, match="inertia"):
            elastogen.build_model(robot, outputs=["gravity_vector"], cache_dir=tmp_path / "cache")


# Trust.


@pytest.mark.skipif(os.name != "posix", reason="owners and permissions of POSIX")
def test_what_others_could_have_written_is_refused(warm, tmp_path: Path) -> None:
    import shutil

    robot, cache = warm
    mine = tmp_path / "cache"
    shutil.copytree(cache, mine)
    entry = next(path for path in Cache(mine).entries() if "_swing_" in next(path.glob("*.so")).name)
    key = entry.name
    assert Cache(mine).find(key) is not None
    entry.chmod(0o777)
    with pytest.warns(CacheWarning, match=r"may be written by others \(mode 777\).*chmod go-w"):
        assert Cache(mine).find(key) is None
    entry.chmod(0o700)
    next(entry.glob("*.so")).chmod(0o666)
    assert Cache(mine).find(key) is None
    next(entry.glob("*.so")).chmod(0o600)
    mine.chmod(0o770)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        with pytest.raises(BuildError, match="not safe"):
            elastogen.build_model(robot, outputs=["gravity_vector"], cache_dir=mine)
    mine.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_another_users_entry_is_refused(warm, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    os.chown(file, 12345, 12345)
    assert "belongs to user 12345" in distrust(file)


def test_a_read_only_cache_behind_the_own_one(warm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, cache = warm
    monkeypatch.setenv("ELASTOGEN_CACHE_READ_ONLY", str(cache))
    before = sorted((path, path.stat().st_mtime_ns) for path in cache.rglob("*"))
    own = tmp_path / "own"
    model = elastogen.build_model(robot, outputs=["inverse_dynamics"], cache_dir=own)
    assert model.extension is not None
    assert model.extension.is_relative_to(cache)
    assert not own.exists()
    assert sorted((path, path.stat().st_mtime_ns) for path in cache.rglob("*")) == before


def test_others_may_read_where_that_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tmp_path / "swing.yaml"
    robot.write_text(ROBOT)
    for name, shared, mode in (("private", "", 0o700), ("shared", "1", 0o755)):
        monkeypatch.setenv("ELASTOGEN_CACHE_SHARED", shared)
        model = elastogen.build_model(robot, outputs=["gravity_vector"], cache_dir=tmp_path / name)
        assert model.extension is not None
        assert model.extension.parent.stat().st_mode & 0o777 == mode
        assert not shared or model.extension.stat().st_mode & 0o044 == 0o044
        assert not model.extension.stat().st_mode & 0o022


# Clean-up.


def test_scratch_of_killed_builds_is_removed_at_once(tmp_path: Path) -> None:
    code = (
        "import fcntl, os, signal, sys\n"
        "stream = open(sys.argv[1], 'wb'); fcntl.flock(stream, fcntl.LOCK_EX)\n"
        "print('locked', flush=True); sys.stdin.read()\n"
    )
    scratch = tmp_path / "scratch-abc"
    scratch.mkdir()
    (scratch / "half.c").write_text("int x")
    process = subprocess.Popen([sys.executable, "-c", code, str(scratch / LOCK)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    assert remove_orphans(tmp_path) == []  # its process lives
    process.kill()
    process.wait()
    assert remove_orphans(tmp_path) == [scratch]
    young = tmp_path / "scratch-young"
    young.mkdir()
    assert remove_orphans(tmp_path) == []
    os.utime(young, (time.time() - 3600,) * 2)
    assert remove_orphans(tmp_path) == [young]


def test_a_folder_that_another_process_removes_meanwhile_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving = tmp_path / "scratch-leaving"
    leaving.mkdir()
    real = {name: getattr(os, name) for name in ("listdir", "scandir")}

    def removed_before(name: str, folder: object) -> object:
        if Path(str(folder)) == leaving:
            raise FileNotFoundError(2, "No such file or directory", str(folder))
        return real[name](folder)

    for name in real:
        monkeypatch.setattr(os, name, functools.partial(removed_before, name))
    assert remove_orphans(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="another user is another process")
def test_a_cache_that_may_not_be_read_has_nothing(tmp_path: Path) -> None:
    """That of root, for another user; for others than root, one without permissions."""
    entry = tmp_path / "modules" / "key"
    entry.mkdir(parents=True)
    (entry / MANIFEST).write_text("{}")
    (tmp_path / "modules").chmod(0)
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setresuid(65534, 65534, 65534)
            os._exit(0 if Cache(tmp_path).find("key") is None and Cache(tmp_path).entries() == [] else 1)
        finally:
            os._exit(2)  # an exception
    status = os.waitpid(child, 0)[1]
    (tmp_path / "modules").chmod(0o700)
    assert os.WEXITSTATUS(status) == 0


def test_the_command(warm, tmp_path: Path, capsys) -> None:
    import shutil

    mine = tmp_path / "cache"
    shutil.copytree(warm[1], mine)
    option = ["--cache-dir", str(mine)]
    assert main(["cache", "path", *option]) == 0
    assert capsys.readouterr().out.strip() == str(mine)
    assert main(["cache", "list", *option]) == 0
    printed = capsys.readouterr().out
    assert "_swing_" in printed
    assert "2 entries" in printed
    assert main(["cache", "verify", *option]) == 0
    assert "2 entries, 0 refused" in capsys.readouterr().out
    next(mine.glob("modules/*/*.so")).write_bytes(b"")
    assert main(["cache", "verify", *option]) == 2
    assert "1 of 2 entries" in capsys.readouterr().err
    next(mine.glob(f"modules/*/{MANIFEST}")).write_text("half wri")
    assert main(["cache", "list", *option]) == 0
    assert "(damaged)" in capsys.readouterr().out
    assert main(["cache", "clean", "--unused-days", "1", *option]) == 0
    assert "removed 0 entries" in capsys.readouterr().out
    assert main(["cache", "clean", *option]) == 0
    assert "removed 2 entries" in capsys.readouterr().out
    assert not list(mine.glob("*/*"))
