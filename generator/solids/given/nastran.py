"""Matrices in the files of Nastran: OUTPUT4 as text and in binary, OUTPUT2; sparse or dense, real, single or double precision.

Binary files are records of Fortran: a length, the content, the length again. In OUTPUT2 every record comes behind one with its
number of words; of 64-bit programs all integers have eight bytes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from elastogen.generator.solids.given.number_lines import at_line
from elastogen.generator.solids.solid import Array

BIG = 65536  # a sparse string's header is (length + 1) BIG + row; of larger matrices, length + 1 and row
MOST = 10_000_000  # rows

Columns = Iterator[tuple[str, int, int, int, Array]]
"""Parts of columns: a matrix' name, its size, row and column of the first entry, from 0, and entries below each other."""


def read_nastran(data: bytes, ending: str, wanted: tuple[str, ...]) -> Any:
    """The matrix of one of these names, or the only one of the file; raises ``ValueError`` with what there is."""
    from scipy.sparse import csr_matrix

    parts = _op2(data) if ending == "op2" else _op4_text(data) if _is_text(data) else _op4_binary(data)
    found: dict[str, tuple[int, list[tuple[int, int, Array]]]] = {}
    for name, size, row, column, values in parts:
        if size > MOST or row < 0 or row + len(values) > size or not 0 <= column < size:
            raise ValueError(f"{name}: rows {row + 1} to {row + len(values)} of {size}")
        found.setdefault(name, (size, []))[1].append((row, column, values))
    named = [name for name in (*wanted, *found) if name in found]
    if not named or (named[0] not in wanted and len(found) > 1):
        raise ValueError(f"matrices {', '.join(found) or 'none'}: expected {' or '.join(wanted)}, or one real matrix alone")
    size, columns = found[named[0]]
    rows = np.concatenate([np.arange(row, row + len(values)) for row, _, values in columns])
    across = np.concatenate([np.full(len(values), column) for _, column, values in columns])
    return csr_matrix((np.concatenate([values for *_, values in columns]), (rows, across)), shape=(size, size))


def _is_text(data: bytes) -> bool:
    return b"\x00" not in data[:200]


# ---- OUTPUT4, text


def _op4_text(data: bytes) -> Columns:
    lines, at = data.decode("ascii").splitlines(), 0
    integers = "numbers of eight characters each, of an OP4 file"

    def line_at() -> str:
        nonlocal at
        if at >= len(lines):
            raise ValueError(f"line {at}, the last one, ends within a column")
        at += 1
        return lines[at - 1]

    def numbers(count: int, per_line: int, width: int) -> Array:
        found: list[float] = []
        while len(found) < count:
            line, left = line_at(), min(per_line, count - len(found))
            found += at_line(at, line, f"{left} numbers of {width} characters", partial(_reals, left, width))
        return np.array(found)

    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        header = line_at()
        columns, rows, _, kind = at_line(at, header, integers, partial(_integers, 4))
        name = header[32:40].strip()
        layout = re.search(r"(\d+)E(\d+)\.", header)
        per_line, width = (int(layout[1]), int(layout[2])) if layout else (5, 16)
        words, parts = _words(kind, name)
        while True:
            column, row, count = at_line(at + 1, line_at(), integers, partial(_integers, 3))
            if column > columns:
                if at < len(lines) and lines[at].strip():  # one number more ends a matrix
                    line_at()
                break
            if row:  # dense
                values = numbers(count, per_line, width)
                if parts == 1:
                    yield name, abs(rows), row - 1, column - 1, values
                continue
            while count > 0:  # sparse: a string's header holds its length and first row
                if rows < 0:
                    length, first = at_line(at + 1, line_at(), integers, partial(_integers, 2))
                    head = 2
                else:
                    text = at_line(at + 1, line_at(), "length and first row of a string", int)
                    length, first, head = text // BIG, text % BIG, 1
                if length < 2:
                    raise ValueError(f"line {at}: a string of {length - 1} words")
                values = numbers((length - 1) // (words // parts), per_line, width)
                if parts == 1:
                    yield name, abs(rows), first - 1, column - 1, values
                count -= length - 1 + head


def _words(kind: int, name: str) -> tuple[int, int]:
    """Words of a number, and its parts: of complex ones two."""
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"{name or 'a matrix'} of type {kind}, expected 1 to 4")
    return ((1, 1), (2, 1), (2, 2), (4, 2))[kind - 1]


def _integers(count: int, line: str) -> list[int]:
    return [int(line[8 * k : 8 * k + 8]) for k in range(count)]


