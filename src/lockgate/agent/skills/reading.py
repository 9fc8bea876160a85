"""A skill from its `SKILL.md`: the keys people know, what they mean here, and its files.

Skills are published for many programs. What one says that means nothing here is no fault of it, so
it is passed over and told (`SkillDefinition.remarks`); a key that would bound the skill and can not
be obeyed is an error, and so is one that nobody knows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from lockgate.agent.definitions.document import Document, read_document
from lockgate.agent.definitions.fields import Fields
from lockgate.agent.definitions.folders import files_of
from lockgate.agent.models.named import SCRIPTED, read_name
from lockgate.agent.skills.definition import MAX_TEXT, SkillContext, SkillDefinition
from lockgate.errors import ConfigError, Problem
from lockgate.hooks.declared.plan import DeclaredHook
from lockgate.rules.pattern import PatternError, parse_pattern

FILE_NAME: Final = "SKILL.md"
MAX_DESCRIPTION: Final = 5000
"""Characters of a description in a file; less of it is listed."""
MAX_FILES: Final = 500
"""Files that are looked for in a skill's directory."""
MAX_DEPTH: Final = 6
_LISTED: Final = re.compile(r"[A-Za-z0-9._/-]{1,80}")
"""A file's path in its skill. Nobody has accepted it, so it must not pass for text of the skill."""

HooksReader: TypeAlias = Callable[[Document], tuple[DeclaredHook, ...]]
"""Reads `hooks` of a document. Raises `ConfigError`."""

PASSED_OVER: Final = (
    "license",
    "compatibility",
    "metadata",
    "version",
    "author",
    "tags",
    "category",
    "keywords",
    "homepage",
    "repository",
    "dependencies",
    "mode",
    "effort",
    "arguments",
    "paths",
    "shell",
)
"""Keys of the open format and of other programs that bound nothing a skill may do."""

TOLD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agent": "no other program's agents are here: say which tools it has, with tools: [Read]",
        "disallowed-tools": "say which tools it has, with tools: [Read]",
        "disallowedTools": "say which tools it has, with tools: [Read]",
        "permissionMode": "what is asked about is said in lockgate.yaml, under approvals",
        "permission-mode": "what is asked about is said in lockgate.yaml, under approvals",
    }
)
"""Keys that would bound a skill, or widen what it may do: told what to write instead."""

_CONTEXTS: Final[Mapping[str, SkillContext]] = MappingProxyType(
    {"inline": SkillContext.INLINE, "fork": SkillContext.FORK}
)
_RUN_ELSEWHERE: Final = re.compile(r"(?<![\w`])!`[^`\n]+`|^```!", re.MULTILINE)
"""What other programs run while they render a skill."""
_TOOL: Final = re.compile(r"[^\s,()]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?")


def skill_paths(place: Path) -> tuple[Path, ...]:
    """The files of skills that a configured path means: itself if it is a file, its own `SKILL.md`
    if it is the directory of one skill, else those of the directories in it.

    Raises `ConfigError` as `files_of`, and for a file that is called like one and is not read.
    """
    if (place / FILE_NAME).is_file():
        return (place / FILE_NAME,)
    found = files_of(place, f"*/{FILE_NAME}")
    if place.is_dir():
        for other in sorted(place.glob("*/[sS][kK][iI][lL][lL].[mM][dD]")):
            if other.name != FILE_NAME and not (other.parent / FILE_NAME).exists():
                raise ConfigError(
                    Problem("is not read", file=other, hint=f"call it {FILE_NAME}, in capitals")
                )
    return found


def read_skill(path: Path, *, hooks: HooksReader | None = None) -> SkillDefinition:
    """The skill of one file. Raises `ConfigError` with every fault and its place."""
    return skill_of(read_document(path), hooks=hooks)


def skill_of(document: Document, *, hooks: HooksReader | None = None) -> SkillDefinition:
    """The skill that a document is. `hooks` reads the hooks it declares; without it they are a
    fault."""
    fields = Fields(document, told=TOLD)
    remarks: list[str] = []
    name = fields.name()
    description = fields.text("description", most=MAX_DESCRIPTION, required=True) or ""
    if (when := fields.text("when_to_use", most=MAX_DESCRIPTION)) is not None:
        description = f"{description} {when}"
    tools = _tools(fields, remarks)
    model = _model(fields, remarks)
    context = fields.choice("context", _CONTEXTS)
    hint = _hint(fields)
    by_model = not (fields.switch("disable-model-invocation") or False)
    by_person = fields.switch("user-invocable") is not False
    if passed := fields.passed_over(PASSED_OVER):
        remarks.append(f"{', '.join(passed)}: says nothing here")
    declared = _hooks(fields, document, hooks)
    if not by_model and not by_person:
        fields.wrong("user-invocable", "leaves nobody who may ask for it", "remove one of the two")
    needs = "tools" if tools is not None else "a model" if model else "hooks" if declared else None
    if context is SkillContext.INLINE and needs is not None:
        hint_fork = "write context: fork, or remove one of the two"
        fields.wrong("context", f"{needs} can not hold for an inline skill", hint_fork)
    elif context is None and needs is not None:
        remarks.append(f"it has {needs}, so it is an execution of its own (context: fork)")
    _check_body(document, fields)
    fields.finish()
    if _RUN_ELSEWHERE.search(document.body):
        remarks.append("commands in its text (!`...`) are not run: the model is shown them as text")
    directory = document.path.parent.resolve() if document.path.name == FILE_NAME else None
    if directory is not None and directory.name != name:
        remarks.append(f"its directory is called {directory.name}; its name is {name}")
    files, unlisted = ((), 0) if directory is None else _files(directory)
    return SkillDefinition(
        name,
        description,
        document.body,
        context,
        tools,
        model,
        hint,
        by_model=by_model,
        by_person=by_person,
        hooks=declared,
        directory=directory,
        files=files,
        unlisted=unlisted,
        path=document.path,
        remarks=tuple(remarks),
    )


