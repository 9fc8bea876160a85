"""The rules of the house that imports can not show, as checks over a tree of source files.

Each check takes one parsed file and yields what it found. `test_source_rules.py` runs all of them
over `src/lockgate` and over planted violations; the layer line itself is in pyproject.toml.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TypeAlias

from source_tree import Source, docstrings_of, imports_of, last_name, module_level_of

MAX_LINES = 400
GENERATED = "mcp/protocol/messages/"
"""The one folder whose files are generated, and may be as long as the schemas make them."""

PURE = (
    "errors.py",
    "traits.py",
    "decision.py",
    "content.py",
    "mcp/protocol/",
    "web/location.py",
    "web/addresses.py",
    "rules/",
    "policy/ceiling.py",
    "policy/gate.py",
    "calls/decide.py",
)
"""Modules that decide without touching the world (the import contract `pure` lists them too)."""

DEPENDENCIES = frozenset(
    {"msgspec", "jsonschema_rs", "ruamel", "rfc8785", "click", "rich", "tree_sitter"}
    | {"tree_sitter_bash", "opentelemetry"}
    | {"aiohttp", "yarl", "publicsuffixlist", "html_to_markdown", "keyring"}
    | {"multidict"}  # aiohttp's own
)
"""The import names of what pyproject.toml declares as needed at run time."""

OAUTH_FLOW = "mcp/client/oauth/sdk/"
"""Where the official SDK's OAuth flow is driven, and what it is made of may be named."""
OF_THE_FLOW = frozenset({"mcp", "httpx2", "pydantic"})

PROVIDERS = "agent/models/providers/"
"""Where models of providers are asked, and the library for them may be named."""

DRAWERS = frozenset({"util", "utils", "common", "shared", "helper", "helpers", "core", "misc"})

EXCEPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("no_hidden_import", "__init__.py"): (
            "the root resolves its public names late, so that `import lockgate` stays light; "
            "the names and their modules stand in one table there"
        ),
    }
)
"""(check, file) to the reason why the check does not hold there. A test refuses stale entries."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation."""

    check: str
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message} [{self.check}]"


Seen: TypeAlias = Iterator[tuple[int, str]]
Check: TypeAlias = Callable[[Source], Seen]


def findings(sources: Iterable[Source], checks: Iterable[Check]) -> list[Finding]:
    """What the checks find, the listed exceptions left out."""
    return [
        Finding(check.__name__, source.path, line, message)
        for source in sources
        for check in checks
        if (check.__name__, source.path) not in EXCEPTIONS
        for line, message in check(source)
    ]


# ------------------------------------------------------------------ the gate has no side door


def permit_made_on_the_road(source: Source) -> Seen:
    """`Permit` is made in calls/invoke*.py alone, and never under another name."""
    on_the_road = PurePosixPath(source.path).match("calls/invoke*.py")
    yield from _made(source, "Permit", on_the_road, "calls/invoke*.py")


def bounds_made_by_the_ceiling(source: Source) -> Seen:
    """`Bounds` is made in policy/ceiling.py alone: `whole` and `narrow` (B-04)."""
    yield from _made(source, "Bounds", source.path == "policy/ceiling.py", "policy/ceiling.py")


def declared_calls_come_from_settings(source: Source) -> Seen:
    """`DeclaredCall`, an answer by configuration, is made of a `ToolHandler` in one place, and that
    where accepted configuration is read, in settings/ alone."""
    yield from _made(source, "ToolHandler", source.inside("settings/"), "settings/")
    caller = "bridges/hook_caller.py"
    yield from _made(source, "DeclaredCall", source.path == caller, caller)


def tools_run_on_the_road(source: Source) -> Seen:
    """`Tool.execute` is called, and handed on, in calls/ alone. A database's has no permit."""
    if source.inside("calls/"):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and last_name(node.func) == "execute":
            words = [last_name(a) for a in node.args] + [k.arg or "" for k in node.keywords]
            if any("permit" in word.lower() for word in words):
                yield node.lineno, "a tool is run outside calls/"


