"""What is sent to servers in MCP 2025-11-25. Made by scripts/generate-messages from
spec/mcp-schema-2025-11-25.json; not to be edited.
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
    roots: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    sampling: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET


class Implementation(msgspec.Struct, frozen=True, kw_only=True):
    """Describes the MCP implementation."""

    name: str
    version: str
    description: str | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    website_url: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="websiteUrl")


class InitializeRequestParams(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters for an `initialize` request."""

    capabilities: ClientCapabilities | msgspec.Raw
    client_info: Implementation | msgspec.Raw = msgspec.field(name="clientInfo")
    protocol_version: str = msgspec.field(name="protocolVersion")


class PaginatedRequestParams(msgspec.Struct, frozen=True, kw_only=True):
    """Common parameters for paginated requests."""

    cursor: str | msgspec.UnsetType = msgspec.UNSET


class CallToolRequestParams(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters for a `tools/call` request."""

    name: str
    meta: Mapping[str, Any] | msgspec.Raw | msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="_meta"
    )
    arguments: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET


class CancelledNotificationParams(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters for a `notifications/cancelled` notification."""

    reason: str | msgspec.UnsetType = msgspec.UNSET
    request_id: int | str | msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="requestId"
    )
