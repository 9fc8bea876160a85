"""The first reader: tree-sitter's grammar of Bash, and what stands where in its tree.

It finds commands wherever they hide (substitutions, here-documents, functions, subshells) and says
what else the line does. What it finds is enough to deny or to ask; to allow, the reader of `plain`
has to agree with it. Node names: tree-sitter-bash, `src/node-types.json`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from lockgate.rules.command.command import Command
from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.plain import is_assignment, read_plain
from lockgate.rules.command.words import OPEN, Word, beginning, file_named, unquote

LANGUAGE: Final = Language(tree_sitter_bash.language())
MAX_DEPTH: Final = 100
"""Levels of the tree that are looked at; a line written by a person has about ten."""

_DOUBTS: Final[Mapping[str, Doubt]] = {
    "file_redirect": Doubt.REDIRECTION,
    "heredoc_redirect": Doubt.REDIRECTION,
    "herestring_redirect": Doubt.REDIRECTION,
    "variable_assignment": Doubt.ASSIGNMENT,
    "function_definition": Doubt.FUNCTION,
    "for_statement": Doubt.CONTROL,
    "c_style_for_statement": Doubt.CONTROL,
    "case_statement": Doubt.CONTROL,
    "command_substitution": Doubt.EXPANSION,
    "process_substitution": Doubt.EXPANSION,
    "expansion": Doubt.EXPANSION,
    "simple_expansion": Doubt.EXPANSION,
    "brace_expression": Doubt.EXPANSION,
    "arithmetic_expansion": Doubt.EVALUATION,
    "subscript": Doubt.EVALUATION,
    "declaration_command": Doubt.SHELL_STATE,
    "unset_command": Doubt.SHELL_STATE,
    "ERROR": Doubt.UNPLACED,
    "&": Doubt.BACKGROUND,
    "((": Doubt.EVALUATION,
    "[[": Doubt.EVALUATION,
    "|&": Doubt.REDIRECTION,
}
_LOOKED_AT: Final = frozenset({*_DOUBTS, "heredoc_body"})
_BACKTICKS: Final = re.compile(r"`([^`]*)`")
_REDIRECTS: Final = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_CLOSES: Final = frozenset({">&-", "<&-"})
"""Redirections that have no target."""


class GrammarReading:
    """What the tree of one line says. Made by `read_grammar`, then only looked at."""

    __slots__ = ("_source", "commands", "doubts", "reads", "scripts", "unknown", "writes")

    def __init__(self, source: bytes) -> None:
        self.commands: list[Command] = []
        """Every command found, in the order of the tree."""
        self.doubts: set[Doubt] = set()
        self.scripts: list[str] = []
        """Lines to be read for themselves, where the tree does not look into the text."""
        self.writes: list[str] = []
        """Files that redirections write to, where their names are known: a `~` at the beginning is
        one that the shell expands."""
        self.reads: list[str] = []
        """The same of those that they read from."""
        self.unknown: list[str] = []
        """The others, as they are written."""
        self._source = source

    def look(self, node: Node, depth: int) -> None:
        """Note what `node` says, and everything below it."""
        kind = node.type
        if depth > MAX_DEPTH:
            self.doubts.add(Doubt.LENGTH)
            return
        doubt = _DOUBTS.get(kind)
        if doubt is not None:
            self.doubts.add(doubt)
        if node.is_missing:
            self.doubts.add(Doubt.UNPLACED)
        if kind == "command":
            self._command(node.children, depth)
            return
        if kind in {"declaration_command", "unset_command"}:
            self._command(node.children, depth, named=True)
            return
        if kind == "redirected_statement" and self._redirected(node, depth):
            return
        if kind == "file_redirect":
            self._redirect(node)
        if kind == "heredoc_body" and b"`" in self._source[node.start_byte : node.end_byte]:
            body = self._source[node.start_byte : node.end_byte].decode()
            self.scripts += _BACKTICKS.findall(body)
        if kind == "ERROR":
            self._stray_words(node)
        children = node.children
        if kind == "test_command" and children[0].type == "[":
            self._bracket(node)
        for child in children:
            if child.child_count or child.is_missing or child.type in _LOOKED_AT:
                self.look(child, depth + 1)

    def _command(self, children: list[Node], depth: int, *, named: bool = False) -> None:
        words: list[Word] = []
        group: list[Node] = []
        for child in children:
            kind = child.type
            if child.child_count or child.is_missing:
                self.look(child, depth + 1)
            if kind == "variable_assignment" and not words and not group and not named:
                continue
            if kind in _REDIRECTS:
                continue
            # Bytes that touch belong to one word for the shell, whatever the tree makes of them.
            if group and group[-1].end_byte != child.start_byte:
                words.append(self._word(group))
                group = []
            group.append(child)
        if group:
            words.append(self._word(group))
        self._add(words)

    def _redirected(self, node: Node, depth: int) -> bool:
        """Read a command with words behind a redirection, which the tree gives to that: `git >x
        push`. False if there are none."""
        behind = [word for child in node.children for word in _words_behind(child)]
        body = node.child_by_field_name("body")
        if not behind or body is None:
            return False
        for child in node.children:
            if child != body:
                self.look(child, depth + 1)
        while body.type in {"negated_command", "pipeline", "list"}:
            *before, last = body.children
            for child in before:
                self.look(child, depth + 1)
            body = last
        if body.type == "command":
            self._command([*body.children, *behind], depth + 1)
        else:
            self.look(body, depth + 1)
            words = [self._word([word]) for word in behind]
            self.commands.append(Command((OPEN, *words), certain=False))
        return True

    def _redirect(self, node: Node) -> None:
        """Note the file that a redirection writes to or reads from."""
        target = node.child_by_field_name("destination")
        if target is None or any(child.type in _CLOSES for child in node.children):
            return
        operator = self._source[node.start_byte : target.start_byte].rstrip()
        raw = self._source[target.start_byte : target.end_byte].decode()
        if target.type == "process_substitution" or (operator.endswith(b"&") and raw.isdigit()):
            return
        name = file_named(raw)
        if name is None:
            self.unknown.append(raw)
        elif name:
            (self.writes if b">" in operator else self.reads).append(name)

    def _add(self, words: list[Word]) -> None:
        if not words:
            return
        first = words[0]
        if first.bare and first.closed:
            if first.text == "time":
                words = words[2:] if len(words) > 1 and words[1].literal == "-p" else words[1:]
            elif first.text == "coproc":
                # With a compound command a name may stand before it; the tree shows both as words.
                self.doubts.add(Doubt.BACKGROUND)
                self._add(words[1:])
                words = words[2:]
            elif first.text == "select":
                self.doubts.add(Doubt.CONTROL)
            if is_assignment(first.text):
                self.doubts.add(Doubt.ASSIGNMENT)
        if words:
            self.commands.append(Command(tuple(words)))

    def _word(self, nodes: list[Node]) -> Word:
        raw = self._source[nodes[0].start_byte : nodes[-1].end_byte].decode()
        text = unquote(raw)
        if text is not None:
            return Word(text, bare=text == raw)
        self.doubts.add(Doubt.EXPANSION)
        return Word(_known_part(raw), closed=False, seen=beginning(raw))

    def _bracket(self, node: Node) -> None:
        """`[ ... ]` is a command with arguments, though the tree has a node of its own for it."""
        found = read_plain(self._source[node.start_byte : node.end_byte].decode())
        if found is None or len(found) != 1:
            self.doubts.add(Doubt.EVALUATION)
            self.commands.append(Command((Word("["), OPEN)))
            return
        self.commands.append(Command(tuple([Word(text) for text in found[0]])))

    def _stray_words(self, node: Node) -> None:
        """In a part that has no place, whatever looks like a word may be the name of a command."""
        words = [
            self._word([child])
            for child in node.children
            if child.type in {"word", "string", "raw_string", "concatenation", "command_name"}
        ]
        for start in range(min(len(words), 16)):
            self.commands.append(Command((*words[start:], OPEN), certain=False))


def read_grammar(text: str) -> GrammarReading:
    """Parse `text`, which must be valid Unicode without NUL, and look at its whole tree."""
    source = text.encode()
    reading = GrammarReading(source)
    reading.look(Parser(LANGUAGE).parse(source).root_node, 0)
    return reading


def _words_behind(node: Node) -> list[Node]:
    """Words in the tree of a redirection that are none of it."""
    if node.type == "file_redirect":
        targets = node.children_by_field_name("destination")
        return targets if any(child.type in _CLOSES for child in node.children) else targets[1:]
    if node.type != "heredoc_redirect":
        return []
    words = node.children_by_field_name("argument")
    return [*words, *(word for child in node.children for word in _words_behind(child))]


def _known_part(raw: str) -> str:
    """What a word that is expanded begins with for certain, or a part of that."""
    stop = next((i for i, c in enumerate(raw) if c in "$`*?[{~<>()&;|!\\'\"@+"), len(raw))
    return raw[:stop]
