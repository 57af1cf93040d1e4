"""What cannot be compiled, written or drawn here is refused before anything is derived or simulated for it."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy
from sympy.physics import mechanics

import elastogen
from elastogen.build.export.size import model_size
from elastogen.build.forms.formulations import formulations
from elastogen.build.loop import generate_loop
from elastogen.build.pages import film, wasm
from elastogen.build.pages.play import play
from elastogen.command_line import main

DERIVING = ("pipeline", "loop", "export.project", "forms.formulations", "start")


@pytest.fixture
def nothing_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    def derived(*_: Any, **__: Any) -> None:
        pytest.fail("derived before the mistake was reported")

    for module in DERIVING:
        for name in ("derive_model", "make_project", "render", "build_model", "VariantFamily"):
            monkeypatch.setattr(f"elastogen.build.{module}.{name}", derived, raising=False)
    for place in ("export.size.render", "export.export.make_project", "pages.play.build_model", "forms.mechanics.equations_of"):
        monkeypatch.setattr(f"elastogen.build.{place}", derived)


def pendulum() -> mechanics.LagrangesMethod:
    angle = mechanics.dynamicsymbols("angle")
    method = mechanics.LagrangesMethod(angle.diff() ** 2 / 2 + sympy.cos(angle), [angle])
    method.form_lagranges_equations()
    return method


@pytest.mark.usefixtures("nothing_derived")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: model_size("two_link", target="stm32"), r"target: got 'stm32', expected cortex-m4f \(STM32F4, nRF52\)"),
        (lambda: model_size("two_link", compiler="nocc"), "the C compiler 'nocc'"),
        (lambda: elastogen.build_loop("two_link", compiler="nocc"), "the C compiler 'nocc'"),
        (lambda: elastogen.export("two_link", "out", format="shared", compiler="nocc"), "the C compiler 'nocc'"),
        (lambda: elastogen.export("two_link", "out", format="fmu2", compiler="nocc"), "the C compiler 'nocc'"),
        (lambda: formulations("two_link", compiler="nocc"), "the C compiler 'nocc'"),
        (lambda: elastogen.from_mechanics(pendulum(), compiler="nocc"), "the C compiler 'nocc'"),
    ],
)
def test_compilers_and_targets(call: Callable[[], Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(elastogen.ElastogenError, match=words):
        call()
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("nothing_derived")
@pytest.mark.parametrize("write", [elastogen.generate, elastogen.export, generate_loop])
@pytest.mark.parametrize("place", ["file", "file/out", "nul\0/out", "x" * 300])
def test_directories(write: Callable[..., Any], place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(elastogen.ElastogenError):
        write("two_link", f"{tmp_path}/{place}")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("nothing_derived")
def test_a_directory_that_the_system_refuses(tmp_path: Path) -> None:
    if not Path("/proc/self").exists():
        pytest.skip("no /proc on this system")
    with pytest.raises(elastogen.BuildError, match="/proc/nobody/out: cannot be written"):
        elastogen.generate("two_link", "/proc/nobody/out")


@pytest.mark.parametrize(
    ("arguments", "missing", "words"),
    [
        (["animate", "two_link", "film.gif"], "matplotlib", "films need matplotlib"),
        (["run", "two_link", "--animate", "film.gif"], "matplotlib", "films need matplotlib"),
        (["animate", "two_link", "film.mp4"], "ffmpeg", "films in .mp4 need ffmpeg"),
        (["derive", "two_link", "--pdf", "form.pdf"], "typst", "a PDF needs Typst or TeX"),
    ],
)
def test_extras_of_commands(
    arguments: list[str], missing: str, words: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if missing == "ffmpeg":
        pytest.importorskip("matplotlib")
    find_spec = importlib.util.find_spec
    for module in ("pages.film", "forms.pdf"):
        monkeypatch.setattr(f"elastogen.build.{module}.find_spec", lambda name: None if name == missing else find_spec(name))
    monkeypatch.setattr(shutil, "which", lambda name, *_: None)
    monkeypatch.setattr(elastogen, "build_model", lambda *_, **__: pytest.fail("built before the mistake was reported"))
    monkeypatch.setattr(elastogen, "derive", lambda *_, **__: pytest.fail("derived before the mistake was reported"))
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_derived")
def test_play_without_its_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasm, "find_spec", lambda name: None)
    with pytest.raises(elastogen.BuildError, match="needs the compiler of ziglang"):
        play(elastogen.load("two_link"), tmp_path / "page.html")


def test_pages_need_no_film(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(film, "find_spec", lambda name: None)
    film.check_motion_file("page.html")
