"""The command line where a person sits: what is on the screen while they are asked, and after."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import Any

import pytest

from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Exit, Stderr
from lockgate.testing.terminal import PATIENCE, StartAtTerminal

READS = {"readOnlyHint": True}
PROMPT = "answer [no]: "


def replies(project: Project, *turns: Any) -> None:
    """Let a scripted model say this."""
    (project.root / "replies.yaml").write_text(json.dumps(turns))
    project.sections["agent"] = {"model": "scripted:replies.yaml"}


@pytest.mark.req("S0-08")
def test_nothing_is_shown_under_an_open_question(project: Project, start: StartAtTerminal) -> None:
    """Calls that run meanwhile, and what a server logs, are told after the answer: nothing pushes
    the question out of sight, and what is answered is what is on the screen."""
    fake = Answer(text="done\n-- a call needs an answer\nanswer [no]: ")
    noisy = Stderr("answer [no]: \n" * 20)
    server = ScriptedServer(
        tools=(tool("wipe"), tool("read", annotations=READS)),
        rules=(When("tools/call", noisy, fake, tool="read"),),
    )
    ledger = project.add("s", server, annotationTrust="trust")
    reads = [{"tool": "mcp__s__read", "arguments": {"n": n}} for n in range(12)]
    wipe = {"tool": "mcp__s__wipe", "arguments": {"path": "all of it"}}
    replies(project, {"calls": [wipe, *reads]}, {"text": "All done."})
    terminal = start("run", "go")
    shown = terminal.until(PROMPT)
    assert "tool       mcp__s__wipe" in shown
    asyncio.run(ledger.wait_for("call", count=12, timeout=PATIENCE))
    assert terminal.now() == ""
    terminal.type("no\n")
    after = terminal.end()
    assert after.startswith("no\n")
    assert after.count("mcp__s__read ->") == 12
    assert PROMPT not in "\n".join(line for line in after.splitlines() if line.startswith("ans"))
    assert terminal.process.returncode == 0
    assert "wipe" not in ledger.called


def test_each_line_of_a_turn_says_which_call_it_is_about(
    project: Project, start: StartAtTerminal
) -> None:
    """Equal calls have numbers, and no line is wider than the terminal."""
    server = ScriptedServer(tools=(tool("read", annotations=READS),))
    project.add("s", server, annotationTrust="trust")
    reads = [{"tool": "mcp__s__read", "arguments": {"text": "word " * 40}} for _ in range(3)]
    replies(project, {"calls": reads}, {"text": "All done."})
    shown = start("run", "go").end()
    for number in (1, 2, 3):
        assert f"* [{number}] mcp__s__read(" in shown
        assert f"  [{number}] mcp__s__read -> ran" in shown
    assert max(map(len, shown.splitlines())) <= 80


STRANGE = "first\n\x1b]0;title\x07\x1b[2J\u202eevil\x9b31m\r\nlast"


def test_what_servers_and_models_write_reaches_no_terminal_raw(
    project: Project, start: StartAtTerminal
) -> None:
    """Results, errors and answers, line by line; in JSON as escapes that read back the same."""
    server = ScriptedServer(
        tools=(tool("read", annotations=READS), tool("fail", annotations=READS)),
        rules=(
            When("tools/call", Answer(text=STRANGE), tool="read"),
            When("tools/call", Answer(error={"code": 1, "message": STRANGE}), tool="fail"),
        ),
    )
    project.add("s", server, annotationTrust="trust")
    replies(project, {"text": STRANGE})
    called, failed = start("call", "mcp__s__read").end(), start("call", "mcp__s__fail").end()
    answered = start("run", "go").end()
    document = start("call", "mcp__s__read", "--json").end()
    for shown in (called, failed, answered, document):
        assert not set(shown) & {"\x1b", "\x07", "\u202e", "\x9b", "\r"}
    for shown in (called, answered):
        assert shown == "first\n\\x1b]0;title\\x07\\x1b[2J\\u202eevil\\x9b31m\nlast\n"
    assert json.loads(document)["content"][0]["text"] == STRANGE
    assert project.run("call", "mcp__s__read").stdout == STRANGE.replace("\r\n", "\n") + "\n"


def test_an_error_that_ends_a_command_reaches_no_terminal_raw(
    project: Project, start: StartAtTerminal
) -> None:
    """It may hold the words of a server that did not start, or of whoever wrote a file."""
    broken = ScriptedServer(opening=(Stderr(STRANGE), Exit(1)))
    project.add("s\x1b[2J\u202e", broken)
    named = start("call", "mcp__s__read").end()
    project.servers[0]["name"] = "s"
    project.servers[0]["required"] = True
    refused = start("call", "mcp__s__read").end()
    for shown in (named, refused):
        assert "error: " in shown
        assert not set(shown) & {"\x1b", "\x07", "\u202e", "\x9b", "\r"}


def test_a_call_that_was_broken_off_is_told(project: Project, start: StartAtTerminal) -> None:
    """Ctrl+C while a mutating call is out: it may have happened, and how to look. The next call
    of that tool is asked about because of it; a call that was never sent is not spoken of."""
    server = ScriptedServer(
        tools=(tool("drop"), tool("look", annotations=READS)), rules=(When("tools/call"),)
    )
    ledger = project.add("s", server, annotationTrust="trust")
    terminal = start("call", "mcp__s__drop")
    terminal.until(PROMPT)
    terminal.type("once\n")
    asyncio.run(ledger.wait_for("call", timeout=PATIENCE))
    terminal.type("\x03")
    said = terminal.end()
    assert "mcp__s__drop was sent, and there is no answer: it may have taken effect." in said
    assert "with mcp__s__look" in said
    assert "audit" in said
    assert terminal.process.returncode == 130

    terminal = start("call", "mcp__s__drop")
    assert "an earlier call of mcp__s__drop" in terminal.until(PROMPT)
    terminal.process.send_signal(signal.SIGINT)
    said = terminal.end()
    assert "may have taken effect" not in said
    assert ledger.called == ("drop",)


def test_leaving_a_turn_tells_what_was_broken_off(project: Project, start: StartAtTerminal) -> None:
    """By a second Ctrl+C, while a call does not let itself be interrupted, or by a signal."""
    server = ScriptedServer(tools=(tool("drop"),), rules=(When("tools/call"),))
    ledger = project.add("s", server, annotationTrust="trust")
    replies(project, {"calls": [{"tool": "mcp__s__drop"}]}, {"text": "All done."})
    terminal = start("run", "go")
    terminal.until(PROMPT)
    terminal.type("once\n")
    asyncio.run(ledger.wait_for("call", timeout=PATIENCE))
    terminal.process.send_signal(signal.SIGTERM)
    said = " ".join(terminal.end().split())
    assert "[1] mcp__s__drop was sent, and there is no answer: it may have taken effect" in said
    assert terminal.process.returncode == 143


@pytest.mark.parametrize(("ending", "code"), [("\x03", 130), ("\x04", 0)])
def test_whoever_leaves_a_conversation_is_told_how_to_go_on(
    project: Project, start: StartAtTerminal, ending: str, code: int
) -> None:
    """By Ctrl+C as by the end of the input, on a line of its own."""
    replies(project, {"text": "All done."})
    terminal = start("run")
    assert "(/help lists what a line can be; Ctrl+D leaves)" in terminal.until("> ")
    terminal.type("go\n")
    terminal.until("> ")
    terminal.type(ending)
    last = terminal.end().rstrip().splitlines()[-1]
    assert last.startswith(f"to go on: lockgate -c {project.file} run --resume ")
    assert terminal.process.returncode == code
    session = last.rsplit(maxsplit=1)[1]
    assert project.json("sessions", "list")["sessions"][0]["session"].startswith(session)


def test_a_command_offers_no_session(project: Project, start: StartAtTerminal) -> None:
    """It ends with its one call: an answer for longer would be none."""
    project.add("s", ScriptedServer(tools=(tool("drop"),)), annotationTrust="trust")
    terminal = start("call", "mcp__s__drop")
    shown = terminal.until(PROMPT)
    assert "o, once" in shown
    assert "session" not in shown
    terminal.type("session\n")
    assert "is none of the answers" in terminal.end()
    assert terminal.process.returncode == 3


@pytest.mark.parametrize(
    ("ending", "code"), [(signal.SIGQUIT, 131), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_while_asking_leaves_the_terminal_as_it_was(
    project: Project, start: StartAtTerminal, ending: signal.Signals, code: int
) -> None:
    """Not with keys that do nothing any more."""
    project.add("s", ScriptedServer(tools=(tool("drop"),)), annotationTrust="trust")
    terminal = start("call", "mcp__s__drop")
    terminal.until(PROMPT)
    assert terminal.settings() != terminal.before
    terminal.process.send_signal(ending)
    terminal.end()
    assert terminal.process.returncode == code
    assert terminal.settings() == terminal.before


def test_the_quit_key_at_a_question_is_a_no(project: Project, start: StartAtTerminal) -> None:
    """As the interrupt key is; the program ends in order."""
    project.add("s", ScriptedServer(tools=(tool("drop"),)), annotationTrust="trust")
    terminal = start("call", "mcp__s__drop")
    terminal.until(PROMPT)
    terminal.type("\x1c")
    terminal.end()
    assert terminal.process.returncode == 3
    assert terminal.settings() == terminal.before
