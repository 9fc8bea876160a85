"""A page of `tools/list`, each tool judged alone (S3-10). See `parse_tools_page` for the rules."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from lockgate.content import JSONObject
from lockgate.mcp.protocol.claims import Claims, parse_claims
from lockgate.mcp.protocol.jsontext import MAX_DEPTH, deeper_than, kind_of
from lockgate.mcp.protocol.pages import LeftOut, Page, read_page, text_of

__all__ = [
    "NO_SCHEMA",
    "LeftOut",
    "ListedTool",
    "ToolPage",
    "parse_tools_page",
    "read_tool",
    "read_tools_page",
]

NO_SCHEMA: JSONObject = {"type": "object"}
"""What a tool without an `inputSchema` is given: any arguments, or none."""


class ListedTool(msgspec.Struct, frozen=True):
    """One usable definition, as its server wrote it."""

    name: str
    """The original name, which the wire uses; not empty, otherwise anything."""
    title: str | None
    description: str
    """Empty if absent."""
    input_schema: JSONObject
    """An object, as it came; nothing added (S3-05)."""
    output_schema: JSONObject | None
    claims: Claims
    raw: JSONObject
    """The whole definition, for display and fingerprints."""
    remarks: tuple[str, ...] = ()
    """What was odd but did not matter. The remarks on claims are in `claims`."""


class ToolPage(msgspec.Struct, frozen=True):
    """One page of a server's tools."""

    tools: tuple[ListedTool, ...]
    """In the server's order; a name that comes twice is here twice."""
    left_out: tuple[LeftOut, ...] = ()
    next_cursor: str | None = None
    """To be sent back byte for byte for the next page; None at the end. "" is a cursor."""
    remarks: tuple[str, ...] = ()
    ttl_ms: int | None = None
    """Milliseconds the page stays fresh (2026-07-28, Caching); None if the server says nothing."""
    beyond: int = 0
    """Definitions that were not looked at, because there are too many."""


def parse_tools_page(raw: bytes | msgspec.Raw, most: int | None = None) -> ToolPage:
    """Read the answer to `tools/list`, of its definitions the first `most`.

    Raises `Unreadable` if there is no array of tools in it.

    A tool is left out if it is no object, if its name is no string or empty, and if its
    `inputSchema` is there but can not be the schema of an object: null, true, an array, a string;
    a `type` that does not admit "object"; `properties` that are no object; `required` that is no
    array (PB-107, PB-108); or if it is nested deeper than `MAX_DEPTH` (PB-111).

    A tool without an `inputSchema` takes any object. An `outputSchema`, a `title` or a
    `description` of a wrong type counts as absent. `nextCursor` of a wrong type ends the list
    (PB-140).
    """
    page = read_tools_page(raw, most)
    return ToolPage(
        page.entries, page.left_out, page.next_cursor, page.remarks, page.ttl_ms, page.beyond
    )


def read_tools_page(raw: bytes | msgspec.Raw, most: int | None = None) -> Page[ListedTool]:
    """The same, as a page of any list."""
    return read_page(raw, "tools", "tools", _judge, most)


def read_tool(definition: Any) -> ListedTool | LeftOut:
    """One definition by itself, by the rules of `parse_tools_page`: one that was kept, say."""
    return _judge(definition, 1)


def _judge(value: Any, position: int) -> ListedTool | LeftOut:
    place = f"tool {position}"
    if not isinstance(value, dict):
        return LeftOut(place, f"is {kind_of(value)}, not an object")
    definition = cast("dict[str, Any]", value)
    name = definition.get("name")
    if not isinstance(name, str):
        return LeftOut(place, "has no name" if name is None else f"has {kind_of(name)} as its name")
    if not name:
        return LeftOut(place, "has an empty name")
    if deeper_than(definition, MAX_DEPTH):
        return LeftOut(name, f"is nested deeper than {MAX_DEPTH} levels")
    remarks: list[str] = []
    schema = definition.get("inputSchema", NO_SCHEMA)
    if "inputSchema" not in definition:
        remarks.append("inputSchema is missing: any object is accepted")
    fault = _fault(schema)
    if fault:
        return LeftOut(name, fault)
    output = definition.get("outputSchema")
    if output is not None and not isinstance(output, dict):
        remarks.append(f"outputSchema is {kind_of(output)}, not an object: counts as absent")
        output = None
    return ListedTool(
        name=name,
        title=text_of(definition, "title", remarks),
        description=text_of(definition, "description", remarks) or "",
        input_schema=schema,
        output_schema=cast("JSONObject | None", output),
        claims=parse_claims(definition.get("annotations")),
        raw=definition,
        remarks=tuple(remarks),
    )


def _fault(schema: Any) -> str | None:
    """Why this can not be the schema of a tool's arguments; None if it can."""
    if not isinstance(schema, dict):
        return f"its inputSchema is {kind_of(schema)}, not an object"
    fields = cast("dict[str, Any]", schema)
    kinds = fields.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        return f"its inputSchema does not admit an object (type {kinds!r:.60})"
    properties = fields.get("properties")
    if properties is not None and not isinstance(properties, dict):
        return f"its inputSchema has {kind_of(properties)} as its properties"
    required = fields.get("required")
    if required is not None and not isinstance(required, list):
        return f"its inputSchema has {kind_of(required)} as its required"
    return None
