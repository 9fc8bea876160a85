"""What a schema may cost: bounds on depth and size, and on how often one value is looked at.

A schema comes from a stranger. Twenty definitions that each name the next one twice are a few
hundred bytes and a million comparisons of one value; so what a schema can cost is reckoned when it
is compiled, and a value it would be too dear for is refused instead of stalling the event loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, cast
from urllib.parse import unquote, urldefrag, urljoin

from lockgate.schema.error import SchemaError
from lockgate.schema.walk import SAME_PLACE, Node, depth_and_size, nodes, schemas, subschemas

MAX_DEPTH: Final = 128
"""JSON levels that a schema, or a value it is to judge, may nest."""
MAX_SCHEMA_SIZE: Final = 20_000
"""JSON values that one schema may be made of. The largest of 1,189 public tools has 567."""
LARGE_SCHEMA: Final = 2_000
"""Size from which what a schema costs is reckoned for every value, references or not."""
MAX_LOOKS: Final = 50_000_000
"""Looks at values that judging one value may take, by the reckoning below: under a second."""
MAX_LOOKS_AT_ONE_VALUE: Final = 50_000
"""Ways in which a schema may look at its very root value, alternatives of alternatives counted."""
MAX_TELLING: Final = 1_000_000
"""Size of a value times size of the schema up to which every violation is told: describing each
takes the validator a tenth of a millisecond and more, and there may be one for each value."""

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def refuse_oversized(schema: Node) -> int:
    """The size of a schema. `SchemaError` if it nests too deep or is too large (PB-111)."""
    depth, size = depth_and_size(schema, MAX_DEPTH, MAX_SCHEMA_SIZE)
    if depth > MAX_DEPTH:
        raise SchemaError(f"the schema nests deeper than {MAX_DEPTH} levels")
    if size > MAX_SCHEMA_SIZE:
        raise SchemaError(f"the schema is made of more than {MAX_SCHEMA_SIZE:,} values")
    return size


def looks_by_depth(schema: Node) -> tuple[int, ...] | None:
    """For each depth, an upper bound of how often one value there is looked at.

    None when the schema holds no reference: it is then a tree, and no value is looked at more often
    than the schema has nodes. The last entry holds for all deeper values. Bounded itself: entries
    end once one is over `MAX_LOOKS`.
    """
    if not any(map(_refers, schemas(schema))):
        return None  # as nearly all are: nothing has to be laid out for them
    graph = _Graph(schema)
    looks: list[int] = []
    arriving: dict[int, int] = {id(schema): 1}
    while arriving and len(looks) <= MAX_DEPTH:
        here = graph.at_one_place(arriving)
        total = sum(here.values())
        looks.append(total)
        if total > MAX_LOOKS:
            break
        below = graph.one_level_down(here)
        if below == arriving:
            break
        arriving = below
    return tuple(looks)


def _refers(node: Node) -> bool:
    return any(isinstance(node[keyword], str) for keyword in _REFERENCES if keyword in node)


class _Graph:
    """Which schemas lead to which, at the same value and one level down."""

    def __init__(self, root: Node) -> None:
        self._same: dict[int, list[int]] = {}
        """Schemas that look at the value their owner looks at, references followed."""
        self._children: dict[int, list[tuple[str, int]]] = {}
        """(group, schema): of one group only one or its wildcard meets any one value below."""
        self._order: list[int] = []
        """Every node after the nodes it leads to at the same place."""
        self._index = _Index(root)
        waiting = [root]
        while waiting:
            for _, node in nodes(waiting.pop()):
                if id(node) not in self._same:
                    waiting.extend(self._add(node))
        self._sort()

    def _add(self, node: Node) -> list[Node]:
        """Take in one schema; returns what it refers to, which may stand under any keyword."""
        same: list[int] = []
        children: list[tuple[str, int]] = []
        for keyword, key, schema in subschemas(node):
            if not isinstance(schema, dict) or keyword in ("$defs", "definitions"):
                continue
            held = id(cast("Node", schema))
            if keyword in SAME_PLACE:
                same.append(held)
            elif keyword == "properties":
                children.append((f".{key}", held))
            elif key is not None and keyword in ("items", "prefixItems"):
                children.append((f"[{key}]", held))
            elif keyword in ("items", "additionalItems", "contains", "unevaluatedItems"):
                children.append(("[]", held))
            else:
                children.append((".", held))
        referred: list[Node] = []
        for keyword in _REFERENCES:
            reference = node.get(keyword)
            if isinstance(reference, str):
                referred.extend(self._index.targets(node, reference))
        same.extend(id(target) for target in referred)
        self._same[id(node)] = same
        self._children[id(node)] = children
        return referred

    def _sort(self) -> None:
        """Put the nodes in an order in which what a node leads to comes before it.

        A cycle that never moves on to another value is cut: the validator stops there as well.
        """
        done: set[int] = set()
        open_: set[int] = set()
        for start in self._same:
            if start in done:
                continue
            stack: list[tuple[int, Iterator[int]]] = [(start, iter(list(self._same[start])))]
            open_.add(start)
            while stack:
                node, rest = stack[-1]
                for target in rest:
                    if target in open_:
                        self._same[node] = [t for t in self._same[node] if t != target]
                    elif target not in done:
                        open_.add(target)
                        stack.append((target, iter(list(self._same[target]))))
                        break
                else:
                    stack.pop()
                    open_.discard(node)
                    done.add(node)
                    self._order.append(node)

    def at_one_place(self, arriving: dict[int, int]) -> dict[int, int]:
        """How often each schema looks at a value at which `arriving` schemas start."""
        here: defaultdict[int, int] = defaultdict(int, arriving)
        for node in reversed(self._order):
            count = here.get(node, 0)
            if count:
                for target in self._same[node]:
                    here[target] += count
        return here

    def one_level_down(self, here: dict[int, int]) -> dict[int, int]:
        """An upper bound, per schema, of how often it starts at any one value below."""
        groups: defaultdict[str, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
        for node, count in here.items():
            for group, child in self._children[node]:
                groups[group][child] += count
        most: defaultdict[int, int] = defaultdict(int)
        for group, counts in groups.items():
            if group in (".", "[]"):
                continue
            for child, count in counts.items():
                most[child] = max(most[child], count)
        for wildcard in (".", "[]"):
            for child, count in groups[wildcard].items():
                most[child] += count
        return dict(most)


class _Index:
    """Where references lead, within one document. What lies outside of it leads nowhere."""

    def __init__(self, root: Node) -> None:
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Node] = {"": root}
        self._anchors: defaultdict[tuple[str, str], list[Node]] = defaultdict(list)
        self._dynamic: defaultdict[str, list[Node]] = defaultdict(list)
        base_of: dict[tuple[str | int, ...], str] = {}
        for path, node in nodes(root):
            base = next(
                (base_of[path[:n]] for n in range(len(path), -1, -1) if path[:n] in base_of), ""
            )
            name = node.get("$id", node.get("id"))
            if isinstance(name, str):
                target, fragment = urldefrag(name)
                if fragment:
                    self._anchors[base, fragment].append(node)
                if target:
                    base = _join(base, target)
                    base_of[path] = base
                    self._resources[base] = node
            self._bases[id(node)] = base
            for keyword in ("$anchor", "$dynamicAnchor"):
                anchor = node.get(keyword)
                if isinstance(anchor, str):
                    self._anchors[base, anchor].append(node)
                    if keyword == "$dynamicAnchor":
                        self._dynamic[anchor].append(node)
            if node.get("$recursiveAnchor") is True:
                self._dynamic[""].append(node)

    def targets(self, node: Node, reference: str) -> list[Node]:
        """Every schema that `reference`, standing in `node`, can lead to."""
        base = self._bases.get(id(node), "")
        target, fragment = urldefrag(reference)
        where = _join(base, target) if target else base
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return [*self._anchors[where, fragment], *self._dynamic[fragment]]
        resource = self._resources.get(where)
        if resource is None:
            return []
        found: Any = resource
        for part in fragment.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = cast("Node", found).get(key)
            elif (
                isinstance(found, list)
                and key.isdigit()
                and int(key) < len(cast("list[Any]", found))
            ):
                found = cast("list[Any]", found)[int(key)]
            else:
                return []
        targets = [cast("Node", found)] if isinstance(found, dict) else []
        return targets if fragment else [*targets, *self._dynamic[""]]


def _join(base: str, target: str) -> str:
    try:
        return urljoin(base, target)
    except ValueError:  # such as an unclosed "[" in the host
        return target