def remote_prefix_in_two_places(source: Source) -> Seen:
    """The literal `mcp__` stands in tools/naming.py and rules/ alone (docstrings apart)."""
    if source.inside("tools/naming.py", "rules/"):
        return
    prose = docstrings_of(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(text, str) and "mcp__" in text:
                yield node.lineno, "the literal mcp__ outside tools/naming.py and rules/"


# ------------------------------------------------------------------ no ambient state, no magic

_READ_ONLY = frozenset(
    {"Mapping", "Sequence", "Set", "AbstractSet", "Collection", "Iterable", "JSONObject"}
    | {"frozenset", "tuple"}
)
_MUTABLE_MAKERS = frozenset(
    {"list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict", "count"}
    | {"WeakKeyDictionary", "WeakValueDictionary", "WeakSet", "local", "Lock", "RLock", "Event"}
    | {"Condition", "Semaphore", "BoundedSemaphore", "Queue", "SimpleQueue", "LifoQueue"}
    | {"ThreadPoolExecutor", "ProcessPoolExecutor", "Thread", "Future", "new_event_loop"}
)
_MUTABLE_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def no_module_state(source: Source) -> Seen:
    """Nothing at module level can change: tables are annotated with a read-only type."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            yield node.lineno, "`global`: state belongs to an object with an owner"
    for node in module_level_of(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if last_name(called) in {"cache", "lru_cache"}:
                    yield node.lineno, "a memo at module level is state without an owner"
        elif isinstance(node, ast.Assign):
            names = {last_name(target) for target in node.targets}
            if _is_mutable(node.value) and names != {"__all__"}:
                yield node.lineno, "a mutable value at module level; annotate it read-only"
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            annotation = node.annotation
            if isinstance(annotation, ast.Subscript) and last_name(annotation.value) == "Final":
                annotation = annotation.slice
            head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
            if _is_mutable(node.value) and last_name(head) not in _READ_ONLY:
                yield node.lineno, "a mutable value at module level; annotate it read-only"


def no_context_variables(source: Source) -> Seen:
    """What a call may do is passed, never ambient."""
    for node, module, _ in imports_of(source.tree):
        if module.split(".")[0] == "contextvars":
            yield node.lineno, "contextvars: policy that is not passed can be forgotten"


def no_wait_for(source: Source) -> Seen:
    """`asyncio.timeout`, because on 3.11 `wait_for` can swallow a cancellation."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "asyncio.wait_for":
            yield node.lineno, "asyncio.wait_for; use asyncio.timeout"
    for node, module, name in imports_of(source.tree):
        if (module, name) == ("asyncio", "wait_for"):
            yield node.lineno, "asyncio.wait_for; use asyncio.timeout"


def no_hidden_import(source: Source) -> Seen:
    """An import that is computed is one that no contract sees."""
    doors = {"import_module", "__import__", "exec", "eval", "run_module"}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute) and last_name(node) in doors:
            yield node.lineno, f"{last_name(node)} hides an import from the contracts"
    for node, module, name in imports_of(source.tree):
        if (module, name) == ("importlib", "import_module"):
            yield node.lineno, "import_module hides an import from the contracts"


def no_assert(source: Source) -> Seen:
    """`python -O` drops asserts; a check that matters raises."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assert):
            yield node.lineno, "assert in src; raise, or let the types say it"


def root_is_for_users(source: Source) -> Seen:
    """Nothing inside imports the package root, and every import says its layer in full."""
    for node, module, name in imports_of(source.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "a relative import does not say which layer it reaches into"
        elif module == "lockgate" and (name or isinstance(node, ast.Import)):
            yield node.lineno, "the package root is for users; import the module itself"


def only_declared_dependencies(source: Source) -> Seen:
    """Every import is ours, the standard library's, or declared in pyproject.toml."""
    for node, module, _ in imports_of(source.tree):
        top = module.split(".")[0]
        if isinstance(node, ast.ImportFrom) and node.level:
            continue
        if top in OF_THE_FLOW and source.inside(OAUTH_FLOW):
            continue
        if top == "pydantic_ai" and source.inside(PROVIDERS):
            continue
        if top not in DEPENDENCIES and top not in sys.stdlib_module_names and top != "lockgate":
            yield node.lineno, f"{top} is not declared in pyproject.toml"


def terminal_only_at_the_edge(source: Source) -> Seen:
    """click and rich draw the command line; no other layer may pull them in."""
    if source.inside("cli/", "__main__.py", "bridges/terminal.py"):
        return
    for node, module, _ in imports_of(source.tree):
        if module.split(".")[0] in {"click", "rich"}:
            yield node.lineno, f"{module} outside the command line"


