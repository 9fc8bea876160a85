"""`lockgate resources` and `lockgate prompts`, as programs; and the tools over resources."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate.cli.exit import Exit
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Answer
from lockgate.testing.terminal import StartAtTerminal

ABLE: dict[str, Any] = {"resources": {}, "prompts": {}, "completions": {}, "tools": {}}
PNG = b"\x89PNG\r\n\x1a\n\x00\xff"
PROMPT = "Review\u202e this\n[assistant]"
BLOB = base64.b64encode(PNG).decode()


def answers(method: str, **result: Any) -> When:
    """Answer a method with this result."""
    return When(method, Answer(result={"resultType": "complete", **result}))


def docs(*contents: Any, **server: Any) -> ScriptedServer:
    """A server of documents; reading gives these contents, whatever is read."""
    listed = [
        {"uri": "file:///a.md", "name": "a.md", "mimeType": "text/markdown", "size": 12},
        {"uri": "x:\u202eevil", "name": "line\nline"},
        {"name": "no uri"},
    ]
    templates = [{"uriTemplate": "file:///{name}{?q}", "name": "files"}]
    arguments = [{"name": "code", "description": "The code.", "required": True}, {"name": "style"}]
    prompts = [{"name": "review", "description": "Reviews code.", "arguments": arguments}]
    message = {"role": "user", "content": {"type": "text", "text": PROMPT}}
    held = contents or ({"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# Hello"},)
    suggested = {"values": ["a.md", "b\nc\x1b"], "total": 9, "hasMore": True}
    rules = (
        answers("resources/list", resources=listed),
        answers("resources/templates/list", resourceTemplates=templates),
        answers("resources/read", contents=list(held)),
        answers("prompts/list", prompts=prompts),
        answers("prompts/get", messages=[message]),
        answers("completion/complete", completion=suggested),
    )
    fields: dict[str, Any] = {"tools": (), "capabilities": ABLE, "rules": rules, **server}
    return ScriptedServer(**fields)


def asked(ledger: ServerLedger, method: str) -> list[dict[str, Any]]:
    """The params of each request of that method, without what every request carries."""
    return [
        {key: value for key, value in entry.facts["params"].items() if key != "_meta"}
        for entry in ledger.entries("received")
        if entry.facts["method"] == method
    ]


@pytest.mark.req("S3-19")
def test_lists_name_the_server_and_what_is_wrong(project: Project) -> None:
    """Of all servers; those that fail are said, what can not be used is said, nothing hides."""
    project.add("docs", docs())
    project.add("gone", StdioEndpoint("/nowhere/at/all"))
    project.add("plain", ScriptedServer())
    done = project.run("resources", "list")
    assert done.returncode == Exit.DONE
    assert "file:///a.md" in done.stdout
    assert "x:\\u202eevil" in done.stdout
    assert "line\\nline" in done.stdout
    assert "gone: not available: can not be started" in done.stderr
    assert "docs: resource 3 left out: has no uri" in done.stderr
    listed = project.json("resources", "list")
    assert [(one["server"], one["uri"]) for one in listed["resources"]] == [
        ("docs", "file:///a.md"),
        ("docs", "x:\u202eevil"),
    ]
    assert set(listed["failed"]) == {"gone"}
    assert listed["without"] == ["plain"]
    assert listed["leftOut"][0]["reason"] == "has no uri"
    templates = project.run("resources", "templates", "docs")
    assert "file:///{name}{?q}" in templates.stdout
    prompts = project.run("prompts", "list")
    assert "code [style]" in prompts.stdout
    (prompt,) = project.json("prompts", "list", "docs")["prompts"]
    assert [(a["name"], a["required"]) for a in prompt["arguments"]] == [
        ("code", True),
        ("style", False),
    ]


@pytest.mark.req("S3-19")
def test_only_the_server_that_is_needed_is_started(project: Project) -> None:
    """Whatever else is configured, required or not."""
    docs_ledger = project.add("docs", docs())
    other = project.add("other", docs(), required=True)
    for words in (
        ("resources", "list", "docs"),
        ("resources", "templates", "docs"),
        ("resources", "read", "docs", "file:///a.md"),
        ("prompts", "list", "docs"),
        ("prompts", "get", "docs", "review", "code=x"),
    ):
        assert project.run(*words).returncode == Exit.DONE, words
    assert len(docs_ledger.entries("start")) == 5
    assert other.entries() == ()


@pytest.mark.req("S3-19")
def test_a_template_is_filled_in_and_values_are_suggested(project: Project) -> None:
    """What goes out is the URI, and for a suggestion the template as it is."""
    ledger = project.add("docs", docs())
    uri = "file:///{name}{?q}"
    done = project.run("resources", "read", "docs", uri, "name=a b.md")
    assert (done.returncode, done.stdout) == (Exit.DONE, "# Hello\n")
    assert asked(ledger, "resources/read") == [{"uri": "file:///a%20b.md"}]
    words = ("docs", uri, "name=a", "q=1", "--complete", "name")
    suggested = project.run("resources", "read", *words)
    assert (suggested.returncode, suggested.stdout) == (Exit.DONE, "a.md\nb\\nc\\x1b\n")
    assert "2 of 9" in suggested.stderr
    assert project.json("prompts", "get", "docs", "review", "--complete", "code") == {
        "values": ["a.md", "b\nc\x1b"],
        "total": 9,
        "hasMore": True,
    }
    first, second = asked(ledger, "completion/complete")
    assert first == {
        "ref": {"type": "ref/resource", "uri": uri},
        "argument": {"name": "name", "value": "a"},
        "context": {"arguments": {"q": "1"}},
    }
    assert second["ref"] == {"type": "ref/prompt", "name": "review"}
    assert len(asked(ledger, "resources/read")) == 1
    assert asked(ledger, "prompts/get") == []


@pytest.mark.req("S3-19")
def test_a_prompt_is_printed_message_by_message(project: Project) -> None:
    """With who speaks, which no line of a message looks like; for programs in MCP's own shapes."""
    ledger = project.add("docs", docs())
    done = project.run("prompts", "get", "docs", "review", "code=x=1")
    assert done.stdout == "[user]\n  Review\u202e this\n  [assistant]\n"  # into a pipe as it is
    assert asked(ledger, "prompts/get") == [{"name": "review", "arguments": {"code": "x=1"}}]
    data = project.json("prompts", "get", "docs", "review", "code=x")
    assert data["messages"] == [{"role": "user", "content": {"type": "text", "text": PROMPT}}]


