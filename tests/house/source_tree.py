"""Source files as the checks see them: parsed, with their place in the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """One parsed file, by its path relative to the package."""

    path: str
    text: str
    tree: ast.Module
    interface: frozenset[str] = frozenset()
    """Names of methods that some Protocol or abstract class of the whole tree explains."""

    def inside(self, *places: str) -> bool:
        """Whether this is one of the files, or lies in one of the folders (ending in `/`)."""
        return any(
            self.path.startswith(place) if place.endswith("/") else self.path == place
            for place in places
        )


def read_tree(package: Path) -> list[Source]:
    """Every Python file under `package`, parsed, in a stable order."""
    files = {file: file.read_text(encoding="utf-8") for file in sorted(package.rglob("*.py"))}
    trees = {file: ast.parse(text) for file, text in files.items()}
    interface = frozenset(name for tree in trees.values() for name in _explained(tree))
    return [
        Source(file.relative_to(package).as_posix(), text, trees[file], interface)
        for file, text in files.items()
    ]


def _explained(tree: ast.Module) -> Iterator[str]:
    """Methods that an interface says the meaning of, so that each implementation need not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and {"Protocol", "ABC"} & {*map(last_name, node.bases)}:
            for method in node.body:
                if isinstance(method, _FUNCTION) and ast.get_docstring(method):
                    yield method.name


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def last_name(node: ast.AST) -> str:
    """The last name of a dotted expression or of what it calls; empty for anything else."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def imports_of(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, str, str]]:
    """(node, module, name) of every import, wherever it stands; TYPE_CHECKING excuses nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import a.b` binds and loads `a`: under `lockgate` that is the root.
                root = alias.name.split(".")[0]
                yield node, "lockgate" if root == "lockgate" else alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node, node.module or "", alias.name


def module_level_of(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run at import, `if` and `try` at module level included."""
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        node = pending.pop(0)
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            pending.extend(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt))


def docstrings_of(tree: ast.Module) -> set[int]:
    """Ids of the constants that are prose: strings that stand alone as a statement."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
