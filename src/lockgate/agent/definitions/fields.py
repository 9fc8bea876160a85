"""The keys of a document, read one by one; what is wrong is collected and told at once.

A key that nobody asks for is unknown: there is no second list of the valid ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from lockgate.agent.definitions.document import Document
from lockgate.agent.definitions.front_matter import Written
from lockgate.agent.definitions.naming import MAX_NAME, NAME
from lockgate.errors import ConfigError, Problem
from lockgate.schema.spelling import nearest
from lockgate.showing import visible

MAX_TEXT: Final = 2000
"""Characters of one text, unless the reader says otherwise."""
MAX_NAMES: Final = 200
"""Names in one list."""

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_T = TypeVar("_T")


class Fields:
    """The front matter of one document.

    fields = Fields(document)
    name, tools = fields.name(), fields.names("tools")
    fields.finish()                         # raises ConfigError with everything
    """

    def __init__(self, document: Document, *, told: Mapping[str, str] = _NONE) -> None:
        """`told`: keys of other programs that deserve a sentence of their own."""
        self.path: Path = document.path
        self._told = told
        self._prefix = ""
        self._given: Mapping[str, Written] = _mapping(document.fields)
        self._asked: list[str] = []
        self._inner: list[Fields] = []
        self._problems: list[Problem] = []

    def __contains__(self, key: str) -> bool:
        """Whether the key was given, with whatever value."""
        return key in self._given

    def name(self, key: str = "name") -> str:
        """The name of the definition: small letters, digits and hyphens, at most 64."""
        text = self.text(key, most=MAX_NAME, required=True)
        if text is not None and not NAME.fullmatch(text):
            self.wrong(key, f"{_short(text)} is no usable name", "write small-letters-and-hyphens")
        return text or ""

    def text(
        self, key: str, *, most: int = MAX_TEXT, required: bool = False, lines: bool = False
    ) -> str | None:
        """A text without space around; None if the key was not given, or after a finding.

        `lines`: whether it may have several.
        """
        written = self._value(key, required=required)
        if written is None:
            return None
        value = written.value
        if not isinstance(value, str):
            quoted = isinstance(value, bool | int | float)
            hint = "put it in quotes" if quoted else None
            return self.wrong(key, f"must be text, not {written.kind}", hint)
        text = value.strip()
        if not text:
            return self.wrong(key, "is empty", "give a text, or remove the key")
        if len(text) > most:
            return self.wrong(key, f"is over {most} characters", "put what is long below, as text")
        if not lines and "\n" in text:
            text = " ".join(text.split())
        return text

    def names(self, key: str) -> tuple[str, ...] | None:
        """A list of names, or one text with commas between them; None if it was not given.

        An empty list is one: it names nothing. Whoever asks says what the names mean.
        """
        if key in self._given and self._given[key].value is None:
            self._note(key)
            what = "has no value"
            return self.wrong(key, what, "name some, write [] for none, or remove the key")
        written = self._value(key)
        if written is None:
            return None
        if isinstance(written.value, str):
            words = tuple(word.strip() for word in written.value.split(",") if word.strip())
        elif isinstance(written.value, tuple):
            words = self._items(key, written.value)
        else:
            return self.wrong(key, f"must be a list of names, not {written.kind}", "[Read, Grep]")
        if len(words) > MAX_NAMES:
            return self.wrong(key, f"has over {MAX_NAMES} names", None)
        twice = next((word for word in words if words.count(word) > 1), None)
        if twice is not None:
            self.wrong(key, f"{_short(twice)} stands twice in the list", None)
        return words

    def switch(self, key: str) -> bool | None:
        """true or false; None if it was not given, or after a finding."""
        written = self._value(key)
        if written is None or isinstance(written.value, bool):
            return None if written is None else bool(written.value)
        return self.wrong(key, f"must be true or false, not {written.kind}", None)

    def whole(self, key: str, *, most: int) -> int | None:
        """A whole number from 1 to `most`; None if it was not given, or after a finding."""
        written = self._value(key)
        if written is None:
            return None
        value = written.value
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= most:
            return self.wrong(key, f"must be a whole number from 1 to {most:,}", None)
        return value

    def choice(self, key: str, options: Mapping[str, _T]) -> _T | None:
        """What one word of several stands for; None if it was not given, or after a finding."""
        text = self.text(key, most=MAX_NAME)
        if text is None:
            return None
        if text in options:
            return options[text]
        near = nearest(text, options, limit=1)
        hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(options)}"
        return self.wrong(key, f"unknown value {_short(text)}", hint)

    def is_list(self, key: str) -> bool:
        """Whether the key was given a list; says nothing of what is in it."""
        return key in self._given and isinstance(self._given[key].value, tuple)

    def passed_over(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Take these keys for known, whatever they hold, and say which of them were given."""
        for key in keys:
            self._note(key)
        return tuple(key for key in keys if key in self._given)

    def section(self, key: str) -> Fields | None:
        """The keys below a key, to be read like these; `finish` looks at them too."""
        written = self._value(key)
        if written is None:
            return None
        if not isinstance(written.value, Mapping):
            return self.wrong(key, f"must be keys with values, not {written.kind}", None)
        inner = object.__new__(Fields)
        inner.path, inner._told, inner._prefix = self.path, _NONE, f"{self._prefix}{key}."
        inner._given = written.value
        inner._asked, inner._inner, inner._problems = [], [], self._problems
        self._inner.append(inner)
        return inner

    def wrong(self, key: str, message: str, hint: str | None = None) -> None:
        """Note a finding at `key`, given or not."""
        at = self._given.get(key)
        line, column = (2, 1) if at is None else (at.line, at.column)
        shown, told = visible(_cut(f"{self._prefix}{key}", 80)), visible(_cut(message, 400))
        self._problems.append(Problem(told, shown, self.path, line, column, hint))

    def found(self, problems: Iterable[Problem]) -> None:
        """Note what another reader has found in the same file."""
        self._problems.extend(problems)

    def finish(self) -> None:
        """Raise `ConfigError` with all findings, keys that nobody asked for among them."""
        self._unknown()
        if self._problems:
            raise ConfigError(*sorted(self._problems, key=lambda p: (p.line or 0, p.column or 0)))

    def _unknown(self) -> None:
        for key in self._given:
            if key in self._asked:
                continue
            near = nearest(key, self._asked, limit=1)
            hint = self._told.get(key) or (
                f"did you mean {near[0]}?" if near else f"known: {', '.join(self._asked)}"
            )
            self.wrong(key, "unknown key", hint)
        for inner in self._inner:
            inner._unknown()

    def _note(self, key: str) -> None:
        if key not in self._asked:
            self._asked.append(key)

    def _value(self, key: str, *, required: bool = False) -> Written | None:
        self._note(key)
        written = self._given.get(key)
        if written is None:
            if required:
                self.wrong(key, "is missing", f"add {key}: ...")
            return None
        if written.value is None:
            self.wrong(key, "has no value", "give one, or remove the key")
            return None
        return written

    def _items(self, key: str, items: tuple[Written, ...]) -> tuple[str, ...]:
        words: list[str] = []
        for item in items:
            if isinstance(item.value, str) and item.value.strip():
                words.append(item.value.strip())
            else:
                self.wrong(key, f"must be a list of names; one of them is {item.kind}", None)
        return tuple(words)


def _mapping(written: Written) -> Mapping[str, Written]:
    return written.value if isinstance(written.value, Mapping) else {}


def _short(text: str) -> str:
    return repr(_cut(text, 40))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
