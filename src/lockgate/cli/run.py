"""`lockgate run`: one turn of an agent, or a conversation, with every call and decision shown."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockgate.cli.options import config_option, json_option, print_json, to_type

if TYPE_CHECKING:
    from lockgate.agent.agent import Agent
    from lockgate.agent.run import RunResult
    from lockgate.app.gate import Gate
    from lockgate.bridges.voice import Voice
    from lockgate.settings.config import Config


@click.command("run")
@click.argument("prompt", nargs=-1)
@click.option(
    "--model",
    metavar="PROVIDER:MODEL",
    help="Such as anthropic:claude-sonnet-4-6; scripted:FILE reads replies from a file. By default"
    " agent.model of the configuration.",
)
@click.option(
    "--resume",
    metavar="[SESSION]",
    is_flag=False,
    flag_value="-",
    help="Go on with a session: the one whose id begins so, or the last one of this project. One"
    " word behind it is always an id; -- stands before a prompt of one word.",
)
@config_option
@json_option
def run(
    prompt: tuple[str, ...],
    model: str | None,
    resume: str | None,
    config: Path | None,
    as_json: bool,
) -> int:
    """One turn of an agent with PROMPT; without it, a conversation.

    Each call is shown with what was decided about it, who answered, how long it took and what came
    of it, on standard error. The answer goes to standard output: into a pipe or a file once it is
    whole, and alone; on a terminal you see what the model says as it writes. Ctrl+C ends the turn,
    and a reply that is not whole is not kept; a second one ends the program. In a conversation the
    line /reconnect [SERVER] has servers that are not there connected anew, /reload reads the
    configuration again and takes what tightens it, and /help lists what there is. A line or PROMPT
    that is /NAME and words asks for the skill NAME; one that begins with a space is for the model.

    What is said is kept (see lockgate sessions), and --resume goes on with it: the model knows what
    was said, and what you answered for the session holds.

    \b
    Examples:
      lockgate run "What changed this week?"
      lockgate run --model scripted:replies.yaml "What changed this week?"
      lockgate run --resume "And the week before?"
      lockgate run --resume -- Continue
      lockgate run --resume 5f0c1d
    """
    from lockgate.agent.identity import agent_id
    from lockgate.app.models import check_model
    from lockgate.app.sessions import resumable
    from lockgate.bridges.voice import Voice
    from lockgate.cli.asked_skill import said
    from lockgate.cli.opening import opened, run_async
    from lockgate.cli.resuming import meant, remind
    from lockgate.cli.turn import one_turn

    wanted, words = meant(resume, prompt)

    async def work() -> int:
        session: str | None = None

        def all_there(settings: Config) -> None:
            nonlocal session
            named = model if model is not None else settings.agent.model
            check_model(named, os.environ, thoroughly=True)
            if wanted is not None:
                session = resumable(settings, agent_id("main"), wanted, time.time)

        voice = Voice()
        async with opened(config, before=all_there, voice=voice) as gate:
            agent = gate.agent(model=model, session=session)
            if agent.resumed and not as_json:
                remind(agent)
            for name in gate.failed:
                click.echo(f"{name} is not available", err=True)
            if words:
                text = " ".join(words)
                asked = await said(gate, agent, text, voice, show=not as_json, lines=())
                if asked.prompt is None:
                    return asked.code
                result = await one_turn(agent, asked.prompt, voice, show=not as_json)
                return _told(result, agent, as_json)
            return await _conversation(gate, agent, voice, as_json)

    return run_async(work)


async def _conversation(gate: Gate, agent: Agent, voice: Voice, as_json: bool) -> int:
    """Prompts, one a line, until the input ends; each is a turn of one session, unless it tells
    lockgate itself to do something."""
    from lockgate.cli.asked_skill import said
    from lockgate.cli.exit import Exit
    from lockgate.cli.prompt import Prompts
    from lockgate.cli.turn import one_turn
    from lockgate.cli.typed import typed

    code: int = Exit.DONE
    if sys.stdin.isatty():
        voice.say("(/help lists what a line can be; Ctrl+D leaves)")
    try:
        async with Prompts(voice) as prompts:
            async for line in prompts:
                if await typed(gate, line):
                    continue
                asked = await said(gate, agent, line, voice, show=not as_json)
                if asked.prompt is None:
                    code = asked.code
                    continue
                result = await one_turn(agent, asked.prompt, voice, show=not as_json)
                code = _told(result, agent, as_json)
    finally:
        if agent.transcript and gate.config.sessions.keep != 0:
            _tell_how_to_go_on(agent, voice)
    return code


def _tell_how_to_go_on(agent: Agent, voice: Voice) -> None:
    """To whoever leaves a conversation, however they leave it."""
    from lockgate.cli.output import on_terminal
    from lockgate.cli.session_words import SHORT

    with suppress(OSError):  # they may have closed the window
        if on_terminal(err=True):
            again = to_type(f"run --resume {agent.session_id[:SHORT]}")
            voice.say(f"\nto go on: {again}")


def _told(result: RunResult, agent: Agent, as_json: bool) -> int:
    """Print the answer, unless it was seen as it was written; the exit code of the turn."""
    from lockgate.agent.run import RunStatus
    from lockgate.cli.exit import Exit
    from lockgate.cli.output import echo_text
    from lockgate.cli.turn import turn_data, written_on

    if as_json:
        print_json({**turn_data(result), "session": agent.session_id})
    elif not written_on():
        echo_text(str(result), err=not result.answered)
    elif not result.answered:
        echo_text(result.note, err=True)
    match result.status:
        case RunStatus.ANSWERED:
            return Exit.DONE
        case RunStatus.SUSPENDED | RunStatus.DENIED:
            return Exit.REFUSED
        case RunStatus.INTERRUPTED:
            return Exit.INTERRUPTED
        case RunStatus.MODEL_FAILED:
            return Exit.UNREACHABLE
        case RunStatus.BOUND:
            return Exit.FAILED
