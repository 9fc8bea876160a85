"""Programs of which it can not be told what they run: for `lockgate check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lockgate.app.finding import Finding
from lockgate.app.program_files import command_lines, program_files
from lockgate.settings.config import Config


def untold(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Each program whose files its command line does not say, in the order of the configuration.

    Whoever may write to one of them is not asked about it as about a control file.
    """
    project = (config.project_dir or Path()).absolute()
    for line in command_lines(config, project, environ):
        if not program_files(line).whole:
            what = "runs what its command line does not say, an expansion or code in it"
            yield Finding(
                line.source or line.of,
                f"{line.of} {what}: a write to a file that it runs is not asked about for that",
                "put it in a script, and name the script: command: [./check.sh]",
                note=True,
            )
