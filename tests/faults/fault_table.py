"""What has to come of a call at each point, written down by the rules for replay, not computed.

A cell is the word for kind and fate, the tries that were made, and how often the tool ran. `once`
is a tool that is MUTATING and NON_IDEMPOTENT, `set` one that is IDEMPOTENT, `read` one that is
READ_ONLY.
`passing` hits the first try alone, `lasting` every one; `-` where a point can not be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fault_stands import ONCE, WAYS, Case

WORDS = {
    "ok": ("ok", "answered"),
    "dark": ("outcome_unknown", "unknown"),
    "away": ("not_connected", "not_sent"),
    "gone": ("not_connected", "unknown"),
    "bar": ("unauthorized", "not_sent"),
    "rate": ("rate_limited", "not_sent"),
    "err": ("tool_error", "answered"),
}

TABLE = """
                                       once                set                 read
point                      ways        passing   lasting   passing   lasting   passing   lasting

reset in the request       http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    gone 2 0
closed in the request      http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    gone 2 0
stall in the request       http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
reset before it runs       http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    gone 2 0
closed before it runs      http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    gone 2 0
half-closed before it runs  http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    gone 2 0
stall before it runs       http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
reset after it ran         http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
closed after it ran        http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
half-closed after it ran   http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
stall after it ran         http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
reset in the head          http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
closed in the head         http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
stall in the head          http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
reset in the body          http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
closed in the body         http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
stall in the body          http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
reset in the tail          events sse  ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
closed in the tail         events sse  ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
half-closed in the tail    events sse  ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
stall in the tail          events sse  ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
reset after the answer     http sse    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
closed after the answer    http sse    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
half-closed after the answer  http sse    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1

                            with the stream of all answers the connection is lost: a second try
                            finds none, and what may have run stays unknown
reset after it ran         sse         dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
closed after it ran        sse         dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
half-closed after it ran   sse         dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
reset in the body          sse         dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
closed in the body         sse         dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1

refused                    http sse    -         away 2 0  -         away 2 0  -         away 2 0
restart before             legacy      ok 2 1    -         ok 2 1    -         ok 2 1    -
restart before             modern      ok 1 1    -         ok 1 1    -         ok 1 1    -
restart before             sse         -         away 2 0  -         away 2 0  -         away 2 0
restart after it ran       http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    gone 2 2
restart after it ran       sse         dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1

garbage for a head         http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
garbage for a body         http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
cut short in the body      http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
cut short under its id     http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
garbage behind the answer  http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
a page for an answer       http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
202 for an answer          http        dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2

400                        http sse    err 1 0   err 1 0   err 1 0   err 1 0   err 1 0   err 1 0
401                        http sse    bar 1 0   bar 1 0   bar 1 0   bar 1 0   bar 1 0   bar 1 0
403                        http sse    bar 1 0   bar 1 0   bar 1 0   bar 1 0   bar 1 0   bar 1 0
404                        legacy      ok 2 1    away 2 0  ok 2 1    away 2 0  ok 2 1    away 2 0
404                        modern sse  err 1 0   err 1 0   err 1 0   err 1 0   err 1 0   err 1 0
405                        http sse    err 1 0   err 1 0   err 1 0   err 1 0   err 1 0   err 1 0
407                        http sse    bar 1 0   bar 1 0   bar 1 0   bar 1 0   bar 1 0   bar 1 0
408                        http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
413                        http sse    err 1 0   err 1 0   err 1 0   err 1 0   err 1 0   err 1 0
429                        http sse    rate 1 0  rate 1 0  rate 1 0  rate 1 0  rate 1 0  rate 1 0
429 for a while            http sse    rate 1 0  rate 1 0  rate 1 0  rate 1 0  rate 1 0  rate 1 0
500                        http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
501                        http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
502                        http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
503                        http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
504                        http sse    dark 1 0  dark 1 0  ok 2 1    dark 2 0  ok 2 1    dark 2 0
500 after it ran           http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
503 after it ran           http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
504 after it ran           http sse    dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
302                        http sse    err 1 0   err 1 0   err 1 0   err 1 0   err 1 0   err 1 0
307 within                 http sse    ok 1 1    err 1 0   ok 1 1    err 1 0   ok 1 1    err 1 0
308 within                 http sse    ok 1 1    err 1 0   ok 1 1    err 1 0   ok 1 1    err 1 0
307 to another origin      http sse    err 1 0   err 1 0   err 1 0   err 1 0   err 1 0   err 1 0
307 to nowhere             http sse    err 1 0   err 1 0   err 1 0   err 1 0   err 1 0   err 1 0

