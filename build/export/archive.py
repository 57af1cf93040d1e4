"""Zip archives with the same bytes for the same files."""

from __future__ import annotations

import io
import zipfile

from elastogen.build.export.project import Files

EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file


def zipped(files: Files) -> bytes:
    """Return an archive of files in the given order."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, data, compresslevel=9)
    return stream.getvalue()
