"""What the operator wrote about servers, held against what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerStatus
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.naming import server_tool_name
from lockgate.traits import ConcurrencyBehavior


def check(servers: Sequence[ServerSettings], bound: float, budget: float | None) -> None:
    """Raise `ConfigError` for names that come twice (S3-11) and a budget that is none (S3-20)."""
    problems: list[Problem] = []
    names = [settings.name for settings in servers]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        problems.append(
            Problem(f"the server name {name!r} is used more than once", path="mcp.servers")
        )
    if budget is not None and not 0 < budget <= bound:
        problems.append(
            Problem(
                f"startupBudget is {budget:g} s; it must be over 0 and at most {bound:g} s, the "
                "safety bound",
                path="mcp.startupBudget",
                hint="leave it out to use the safety bound",
            )
        )
    if problems:
        raise ConfigError(*problems)


def missing(settings: ServerSettings, status: ServerStatus) -> list[str]:
    """What the operator expects of a server that did start, and it has not got (B-07)."""
    left_out = {out.tool: out.reason for out in status.left_out}
    sentences: list[str] = []
    for expected in settings.expect_tools:
        if server_tool_name(settings.name, expected) in status.tools:
            continue
        why = left_out.get(expected)
        what = "is not listed by it" if why is None else f"was left out: {why}"
        sentences.append(f"server {settings.name}: the expected tool {expected!r} {what}")
    return sentences


def unused(settings: ServerSettings, listed: Mapping[str, Fingerprint]) -> list[str]:
    """What the operator wrote for this server that has no effect; `listed` is by original name."""
    remarks = [
        f"the verdict for {name!r} applies to nothing: no such tool is listed"
        for name in settings.verdicts
        if name not in listed
    ]
    remarks.extend(
        f"the verdict for {name!r} was given for another definition, and loosens nothing"
        for name, verdict in settings.verdicts.items()
        if name in listed and verdict.pin not in (None, listed[name].digest)
    )
    if settings.lane == "server":
        remarks.extend(
            f"the verdict concurrent for {name!r} has no effect: lane is server"
            for name, verdict in settings.verdicts.items()
            if verdict.concurrent is ConcurrencyBehavior.CONCURRENT_SAFE
        )
    return remarks