def _tools(fields: Fields, remarks: list[str]) -> tuple[str, ...] | None:
    """The tools it has, by either key; what is in brackets behind one says nothing here."""
    given = [key for key in ("tools", "allowed-tools") if key in fields]
    if len(given) == 2:
        fields.wrong("allowed-tools", "stands beside tools", "keep one of the two")
    lists = [fields.names(key) for key in ("tools", "allowed-tools")]
    found = next((names for names in lists if names is not None), None)
    if found is None:
        return None
    key, written = given[0], ", ".join(found)
    names: dict[str, None] = {}
    constrained = False
    for word in _TOOL.findall(written):
        name, bracket, _ = word.partition("(")
        constrained = constrained or bool(bracket)
        try:
            parse_pattern(name)
        except PatternError as error:
            fields.wrong(key, f"{name!r} at character {error.position + 1} {error.message}")
        names[name] = None
    if _TOOL.sub("", written).strip(" \t\n,"):
        fields.wrong(key, "has a bracket too many or too few", "write Read, Bash(git:*)")
    if constrained:
        remarks.append(
            f"what {key} has in brackets permits nothing and bounds nothing: "
            "write it as rules, under permissions"
        )
    if key == "allowed-tools":
        remarks.append("allowed-tools says which tools it has; no call of them is permitted by it")
    return tuple(names)


def _model(fields: Fields, remarks: list[str]) -> str | None:
    """The model, as `provider:name`, the path of a script made absolute; other programs' words for
    theirs are passed over."""
    model = fields.text("model", most=200)
    if model is None or model == "inherit":
        return None
    if ":" not in model:
        remarks.append(
            f"model: {model} is another program's word, so the model of whoever asks for it is "
            "used; here it is provider:name"
        )
        return None
    try:
        provider, rest = read_name(model)
    except ConfigError:
        hint = "write provider:model, such as anthropic:claude-sonnet-4-5, or inherit"
        return fields.wrong("model", "names no usable model", hint)
    return f"{SCRIPTED}:{fields.path.absolute().parent / rest}" if provider == SCRIPTED else model


def _hint(fields: Fields) -> str | None:
    """`argument-hint`: a text; `[file]` without quotes is a list to YAML, and meant as written."""
    if fields.is_list("argument-hint"):
        return f"[{', '.join(fields.names('argument-hint') or ())}]"
    return fields.text("argument-hint", most=500)


def _hooks(
    fields: Fields, document: Document, reader: HooksReader | None
) -> tuple[DeclaredHook, ...]:
    if not fields.passed_over(("hooks",)):
        return ()
    if reader is None:
        hint = "declare them in lockgate.yaml"
        fields.wrong("hooks", "can not be declared by a skill here", hint)
        return ()
    try:
        return reader(document)
    except ConfigError as error:  # told with whatever else is wrong, as all faults are at once
        fields.found(error.problems)
        return ()


def _check_body(document: Document, fields: Fields) -> None:
    if not document.body.strip():
        fields.wrong("description", "nothing stands below the front matter", "write what to do")
    elif len(document.body) > MAX_TEXT:
        message = f"its text is over {MAX_TEXT:,} characters"
        fields.wrong("description", message, "put some of it into files beside it")


def _files(directory: Path) -> tuple[tuple[Path, ...], int]:
    """The files beside a `SKILL.md`, and how many more have names that are not listed."""
    found = tuple(_found(directory))
    files = tuple(p for p in found if _LISTED.fullmatch(p.relative_to(directory).as_posix()))
    return files, len(found) - len(files)


def _found(directory: Path) -> Iterator[Path]:
    """The files beside a `SKILL.md`, sorted: without hidden ones and what a link leads out to."""
    count = 0
    for folder, folders, names in os.walk(directory):
        here = Path(folder)
        depth = len(here.relative_to(directory).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < MAX_DEPTH and not name.startswith(".") and name not in _UNLISTED
        )
        for name in sorted(names):
            path = here / name
            own = name.startswith(".") or path == directory / FILE_NAME
            if own or not _is_inside(path, directory):
                continue
            yield path
            count += 1
            if count >= MAX_FILES:
                return


_UNLISTED: Final = frozenset({"node_modules", "__pycache__"})


def _is_inside(path: Path, directory: Path) -> bool:
    try:
        real = path.resolve()
        return real.is_file() and real.is_relative_to(directory)
    except (OSError, RuntimeError):
        return False
