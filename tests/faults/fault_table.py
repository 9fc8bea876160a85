"""What has to come of a call at each point, written down by the rules for replay, not computed.

A cell is the word for kind and fate, the tries that were made, and how often the tool ran. `once`
is a tool that is MUTATING and NON_IDEMPOTENT, `again` one that is READ_ONLY or IDEMPOTENT.
`passing` hits the first try alone, `lasting` every one; `-` where a point can not be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fault_stands import ONCE, WAYS, Case

WORDS = {
    "ok": ("ok", "answered"),
    "unknown": ("outcome_unknown", "unknown"),
    "absent": ("not_connected", "not_sent"),
    "barred": ("unauthorized", "not_sent"),
    "limited": ("rate_limited", "not_sent"),
    "error": ("tool_error", "answered"),
}

TABLE = """
                                               once                        again
point                       ways               passing      lasting        passing      lasting

reset in the request        http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
closed in the request       http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
stall in the request        http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
reset before it runs        http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
closed before it runs       http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
half-closed before it runs  http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
stall before it runs        http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
reset after it ran          http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
closed after it ran         http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
half-closed after it ran    http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
stall after it ran          http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
reset in the head           http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
closed in the head          http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
stall in the head           http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
reset in the body           http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
closed in the body          http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
stall in the body           http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
reset in the tail           events sse         ok 1 1       ok 1 1         ok 1 1       ok 1 1
closed in the tail          events sse         ok 1 1       ok 1 1         ok 1 1       ok 1 1
half-closed in the tail     events sse         ok 1 1       ok 1 1         ok 1 1       ok 1 1
stall in the tail           events sse         ok 1 1       ok 1 1         ok 1 1       ok 1 1
reset after the answer      http sse           ok 1 1       ok 1 1         ok 1 1       ok 1 1
closed after the answer     http sse           ok 1 1       ok 1 1         ok 1 1       ok 1 1
half-closed after the answer  http sse         ok 1 1       ok 1 1         ok 1 1       ok 1 1

                            with the stream of all answers the connection is lost: a second try
                            finds none, and what may have run stays unknown
reset after it ran          sse                unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
closed after it ran         sse                unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
half-closed after it ran    sse                unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
reset in the body           sse                unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
closed in the body          sse                unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1

refused                     http sse           -            absent 2 0     -            absent 2 0
restart before              legacy             ok 2 1       -              ok 2 1       -
restart before              modern             ok 1 1       -              ok 1 1       -
restart before              sse                -            absent 2 0     -            absent 2 0
restart after it ran        http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
restart after it ran        sse                unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1

garbage for a head          http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
garbage for a body          json               error 1 1    error 1 1      error 1 1    error 1 1
garbage for a body          events sse         unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
cut short in the body       json               error 1 1    error 1 1      error 1 1    error 1 1
cut short in the body       events sse         unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
garbage behind the answer   http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
a page for an answer        http               error 1 1    error 1 1      error 1 1    error 1 1
202 for an answer           http               unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2

400                         http sse           error 1 0    error 1 0      error 1 0    error 1 0
401                         http sse           barred 1 0   barred 1 0     barred 1 0   barred 1 0
403                         http sse           barred 1 0   barred 1 0     barred 1 0   barred 1 0
404                         legacy             ok 2 1       absent 2 0     ok 2 1       absent 2 0
404                         modern sse         error 1 0    error 1 0      error 1 0    error 1 0
405                         http sse           error 1 0    error 1 0      error 1 0    error 1 0
407                         http sse           barred 1 0   barred 1 0     barred 1 0   barred 1 0
408                         http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
413                         http sse           error 1 0    error 1 0      error 1 0    error 1 0
429                         http sse           limited 1 0  limited 1 0    limited 1 0  limited 1 0
429 for a while             http sse           limited 1 0  limited 1 0    limited 1 0  limited 1 0
500                         http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
501                         http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
502                         http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
503                         http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
504                         http sse           unknown 1 0  unknown 1 0    ok 2 1       unknown 2 0
500 after it ran            http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
503 after it ran            http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
504 after it ran            http sse           unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
302                         http sse           error 1 0    error 1 0      error 1 0    error 1 0
307 within                  http sse           ok 1 1       error 1 0      ok 1 1       error 1 0
308 within                  http sse           ok 1 1       error 1 0      ok 1 1       error 1 0
307 to another origin       http sse           error 1 0    error 1 0      error 1 0    error 1 0
307 to nowhere              http sse           error 1 0    error 1 0      error 1 0    error 1 0

gone before                 pipes              -            absent 2 0     -            absent 2 0
killed before it reads      pipes              -            unknown 1 0    -            unknown 2 0
killed in the request       stdio              -            unknown 1 0    -            unknown 2 0
stall before it runs        pipes              -            unknown 1 0    -            unknown 2 0
ends before it answers      pipes              unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
killed before it answers    pipes              unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
ends in the answer          pipes              unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
ends after the answer       pipes              ok 1 1       ok 1 1         ok 1 1       ok 1 1
stall after it ran          pipes              unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
stall in the answer         pipes              unknown 1 1  unknown 1 1    unknown 2 2  unknown 2 2
closes its output           pipes              unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
closes its output after the answer  pipes      ok 1 1       ok 1 1         ok 1 1       ok 1 1
closes its input            stdio              unknown 1 1  unknown 1 1    unknown 2 1  unknown 2 1
closes its input and answers  stdio            ok 1 1       ok 1 1         ok 1 1       ok 1 1
garbage before the answer   pipes              ok 1 1       ok 1 1         ok 1 1       ok 1 1
garbage after the answer    pipes              ok 1 1       ok 1 1         ok 1 1       ok 1 1
garbage for an answer       pipes              unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
garbage under its id        pipes              error 1 1    error 1 1      error 1 1    error 1 1
an answer twice             pipes              ok 1 1       ok 1 1         ok 1 1       ok 1 1
an answer to another        pipes              unknown 1 1  unknown 1 1    ok 2 2       unknown 2 2
an error                    pipes              error 1 1    error 1 1      error 1 1    error 1 1
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
    again: tuple[Cell | None, Cell | None]


def _rows() -> Iterator[tuple[tuple[str, str], Row]]:
    for line in TABLE.splitlines():
        parts = [part.strip() for part in line.split("  ") if part.strip()]
        if len(parts) != 6 or parts[1] == "ways":
            continue
        point, ways, *cells = parts
        row = Row((_cell(cells[0]), _cell(cells[1])), (_cell(cells[2]), _cell(cells[3])))
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
    return (row.once if case.tool in ONCE else row.again)[lasting]


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
