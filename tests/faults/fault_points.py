"""Where things can go wrong, as what a wire or a server does about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from itertools import product

from fault_relay import OTHER, How, Plan, Where
from lockgate.testing.steps import Answer, Close, Exit, Kill, Raw, Shape, Step

GARBAGE = b"\x16\x03\x01\x00what?\xff\xfe"


def _said(code: int, body: bytes = b"", **headers: str) -> bytes:
    fields = {"content-type": "text/plain", **headers, "content-length": str(len(body))}
    lines = [f"HTTP/1.1 {code} {HTTPStatus(code).phrase}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def _refused(code: int, **headers: str) -> Plan:
    return Plan(Where.TAKEN, said=_said(code, b"no", **headers))


def _ran(code: int) -> Plan:
    return Plan(Where.RAN, said=_said(code, b"oops"))


_ENDS = (
    *product((How.RESET, How.CLOSE, How.STALL), (Where.REQUEST, Where.HEAD, Where.BODY)),
    *product((How.RESET, How.CLOSE, How.HALF, How.STALL), (Where.TAKEN, Where.RAN, Where.TAIL)),
    *product((How.RESET, How.CLOSE, How.HALF), (Where.WHOLE,)),
)

WIRE: Mapping[str, Plan] = {
    **{f"{how.value} {where.value}": Plan(where, how) for how, where in _ENDS},
    "garbage for a head": Plan(Where.RAN, How.CLOSE, said=GARBAGE + b"\r\n\r\n"),
    "garbage for a body": Plan(Where.WHOLE, body=GARBAGE),
    "cut short in the body": Plan(Where.WHOLE, body=b'{"jsonrpc":"2.0","id":'),
    "cut short under its id": Plan(Where.WHOLE, shortened=True),
    "garbage behind the answer": Plan(Where.WHOLE, behind=GARBAGE),
    "a page for an answer": Plan(
        Where.RAN, said=_said(200, b"<html>Sign in</html>", **{"content-type": "text/html"})
    ),
    "202 for an answer": Plan(Where.RAN, said=_said(202)),
    "restart after it ran": Plan(Where.RAN, How.RESET, restarts=True),
    **{str(code): _refused(code) for code in (400, 401, 403, 404, 405, 407, 408, 413, 429)},
    **{str(code): _refused(code) for code in (500, 501, 502, 503, 504)},
    "429 for a while": _refused(429, **{"retry-after": "30"}),
    "500 after it ran": _ran(500),
    "503 after it ran": _ran(503),
    "504 after it ran": _ran(504),
    "302": _refused(302, location=OTHER.decode()),
    "307 within": _refused(307, location=OTHER.decode()),
    "308 within": _refused(308, location=OTHER.decode()),
    "307 to another origin": _refused(307, location="http://127.0.0.2:9/mcp"),
    "307 to nowhere": _refused(307),
}
"""What happens to a request over HTTP, or to its answer."""


def planned(point: str, at: float) -> Plan:
    """The plan of a point, `at` that place in its part."""
    return replace(WIRE[point], at=at)


def _truncated(at: float, *, whole_line: bool = False) -> tuple[Step, ...]:
    """The beginning of an answer, which is never ended; or a line of it that says what it is."""
    text = b'"result":{"content":[{"type":"text","text":"@cut@"}]}}'
    least = text.index(b"{") if whole_line else 0
    last = text.rindex(b"@")  # what is taken away has to be there once
    cut = text[least + round(at * (last - least)) :]
    ending = b"\n" if whole_line else b""
    result = {"content": [{"type": "text", "text": "@cut@"}]}
    return (Answer(result=result, shape=Shape(ending=ending, swap=((cut, b""),))),)


_SAYS: Mapping[str, Callable[[float], tuple[Step, ...]]] = {
    "ends before it answers": lambda _: (Exit(3),),
    "killed before it answers": lambda _: (Kill(9),),
    "ends in the answer": lambda at: (*_truncated(at), Exit(0)),
    "ends after the answer": lambda _: (Answer(), Exit(0)),
    "stall after it ran": lambda _: (),
    "stall in the answer": _truncated,
    "closes its output": lambda _: (Close(1),),
    "answers, closes its output": lambda _: (Answer(), Close(1)),
    "closes its input and answers": lambda _: (Close(0), Answer()),
    "closes its input": lambda _: (Close(0),),
    "garbage before the answer": lambda _: (Raw(GARBAGE + b"\n"), Answer()),
    "garbage after the answer": lambda _: (Answer(), Raw(GARBAGE + b"\n")),
    "garbage for an answer": lambda _: (Raw(GARBAGE + b"\n"),),
    "garbage under its id": lambda _: (
        Answer(shape=Shape(swap=((b'"result":{', b'"result":[{'),))),
    ),
    "cut short under its id": lambda at: _truncated(at, whole_line=True),
    "an answer twice": lambda _: (Answer(), Answer()),
    "an answer to another": lambda _: (Answer(id=(987654,)),),
    "an error": lambda _: (Answer(error={"code": -32603, "message": "broken"}),),
}

PIPE: Mapping[str, Callable[[float], tuple[Step, ...]]] = _SAYS
"""What a server does about a call that reads from a pipe or a queue."""

OUTSIDE = frozenset({"refused", "restart before", "gone before", "killed before it reads"}) | {
    "killed in the request",
    "stall before it runs",
}
"""What is done to a server from outside; on a wire, a stall is of the wire."""

_STALLS = frozenset(f"{How.STALL.value} {where.value}" for where in Where) - {"stall in the tail"}
_UNANSWERED = frozenset({"stall in the answer", "garbage for an answer", "an answer to another"})

SLOW: Mapping[str, frozenset[str]] = {
    "http": _STALLS,
    "sse": _STALLS | {"garbage for a body", "cut short in the body"},
    "stdio": _STALLS | _UNANSWERED,
    "memory": _STALLS | _UNANSWERED,
}
"""Points at which nothing but the time ends the call, by the way."""
