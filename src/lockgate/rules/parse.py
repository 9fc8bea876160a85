"""Reading one rule as it is written in a permission list. A fault in any of them stops the start.

Most of all in a deny: a rule that silently matches nothing is a door that someone believes shut
(PB-177).

| written | means calls of |
|---|---|
| `Tool`, `mcp__server__tool` | this tool |
| `mcp__server`, `mcp__server__*` | any tool of the server |
| `Tool(subject)` | a tool of ours, about this command, path or address |
| `Tool(name=pattern)`, `mcp__server__tool(name=pattern, name=pattern)` | this tool with these |

A `...` at the end says that arguments which are not named are meant to be free.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, Literal

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.rules.brackets import Part, inner, parts
from lockgate.rules.command.pattern import CommandPattern, CommandPatternError
from lockgate.rules.exact import exactly
from lockgate.rules.in_tree import IN_TREE, InTreeTool
from lockgate.rules.matcher import Parameter, SubjectPattern, ValuePattern
from lockgate.rules.parameters import ValuePatternError, parse_value
from lockgate.rules.path import PathPatternError
from lockgate.rules.pattern import PatternError, parse_pattern
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule
from lockgate.rules.terms import check_terms
from lockgate.rules.url import UrlPattern, UrlPatternError
from lockgate.rules.values import AnyValue, ExactValue, PathValue, UrlValue
from lockgate.schema.spelling import nearest
from lockgate.tools.subject import SubjectKind

_REST: Final = "..."
_NAMED: Final = re.compile(r"([A-Za-z_][\w-]*)\s*=")
"""What a part that names an argument begins with."""
_NAME: Final = re.compile(r"([^\W\d][\w.$-]*)\s*=", re.ASCII)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=', re.DOTALL)
_QUOTES: Final[Mapping[SubjectKind, str]] = {SubjectKind.COMMAND: "\"'"}
_SUBJECT_WORDS: Final[Mapping[SubjectKind, str]] = {
    SubjectKind.COMMAND: "a command",
    SubjectKind.PATH: "a path",
    SubjectKind.URL: "an address",
}


def parse_rule(
    text: object,
    decision: Decision,
    *,
    servers: Collection[str] | None = None,
    known_tools: Collection[str] | None = None,
    source: str | None = None,
    when: Literal["attended", "unattended", "any"] | None = None,
    until: float | None = None,
    destructive: bool = False,
    pin: str | None = None,
    exact: bool = False,
    reason: str | None = None,
    places: Places | None = None,
) -> Rule:
    """Parse one rule of the list for `decision`.

    `servers` are the configured ones: a rule that names another is an error; None checks nothing.
    `known_tools`, where given, does the same for tools of our own. `source` is where the rule
    stands (file and key path), for messages and reasons. `when` (`attended` by default), `until`,
    `destructive`, `pin` and `exact` are for allow rules, see `Rule`; ask and deny rules always hold
    and may not say them. `places` are where paths start from; without them a rule with one is an
    error.

    Raises `ConfigError` with one problem that names the rule, the character (1-based) and, where
    there is one, the nearest spelling.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise _fault(f"a rule is a string, not {kind}", source, "put it in quotes")
    try:
        rule = _Reader(text, decision, source, places).rule(servers, known_tools, exact=exact)
        rule = replace(
            rule,
            when=when or "attended",
            until=until,
            destructive=destructive,
            pin=pin,
            exact=exact,
            reason=reason,
        )
        check_terms(rule, says_when=when is not None)
        if exact:
            rule = exactly(rule)
    except PatternError as error:
        place = f"at character {error.position + 1} " if text and error.position >= 0 else ""
        what = f"the rule {text!r}"
        raise _fault(f"{what} {place}{error.message}", source, error.hint) from None
    return rule


def _fault(message: str, source: str | None, hint: str | None) -> ConfigError:
    return ConfigError(Problem(message, path=source or "", hint=hint))


