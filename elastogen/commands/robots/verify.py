"""``elastogen verify``: show progress and results as a table, and write the certificate."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import click

import elastogen
from elastogen.commands.shared.options import (
    AS_JSON,
    LOADING,
    OUTPUT,
    TALKING,
    load,
    names,
    teller,
    warned_already,
    with_options,
)


@click.command()
@LOADING
@click.option("--states", type=int, default=3, metavar="N", help="Random states over the joints' ranges (default 3).")
@click.option("--certificate", type=OUTPUT, metavar="DIR", help="Write the certificate there, as JSON and as a page.")
@click.option("--outputs", type=names, metavar="A,B", help="Functions whose C is checked (default: a sensible set).")
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Check a robot's model by a second derivation, 50-digit arithmetic, identities and C tools.

    Exit code 2 where a check fails.
    """
    from elastogen.build.files.write import write_files
    from elastogen.verification.findings import table
    from elastogen.verification.page import page

    robot, tell = load(options), teller(options)
    with warned_already():
        certificate = elastogen.verify(robot, states=options.states, outputs=options.outputs, tell=tell)
    print(certificate.json() if options.as_json else table(certificate.findings))
    if options.certificate is not None:
        folder: Path = options.certificate
        name = f"{certificate.robot}-certificate"
        for path in write_files(folder, {f"{name}.json": certificate.json(), f"{name}.html": page(certificate)}):
            tell(f"wrote {path}")
    if not certificate.passed:
        failed = [f"{finding.check}: {finding.subject}" for finding in certificate.findings if finding.verdict == "failed"]
        raise elastogen.OutputError(f"{certificate.robot} is not verified: {'; '.join(failed) or 'nothing was checked'}")
    tell(f"{certificate.robot} is verified")