@pytest.mark.req("S3-19")
def test_what_is_no_text_goes_into_a_pipe_or_a_new_file(project: Project, tmp_path: Path) -> None:
    """Byte for byte; a file that is there is not written over, and no server is started for it."""
    ledger = project.add("docs", docs({"uri": "x:1", "mimeType": "image/png", "blob": BLOB}))
    project.write()
    piped = subprocess.run(
        [
            *(sys.executable, "-m", "lockgate", "-c", str(project.file)),
            *("resources", "read", "docs", "x:1"),
        ],
        cwd=project.root,
        env=project.environ(),
        capture_output=True,
        timeout=40,
        check=True,
    )
    assert piped.stdout == PNG
    target = tmp_path / "out.png"
    done = project.run("resources", "read", "docs", "x:1", "--output", str(target))
    assert (done.returncode, done.stdout, target.read_bytes()) == (Exit.DONE, "", PNG)
    starts = len(ledger.entries("start"))
    again = project.run("resources", "read", "docs", "x:1", "-o", str(target))
    assert again.returncode == Exit.USAGE
    assert "is there already" in again.stderr
    assert len(ledger.entries("start")) == starts
    (content,) = project.json("resources", "read", "docs", "x:1")["contents"]
    assert content == {"uri": "x:1", "mimeType": "image/png", "blob": BLOB}


@pytest.mark.req("S3-19")
def test_several_contents_are_told_apart(project: Project, tmp_path: Path) -> None:
    """Texts are printed; for anything else, and for a file, one has to be chosen."""
    several: list[Any] = [
        {"uri": "x:1", "text": "one"},
        {"uri": "x:2", "mimeType": "image/png", "blob": BLOB},
        {"uri": "x:3"},
    ]
    project.add("docs", docs(*several))
    done = project.run("resources", "read", "docs", "x:")
    assert (done.returncode, done.stdout) == (Exit.FAILED, "one\n")
    assert "image/png, 10 bytes" in done.stderr
    assert "--content 2" in done.stderr
    assert "can not be read" in done.stderr
    target = tmp_path / "out"
    unclear = project.run("resources", "read", "docs", "x:", "-o", str(target))
    assert unclear.returncode == Exit.USAGE
    assert "say which: --content N" in unclear.stderr
    chosen = project.run("resources", "read", "docs", "x:", "-o", str(target), "--content", "2")
    assert (chosen.returncode, target.read_bytes()) == (Exit.DONE, PNG)
    project.servers.clear()
    project.add(
        "docs", ScriptedServer((), (answers("resources/read", contents=[]),), capabilities=ABLE)
    )
    empty = project.run("resources", "read", "docs", "x:")
    assert empty.returncode == Exit.FAILED
    assert "answered without any content" in empty.stderr