class _Reader:
    """One rule being read."""

    def __init__(
        self, text: str, decision: Decision, source: str | None, places: Places | None
    ) -> None:
        self._text = text
        self._decision = decision
        self._source = source
        self._places = places

    def rule(
        self, servers: Collection[str] | None, known: Collection[str] | None, *, exact: bool
    ) -> Rule:
        """The rule, without what stands under other keys. Raises `PatternError`."""
        text, opening = self._text, self._text.find("(")
        if opening < 0 or text[0].isspace() or text[-1].isspace():
            pattern = parse_pattern(text, servers=servers, known_tools=known)
            return Rule(self._decision, text, pattern.server, pattern.tool, source=self._source)
        if opening == 0:
            raise PatternError("names no tool", 0, "write a tool's name before the bracket")
        pattern = parse_pattern(text[:opening], servers=servers, known_tools=known)
        if pattern.tool is None:
            raise PatternError(
                "has arguments, and names more than one tool",
                opening,
                "write a rule for each tool: mcp__<server>__<tool>(name=pattern)",
            )
        rule = Rule(self._decision, text, pattern.server, pattern.tool, source=self._source)
        ours = IN_TREE.get(pattern.tool) if pattern.server is None else None
        begun = text[opening + 1 :].lstrip()
        if begun.startswith(")") and not (exact and begun == ")"):
            raise PatternError(
                "has nothing in its brackets",
                opening + 1,
                f"write {text[:opening]} for every call of the tool",
            )
        if ours is not None and ours.subjects and not self._names_argument(ours, begun):
            return self._with_subject(rule, ours, opening)
        return self._with_parameters(rule, ours, opening, exact=exact)

    @staticmethod
    def _names_argument(tool: InTreeTool, begun: str) -> bool:
        named = _NAMED.match(begun)
        return begun[:1] == ")" or (named is not None and named[1] in tool.parameters)

    def _with_subject(self, rule: Rule, tool: InTreeTool, opening: int) -> Rule:
        part = inner(self._text, opening, quotes=_QUOTES.get(tool.subject, ""))
        if part.text.strip() == _REST:
            return replace(rule, rest=True)
        if part.text.rstrip().endswith(f", {_REST}"):
            raise PatternError(
                f"ends in {_REST} behind {_SUBJECT_WORDS[tool.subject]}",
                part.at + part.text.rfind(","),
                "leave it out: it speaks of the whole call anyway",
            )
        if (named := _NAMED.match(part.text)) and (near := nearest(named[1], tool.parameters)):
            raise PatternError(
                f"has the argument {named[1]!r}, which {tool.name} has not",
                part.at,
                f"did you mean {' or '.join(f'{name}=' for name in near)}?",
            )
        return replace(rule, subject=self._subject(tool.subject, part))

    def _subject(self, kind: SubjectKind, part: Part) -> CommandPattern | SubjectPattern:
        try:
            if kind is SubjectKind.COMMAND:
                # Reasons about a line name the whole rule, as those of any other do.
                pattern = CommandPattern.parse(part.text, self._source)
                return replace(pattern, text=self._text)
            if kind is SubjectKind.URL:
                return UrlPattern.parse(part.text, self._source)
            if self._places is None:
                raise PatternError("has a path, and nothing says where paths start", part.at)
            return self._places.pattern(part.text, self._decision, self._source)
        except (CommandPatternError, PathPatternError, UrlPatternError) as error:
            raise PatternError(error.message, part.at, error.hint) from None

    def _with_parameters(
        self, rule: Rule, tool: InTreeTool | None, opening: int, *, exact: bool
    ) -> Rule:
        found = [part for part in parts(self._text, opening) if part.text or rule.tool]
        if len(found) == 1 and not found[0].text:
            return rule  # an exact rule for a call without arguments
        rest = found[-1].text == _REST
        read: dict[str, Parameter] = {}
        for part in found[:-1] if rest else found:
            name, value = self._named(part, opening)
            if tool is not None and name not in tool.parameters:
                raise PatternError(
                    f"has the argument {name!r}, which {tool.name} has not",
                    part.at,
                    _listed(name, tool.parameters),
                )
            if name in read:
                raise PatternError(f"has the argument {name!r} twice", part.at)
            try:
                pattern = parse_value(
                    value.text, self._decision, places=self._places, source=self._source
                )
            except (ValuePatternError, PathPatternError, UrlPatternError) as error:
                raise PatternError(error.message, value.at, error.hint) from None
            if tool is not None and (kind := tool.subjects.get(name)) is not None:
                self._check_kind(tool, kind, name, value, pattern, exact=exact)
            read[name] = Parameter(name, pattern)
        return replace(rule, parameters=tuple(read.values()), rest=rest)

    def _check_kind(
        self,
        tool: InTreeTool,
        kind: SubjectKind,
        name: str,
        value: Part,
        pattern: ValuePattern,
        *,
        exact: bool,
    ) -> None:
        """Refuse a pattern that goes by the letter where a tool of ours goes by what it means."""
        literal = isinstance(pattern, ExactValue)
        if kind is SubjectKind.COMMAND:
            if not literal:
                raise PatternError(
                    f"takes the line in {name!r} for any text, in which a command can hide",
                    value.at,
                    f"write {tool.name}(git status:*) for a command, or the whole line in quotes",
                )
            return
        if isinstance(pattern, AnyValue) or (literal and exact):
            return
        if not isinstance(pattern, PathValue if kind is SubjectKind.PATH else UrlValue):
            path = kind is SubjectKind.PATH
            raise PatternError(
                f"takes the {'path' if path else 'address'} in {name!r} for any text",
                value.at,
                f"write {name}={'path:./docs/**' if path else 'domain:example.com'}, which goes by"
                f" where it leads",
            )

    def _named(self, part: Part, opening: int) -> tuple[str, Part]:
        """The name of an argument, and its pattern."""
        head = self._text[:opening]
        if not part.text:
            raise PatternError("has nothing between two commas", part.at)
        if part.text == _REST:
            raise PatternError(f"has {_REST} before its end", part.at, "write it last")
        if quoted := _QUOTED.match(part.text):
            name, end = _unquoted(quoted[1], part.at), quoted.end()
        elif plain := _NAME.match(part.text):
            name, end = plain[1], plain.end()
        elif part.at > opening + 1 and self._text[opening + 1 : part.at].strip():
            raise PatternError(
                "has something other than name=pattern behind a comma",
                part.at,
                "a comma of a pattern stands in double quotes, or behind a backslash",
            )
        else:
            raise PatternError(
                "has brackets without name=pattern in them", part.at, _hint(head, part.text)
            )
        return name, Part(part.text[end:], part.at + end).stripped()


def _hint(head: str, text: str) -> str:
    hint = f"write {head}(name=pattern), with the name of an argument"
    if head in IN_TREE:
        return f"{hint}: {', '.join(sorted(IN_TREE[head].parameters))}"
    if "=" in text:
        return f'{hint}; a name with other characters than A-Z, 0-9, _ . $ - in quotes: "a b"=x'
    if near := nearest(head, IN_TREE):
        return f"did you mean {near[0]}({text})? otherwise {hint}"
    return hint


def _unquoted(text: str, at: int) -> str:
    try:
        name = json.loads(f'"{text}"')
    except ValueError:
        raise PatternError("has a name that is no JSON text", at) from None
    if not name:
        raise PatternError("has an empty name", at)
    return str(name)


def _listed(name: str, known: Collection[str]) -> str:
    if near := nearest(name, known):
        return f"did you mean {near[0]}?"
    return f"its arguments are {', '.join(sorted(known))}"
