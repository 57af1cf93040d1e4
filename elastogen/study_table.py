"""The table of a study on disk: one Parquet file for each part of the cases, written completely or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from elastogen.runtime.errors import ModelError

_UNFINISHED = "_unfinished-"
_KINDS = "reduce every case to the same kind of value, or None"
_FIXED = (bool, int, float, str, bytes, type(None), np.generic, np.ndarray)
_NOTE = "_study.json"  # beside the parts: which study they belong to. Readers of Parquet pass over names with _


@dataclass(frozen=True)
class StudyTable:
    """A folder that holds a study's results: ``part-00000.parquet``, ``part-00001.parquet``, ..."""

    folder: Path

    def begin(self, study: Sequence[object]) -> None:
        """Make the folder, or continue the same study where it stopped; the folder of another study is refused."""
        _parquet()
        note, identity = self.folder / _NOTE, hashlib.sha256(canonical(study)).hexdigest()
        if not note.exists():
            if self.folder.exists() and (not self.folder.is_dir() or not self._is_empty()):
                raise _error(self.folder, "a file, or a folder with other files", "a new or empty folder", "choose another one")
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                _replace(note, json.dumps({"elastogen study": identity}).encode() + b"\n")
            except OSError as problem:
                given = f"not writable ({problem.strerror})"
                raise _error(self.folder, given, "a folder that is writable and has space", "choose another one") from None
        elif _noted(note) != identity:
            expected = "the same recipe, cases, chunk and reduce as in the study that it holds"
            raise _error(self.folder, "another study", expected, "choose another folder, or remove this one")

    def _is_empty(self) -> bool:
        """Whether nothing was written yet; a study that was killed at its start leaves an unfinished note."""
        return all(path.name.startswith(_UNFINISHED) and path.name.endswith(_NOTE) for path in self.folder.iterdir())

    def path(self, part: int) -> Path:
        """Return the file of a part."""
        return self.folder / f"part-{part:05d}.parquet"

    def is_written(self, part: int) -> bool:
        """Whether a part is complete."""
        return self.path(part).exists()

    def write(self, part: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a part; the file appears when it is complete."""
        arrow, _ = _parquet()
        names = dict.fromkeys(name for row in rows for name in row)  # a row may leave some out
        self._replace_part(part, arrow.table({name: _column(arrow, name, [row.get(name) for row in rows]) for name in names}))

    def _replace_part(self, part: int, content: Any) -> None:
        unfinished = _unfinished(self.path(part))
        try:
            _parquet()[1].write_table(content, unfinished)
            unfinished.replace(self.path(part))
        finally:
            unfinished.unlink(missing_ok=True)

    def finish(self, parts: int) -> None:
        """Give all parts the same columns: readers use those of the first part, where some may be missing or empty."""
        arrow, parquet = _parquet()
        schemas = {part: parquet.read_schema(self.path(part)) for part in range(parts)}
        try:
            common = arrow.unify_schemas([*schemas.values()], promote_options="permissive") if schemas else arrow.schema([])
        except arrow.ArrowException as problem:
            given, expected = f"in parts that do not fit together ({problem})", "one kind of value in every column"
            raise _error(self.folder, given, expected, _KINDS) from None
        for part, schema in schemas.items():
            if schema != common:
                found = parquet.read_table(self.path(part))
                missing = [field for field in common if field.name not in schema.names]
                for field in missing:
                    found = found.append_column(field, arrow.nulls(len(found), field.type))
                self._replace_part(part, found.select(common.names).cast(common))


def row_of(case: int, status: str, result: object) -> dict[str, Any]:
    """Return a row of the table: the number of the case, the status of its simulation, and the result of ``reduce``."""
    if not isinstance(result, Mapping) or not all(isinstance(key, str) for key in result):
        raise ModelError(
            f"run_study: reduce returned {type(result).__name__} for case {case}; a table takes a mapping of names to "
            "numbers, texts or lists of numbers. Fix: return for example {'speed': 1.5}."
        )
    taken = {"case", "status"} & result.keys()
    if taken:
        raise ModelError(f"run_study: reduce returned {sorted(taken)[0]!r}, a column that every table has. Fix: rename it.")
    return {"case": case, "status": status, **result}


def _column(arrow: Any, name: str, values: Sequence[object]) -> Any:
    """Convert the values of a column to an Arrow array."""
    try:
        return arrow.array([_plain(value, name) for value in values])
    except (arrow.ArrowException, OverflowError) as problem:
        raise ModelError(f"run_study: column {name!r} cannot be one of a table ({problem}). Fix: {_KINDS}.") from None


def _plain(value: object, key: str) -> object:
    """Convert a value to a number, text or list that a table can hold."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str, list, tuple)):
        return value
    raise ModelError(
        f"run_study: column {key!r} is {type(value).__name__}, expected a number, a text or an array. Fix: reduce it further."
    )


def canonical(value: object) -> bytes:
    """Return bytes that are equal for equal values in any process; a function counts by its code alone."""
    kind = type(value).__qualname__
    if isinstance(value, FunctionType):
        given = (value.__code__, value.__defaults__, value.__kwdefaults__, _enclosed(value))
        return _joined(kind, f"{value.__module__}.{value.__qualname__}".encode(), canonical(given))
    if isinstance(value, CodeType):
        return _joined(kind, value.co_code, canonical((value.co_consts, value.co_names)))
    if isinstance(value, (set, frozenset)):
        return _joined(kind, *sorted(canonical(entry) for entry in value))
    if isinstance(value, np.ndarray):
        return _joined(kind, str(value.dtype).encode(), str(value.shape).encode(), np.ascontiguousarray(value).tobytes())
    if isinstance(value, Mapping):
        return _joined(kind, *sorted(_joined("", canonical(key), canonical(entry)) for key, entry in value.items()))
    if isinstance(value, (list, tuple)):
        return _joined(kind, *(canonical(entry) for entry in value))
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return _joined(kind, repr(value).encode())
    if is_dataclass(value) and not isinstance(value, type):
        return _joined(kind, *(canonical(getattr(value, entry.name)) for entry in fields(value)))
    name = getattr(value, "__qualname__", None)
    if name:
        return _joined(kind, f"{getattr(value, '__module__', '')}.{name}".encode())
    try:
        return _joined(kind, pickle.dumps(value))
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise ModelError(
            f"run_study: {value!r} cannot be identified ({problem}). Fix: a function or a class at the top "
            "of a module, without functions inside."
        ) from None


def _enclosed(function: FunctionType) -> list[object]:
    """Return the fixed values that an inner function takes from its surroundings; lists and objects may change in a study."""
    contents = [cell.cell_contents for cell in function.__closure__ or ()]
    return [content if isinstance(content, _FIXED) else type(content) for content in contents]


def _joined(kind: str, *parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in (kind.encode(), *parts))


def _noted(note: Path) -> object:
    try:
        return json.loads(note.read_text(encoding="utf-8")).get("elastogen study")
    except (OSError, ValueError, AttributeError):
        return None


def _replace(path: Path, content: bytes) -> None:
    unfinished = _unfinished(path)
    unfinished.write_bytes(content)
    unfinished.replace(path)


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{_UNFINISHED}{os.getpid()}-{path.name}")


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ModelError("run_study: a table needs pyarrow. Fix: pip install 'elastogen[dask]'.") from None
    return pyarrow, parquet


def _error(folder: Path, given: str, expected: str, fix: str) -> ModelError:
    return ModelError(f"run_study: table={str(folder)!r} is {given}, expected {expected}. Fix: {fix}.")
