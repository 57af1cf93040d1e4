"""Draws docs/pictures/pipeline.svg: the way of a robot from its description to a compiled model.

Run: python docs/pictures/pipeline.py    (or make pictures). A test compares the file with what this draws, and looks for the
folders and files that it names.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

COLOUR = {"data": "#f3f0e6", "generator": "#dbe9f6", "build": "#e2f0d9", "runtime": "#fbe5d6", "sympy": "#eee3f5"}
ROW, TOP, BOX = 96, 92, 58  # heights: from stage to stage, of the title, of a box
PAGE = 990
INTO = 10, 220  # left edge and width: the column of what enters the pipeline
LEFT, WIDE = 270, 400  # the column of stages
SIDE, NARROW = 730, 250  # the column of what leaves it


@dataclass(frozen=True)
class Stage:
    """A box of the main column, where its code is, and what it hands on to the next."""

    title: str
    room: str
    where: str
    gives: str = ""


@dataclass(frozen=True)
class Beside:
    """A box beside a stage, with an arrow from it (``leaves``) or to it."""

    stage: int
    row: float
    title: str
    room: str
    where: str
    leaves: bool


STAGES = (
    Stage("robot.yaml, URDF, mapping, built-in name", "data", "generator/description/robots", "structure with line numbers"),
    Stage("load: check and assemble", "generator", "generator/description  generator/robot", "Robot: frozen, checked, in SI"),
    Stage("lay out: frames, joints, bodies", "generator", "generator/mechanism  joints  bodies  beams  sliding",
          "Variants: equal formulations of the same equations"),
    Stage("derive: recursions on one graph", "generator", "generator/functions  algorithms  spatial",
          "candidates: values of the graph"),
    Stage("choose the cheapest, take out factors", "generator", "generator/functions/derivation.py  generator/program",
          "Program: straight-line, typed, counted"),
    Stage("print as C", "build", "build/c", "statements, cut into functions"),
    Stage("render", "build", "build/files  templates", "text of every file"),
    Stage("compile once, keep in the cache", "build", "build/module  build/pipeline.py", "extension module, with JSON in it"),
    Stage("Model: numpy in, numpy out", "runtime", "runtime/model  runtime/functions"),
)  # fmt: skip
BESIDE = (
    Beside(2, 2, "SymPy in: expressions", "sympy", "generator/robot/expressions.py  generator/program/lowering.py", False),
    Beside(3, 3, "SymPy out: closed forms", "sympy", "generator/closed_form", True),
    Beside(6, 6, "generate: C files, bundle", "data", "build/files/write.py", True),
    Beside(8, 7.15, "simulate, in C", "runtime", "runtime/simulation  templates/simulate", True),
    Beside(8, 8.15, "loop, in real time", "runtime", "runtime/loop  templates/loop", True),
)


def named_paths() -> set[str]:
    """Every folder and file that the picture names, from the root of the tree."""
    found = set()
    for box in (*STAGES, *BESIDE):
        words = box.where.split()
        room = words[0].split("/")[0]
        found |= {word if "/" in word or word == "templates" else f"{room}/{word}" for word in words}
    return found


def text(x: float, y: float, words: str, size: int, anchor: str = "middle", **style: str) -> str:
    """One line of text."""
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def box(x: float, y: float, width: float, title: str, room: str, where: str) -> list[str]:
    """A box with a title, and in small letters where its code is, on two lines if need be."""
    longest = int(width / 6.9)
    lines: list[str] = []
    for word in where.split("  "):
        fits = lines and len(lines[-1]) + len(word) + 2 < longest
        lines = [*lines[:-1], f"{lines[-1]}  {word}"] if fits else [*lines, word]
    height = BOX + 14 * (len(lines) - 1)
    rectangle = f'<rect x="{x}" y="{y:g}" width="{width}" height="{height}" rx="8" fill="{COLOUR[room]}" stroke="#555"/>'
    written = [
        text(x + width / 2, y + 44 + 14 * k, line, 11, fill="#444", font_family="monospace") for k, line in enumerate(lines)
    ]
    return [rectangle, text(x + width / 2, y + 24, title, 15, font_weight="bold"), *written]


def arrow(points: list[tuple[float, float]]) -> str:
    """A line with a head at its end."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="#555" stroke-width="1.5" marker-end="url(#head)"/>'


def draw() -> str:
    """The picture as SVG."""
    height = TOP + ROW * len(STAGES)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PAGE} {height}" font-family="sans-serif">',
        '<title>From a robot description to a compiled model</title>',
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L10,5 L0,10 z" fill="#555"/></marker></defs>',
        f'<rect width="{PAGE}" height="{height}" fill="white"/>',
        text(PAGE / 2, 30, "From a robot description to a compiled model", 20, font_weight="bold"),
    ]  # fmt: skip
    for k, (room, words) in enumerate((("generator", "generator/: no C"), ("build", "build/, templates/: no physics"),
                                       ("runtime", "runtime/: imports none of them"), ("sympy", "SymPy"))):  # fmt: skip
        x = (120, 280, 520, 760)[k]
        parts += [f'<rect x="{x}" y="48" width="14" height="14" fill="{COLOUR[room]}" stroke="#555"/>',
                  text(x + 20, 60, words, 12, "start")]  # fmt: skip
    for k, stage in enumerate(STAGES):
        y = TOP + ROW * k
        parts += box(LEFT, y, WIDE, stage.title, stage.room, stage.where)
        if stage.gives:
            parts += [
                arrow([(LEFT + 40, y + BOX), (LEFT + 40, y + ROW)]),
                text(LEFT + 52, y + 81, stage.gives, 12, "start", font_style="italic"),
            ]
    for beside in BESIDE:
        y = TOP + ROW * beside.row
        x, width = (SIDE, NARROW) if beside.leaves else INTO
        parts += box(x, y, width, beside.title, beside.room, beside.where)
        middle, level = y + BOX / 2, TOP + ROW * beside.stage + BOX / 2
        bend = (LEFT + WIDE + SIDE) / 2
        way = [(LEFT + WIDE, level), (bend, level), (bend, middle), (SIDE, middle)]
        parts.append(arrow(way if beside.leaves else [(x + width, middle), (LEFT, middle)]))
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