def _reals(count: int, width: int, line: str) -> list[float]:
    return [float(line[width * k : width * (k + 1)].replace("D", "E")) for k in range(count)]


# ---- records of Fortran


def _records(data: bytes) -> tuple[str, list[bytes]]:
    """The order of bytes, and the contents."""
    found: list[bytes] = []
    order = "<" if data[:4] and struct.unpack("<i", data[:4])[0] < BIG else ">"
    at = 0
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(order + "i", data, at)
        end = at + 4 + length
        if length < 0 or end + 4 > len(data) or struct.unpack_from(order + "i", data, end)[0] != length:
            raise ValueError(f"a damaged record at byte {at}")
        found.append(data[at + 4 : end])
        at = end + 4
    return order, found


def _numbers(content: bytes, order: str, kind: str) -> Array:
    return np.frombuffer(content, dtype=order + kind).astype(float)


# ---- OUTPUT4, binary


def _op4_binary(data: bytes) -> Columns:
    order, records = _records(data)
    at = 0
    while at < len(records):
        if len(records[at]) != 24:
            raise ValueError(
                "an OP4 file of 64-bit integers: write it as text, FORM=FORMATTED" if at == 0 else "a damaged header"
            )
        columns, rows, _, kind = struct.unpack(order + "4i", records[at][:16])
        name = records[at][16:24].decode("latin-1").strip()
        _, parts = _words(kind, name)
        form = "f4" if kind in (1, 3) else "f8"
        at += 1
        while at < len(records):
            content = records[at]
            column, row, _ = struct.unpack(order + "3i", content[:12])
            at += 1
            if column > columns:
                break
            strings = [(row, content[12:])] if row else list(_strings(content[12:], order, rows < 0))
            for first, values in strings if parts == 1 else ():
                yield name, abs(rows), first - 1, column - 1, _numbers(values, order, form)


def _strings(content: bytes, order: str, big: bool) -> Iterator[tuple[int, bytes]]:
    """First rows and entries of the strings of a sparse column."""
    at = 0
    while at < len(content):
        if big:
            length, first = struct.unpack_from(order + "2i", content, at)
            at += 8
        else:
            (head,) = struct.unpack_from(order + "i", content, at)
            length, first = divmod(head, BIG)
            at += 4
        end = at + 4 * (length - 1)
        if length < 2 or end > len(content):
            raise ValueError(f"a string of {length - 1} words that is not in its column")
        yield first, content[at:end]
        at = end


# ---- OUTPUT2


def _op2(data: bytes) -> Columns:
    """Matrices among the tables; of each table its trailer, its name again, and then a group of records for every column."""
    order, records = _records(data)
    size = len(records[0]) if records else 0
    if size not in (4, 8):
        raise ValueError("not an OUTPUT2 file: its first record is no number of words")
    key = order + ("i" if size == 4 else "q")

    def number(at: int) -> int | None:
        known = at < len(records) and len(records[at]) == size
        return int(struct.unpack(key, records[at])[0]) if known else None

    at = 0
    while at < len(records):
        named = len(records[at]) == 2 * size and number(at - 1) == 2 and number(at + 1) == -1
        content = records[at]
        at += 1
        if not named or at + 2 > len(records) or len(records[at + 2]) < 7 * size:
            continue
        name = bytes(content).decode("latin-1").replace(" ", "").strip("\x00")
        columns, rows, form, kind = struct.unpack(order + "7" + key[1], records[at + 2][: 7 * size])[1:5]
        if not (1 <= form <= 15 and 1 <= kind <= 4 and columns > 0 and rows > 0) or number(at + 3) != -2:
            continue
        found = _op2_columns(records, at + 3, number, order, size, kind)
        for column, row, values in found:
            if column >= columns:
                break  # a table whose trailer looks like that of a matrix
            yield name, rows, row, column, values


def _op2_columns(
    records: list[bytes], at: int, number: Any, order: str, size: int, kind: int
) -> Iterator[tuple[int, int, Array]]:
    at += 3  # -2, 1, 0
    if number(at) is None or (number(at + 1) is not None and len(records[at + 1]) == size):
        return
    at += 2
    step, column = -3, 0
    while number(at) == step and number(at + 1) == 1:
        if number(at + 2) == 0:
            return
        at += 3
        while (words := number(at)) is not None and words > 0:
            content = records[at + 1]
            (row,) = struct.unpack_from(order + ("i" if size == 4 else "q"), content, 0)
            form = "f8" if kind in (2, 4) or size == 8 else "f4"
            if kind <= 2:
                yield column, row - 1, _numbers(content[size:], order, form)
            at += 2
        step, column = step - 1, column + 1
