"""``elastogen cache``: list, check and empty the cache of compiled models."""

from __future__ import annotations

import time
from pathlib import Path

import click

import elastogen
from elastogen.commands.shared.options import AS_JSON, QUICK, positive, print_json

DIRECTORY = click.option(
    "--cache-dir", type=click.Path(path_type=Path), metavar="DIR", help="Instead of $ELASTOGEN_CACHE_DIR or the user's."
)


@click.group()
def command() -> None:
    """List, check or clean the cache of compiled models."""


@command.command("path")
@DIRECTORY
@QUICK
def path_command(cache_dir: Path | None) -> None:
    """Print the cache directory, and the read-only ones that are searched after it."""
    from elastogen.build.module.cache import Cache

    cache = Cache(cache_dir)
    print(cache.directory)
    for other in cache.read_only:
        print(f"{other} (read-only)")


@command.command("list")
@DIRECTORY
@QUICK
@AS_JSON
def list_command(cache_dir: Path | None, as_json: bool) -> None:
    """Print the entries, last used first: size, days since the last use, module."""
    from elastogen.build.module.cache import Cache, folder_bytes, most_bytes
    from elastogen.build.module.entry import MANIFEST, read_json

    cache, now = Cache(cache_dir), time.time()
    rows = [
        {
            "key": entry.name,
            "module": (read_json(entry / MANIFEST) or {}).get("extension", "? (damaged)"),
            "bytes": folder_bytes(entry),
            "days": (now - (entry / MANIFEST).stat().st_mtime) / 86400.0,
        }
        for entry in reversed(cache.entries())
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['bytes'] / 1024:8.0f} KiB  {row['days']:6.1f} d  {row['module']}")
    total = sum(row["bytes"] for row in rows) / 2**20
    print(f"{len(rows)} entries, {total:.1f} MiB of at most {most_bytes() >> 20} MiB in {cache.directory}")


@command.command("verify")
@DIRECTORY
@QUICK
def verify_command(cache_dir: Path | None) -> None:
    """Check the owner, permissions and checksums of every entry; exit code 2 if one is refused."""
    from elastogen.build.module.cache import Cache
    from elastogen.build.module.entry import sound_extension
    from elastogen.build.module.trust import distrust, distrust_ancestors

    cache, refused, count = Cache(cache_dir), [], 0
    for folder in (cache.directory, *cache.read_only):
        modules = folder / "modules"
        for entry in sorted(modules.glob("*")):
            count += 1
            reason = distrust_ancestors(folder) or distrust(folder, modules, entry)
            if not reason and sound_extension(entry) is None:
                reason = "its files are not those of its manifest, or may be written by others"
            if reason:
                refused.append(entry)
                print(f"{entry}: {reason}")
    print(f"{count} entries, {len(refused)} refused")
    if refused:
        raise elastogen.BuildError(f"{len(refused)} of {count} entries of the cache are refused. Fix: elastogen cache clean.")


@command.command("clean")
@DIRECTORY
@QUICK
@click.option("--unused-days", type=positive, metavar="NUMBER", help="Only entries that were not used for so long.")
def clean_command(cache_dir: Path | None, unused_days: float | None) -> None:
    """Remove the entries, their index files, and the remains of interrupted builds."""
    import shutil

    from elastogen.build.module.cache import NOTES, Cache, remove_orphans
    from elastogen.build.module.entry import MANIFEST

    cache, limit = Cache(cache_dir), time.time() - 86400.0 * (unused_days or 0.0)
    left = remove_orphans(cache.directory)
    entries = [
        entry for entry in cache.entries() if unused_days is None or (entry / MANIFEST).stat().st_mtime < limit
    ]  # fmt: skip
    for entry in entries:
        cache.discard(entry)
    if unused_days is None:
        for notes in NOTES:
            shutil.rmtree(cache.directory / notes, ignore_errors=True)
        for broken in (cache.directory / "modules").glob("*"):
            cache.discard(broken)
    else:
        cache.forget()
    print(f"removed {len(entries)} entries and {len(left)} leftovers from {cache.directory}")
