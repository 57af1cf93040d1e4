"""Whom the cache trusts: folders above it, links, devices and absurd manifests in it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from build_samples import build, entries

from elastogen.build.module import compile, trust
from elastogen.build.module.cache import Cache, CacheWarning, safe_cache
from elastogen.build.module.entry import MANIFEST, read_json, sound_extension
from elastogen.build.module.trust import distrust_ancestors
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.robot import Robot

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and permissions of POSIX")


@pytest.fixture
def below_open(tmp_path: Path) -> Path:
    """A cache directory of its own below a folder that everybody may change."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "mine").mkdir(mode=0o700)
    return tmp_path / "open" / "mine" / "cache"


def test_a_cache_below_a_folder_of_everybody_is_not_used(below_open: Path, derivations: list[Robot]) -> None:
    with pytest.warns(CacheWarning, match=r"open above it may be changed by others \(mode 777\). Fix: chmod go-w"):
        extension = build(below_open)
    assert extension.exists()
    assert not below_open.exists()
    private = extension.parents[2]
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        assert build(below_open) == extension  # of the same process: the same folder
    assert len(derivations) == 1


def test_what_was_built_there_before_is_not_read(below_open: Path, derivations: list[Robot]) -> None:
    below_open.parents[1].chmod(0o755)
    key = build(below_open).parent.name
    assert Cache(below_open).find(key) is not None
    below_open.parents[1].chmod(0o777)
    with pytest.warns(CacheWarning, match="may be changed by others"):
        assert Cache(below_open).find(key) is None


def test_the_private_folder_goes_with_its_process(below_open: Path) -> None:
    code = (
        "import sys, warnings; from pathlib import Path; warnings.simplefilter('ignore')\n"
        "from elastogen.build.module.cache import safe_cache\nprint(safe_cache(Path(sys.argv[1])).directory)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(below_open)], capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("elastogen-cache-")
    assert not folder.exists()


def test_symbolic_links_are_followed(below_open: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(below_open.parent)
    assert "open above it" in distrust_ancestors(link / "cache")


def test_the_sticky_bit_is_enough(below_open: Path) -> None:
    below_open.parents[1].chmod(0o1777)
    assert distrust_ancestors(below_open) == ""
    assert safe_cache(below_open).directory == below_open


def test_a_private_group_is_the_user(below_open: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below_open.parents[1].chmod(0o775)
    monkeypatch.setattr(trust, "_is_private_group", lambda group, user: True)
    assert distrust_ancestors(below_open) == ""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_refused(below_open: Path) -> None:
    below_open.parents[1].chmod(0o755)
    os.chown(below_open.parents[1], 12345, 12345)
    assert "belongs to user 12345" in distrust_ancestors(below_open)


def test_a_manifest_of_brackets_counts_as_damaged(tmp_path: Path, derivations: list[Robot]) -> None:
    entry = build(tmp_path / "cache").parent
    for text in ("[" * 200_000, '{"files": ' + "[" * 200_000, '{"files": {"a\\u0000b": [1, "x"]}}', "1" * 5000):
        (entry / MANIFEST).write_text(text)
        assert sound_extension(entry) is None
        assert build(tmp_path / "cache").parent == entry  # made again
    assert len(entries(tmp_path / "cache")) == 1


@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_devices_and_pipes_are_not_read(tmp_path: Path, target: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / MANIFEST).symlink_to(tmp_path / target)  # an absolute target stays what it is
    assert read_json(tmp_path / MANIFEST) is None
    assert sound_extension(tmp_path) is None
    assert read_json(tmp_path / "pipe") is None


def test_every_link_on_the_way_counts(tmp_path: Path) -> None:
    """A link to a link in a folder of everybody, who may lead it elsewhere; `..` behind it; a folder of everybody itself."""
    for name, mode in (("open", 0o777), ("mine", 0o700), ("real", 0o700)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    (tmp_path / "open" / "link").symlink_to(tmp_path / "real")
    (tmp_path / "mine" / "chain").symlink_to("../open/link")
    (tmp_path / "mine" / "whole").symlink_to(tmp_path / "open")
    (tmp_path / "mine" / "ring").symlink_to("ring")
    for path in ("mine/chain/cache", "open/link/../real/cache", "mine/whole"):
        assert "may be changed by others (mode 777)" in distrust_ancestors(tmp_path / path), path
    (tmp_path / "open").chmod(0o1777)
    assert distrust_ancestors(tmp_path / "mine" / "chain" / "cache") == ""
    assert "cannot be looked at" in distrust_ancestors(tmp_path / "mine" / "ring" / "cache")


def test_a_manifest_that_is_a_folder_counts_as_damaged(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    assert sound_extension(tmp_path) is None


def test_a_compiler_that_hangs_leaves_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it does not even tell its version, what it started ends, too."""
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!/bin/sh\nsleep 300 &\necho $! >{tmp_path}/started\nwait\n")
    compiler.chmod(0o755)
    monkeypatch.setattr(compile, "VERSION_SECONDS", 2.0)
    with pytest.raises(BuildError, match="--version took longer than 2 s"):
        compile._version((str(compiler),), "")
    child = int((tmp_path / "started").read_text())
    for _ in range(200):  # the system ends it at once, and takes a moment to collect it
        try:
            if Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                break
            os.kill(child, 0)
        except (FileNotFoundError, ProcessLookupError):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the compiler's program lives on")
