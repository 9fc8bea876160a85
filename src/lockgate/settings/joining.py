"""Several layers made one, and whether what they say together can be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.settings.assembly import Assembly, servers_of
from lockgate.settings.expansion import has_reference
from lockgate.settings.findings import Findings
from lockgate.settings.keys import ROOT
from lockgate.settings.layers import Layers
from lockgate.settings.reading import Draft, Given, merge_drafts
from lockgate.settings.server_keys import IDENTIFIED_BY, STARTED_BY

_SOME_HOME: Final = "/home/of-the-reader"
"""Stands for the home directory where rules are only read: any will do."""
_SOMEWHERE: Final = "https://of-the-reader.invalid/"
"""Stands for an address that a variable is part of."""

_GIVEN: Final[Mapping[str, str]] = {
    "sampling": "lets it have a model complete something",
    "roots": "tells it of directories",
}
"""What one server is given and another is not, with what is said of it."""


def join(drafts: Sequence[Draft], findings: Findings) -> Draft:
    """The layers, earlier ones first, as one. Trust that would be inherited goes to `findings`."""
    merged: Draft = {}
    for draft in drafts:
        _refuse_inherited_trust(merged, draft, findings)
        merged = merge_drafts(ROOT, merged, draft)
    return merged


def faults_of(layers: Layers, drafts: Sequence[Draft], own: Draft) -> Findings:
    """What keeps layers, read as they were written, from being used, whatever variables hold.

    `own` is the draft of the person's own file.
    """
    findings = Findings()
    merged = _without_references(join(drafts, findings))
    Assembly(layers, merged, findings, servers_of(own), home=_SOME_HOME).config()
    return findings


def _without_references(draft: Draft) -> Draft:
    # A number or a switch that a variable will hold is still text: its default stands in for it.
    if "mcp" not in draft:
        return draft
    mcp: Draft = draft["mcp"].value
    kept = {key: given for key, given in mcp.items() if key == "servers"}
    servers: dict[str, Given] = {}
    open_bound = False
    for name, given in servers_of(draft).items():
        server: Draft = given.value
        awaited = {
            key
            for key in ("requestTimeout", "progressExtends", "required")
            if key in server and isinstance(server[key].value, str)
        }
        if "requestTimeout" in awaited:  # it may not be below that
            awaited.add("progressExtends")
        open_bound = open_bound or "requestTimeout" in awaited
        rest = {key: value for key, value in server.items() if key not in awaited}
        for key in ("url", "proxy"):
            if key in rest and has_reference(str(rest[key].value)):
                rest[key] = Given(_SOMEWHERE, rest[key].place, rest[key].path)
        servers[name] = Given(rest, given.place, given.path)
    if "servers" in kept:
        kept["servers"] = Given(servers, kept["servers"].place, kept["servers"].path)
    budget = mcp.get("startupBudget")
    if budget is not None and not isinstance(budget.value, str) and not open_bound:
        kept["startupBudget"] = budget
    return {**draft, "mcp": Given(kept, draft["mcp"].place, draft["mcp"].path)}


def _refuse_inherited_trust(earlier: Draft, later: Draft, findings: Findings) -> None:
    before, after = (servers_of(draft) for draft in (earlier, later))
    for name, given in after.items():
        old: Draft = before[name].value if name in before else {}
        new: Draft = given.value
        key = next((key for key in IDENTIFIED_BY if key in new), None)
        if not old or key is None:
            continue
        changed = new[key]
        verb = "started" if key in STARTED_BY else "connected to"
        trusted = old.get("annotationTrust")
        if trusted and trusted.value is AnnotationTrust.TRUST and "annotationTrust" not in new:
            findings.add(
                changed.place,
                changed.path,
                f'server "{name}": changes what is {verb}, while {trusted.place} trusts it',
                "say annotationTrust here as well, or give the server another name",
            )
        for granted, what in _GIVEN.items():
            if granted in old and old[granted].value and granted not in new:
                findings.add(
                    changed.place,
                    changed.path,
                    f'server "{name}": changes what is {verb}, while {old[granted].place} {what}',
                    f"say {granted} here as well, or give the server another name",
                )
        told: Mapping[str, Given] = old["verdicts"].value if "verdicts" in old else {}
        again: Mapping[str, Given] = new["verdicts"].value if "verdicts" in new else {}
        if left := [tool for tool in told if tool not in again]:
            findings.add(
                changed.place,
                changed.path,
                f'server "{name}": changes what is {verb}, while {told[left[0]].place} has a'
                f" verdict on its tools",
                f"repeat the verdicts here ({', '.join(left)}), or use another name",
            )