gone before                pipes       -         away 2 0  -         away 2 0  -         away 2 0
killed before it reads     pipes       -         dark 1 0  -         dark 2 0  -         gone 2 0
killed in the request      stdio       -         dark 1 0  -         dark 2 0  -         gone 2 0
stall before it runs       pipes       -         dark 1 0  -         dark 2 0  -         dark 2 0
ends before it answers     pipes       dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
killed before it answers   pipes       dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
ends in the answer         pipes       dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
ends after the answer      pipes       ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
stall after it ran         pipes       dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
stall in the answer        pipes       dark 1 1  dark 1 1  dark 2 2  dark 2 2  dark 2 2  dark 2 2
closes its output          pipes       dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
answers, closes its output  pipes       ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
closes its input           stdio       dark 1 1  dark 1 1  dark 2 1  dark 2 1  gone 2 1  gone 2 1
closes its input and answers  stdio       ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
garbage before the answer  pipes       ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
garbage after the answer   pipes       ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
garbage for an answer      pipes       dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
garbage under its id       pipes       err 1 1   err 1 1   err 1 1   err 1 1   err 1 1   err 1 1
cut short under its id     pipes       dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
an answer twice            pipes       ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1    ok 1 1
an answer to another       pipes       dark 1 1  dark 1 1  ok 2 2    dark 2 2  ok 2 2    dark 2 2
an error                   pipes       err 1 1   err 1 1   err 1 1   err 1 1   err 1 1   err 1 1
"""

GROUPS = {
    "http": tuple(way for way in WAYS if way.startswith("http")),
    "json": ("http json legacy", "http json modern"),
    "events": ("http events legacy", "http events modern"),
    "legacy": ("http json legacy", "http events legacy"),
    "modern": ("http json modern", "http events modern"),
    "sse": ("sse",),
    "pipes": ("stdio", "memory"),
    "stdio": ("stdio",),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of a call, or has to."""

    kind: str
    fate: str
    tries: int
    ran: int

    def __str__(self) -> str:
        return f"{self.kind} ({self.fate}), tried {self.tries} times, ran {self.ran} times"


@dataclass(frozen=True, slots=True)
class Row:
    """One point on one way."""

    once: tuple[Cell | None, Cell | None]
    """Passing and lasting; None where it can not be so."""
    set: tuple[Cell | None, Cell | None]
    read: tuple[Cell | None, Cell | None]

    def of(self, tool: str) -> tuple[Cell | None, Cell | None]:
        """What has to come of a call of that tool."""
        return self.once if tool in ONCE else self.read if tool == "read" else self.set


def _rows() -> Iterator[tuple[tuple[str, str], Row]]:
    for line in TABLE.splitlines():
        parts = [part.strip() for part in line.split("  ") if part.strip()]
        if len(parts) != 8 or parts[1] == "ways":
            continue
        point, ways, *cells = parts
        passing, lasting = map(_cell, cells[::2]), map(_cell, cells[1::2])
        row = Row(*zip(passing, lasting, strict=True))
        for group in ways.split():
            for way in GROUPS[group]:
                yield (way, point), row


def _cell(text: str) -> Cell | None:
    if text == "-":
        return None
    word, tries, ran = text.split()
    return Cell(*WORDS[word], int(tries), int(ran))


ROWS: Mapping[tuple[str, str], Row] = dict(_rows())
"""By way and point."""


def expected(case: Case) -> Cell | None:
    """What has to come of a case; None where only the rules hold that hold for every one."""
    lasting = len(case.points) > 1
    if len(set(case.points)) > 1:
        return None
    row = ROWS[case.way, case.points[0]]
    return row.of(case.tool)[lasting]


def cases(way: str, point: str) -> tuple[Case, ...]:
    """Every case of the table at one point: passing and lasting, for each kind of tool."""
    row = ROWS[way, point]
    size = 1_000_000 if point == "killed in the request" else 0
    return tuple(
        Case(way, (point,) * (1 + lasting), tool, 0.5, size)
        for tool in ("read", "set", "add", "wipe")
        for lasting in (False, True)
        if row.once[lasting] is not None
    )
