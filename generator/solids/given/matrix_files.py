"""Nodes and matrices in the files of other programs: Matrix Market, Abaqus, CalculiX, Nastran.

A matrix is read with the freedoms of its rows: pairs of a node's number and a direction, 1 to 3 for displacements, 4 to 6 for
rotations. Where a file does not name them they are those of all nodes, in their order.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.given.nastran import read_nastran
from elastogen.generator.solids.given.number_lines import at_line, table, wrong
from elastogen.generator.solids.solid import Array, Indices

NODES = ("txt", "csv", "dat", "inp", "bdf", "nas")
MATRICES = ("mtx", "sti", "mas", "op4", "op2")
MOST_ROWS = 10_000_000
NASTRAN = {"stiffness": ("KGG", "KAA", "KXX"), "mass": ("MGG", "MAA", "MXX")}  # what it calls them


@dataclass(frozen=True)
class Nodes:
    """Numbers and places of nodes, in the order of the file."""

    numbers: Indices
    places: Array


def read_nodes(data: bytes, ending: str, where: Location) -> Nodes:
    """Nodes of a text file (x y z, or number x y z), of an Abaqus or CalculiX input, of Nastran bulk data."""
    fix = "one node a line: x y z, or number x y z; or an .inp or .bdf file"
    try:
        text = data.decode("utf-8-sig")
        if ending == "inp":
            rows = _inp_nodes(text)
        elif ending in ("bdf", "nas"):
            rows = _grid_cards(text)
        else:
            bare = ((k, line.split("#")[0]) for k, line in enumerate(text.splitlines(), start=1))
            rows = table(((k, line) for k, line in bare if line.strip()), (3, 4), "x y z, or number x y z")
    except (UnicodeDecodeError, ValueError) as problem:
        raise where.error(str(problem)[:160], "a table of numbers", fix) from None
    if not len(rows) or rows.shape[1] not in (3, 4) or not np.isfinite(rows).all():
        raise where.error(f"{len(rows)} nodes of {rows.shape[-1]} columns", "three coordinates of every node", fix)
    numbers = rows[:, 0].astype(np.int64) if rows.shape[1] == 4 else np.arange(1, len(rows) + 1)
    if len(set(numbers.tolist())) != len(numbers):
        raise where.error("two nodes of one number", "every node once", fix)
    return Nodes(numbers, rows[:, -3:])


def _inp_nodes(text: str) -> Array:
    """``*NODE`` blocks: number, x, y, z."""
    rows, inside = list[list[float]](), False
    for k, line in enumerate(text.splitlines(), start=1):
        if line.startswith("**") or not line.strip():
            continue
        if line.startswith("*"):
            inside = re.fullmatch(r"\*node", line.split(",")[0].strip(), re.IGNORECASE) is not None
        elif inside:
            rows.append(at_line(k, line, "number, x, y, z", _inp_node))
    return np.array(rows, dtype=float).reshape(-1, 4)


def _inp_node(line: str) -> list[float]:
    number, *fields = (field.strip() for field in line.split(","))
    return [int(number), *(float(field) if field else 0.0 for field in [*fields, "", "", ""][:3])]


def _grid_cards(text: str) -> Array:
    """``GRID`` cards in the basic frame: fields of 8 or 16 characters, or with commas."""
    rows, lines = list[list[float]](), text.splitlines()
    for k, line in enumerate(lines):
        if re.match(r"GRID\*", line, re.IGNORECASE):
            following = lines[k + 1] if k + 1 < len(lines) else ""
            fields = [line[8:24], line[24:40], line[40:56], line[56:72], following[8:24]]
        elif re.match(r"GRID\s*,", line, re.IGNORECASE):
            fields = line.split(",")[1:6]
        elif re.match(r"GRID\b", line, re.IGNORECASE):
            fields = [line[8 * j : 8 * j + 8] for j in range(1, 6)]
        else:
            continue
        if "".join(fields[1:2]).strip() not in ("", "0"):
            raise wrong(k + 1, f"GRID {fields[0].strip()} in frame {fields[1].strip()}", "the basic frame")
        rows.append(at_line(k + 1, line, "GRID, number, frame, x, y, z", partial(_grid, fields)))
    return np.array(rows, dtype=float).reshape(-1, 4)


def _grid(fields: list[str], line: str) -> list[float]:
    return [int(fields[0]), *(_nastran_number(fields[k]) for k in (2, 3, 4))]


def _nastran_number(field: str) -> float:
    """Nastran writes 1.5-3 for 1.5e-3, and nothing for zero."""
    text = field.strip().upper().replace("D", "E")
    return float(re.sub(r"(?<=[\d.])([+-]\d+)$", r"E\1", text)) if text else 0.0


def read_matrix(name: str, data: bytes, ending: str, freedoms: bytes, nodes: Nodes, where: Location) -> Any:
    """Stiffness or mass, by its name: a symmetric matrix over three displacements of every node, node by node."""
    from scipy.sparse import csr_matrix

    try:
        if ending in ("sti", "mas"):
            found, rows = _calculix(data, freedoms, where)
        elif ending in ("op4", "op2"):
            found, rows = read_nastran(data, ending, NASTRAN[name]), None
        elif data.lstrip().startswith(b"%%MatrixMarket"):
            found, rows = _matrix_market(data), None
        else:
            found, rows = _abaqus(data)
    except (ValueError, OSError, AttributeError, IndexError, TypeError, struct.error) as problem:
        fix = (
            "scipy.io.mmwrite writes Matrix Market; Abaqus: *MATRIX OUTPUT, FORMAT=MATRIX INPUT; CalculiX: SOLVER=MATRIXSTORAGE"
        )
        raise where.error(str(problem)[:160], "a sparse matrix in one of the known formats", fix) from None
    if not np.isfinite(found.data).all():
        raise where.error("a number that is not finite", "finite numbers", "export it again")
    count = len(nodes.numbers)
    if rows is None:
        each = found.shape[0] // count
        if each not in (3, 6) or found.shape != (each * count,) * 2:
            expected = f"{3 * count} rows and columns, three for each of {count} nodes (or six, with rotations that are zero)"
            raise where.error(f"{found.shape[0]} x {found.shape[1]}", expected, "leave out rotations")
        rows = np.stack([np.repeat(nodes.numbers, each), np.tile(np.arange(1, each + 1), count)], axis=1)
    place = {(int(number), axis): 3 * k + axis - 1 for k, number in enumerate(nodes.numbers) for axis in (1, 2, 3)}
    kept = [k for k, (_, axis) in enumerate(rows) if axis <= 3]
    rotating = [k for k, (_, axis) in enumerate(rows) if axis > 3]
    if rotating and abs(found[rotating]).max() > 0:
        raise where.error(
            "rotations that are not zero", "solid elements, with displacements only", "leave out shells and beams"
        )
    unknown = [int(rows[k][0]) for k in kept if (int(rows[k][0]), int(rows[k][1])) not in place]
    if unknown:
        raise where.error(f"node {unknown[0]}", "nodes of the file with nodes", "export both from the same model")
    where_to = np.array([place[int(rows[k][0]), int(rows[k][1])] for k in kept], dtype=np.int64)
    picked = found[kept][:, kept].tocoo()
    return csr_matrix((picked.data, (where_to[picked.row], where_to[picked.col])), shape=(3 * count, 3 * count))


def _matrix_market(data: bytes) -> Any:
    """Coordinates or all entries, real, general or symmetric. SciPy's own reader ends the process at damaged files."""
    from scipy.sparse import coo_matrix

    lines = _lines(data)
    _, head = next(lines)
    kinds = head.split()[1:]
    known = [("matrix",), ("coordinate", "array"), ("real", "double", "integer"), ("general", "symmetric")]
    if len(kinds) != 4 or not all(kind.lower() in names for kind, names in zip(kinds, known, strict=True)):
        raise wrong(1, head, "%%MatrixMarket matrix coordinate (or array) real general (or symmetric)")
    sparse, symmetric = kinds[1].lower() == "coordinate", kinds[3].lower() == "symmetric"
    kept = ((k, line) for k, line in lines if not line.startswith("%"))
    number, size = next(kept, (1, ""))
    sizes = at_line(number, size, "numbers of rows, columns and entries", lambda line: [int(field) for field in line.split()])
    if len(sizes) != (3 if sparse else 2) or sizes[0] != sizes[1] or not 0 < sizes[0] <= MOST_ROWS:
        raise wrong(number, size, f"as many rows as columns, up to {MOST_ROWS}" + (", and entries" if sparse else ""))
    n, body = sizes[0], list(kept)
    entries = table(body, (3,) if sparse else (1,), "row, column and value" if sparse else "one value")
    expected = sizes[2] if sparse else (n * (n + 1) // 2 if symmetric else n * n)
    if len(entries) != expected:
        raise ValueError(f"{len(entries)} entries, expected {expected}, as line {number} has it")
    if sparse:
        outside = np.flatnonzero((entries[:, :2] < 1).any(axis=1) | (entries[:, :2] > n).any(axis=1))
        if len(outside):
            raise wrong(*body[int(outside[0])], f"rows and columns from 1 to {n}")
        i, j = entries[:, 0].astype(np.int64) - 1, entries[:, 1].astype(np.int64) - 1
    elif symmetric:
        j, i = np.triu_indices(n)  # column after column, from the diagonal down
    else:
        j, i = (index.ravel() for index in np.indices((n, n)))
    values = entries[:, -1]
    if symmetric:
        mirrored = i != j
        i, j = np.concatenate([i, j[mirrored]]), np.concatenate([j, i[mirrored]])
        values = np.concatenate([values, values[mirrored]])
    return coo_matrix((values, (i, j)), shape=(n, n)).tocsr()


def _both_triangles(values: Array, i: Indices, j: Indices, size: int) -> Any:
    """A symmetric matrix of which each pair of entries, or one of it, is given."""
    from scipy.sparse import coo_matrix

    alone = ~np.isin(j * size + i, i * size + j)  # entries whose mirror image is not given
    rows, columns = np.concatenate([i, j[alone]]), np.concatenate([j, i[alone]])
    return coo_matrix((np.concatenate([values, values[alone]]), (rows, columns)), shape=(size, size)).tocsr()


def _calculix(data: bytes, freedoms: bytes, where: Location) -> tuple[Any, Indices]:
    """Row, column and value of the upper triangle; the freedoms are in the ``.dof`` file: node.direction."""
    if not freedoms:
        fix = "add freedoms: job.dof, which CalculiX writes beside it"
        raise where.error("no freedoms", "the file that names the rows of .sti and .mas", fix)
    named = list(_lines(freedoms))
    pairs = [at_line(k, line, "node.direction, in freedoms", _freedom) for k, line in named]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    lines = list(_lines(data))
    entries = table(lines, (3,), "row, column and value")
    outside = np.flatnonzero((entries[:, :2] < 1).any(axis=1) | (entries[:, :2] > len(rows)).any(axis=1))
    if len(outside):
        number, line = lines[int(outside[0])]
        raise wrong(number, line, f"rows and columns from 1 to {len(rows)}, as freedoms has lines")
    i, j = entries[:, 0].astype(np.int64) - 1, entries[:, 1].astype(np.int64) - 1
    return _both_triangles(entries[:, 2], i, j, len(rows)), rows


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1."""
    return ((k, line) for k, line in enumerate(data.decode().splitlines(), start=1) if line.strip())


def _freedom(line: str) -> list[int]:
    node, direction = line.strip().split(".")
    return [int(node), int(direction)]


def _abaqus(data: bytes) -> tuple[Any, Indices]:
    """``*MATRIX OUTPUT, FORMAT=MATRIX INPUT``: row node, direction, column node, direction, value."""
    lines = [(k, line) for k, line in _lines(data) if not line.startswith("*")]
    if not lines:
        raise ValueError("an empty file")
    entries = table(lines, (5,), "node, direction, node, direction, value")
    pairs = entries[:, :4].astype(np.int64)
    rows, number = np.unique(np.vstack([pairs[:, :2], pairs[:, 2:]]), axis=0, return_inverse=True)
    i, j = number.reshape(2, -1)
    return _both_triangles(entries[:, 4], i, j, len(rows)), rows
