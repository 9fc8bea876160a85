"""docs/cli.md, made of the help pages of every command. Run as a program, it prints them."""

from __future__ import annotations

import sys

import click

from lockgate.cli.main import cli

HEAD = """\
# Command line

Made from the help pages by `scripts/update-docs`; a test compares.
"""


def page(command: click.Command, name: str, parent: click.Context | None = None) -> str:
    """The help page of a command and of every command below it."""
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=80,
        max_content_width=80,
        **command.context_settings,
    )
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    text = "\n".join(["", f"## {context.command_path}", "", "```text", *lines, "```", ""])
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                text += page(found, child, context)
    return text


def pages() -> str:
    """The whole document."""
    return HEAD + page(cli, "lockgate")


if __name__ == "__main__":
    sys.stdout.write(pages())
