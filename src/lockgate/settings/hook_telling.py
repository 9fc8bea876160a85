"""What the hooks of a found file would do, told in full before they are accepted (B-13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from lockgate.hooks.declared.template import written
from lockgate.hooks.event import HookEvent
from lockgate.settings.hook_kinds import HookText, TemplateText
from lockgate.settings.reading import Draft
from lockgate.settings.starts import Start, reached, told
from lockgate.settings.telling import word

_WHEN: Final[Mapping[HookEvent, str]] = {
    HookEvent.PRE_TOOL: "before calls",
    HookEvent.POST_TOOL: "after calls",
    HookEvent.PERMISSION_REQUEST: "at questions about calls",
    HookEvent.PERMISSION_DENIED: "at refusals of calls",
}


def hook_starts(draft: Draft) -> tuple[Start, ...]:
    """The programs that hooks of a found file would run, and the endpoints they would post to."""
    return tuple(_start(text) for text in _hooks(draft) if text.kind != "mcp_tool")


def hook_calls(draft: Draft, own: Draft) -> Iterator[str]:
    """What else they would do; each completes "It would ..."."""
    for text in _hooks(draft):
        if text.kind == "mcp_tool":
            server, tool = (str(_value(text, key, "")) for key in ("server", "tool"))
            args: TemplateText | None = _value(text, "args", None)
            given: object = {} if args is None else written(args.template)
            yield (
                f"call {word(tool)} of {word(server)} {_when(text)} with {_json(given)},"
                " WITHOUT ASKING YOU"
            )
    known = own["hookVariables"].value if "hookVariables" in own else ()
    listed = draft["hookVariables"].value if "hookVariables" in draft else ()
    if more := [name for name in listed if name not in known]:
        yield f"let hooks use variables of your environment: {', '.join(more)}"


def _hooks(draft: Draft) -> Iterator[HookText]:
    section: Draft = draft["hooks"].value if "hooks" in draft else {}
    for event in HookEvent:
        if event.value in section:
            yield from section[event.value].value


def _start(text: HookText) -> Start:
    name = f"a hook {_when(text)}"
    if text.kind == "command":
        command: tuple[str, ...] = _value(text, "command", ("",))
        args = (*command[1:], *_value(text, "args", ()))
        return told(name, command[0], args, _value(text, "env", {}), None)
    body: TemplateText | None = _value(text, "body", None)
    sent = "the event, arguments in full" if body is None else _json(written(body.template))
    return reached(
        name, _value(text, "url", None), _value(text, "headers", {}), (f"posting {sent}",)
    )


def _when(text: HookText) -> str:
    if text.event in _WHEN:
        matched = "" if text.matcher is None else f" of {word(text.matcher.text)}"
        return f"{_WHEN[text.event]}{matched} ({text.event.value})"
    return f"at {text.event.value}"


def _json(value: object) -> str:
    return word(msgspec.json.encode(value).decode())


def _value(text: HookText, name: str, default: Any) -> Any:
    return text.draft[name].value if name in text.draft else default
