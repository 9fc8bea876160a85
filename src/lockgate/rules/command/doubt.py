"""Reasons to ask about a shell line although every command in it may be allowed.

A doubt never denies and is never overruled by an allow rule: the line does something that its
commands do not say, or says something that can not be read without running it.
"""

from __future__ import annotations

import enum

from lockgate.decision import Reason


class Doubt(enum.Enum):
    """Why a line is asked about. The name, in lower case, is part of the reason's code."""

    NOTHING = "it holds no command"
    CHARACTERS = "it holds control characters, unusual spaces or text that is not Unicode"
    LENGTH = "it is longer, or nested deeper, than is read"
    UNPLACED = "the shell grammar can not place a part of it"
    READINGS = "its two readings, by the grammar and word by word, do not agree on the commands"
    REDIRECTION = "it redirects input or output, or holds a here-document"
    ASSIGNMENT = "it sets a variable, which can change what a command does"
    BACKGROUND = "it leaves a job in the background, or starts a coprocess"
    DIRECTORY = "it changes the directory that a command works in"
    EXPANSION = "an expansion, a glob or a substitution decides a word of a command"
    EVALUATION = "it evaluates an operand: arithmetic, a subscript, a [[ test or a variable's name"
    FUNCTION = "it defines a function, which can take the name of a command"
    CONTROL = "it holds a for, case or select, whose words are not known before it runs"
    SHELL_STATE = "a builtin changes how the rest of the line is understood"
    UNSEEN = "it runs commands that do not stand in the line"
    WRAPPER = "a command is started by another one, with arguments or rights of its own"
    PROGRAM_OPTION = "an option or operand of a command starts a program, or writes a file"
    ALIAS = "a subcommand is not known and may be an alias or a program"

    def reason(self) -> Reason:
        """The doubt as a reason of a decision, without a word of the line."""
        return Reason(
            f"shell_{self.name.lower()}", f"the command line is asked about: {self.value}"
        )
