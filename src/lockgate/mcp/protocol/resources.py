"""What servers answer about resources: lists of them and of templates, and contents. No I/O.

2026-07-28, server/resources. One bad entry costs itself only; what was odd is remarked upon.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from lockgate.content import EmbeddedResource, JSONObject, UnknownContent
from lockgate.mcp.protocol.content import MAX_BLOCKS, parse_block, read_object
from lockgate.mcp.protocol.jsontext import (
    MAX_DEPTH,
    Unreadable,
    decode_noted,
    deeper_than,
    kind_of,
)
from lockgate.mcp.protocol.pages import LeftOut, Page, read_page, text_of
from lockgate.mcp.protocol.profile import read_ttl
from lockgate.mcp.protocol.uri_templates import BadTemplate, UriTemplate, Value

LIST_RESOURCES: Final = "resources/list"
LIST_TEMPLATES: Final = "resources/templates/list"
READ_RESOURCE: Final = "resources/read"
SUBSCRIBE: Final = "resources/subscribe"
UNSUBSCRIBE: Final = "resources/unsubscribe"
RESOURCES_CHANGED: Final = "notifications/resources/list_changed"
RESOURCE_UPDATED: Final = "notifications/resources/updated"

RESOURCE_NOT_FOUND: Final = -32002
"""How servers before 2026-07-28 say that there is no such resource; later ones say invalid params.
"""
MAX_URI_SHOWN: Final = 200


class ListedResource(msgspec.Struct, frozen=True, kw_only=True):
    """One resource, as its server describes it. All words are the server's."""

    uri: str
    """By which it is read: sent back byte for byte; not empty, otherwise anything."""
    name: str
    """The name; the URI where there is none."""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    """Bytes, as the server says."""
    annotations: JSONObject | None = None
    """`audience`, `priority` and `lastModified` as they came; they decide nothing."""
    meta: JSONObject | None = None
    remarks: tuple[str, ...] = ()


class ListedTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """One template: a family of resources, by variables (RFC 6570)."""

    template: str
    """As it came; what completion is asked for by."""
    variables: tuple[str, ...]
    """Their names, in order."""
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    """If all that match have the same."""
    annotations: JSONObject | None = None
    meta: JSONObject | None = None
    remarks: tuple[str, ...] = ()

    def expand(self, values: Mapping[str, Value] | None = None, /, **more: Value) -> str:
        """The URI of one resource; see `UriTemplate.expand`. Raises `BadValue`."""
        return UriTemplate.parse(self.template).expand({**(values or {}), **more})


class ReadResult(msgspec.Struct, frozen=True):
    """The answer to `resources/read`."""

    contents: tuple[EmbeddedResource | UnknownContent, ...] = ()
    """One or several, such as the files of a directory; what can not be read is kept as it came."""
    remarks: tuple[str, ...] = ()
    ttl_ms: int | None = None
    """Milliseconds that it stays fresh; None if the server says nothing."""
    meta: JSONObject | None = None


def parse_resources_page(raw: bytes | msgspec.Raw, most: int | None = None) -> Page[ListedResource]:
    """Read the answer to `resources/list`, of its entries the first `most`.

    An entry is left out if it is no object, has no URI, or nests too deeply; a name that is
    missing is the URI. Raises `Unreadable` if there is no list in it.
    """
    return read_page(raw, "resources", "resources", _resource, most)


def parse_templates_page(raw: bytes | msgspec.Raw, most: int | None = None) -> Page[ListedTemplate]:
    """Read the answer to `resources/templates/list`; the same rules. A template that is none by
    RFC 6570 is left out: nothing could be made of it."""
    return read_page(raw, "resourceTemplates", "resource templates", _template, most)