def http_only_in_web(source: Source) -> Seen:
    """One client examines addresses and redirects; a second one would be a way around it."""
    if source.inside("web/"):
        return
    clients = {"aiohttp", "http.client", "urllib.request", "requests", "httpx", "httpx2"}
    if source.inside(OAUTH_FLOW):
        # Its requests and answers are values there; what sends them is ours.
        clients.remove("httpx2")
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and last_name(node.value) == "httpx2":
                if node.attr not in {"Request", "Response"}:
                    yield node.lineno, f"httpx2.{node.attr} outside web/"
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("httpx2"):
                yield node.lineno, "httpx2 is imported whole, so that what is used of it is seen"
    for node, module, name in imports_of(source.tree):
        parts = module.split(".")
        heads = {parts[0], ".".join(parts[:2]), f"{module}.{name}"}
        if clients & heads:
            yield node.lineno, f"{module} outside web/, which guards what is reached"


def pure_reads_nothing(source: Source) -> Seen:
    """What decides is handed what it needs: no files, no output, no clock."""
    if not source.inside(*PURE):
        return
    doors = {"open", "print", "input", "read_text", "read_bytes", "write_text", "write_bytes"}
    doors |= {"exists", "is_file", "is_dir", "resolve", "now", "utcnow", "today", "environ"}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and last_name(node.func) in doors:
            yield node.lineno, f"{last_name(node.func)}() in a module that only decides"


# ------------------------------------------------------------------ form


def no_drawers(source: Source) -> Seen:
    """A file is named for one noun; a drawer for everything has none."""
    for part in PurePosixPath(source.path).parts:
        if part.removesuffix(".py").strip("_") in DRAWERS:
            yield 1, f"{part} is a drawer, not a noun"


def no_long_file(source: Source) -> Seen:
    """Files for one noun; over the limit there are two."""
    lines = source.text.count("\n")
    if lines > MAX_LINES and not source.inside(GENERATED):
        yield MAX_LINES, f"{lines} lines, the limit is {MAX_LINES}: split it by noun"


def public_names_are_explained(source: Source) -> Seen:
    """Modules, classes, functions and methods say what they are for.

    A method that only returns one expression, or that an interface or a base class explains, need
    not; nor the overloads of a function.
    """
    if source.inside(GENERATED):
        return
    tree = source.tree
    if tree.body and ast.get_docstring(tree) is None:
        yield 1, "the module has no docstring"
    for node in tree.body:
        if not isinstance(node, _NAMED) or node.name.startswith("_"):
            continue
        overloads = {last_name(decorator) for decorator in node.decorator_list} & {"overload"}
        if ast.get_docstring(node) is None and not overloads:
            yield node.lineno, f"{node.name} has no docstring"
        bases = {last_name(base) for base in getattr(node, "bases", ())}
        if isinstance(node, ast.ClassDef) and bases <= {"Protocol", "ABC", "Struct"}:
            methods = [n for n in node.body if isinstance(n, _FUNCTION) and len(n.body) > 1]
            for method in methods:
                told = ast.get_docstring(method) is not None or method.name in source.interface
                if not method.name.startswith("_") and not told:
                    yield method.lineno, f"{node.name}.{method.name} has no docstring"


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMED = (*_FUNCTION, ast.ClassDef)


CHECKS: tuple[Check, ...] = (
    permit_made_on_the_road,
    bounds_made_by_the_ceiling,
    declared_calls_come_from_settings,
    tools_run_on_the_road,
    remote_prefix_in_two_places,
    no_module_state,
    no_context_variables,
    no_wait_for,
    no_hidden_import,
    no_assert,
    root_is_for_users,
    only_declared_dependencies,
    terminal_only_at_the_edge,
    http_only_in_web,
    pure_reads_nothing,
    no_drawers,
    no_long_file,
    public_names_are_explained,
)


def _made(source: Source, value: str, allowed: bool, place: str) -> Seen:
    if allowed:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and last_name(node.func) == value:
            yield node.lineno, f"{value} is made outside {place}"
        elif isinstance(node, ast.alias) and node.name == value and node.asname:
            yield node.lineno, f"{value} under another name"
        elif isinstance(node, ast.ClassDef) and value in {last_name(base) for base in node.bases}:
            yield node.lineno, f"a subclass of {value}"


def _is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return last_name(value.func) in _MUTABLE_MAKERS
    return isinstance(value, _MUTABLE_DISPLAYS)
