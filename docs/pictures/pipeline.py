"""Draws docs/pictures/pipeline.svg: the way of a robot from its description to a compiled model.

Run: python docs/pictures/pipeline.py    (or make pictures). A test compares the file with what this draws, and looks for the
folders and files that it names.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

COLOUR = {"data": "#f3f0e6", "generator": "#dbe9f6", "build": "#e2f0d9", "runtime": "#fbe5d6", "sympy": "#eee3f5"}
PAGE, LEFT, WIDE = 440, 10, 420  # as wide as a phone shows without making letters too small: one column
INDENT, LINE = 80, 40  # from the left: the boxes beside the pipeline, and the line that joins all boxes
TOP, GAP, NAMED_GAP = 118, 26, 44  # heights: of the title, between boxes, where the data between two stages have a name


@dataclass(frozen=True)
class Stage:
    """A box of the main column, where its code is, and what it hands on to the next."""

    title: str
    room: str
    where: str
    gives: str = ""


@dataclass(frozen=True)
class Beside:
    """A box beside the line, before (``leaves``: behind) a stage."""

    stage: int
    title: str
    room: str
    where: str
    leaves: bool


STAGES = (
    Stage("robot.yaml, URDF, mapping, built-in name", "data", "generator/description/robots", "structure with line numbers"),
    Stage("load: check and assemble", "generator", "generator/description  generator/robot", "Robot: frozen, checked, in SI"),
    Stage("arrange: frames, joints, bodies", "generator", "generator/mechanism  joints  bodies  beams  sliding",
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
    Beside(2, "SymPy in: expressions", "sympy", "generator/robot/expressions.py  generator/program/lowering.py", False),
    Beside(3, "SymPy out: closed forms", "sympy", "generator/closed_form", True),
    Beside(6, "generate: C files, bundle", "data", "build/files/write.py", True),
    Beside(8, "simulate, in C", "runtime", "runtime/simulation  templates/simulate", True),
    Beside(8, "loop, in real time", "runtime", "runtime/loop  templates/loop", True),
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


def box(x: float, y: float, title: str, room: str, where: str) -> tuple[list[str], float]:
    """A box with a title, and in small letters where its code is, on two lines if need be; and its height."""
    width = LEFT + WIDE - x
    lines: list[str] = []
    for word in where.split("  "):
        fits = lines and len(lines[-1]) + len(word) + 2 < int(width / 7.6)
        lines = [*lines[:-1], f"{lines[-1]}, {word}"] if fits else [*lines, word]
    height = 40 + 15 * len(lines)
    rectangle = f'<rect x="{x}" y="{y:g}" width="{width}" height="{height}" rx="8" fill="{COLOUR[room]}" stroke="#555"/>'
    written = [
        text(x + width / 2, y + 43 + 15 * k, line, 12, fill="#444", font_family="monospace") for k, line in enumerate(lines)
    ]
    return [rectangle, text(x + width / 2, y + 24, title, 16, font_weight="bold"), *written], height


def arrow(points: list[tuple[float, float]]) -> str:
    """A line with a head at its end."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="#555" stroke-width="1.5" marker-end="url(#head)"/>'


def draw() -> str:
    """The picture as SVG: a line down the left joins the stages, and boxes beside it enter or leave."""
    parts: list[str] = []
    y, end = float(TOP), 0.0
    for k, stage in enumerate(STAGES):
        for beside in (each for each in BESIDE if each.stage == k and not each.leaves):
            drawn, height = box(LEFT + INDENT, y, beside.title, beside.room, beside.where)
            parts += [*drawn, arrow([(LEFT + INDENT, y + height / 2), (LEFT + LINE, y + height / 2)])]
            y += height + GAP
        if k:
            parts.append(arrow([(LEFT + LINE, end), (LEFT + LINE, y)]))
        drawn, height = box(LEFT, y, stage.title, stage.room, stage.where)
        parts += drawn
        end = y + height
        if stage.gives:
            parts.append(text(LEFT + LINE + 12, end + 27, stage.gives, 13, "start", font_style="italic"))
        y = end + (NAMED_GAP if stage.gives else GAP)
        for beside in (each for each in BESIDE if each.stage == k and each.leaves):
            drawn, height = box(LEFT + INDENT, y, beside.title, beside.room, beside.where)
            level = y + height / 2
            parts += [*drawn, arrow([(LEFT + LINE, end), (LEFT + LINE, level), (LEFT + INDENT, level)])]
            y += height + GAP
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{PAGE}" height="{y:g}" viewBox="0 0 {PAGE} {y:g}" '
        'font-family="sans-serif">',
        '<title>From a robot description to a compiled model</title>',
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L10,5 L0,10 z" fill="#555"/></marker></defs>',
        f'<rect width="{PAGE}" height="{y:g}" fill="white"/>',
        text(PAGE / 2, 30, "From a robot description to a model", 19, font_weight="bold"),
    ]  # fmt: skip
    for k, (room, words) in enumerate((("generator", "generator/: no C"), ("build", "build/, templates/: no physics"),
                                       ("sympy", "SymPy"), ("runtime", "runtime/: imports none of them"))):  # fmt: skip
        x, level = (14, 180)[k % 2], 50 + 26 * (k // 2)
        head += [f'<rect x="{x}" y="{level}" width="14" height="14" fill="{COLOUR[room]}" stroke="#555"/>',
                 text(x + 20, level + 12, words, 13, "start")]  # fmt: skip
    return "\n".join([*head, *parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