def parse_read_result(raw: bytes | msgspec.Raw, uri: str) -> ReadResult:
    """Read the answer to `resources/read` of `uri`.

    Content that names no URI is that of the resource that was asked for. Content that stands alone
    is read as if it were the only member of an array. Raises `Unreadable` if there is none at all.
    """
    value, remarks = decode_noted(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"{kind_of(value)} where an object has to be")
    result = cast("dict[str, Any]", value)
    held = result.get("contents")
    noted = list(remarks)
    if isinstance(held, dict):
        noted.append("contents is an object, not an array")
    elif not isinstance(held, list):
        fault = f"{kind_of(held)} as its contents" if "contents" in result else "no contents"
        raise Unreadable(f"a resource with {fault}")
    given = cast("list[Any]", held if isinstance(held, list) else [held])
    if len(given) > MAX_BLOCKS:
        noted.append(f"of {len(given)} contents the first {MAX_BLOCKS} are taken")
    contents = tuple(
        _content(entry, position, uri, noted) for position, entry in enumerate(given[:MAX_BLOCKS])
    )
    meta = read_object(result, "_meta", "the result", noted)
    return ReadResult(contents, tuple(noted), read_ttl(result), meta)


def _content(
    value: Any, position: int, uri: str, remarks: list[str]
) -> EmbeddedResource | UnknownContent:
    where = f"contents[{position}]"
    if not isinstance(value, dict):
        remarks.append(f"{where} is {kind_of(value)}, not an object")
        if isinstance(value, str):
            return EmbeddedResource(uri, value)
        return UnknownContent("resource", cast("object", value))
    fields = cast("dict[str, Any]", value)
    if not isinstance(fields.get("uri"), str):
        remarks.append(f"{where} names no uri: taken for what was asked for")
        fields = {**fields, "uri": uri}
    said: list[str] = []
    block = parse_block({"type": "resource", "resource": fields}, position, said)
    # Its words are about a block of a tool's result.
    remarks += [text.replace(f"content[{position}].resource", where) for text in said]
    if isinstance(block, EmbeddedResource):
        annotations = read_object(fields, "annotations", where, remarks)
        return msgspec.structs.replace(block, annotations=annotations)
    return UnknownContent("resource", fields)


def _resource(value: Any, position: int) -> ListedResource | LeftOut:
    fields = _entry(value, position, "resource", "uri")
    if isinstance(fields, LeftOut):
        return fields
    uri, remarks = fields["uri"], list[str]()
    size = fields.get("size")
    if size is not None and (type(size) is not int or size < 0):
        remarks.append("size is no whole number of bytes: counts as absent")
        size = None
    return ListedResource(
        uri=uri, size=size, **_described(fields, uri, remarks), remarks=tuple(remarks)
    )


def _template(value: Any, position: int) -> ListedTemplate | LeftOut:
    fields = _entry(value, position, "resource template", "uriTemplate")
    if isinstance(fields, LeftOut):
        return fields
    text, remarks = fields["uriTemplate"], list[str]()
    try:
        variables = UriTemplate.parse(text).names
    except BadTemplate as problem:
        return LeftOut(text[:MAX_URI_SHOWN], f"is no URI template: {problem}")
    described = _described(fields, text, remarks)
    return ListedTemplate(template=text, variables=variables, **described, remarks=tuple(remarks))


def _entry(value: Any, position: int, kind: str, key: str) -> dict[str, Any] | LeftOut:
    place = f"{kind} {position}"
    if not isinstance(value, dict):
        return LeftOut(place, f"is {kind_of(value)}, not an object")
    fields = cast("dict[str, Any]", value)
    known = fields.get(key)
    if not isinstance(known, str):
        why = f"has no {key}" if known is None else f"has {kind_of(known)} as its {key}"
        return LeftOut(place, why)
    if not known:
        return LeftOut(place, f"has an empty {key}")
    if deeper_than(fields, MAX_DEPTH):
        return LeftOut(known[:MAX_URI_SHOWN], f"is nested deeper than {MAX_DEPTH} levels")
    return fields


def _described(fields: dict[str, Any], uri: str, remarks: list[str]) -> dict[str, Any]:
    """What resources and templates have in common."""
    return {
        "name": text_of(fields, "name", remarks) or uri,
        "title": text_of(fields, "title", remarks),
        "description": text_of(fields, "description", remarks),
        "mime_type": text_of(fields, "mimeType", remarks),
        "annotations": read_object(fields, "annotations", "the entry", remarks),
        "meta": read_object(fields, "_meta", "the entry", remarks),
    }
