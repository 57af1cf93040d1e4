"""Tables of measurements: CSV (also gzipped), Parquet, npz, data frames, mappings of arrays; columns by name or by number."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.identification.errors import IdentificationError

Array = NDArray[Any]
MOST_BYTES = 2_000_000_000  # of a file, unpacked: more is not a log of one motion
ODD_LINES = 0.01  # share of lines with a wrong number of cells that is dropped without asking


@dataclass(frozen=True)
class Table:
    """Columns of numbers, one dimension each or two for all joints; without names they are called 1, 2, ..."""

    source: str
    columns: Mapping[str, Array]
    notes: tuple[str, ...] = field(default=())  # what was done while it was read


def read_table(given: object) -> Table:
    """The table of a file, a data frame or a mapping of arrays."""
    if isinstance(given, (str, Path)):
        return _read_file(Path(given))
    if hasattr(given, "to_dict") and hasattr(given, "columns"):  # a data frame, of pandas or another library
        return _of_arrays({str(name): np.asarray(given[name]) for name in given.columns}, "data frame")  # type: ignore[index]
    if isinstance(given, Mapping):
        return _of_arrays({str(name): np.asarray(value) for name, value in given.items()}, "arrays")
    raise IdentificationError(
        "data", type(given).__name__, "a file (.csv, .csv.gz, .parquet, .npz), a data frame or a mapping of arrays",
        'for example {"time": t, "q": q, "F": F}',
    )  # fmt: skip


def _read_file(path: Path) -> Table:
    readers = {".csv": _read_csv, ".gz": _read_csv, ".txt": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise IdentificationError(str(path), path.suffix or "no ending", f"one of {', '.join(readers)}", "convert the file")
    try:
        return readers[path.suffix.lower()](path)
    except FileNotFoundError:
        raise IdentificationError(str(path), "no such file", "a file of measurements", "check the path") from None
    except (OSError, EOFError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, IdentificationError):
            raise
        raise IdentificationError(
            str(path), f"a file that cannot be read ({error})", "a whole table", "copy it again"
        ) from error


def _read_csv(path: Path) -> Table:
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as unpacked:
            data = unpacked.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise IdentificationError(str(path), f"more than {MOST_BYTES:.0e} bytes", "the log of one motion", "split the file")
    lines = data.decode("utf-8-sig").splitlines()
    lines = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise IdentificationError(str(path), "an empty file", "a table of measurements", "check the recording")
    mark = max(",;\t", key=lines[0].count)
    rows = list(csv.reader(lines, delimiter=mark, skipinitialspace=True))
    names = None if _numbers(rows[0]) is not None else [cell.strip() for cell in rows.pop(0)]
    if not rows:
        raise IdentificationError(
            str(path), "a header and no line of numbers", "a table of measurements", "check the recording"
        )
    width = len(names) if names is not None else len(rows[0])
    return _of_rows(rows, names or [str(k + 1) for k in range(width)], path)


def _of_rows(rows: list[list[str]], names: list[str], path: Path) -> Table:
    notes = []
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise IdentificationError(str(path), f"two columns {twice!r}", "different names", "rename one of them")
    kept, odd = [], []
    for number, row in enumerate(rows):
        values = _numbers(row) if len(row) == len(names) else None
        if values is None:
            odd.append(number)
        else:
            kept.append(values)
    if odd and odd[-1] == len(rows) - 1:
        odd.pop()
        notes.append("the last line is cut off: left out")
    if len(odd) > ODD_LINES * len(rows):
        given = f"{len(odd)} of {len(rows)} lines without {len(names)} numbers, the first is number {odd[0] + 1} of the data"
        raise IdentificationError(str(path), given, "a table of numbers", "check the recording and the header")
    if odd:
        notes.append(f"{len(odd)} lines without {len(names)} numbers: left out")
    table = np.array(kept, dtype=float).reshape(-1, len(names))
    return Table(str(path), {name: table[:, k] for k, name in enumerate(names)}, tuple(notes))


def _numbers(cells: list[str]) -> list[float] | None:
    """The numbers of a line, empty cells as not a number; None where there is other text."""
    try:
        return [float(cell) if cell.strip() else float("nan") for cell in cells]
    except ValueError:
        return None


def _read_npz(path: Path) -> Table:
    with np.load(path, allow_pickle=False) as archive:
        return _of_arrays({name: archive[name] for name in archive.files}, str(path))


def _read_parquet(path: Path) -> Table:
    try:
        import pyarrow.parquet
    except ImportError:
        raise IdentificationError(str(path), "no pyarrow", "a reader of Parquet", "pip install pyarrow, or write CSV") from None
    table = pyarrow.parquet.read_table(path)
    return _of_arrays({name: table.column(name).to_numpy() for name in table.column_names}, str(path))


def _of_arrays(arrays: Mapping[str, Any], source: str) -> Table:
    columns: dict[str, Array] = {}
    for name, value in arrays.items():
        if value.dtype.kind not in "fiub":
            continue  # texts and times of day: not asked for, or reported as missing
        columns[name] = np.asarray(value, dtype=float)
    if not columns:
        raise IdentificationError(source, "no column of numbers", "arrays of numbers", "check what was recorded")
    return Table(source, columns)
