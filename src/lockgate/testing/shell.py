"""The shell tool on a road of its own, under rules given as patterns: what becomes of a line?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from lockgate.builtin.shell.bash import SHELL, Bash, Shell
from lockgate.decision import Decision
from lockgate.policy.approval import Approver
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.road import Road
from lockgate.tools.context import Environment
from lockgate.tools.result import ToolResult

_NOTHING: Mapping[str, str] = MappingProxyType({})


def line_rule(
    pattern: str,
    decision: Decision = Decision.ALLOW,
    *,
    destructive: bool = True,
    when: Literal["attended", "unattended", "any"] = "any",
) -> Rule:
    """The rule `Bash(pattern)`, as a configuration with `destructive: true` would give it."""
    text = f"Bash({pattern})"
    source = f"permissions.{decision.name.lower()}: {text}"
    return Rule(
        decision,
        text,
        None,
        "Bash",
        when,
        source,
        subject=replace(CommandPattern.parse(pattern, source), text=text),
        destructive=destructive,
    )


def named_rule(name: str) -> Rule:
    """The allow rule for one command by its name, whatever characters that has, in any run."""
    text = f"Bash({name}:*)"
    pattern = CommandPattern(text, (name,), more=True)
    return Rule(Decision.ALLOW, text, None, "Bash", "any", subject=pattern, destructive=True)


class ShellRoad(Road):
    """A road with `Bash` alone, in `folder/work`, its only file root. Use it in a `with`.

    Nobody is there to answer unless approvers are given. With another `shell`, that runs the lines;
    see `builtin.shell.bash.Shell`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        ask: Iterable[str] = (),
        rules: Iterable[Rule] = (),
        attended: Sequence[Approver] = (),
        environ: Mapping[str, str] = _NOTHING,
        shell: Shell = SHELL,
    ) -> None:
        """`allow`, `deny` and `ask` are command patterns; `rules` are any others."""
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        state = folder / "state"
        state.mkdir(exist_ok=True)
        lists = ((allow, Decision.ALLOW), (deny, Decision.DENY), (ask, Decision.ASK))
        read = [line_rule(text, decision) for texts, decision in lists for text in texts]
        super().__init__(
            state,
            [Bash(environ, shell)],
            rules=RuleSet((*read, *rules)),
            attended=attended,
            environment=Environment(
                self.work,
                roots=(self.work,),
                barred=(state,),
                home=Path(environ["HOME"]) if "HOME" in environ else None,
            ),
        )

    async def line(self, command: str, *, attended: bool = True, **arguments: Any) -> ToolResult:
        """Run `command` down the road."""
        given = {"command": command, **arguments}
        return await self.invoke(self.call("Bash", given, attended=attended))