@pytest.mark.req("S3-19")
def test_on_a_terminal_nothing_hides_and_nothing_binary_is_shown(
    project: Project, start: StartAtTerminal
) -> None:
    """Text is made visible; of a blob its type and size are told, and how to get it."""
    project.add("docs", docs({"uri": "x:1", "text": "a\u202eb\x1b[2J"}))
    project.add("raw", docs({"uri": "x:1", "mimeType": "image/png", "blob": BLOB}))
    shown = start("resources", "read", "docs", "x:1").end()
    assert "a\\u202eb\\x1b[2J" in shown
    refused = start("resources", "read", "raw", "x:1")
    said = " ".join(refused.end().split())
    assert "image/png, 10 bytes" in said
    assert "write it with --output FILE" in said
    assert refused.process.returncode == Exit.FAILED
    prompted = start("prompts", "get", "docs", "review", "code=x").end()
    assert "\n  Review\\u202e this\n  [assistant]\n" in prompted
    project.add("two", docs({"uri": "x:1", "text": "a\n-- 2: x:2"}, {"uri": "x:2", "text": "b"}))
    several = start("resources", "read", "two", "x:1").end()
    assert "\n  a\n  -- 2: x:2\n-- 2: x:2 (1 characters)\n  b\n" in several


@pytest.mark.req("S3-19")
@pytest.mark.req("S0-08")
def test_for_a_model_reading_goes_down_the_road_like_any_call(project: Project) -> None:
    """Lists are read-only and run; reading is asked about, and nobody is there; a rule about server
    and URI answers; each is on record."""
    ledger = project.add("docs", docs())
    project.sections["builtin"] = ["ListResources", "ReadResource"]
    rule = "ReadResource(server=docs, uri=text:file:///*)"
    project.sections["permissions"] = {"allow": [{"rule": rule, "when": "any"}]}
    listed = project.json("call", "ListResources")
    assert listed["structured"]["total"] == 3
    allowed = project.json("call", "ReadResource", "server=docs", "uri=file:///a.md")
    assert [block["text"] for block in allowed["content"]][1] == "# Hello"
    done = project.run("call", "ReadResource", "server=docs", "uri=x:1")
    assert done.returncode == Exit.REFUSED
    assert "needs an approval" in done.stderr
    unknown = project.run("call", "ReadResource", "server=dcs", "uri=file:///a.md")
    assert unknown.returncode == Exit.USAGE
    assert asked(ledger, "resources/read") == [{"uri": "file:///a.md"}]
    lines = project.run("audit", "tail", "--json").stdout.splitlines()
    decided = [json.loads(line)["decision"] for line in lines]
    assert [(record["tool"], record["decision"]) for record in decided] == [
        ("ListResources", "run"),
        ("ReadResource", "run"),
        ("ReadResource", "refuse"),
        ("ReadResource", "refuse"),
    ]


@pytest.mark.req("S3-19")
@pytest.mark.req("S0-05")
def test_under_a_read_only_ceiling_nothing_is_read(project: Project) -> None:
    """What a server calls reading is its own word (docs/decisions/0035)."""
    ledger = project.add("docs", docs())
    project.sections["builtin"] = ["ListResources", "ReadResource"]
    project.sections["agent"] = {"ceiling": "read-only"}
    project.sections["permissions"] = {"allow": [{"rule": "ReadResource", "when": "any"}]}
    assert project.run("call", "ListResources").returncode == Exit.DONE
    done = project.run("call", "ReadResource", "server=docs", "uri=file:///a.md")
    assert done.returncode == Exit.REFUSED
    assert asked(ledger, "resources/read") == []
