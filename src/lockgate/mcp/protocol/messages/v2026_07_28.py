"""What is sent to servers in MCP 2026-07-28. Made by scripts/generate-messages from
spec/mcp-schema-2026-07-28.json; not to be edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class ClientCapabilities(msgspec.Struct, frozen=True, kw_only=True):
    """Capabilities a client may support. Known capabilities are defined here, in this schema, but
    this is not a closed set: any client can define its own, additional capabilities.
    """

    elicitation: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    experimental: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    extensions: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    roots: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    sampling: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET


class Implementation(msgspec.Struct, frozen=True, kw_only=True):
    """Describes the MCP implementation."""

    name: str
    version: str
    description: str | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    website_url: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="websiteUrl")


class RequestMetaObject(msgspec.Struct, frozen=True, kw_only=True):
    """Extends MetaObject with additional request-specific fields. All key naming rules from
    `MetaObject` apply.
    """

    client_capabilities: ClientCapabilities = msgspec.field(
        name="io.modelcontextprotocol/clientCapabilities"
    )
    protocol_version: str = msgspec.field(name="io.modelcontextprotocol/protocolVersion")
    client_info: Implementation | msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="io.modelcontextprotocol/clientInfo"
    )


class RequestParams(msgspec.Struct, frozen=True, kw_only=True):
    """Common params for any request."""

    meta: RequestMetaObject | msgspec.Raw = msgspec.field(name="_meta")


class PaginatedRequestParams(msgspec.Struct, frozen=True, kw_only=True):
    """Common params for paginated requests."""

    meta: RequestMetaObject | msgspec.Raw = msgspec.field(name="_meta")
    cursor: str | msgspec.UnsetType = msgspec.UNSET


class CallToolRequestParams(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters for a `tools/call` request."""

    meta: RequestMetaObject | msgspec.Raw = msgspec.field(name="_meta")
    name: str
    arguments: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET


class CancelledNotificationParams(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters for a `notifications/cancelled` notification."""

    request_id: int | str = msgspec.field(name="requestId")
    reason: str | msgspec.UnsetType = msgspec.UNSET
