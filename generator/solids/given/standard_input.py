"""Standard input data of flexible bodies (SID), the text files that FEMBS and others write for multibody programs.

A file lists Taylor series in the modal coordinates q: m0 + sum_k m1_k q_k (O. Wallrapp, Standardization of flexible body
modeling in multibody system codes, Mech. Struct. Mach. 22, 1994). Blocks are `name ... end name`, entries m0(row, column)
and m1(row, mode, column); what is not listed is zero. ``standard_numbers.py`` makes the integrals of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from elastogen.generator.solids.given.number_lines import wrong
from elastogen.generator.solids.solid import Array

MOST_MODES = 60
BLOCKS = ("mdCM", "J", "Ct", "Cr", "Me", "Gr", "Ge", "Oe", "Ke", "De")
_ENTRY = re.compile(r"m([01])\(([\d\s,]+)\)\s*=\s*(\S+)")
_ZERO, _DIAGONAL, _SYMMETRIC, _FULL, _UNIT = range(5)  # the keys `structure`
_SIZES = ("order", "nrow", "ncol", "nq", "structure")


@dataclass
class Taylor:
    """A matrix and its derivatives by the modes: zeroth (rows, columns), first (rows, modes, columns)."""

    zeroth: Array
    first: Array


@dataclass
class Node:
    """A frame of the body: where it is, how it moves (phi) and rotates (psi) with the modes; phi may have a first order."""

    origin: Array  # (3,)
    phi: Taylor  # (3, modes), (3, modes, modes)
    psi: Array  # (3, modes)


@dataclass
class StandardInput:
    """What a file says, in its own units."""

    mass: float
    names: list[str]
    nodes: dict[int, Node]
    blocks: dict[str, Taylor] = field(default_factory=dict)

    @property
    def modes(self) -> int:
        """Number of modes."""
        return len(self.names)


def read_standard_input(text: str) -> StandardInput:
    """Parse a file; raises ``ValueError`` with the line that is not understood."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        lines = ((k, line.strip()) for k, line in enumerate(text.splitlines(), start=1))
        self.lines = [(k, line) for k, line in lines if line]
        self.at = 0
        self.modes = 0

    def _next(self, inside: str) -> tuple[int, str]:
        if self.at >= len(self.lines):
            raise ValueError(f"the end of the file within {inside}")
        self.at += 1
        return self.lines[self.at - 1]

    def read(self) -> StandardInput:
        while not re.match(r"new modal\b", self._next("a file without `new modal`")[1]):
            pass
        mass, nodes, blocks, names = None, dict[int, Node](), dict[str, Taylor](), list[str]()
        while (entry := self._next("new modal"))[1].lower() != "end modal":
            number, line = entry
            if line == "refmod":
                mass, names = self._refmod()
                self.modes = len(names)
            elif not names:
                raise wrong(number, line, "refmod, which counts the modes, before it")
            elif line in ("frame", "new frame"):
                nodes = self._nodes()
            else:
                blocks[line] = self._taylor(line, number)
        missing = [name for name in BLOCKS if name not in blocks and name != "De"]
        if mass is None or missing:
            raise ValueError(f"no {', '.join(missing) or 'refmod'}")
        return StandardInput(mass, names, nodes, blocks)

    def _refmod(self) -> tuple[float, list[str]]:
        mass, count, names = None, None, dict[int, str]()
        while (entry := self._next("refmod"))[1] != "end refmod":
            number, line = entry
            key, _, value = line.partition("=")
            named = re.match(r"ielastq\s*\(\s*(\d+)\s*\)", key)
            try:
                if named:
                    names[int(named[1])] = value.strip()
                elif key.strip() == "mass":
                    mass = _real(value)
                elif key.strip() == "nelastq":
                    count = int(value)
            except ValueError:
                raise wrong(number, line, "a number") from None
        if mass is None or count is None or not 0 < mass < np.inf:
            raise ValueError("refmod without mass above zero and nelastq")
        if not 1 <= count <= MOST_MODES:
            raise ValueError(f"nelastq = {count}, expected 1 to {MOST_MODES} modes")
        return mass, [names.get(k + 1, "") for k in range(count)]

    def _nodes(self) -> dict[int, Node]:
        found = dict[int, Node]()
        while (entry := self._next("frame"))[1] != "end frame":
            number, line = entry
            named = re.match(r"new node\s*=\s*(\d+)", line)
            if not named or int(named[1]) in found:
                raise wrong(number, line, "new node = a number that occurs once")
            parts = dict[str, Taylor]()
            while (inner := self._next("new node"))[1] != "end node":
                if "=" not in inner[1]:
                    parts[inner[1]] = self._taylor(inner[1], inner[0])
            if missing := [name for name in ("origin", "phi", "psi") if name not in parts]:
                raise wrong(number, line, f"a node with {missing[0]}")
            phi, psi = parts["phi"], parts["psi"]
            shapes = [parts["origin"].zeroth.shape[0], *phi.zeroth.shape, *psi.zeroth.shape]
            # psi and phi have a column for each mode; some writers count ncol = 1 all the same
            if shapes != [3, 3, self.modes, 3, self.modes]:
                raise wrong(number, line, f"phi and psi of three rows, {self.modes} columns")
            found[int(named[1])] = Node(parts["origin"].zeroth[:, 0], phi, psi.zeroth)
        return found

    def _taylor(self, name: str, start: int) -> Taylor:
        """One block, up to its end."""
        sizes, entries = dict[str, int](), list[tuple[int, str, tuple[int, ...], float]]()
        while (entry := self._next(name))[1] != f"end {name}":
            number, line = entry
            one = _ENTRY.fullmatch(line)
            key, _, value = line.partition("=")
            try:
                if one:
                    place = tuple(int(index) - 1 for index in one[2].split(","))
                    entries.append((number, one[1], place, _real(one[3])))
                elif key.strip() in (*_SIZES, "nqn"):
                    sizes[key.strip()] = int(value)
                else:
                    raise ValueError
            except ValueError:
                raise wrong(number, line, f"m0(..) = number, m1(..) = number, or end {name}") from None
        if missing := [key for key in _SIZES if key not in sizes]:
            raise wrong(start, name, f"a block with {missing[0]}")
        rows, columns = sizes["nrow"], max(sizes["ncol"], self.modes if name in ("phi", "psi") else 0)
        known = {self.modes} if sizes["order"] else {0, self.modes}
        if not (1 <= rows <= 6 * MOST_MODES and 1 <= columns <= 6 * MOST_MODES and sizes["nq"] in known):
            raise wrong(start, name, f"a block of nq = {self.modes} modes and of at most {6 * MOST_MODES} rows and columns")
        found = Taylor(np.zeros((rows, columns)), np.zeros((rows, self.modes, columns)))
        for number, power, place, entered in entries:
            target = found.zeroth if power == "0" else found.first
            if len(place) != target.ndim or any(not 0 <= k < size for k, size in zip(place, target.shape, strict=True)):
                raise wrong(number, f"m{power}{tuple(k + 1 for k in place)}", f"indices up to {target.shape}")
            if not np.isfinite(entered):
                raise wrong(number, f"{name} = {entered}", "a finite number")
            target[place] = entered
        if sizes["structure"] == _UNIT:
            found.zeroth = np.eye(rows, columns)
        elif sizes["structure"] == _SYMMETRIC:
            found.zeroth = np.where(found.zeroth == 0, found.zeroth.T, found.zeroth)
        return found


def _real(text: str) -> float:
    """Fortran writes 1.5D-03."""
    return float(text.strip().upper().replace("D", "E"))
