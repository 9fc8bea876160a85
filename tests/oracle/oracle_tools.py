"""The tools of the servers that two clients are compared on: one of each kind of answer.

Run by a server's program, in a process of its own; nothing of lockgate is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from mcp_types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


class Person(BaseModel):
    """Somebody."""

    name: str
    born: int | None = None
    friends: list[str] = []


def echo(text: str) -> str:
    """Answers with what it is told."""
    return text


def add(a: int, b: Annotated[int, Field(ge=0, description="not below zero")] = 1) -> int:
    """Adds two numbers."""
    return a + b


def find(name: str, how: Literal["exact", "loose"] = "loose") -> Person:
    """Finds a person."""
    return Person(name=name, born=1999, friends=[how, "가나다", "\u2028"])


def everybody(count: int) -> list[Person]:
    """Lists people."""
    return [Person(name=f"person {number}") for number in range(count)]


def numbers() -> dict[str, float]:
    """Numbers that are written in more than one way."""
    return {"one": 1.0, "third": 1 / 3, "large": 2.0**80, "small": 5e-324, "minus": -0.0}


def exact() -> dict[str, int]:
    """Numbers that no double holds."""
    return {"beyond": 2**64 + 1, "below": -(2**63) - 1}


def nothing() -> None:
    """Says nothing at all."""


def much(size: int) -> str:
    """A long text."""
    return "x" * size


def broken() -> str:
    """Fails."""
    raise ValueError("it is broken, 가 and all")


def blocks() -> list[Any]:
    """Every kind of content at once."""
    note = Annotations(audience=["user"], priority=0.5)
    return [
        TextContent(type="text", text="words", annotations=note),
        ImageContent(type="image", data=PIXEL, mime_type="image/png"),
        AudioContent(type="audio", data="AAAA", mime_type="audio/wav"),
        ResourceLink(
            type="resource_link",
            uri="file:///a%20b?c#d",
            name="a link",
            mime_type="text/plain",
            description="where more is",
            size=2**40,
        ),
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri="memo://1", mime_type="text/plain", text="inside"),
        ),
        EmbeddedResource(
            type="resource",
            resource=BlobResourceContents(uri="memo://2", mime_type="x/y", blob="AQID"),
        ),
    ]


def each() -> Iterator[Callable[..., Any]]:
    """All of them."""
    yield from (echo, add, find, everybody, numbers, exact, nothing, much, broken, blocks)
