"""The tools that come with lockgate, made by name. None is there unless a configuration names it.

Each is imported when it is made: who has none of them loads neither a shell's grammar nor a client
for the web.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from lockgate.errors import LocalError
from lockgate.tools.tool import Tool

if TYPE_CHECKING:  # who has none of the tools over resources loads nothing of them
    from lockgate.builtin.resources.source import ResourceSource

_BY_RIPGREP: Final = ("Glob", "Grep")

_Environ: TypeAlias = Mapping[str, str]


def in_tree(
    names: Iterable[str],
    environ: Mapping[str, str],
    *,
    resources: ResourceSource | None = None,
    time: Callable[[], float] = clock.time,
) -> tuple[Tool, ...]:
    """The tools of these names, in their order. `environ` is the host's environment; `resources`
    is where the tools over resources get them from, None: there are no servers; `time` gives the
    seconds since 1970.

    Raises `LocalError` for a name that is none; `rules.in_tree` has all of them.
    """
    made: list[Tool] = []
    for name in names:
        if name in _OVER_RESOURCES:
            made.append(_OVER_RESOURCES[name](resources))
        elif name == "append_note":
            made.append(_append_note(time))
        elif name in _MAKERS:
            made.append(_MAKERS[name](environ))
        else:
            raise LocalError(f"no tool of lockgate's is called {name!r}")
    return tuple(made)


def unable(
    names: Iterable[str],
    environ: Mapping[str, str],
    locate: Callable[[str], str] | None = None,
) -> Mapping[str, str]:
    """Which of these tools can not work here, each with why and what to do. `locate` finds ripgrep
    by a PATH."""
    searching = [name for name in names if name in _BY_RIPGREP]
    if not searching:
        return {}
    from lockgate.builtin.files.problem import FileProblem
    from lockgate.builtin.files.ripgrep import locate as ripgrep

    try:
        (locate or ripgrep)(environ.get("PATH", ""))
    except FileProblem as problem:
        return dict.fromkeys(searching, str(problem))
    return {}


def _read(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.files.read import Read

    return Read()


def _glob(environ: _Environ) -> Tool:
    from lockgate.builtin.files.glob import GlobFiles

    return GlobFiles(environ.get("PATH", ""))


def _grep(environ: _Environ) -> Tool:
    from lockgate.builtin.files.grep import Grep

    return Grep(environ.get("PATH", ""))


def _write(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.files.write import Write

    return Write()


def _edit(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.files.edit import Edit

    return Edit()


def _bash(environ: _Environ) -> Tool:
    from lockgate.builtin.shell.bash import Bash

    return Bash(environ)


def _web_fetch(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.web.fetch import WebFetch

    return WebFetch()


def _append_note(time: Callable[[], float]) -> Tool:
    from lockgate.builtin.notes.append import AppendNote

    return AppendNote(time)


def _read_notes(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.notes.read import ReadNotes

    return ReadNotes()


def _knowledge_search(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.knowledge.search import KnowledgeSearch

    return KnowledgeSearch()


def _knowledge_add(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.knowledge.add import KnowledgeAdd

    return KnowledgeAdd()


def _knowledge_replace(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.knowledge.replace import KnowledgeReplace

    return KnowledgeReplace()


def _knowledge_remove(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.knowledge.remove import KnowledgeRemove

    return KnowledgeRemove()


def _todo(environ: _Environ) -> Tool:
    del environ
    from lockgate.builtin.todo.todo import Todo

    return Todo()


def _list_resources(source: ResourceSource | None) -> Tool:
    from lockgate.builtin.resources.listing import ListResources

    return ListResources(source)


def _read_resource(source: ResourceSource | None) -> Tool:
    from lockgate.builtin.resources.reading import ReadResource

    return ReadResource(source)


_MAKERS: Final[Mapping[str, Callable[[_Environ], Tool]]] = {
    "Read": _read,
    "Glob": _glob,
    "Grep": _grep,
    "Write": _write,
    "Edit": _edit,
    "Bash": _bash,
    "WebFetch": _web_fetch,
    "read_notes": _read_notes,
    "knowledge_search": _knowledge_search,
    "knowledge_add": _knowledge_add,
    "knowledge_replace": _knowledge_replace,
    "knowledge_remove": _knowledge_remove,
    "todo": _todo,
}

_OVER_RESOURCES: Final[Mapping[str, Callable[[ResourceSource | None], Tool]]] = {
    "ListResources": _list_resources,
    "ReadResource": _read_resource,
}

NAMES: Final[tuple[str, ...]] = ("append_note", *_MAKERS, *_OVER_RESOURCES)
"""All that are made here. Tools that start executions of their own come with the agent."""
