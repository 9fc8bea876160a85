"""Reading rules: what can be written, and that no fault in one passes silently."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule
from lockgate.tools.subject import SubjectKind

SERVERS = ("git", "files", "my-server2")
KNOWN = ("Bash", "Read", "Write")
PLACES = Places("/p", "/home/me")


def problem(text: object, decision: Decision = Decision.DENY, **options: Any) -> Problem:
    """The one problem that parsing ends in."""
    with pytest.raises(ConfigError) as refused:
        parse_rule(text, decision, **options)
    (found,) = refused.value.problems
    return found


@pytest.mark.parametrize(
    ("text", "server", "tool"),
    [
        ("Look", None, "Look"),
        ("my_tool-2", None, "my_tool-2"),
        ("mcp", None, "mcp"),
        ("mcp_x", None, "mcp_x"),
        ("mcp__git", "git", None),
        ("mcp__git__*", "git", None),
        ("mcp__my-server2", "my-server2", None),
        ("mcp__git__git_log", "git", "git_log"),
        ("mcp__git____init__", "git", "__init__"),
        ("mcp__git__a__b", "git", "a__b"),
        ("mcp__git__admin.tools.list", "git", "admin.tools.list"),
        ("mcp__git__한글 도구", "git", "한글 도구"),
    ],
)
@pytest.mark.parametrize("decision", list(Decision))
def test_every_form_is_read(
    decision: Decision, text: str, server: str | None, tool: str | None
) -> None:
    """A tool of ours, a server, all tools of a server, one tool by either of its names."""
    rule = parse_rule(text, decision, servers=SERVERS, source="lockgate.yaml: permissions.deny[0]")
    assert rule == Rule(
        decision, text, server, tool, "attended", "lockgate.yaml: permissions.deny[0]"
    )


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", None, "is empty"),
        (" Bash", 1, "begins or ends with a space"),
        ("Bash ", 5, "begins or ends with a space"),
        ("Bash git:*", 5, "has a ' '"),
        ("Bash(git:*", 5, "has a ( that nothing closes"),
        ("Bash()", 6, "has nothing in its brackets"),
        ("Bash( )", 6, "has nothing in its brackets"),
        ("Bash(git:*) # note", 12, "goes on after its closing bracket"),
        ("Bash(git:*) # a note (of mine)", 12, "goes on after its closing bracket"),
        ("Bash( git :* )", 6, "begins or ends with a space"),
        ('Bash(echo "a)', 11, 'has a " that nothing closes'),
        ("Bash(git status; rm x)", 6, "is not one command"),
        ("Bash(git*)", 6, "has a * within a word"),
        ("Bash(FOO=1 x)", 6, "is not a plain command"),
        ("Bash(comand=x)", 6, "has the argument 'comand', which Bash has not"),
        ("bash(git:*)", 6, "has brackets without name=pattern"),
        ("(x)", 1, "names no tool"),
        ("Bash (x)", 5, "begins or ends with a space"),
        ("Read(!./x)", 6, "begins with !"),
        ("Read(a)b)", 8, "goes on after its closing bracket"),
        ("Read(./a, ...)", 9, "ends in ... behind a path"),
        ("Read(limit=1, offst=2)", 15, "has the argument 'offst', which Read has not"),
        ("WebFetch(x.org)", 10, "is neither a domain nor an address"),
        ("WebFetch(domain:com)", 10, "is a public suffix"),
        ("add(x)", 5, "has brackets without name=pattern"),
        ("add()", 5, "has nothing in its brackets"),
        ("mcp__git(repo=x)", 9, "names more than one tool"),
        ("mcp__git__*(repo=x)", 12, "names more than one tool"),
        ("mcp__git__log(x)", 15, "has brackets without name=pattern"),
        ("mcp__git__log(a b=1)", 15, "has brackets without name=pattern"),
        ("mcp__git__log(=1)", 15, "has brackets without name=pattern"),
        ('mcp__git__log(""=1)', 15, "has an empty name"),
        (r'mcp__git__log("\x"=1)', 15, "has a name that is no JSON text"),
        ("mcp__git__log(x=)", 17, "is empty"),
        ("mcp__git__log(x=a, b)", 20, "has something other than name=pattern behind a comma"),
        ("mcp__git__log(x=1,)", 19, "has nothing between two commas"),
        ("mcp__git__log(x=1, x=2)", 20, "has the argument 'x' twice"),
        ("mcp__git__log(..., x=1)", 15, "has ... before its end"),
        ("mcp__git__log(x=[1)", 19, "has a ) that nothing opens"),
        ("mcp__git__log(x=[1", 17, "has a [ that nothing closes"),
        ('mcp__git__log(x="a)', 17, 'has a " that nothing closes'),
        ("mcp__git__log(x=1)y", 19, "goes on after its closing bracket"),
        ("mcp__git__log(y=1, x=path:{a})", 22, "has a {"),
        ("mcp__git__log(y=1, x=domain:)", 22, "has nothing after domain:"),
        ("*", 1, "stands for no server's tools"),
        ("Ba*", 3, "stands for no server's tools"),
        ("Bash\n", 5, "begins or ends with a space"),
        ("Ba\x00sh", 3, r"has a '\x00'"),
        ("한글", 1, "has a '한'"),
        ("x" * 65, 65, "longer than any tool's name"),
        ("MCP__git__git_log", 1, "lower case"),
        ("Mcp__git", 1, "lower case"),
        ("mcp__", 6, "names no server"),
        ("mcp____x", 6, "names no server"),
        ("mcp__*", 6, "for the server, which must be named"),
        ("mcp__*__git_log", 6, "for the server, which must be named"),
        ("mcp__Git__git_log", 6, "has a 'G', which no server's name can hold"),
        ("mcp__under_score__x", 11, "has a '_'"),
        ("mcp__-x__y", 6, "names no server"),
        ("mcp__git__", 11, "ends without a tool"),
        ("mcp__git__git_*", 15, "not the whole name of the tool"),
    ],
)
@pytest.mark.parametrize("decision", list(Decision))
def test_a_fault_stops_the_start_and_is_placed(
    decision: Decision, text: str, position: int | None, words: str
) -> None:
    """The rule, the character, what is wrong; a bad deny least of all starts silently (PB-177)."""
    found = problem(text, decision, source="permissions.deny[3]", places=PLACES)
    assert words in found.message
    assert repr(text) in found.message
    assert found.path == "permissions.deny[3]"
    if position is not None:
        assert f"at character {position} " in found.message


@pytest.mark.parametrize("value", [5, None, True, ["Bash"], {"rule": "Bash"}, 1.5])
def test_a_rule_is_a_string(value: object) -> None:
    """What YAML made of it otherwise is told, with what to do."""
    found = problem(value)
    assert "a rule is a string, not" in found.message
    assert found.hint == "put it in quotes"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("mcp__gti__git_log", "did you mean git?"),
        ("mcp__file__read", "did you mean files?"),
        ("mcp__nosuch__*", "the servers are files, git, my-server2"),
        ("mcp__nosuch", "the servers are files, git, my-server2"),
    ],
)
def test_an_unknown_server_is_an_error_with_the_near_name(text: str, hint: str) -> None:
    """A rule about a server that is not configured never does what its author thinks (PB-177)."""
    found = problem(text, servers=SERVERS)
    assert "which is not configured" in found.message
    assert found.hint == hint


def test_with_no_servers_there_are_none_to_name() -> None:
    """An empty configuration knows no server; None asks for no check."""
    assert problem("mcp__git", servers=()).hint == "there are no servers"
    assert parse_rule("mcp__git", Decision.DENY, servers=None).server == "git"


@pytest.mark.parametrize(
    ("text", "hint"), [("Bsh", "did you mean Bash?"), ("bash", "did you mean Bash?")]
)
def test_an_unknown_tool_of_ours_is_an_error_where_they_are_known(text: str, hint: str) -> None:
    """Letter case counts (PB-177)."""
    found = problem(text, known_tools=KNOWN)
    assert "names no tool there is" in found.message
    assert found.hint == hint


@pytest.mark.parametrize("when", ["attended", "unattended", "any"])
def test_an_allow_rule_says_when_it_answers(when: Any) -> None:
    """Attended executions unless it says otherwise."""
    assert parse_rule("Look", Decision.ALLOW, when=when).when == when
    assert parse_rule("Look", Decision.ALLOW).when == "attended"


@pytest.mark.parametrize("decision", [Decision.ASK, Decision.DENY])
def test_other_rules_always_hold(decision: Decision) -> None:
    """An ask or deny that would only sometimes hold is refused."""
    assert "it always holds" in problem("Bash", decision, when="attended").message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Bash git:*", "write Bash(git:*)"),
        ("bash(git:*)", "did you mean Bash(git:*)?"),
        ("Bsh(git:*)", "did you mean Bash(git:*)?"),
        ("Bash(comand=x)", "did you mean command=?"),
        ("Read(pth=./x)", "did you mean path=?"),
        ("Read(limit=1, offst=2)", "did you mean offset?"),
        ("Read(limit=1, zzzzzz=2)", "its arguments are limit, offset, path"),
        ("add(x)", "write add(name=pattern)"),
        ("mcp__git__log(a b=1)", 'in quotes: "a b"=x'),
        ("mcp__git__*(a=1)", "a rule for each tool"),
        ("Bash()", "write Bash for every call"),
    ],
)
def test_a_fault_in_brackets_says_what_to_write(text: str, hint: str) -> None:
    """The nearest spelling, or the form that is meant."""
    assert hint in (problem(text, places=PLACES).hint or "")


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("Bash(git status:*)", SubjectKind.COMMAND, "Bash(git status:*)"),
        ("Bash(echo '(':*)", SubjectKind.COMMAND, "Bash(echo '(':*)"),
        ('Bash(echo "a \\" )" *)', SubjectKind.COMMAND, 'Bash(echo "a \\" )" *)'),
        ("Read(./docs/**)", SubjectKind.PATH, "./docs/**"),
        ("Write(~/notes (old)/*)", SubjectKind.PATH, "~/notes (old)/*"),
        ("Grep(a\\)b)", SubjectKind.PATH, "a\\)b"),
        ("Glob(it's)", SubjectKind.PATH, "it's"),
        ("Edit(a=b.txt)", SubjectKind.PATH, "a=b.txt"),
        ("WebFetch(domain:example.com)", SubjectKind.URL, "domain:example.com"),
        ("WebFetch(https://x.org/(a)/**)", SubjectKind.URL, "https://x.org/(a)/**"),
    ],
)
def test_a_subject_is_read_by_the_kind_of_its_tool(
    text: str, kind: SubjectKind, subject: str
) -> None:
    """A pattern of a command carries the text of its rule, for the reasons of a line."""
    rule = parse_rule(text, Decision.DENY, source="here", places=PLACES)
    assert rule.subject is not None
    assert (rule.subject.kind, rule.subject.text) == (kind, subject)
    assert rule.subject.constrains
    assert not rule.bare
    if isinstance(rule.subject, CommandPattern):
        assert rule.subject.source == "here"


@pytest.mark.parametrize(
    ("text", "named", "rest"),
    [
        ('Bash(command="git add . && git push")', {"command": '"git add . && git push"'}, False),
        ("Bash(directory = path:x)", {"directory": "path:x"}, False),
        ("Read(path=path:./docs/**, limit=3)", {"path": "path:./docs/**", "limit": "3"}, False),
        ("Bash(...)", {}, True),
        ("Bash( ... )", {}, True),
        ("mcp__git__log(...)", {}, True),
        ("add(a=1, ...)", {"a": "1"}, True),
        ('mcp__git__log("a b"={"x": [1, 2]}, c=text:a\\,b)', None, False),
        ("mcp__git__log(n=[1, 2], t=(a, b))", {"n": "[1, 2]", "t": "(a, b)"}, False),
        ('mcp__git__log(t="a, \\"b)")', {"t": '"a, \\"b)"'}, False),
        ('mcp__git__log("$ref"=1, a.b=2, c-d=3)', {"$ref": "1", "a.b": "2", "c-d": "3"}, False),
        ("mcp__git__log(t=a=b)", {"t": "a=b"}, False),
    ],
)
def test_arguments_are_split_at_top_level_commas(
    text: str, named: dict[str, str] | None, rest: bool
) -> None:
    """Quotes and brackets hold together what is inside of them; a backslash frees one character."""
    rule = parse_rule(text, Decision.DENY, places=PLACES)
    found = {parameter.name: parameter.pattern.text for parameter in rule.parameters}
    assert found == ({"a b": '{"x": [1, 2]}', "c": "text:a\\,b"} if named is None else named)
    assert rule.rest is rest
    assert rule.subject is None


@pytest.mark.req("B-09")
@pytest.mark.parametrize("decision", list(Decision))
@pytest.mark.parametrize("value", ["git *", "*", "text:git status", "git status", "path:./x"])
def test_a_line_is_no_text_for_a_pattern(value: str, decision: Decision) -> None:
    """`git *` would let `git status; rm x` through as a text, and keep `ls; git x` from nobody:
    a line is judged by its commands, or is this very line in quotes."""
    found = problem(f"Bash(command={value})", decision, places=PLACES)
    assert "in which a command can hide" in found.message
    assert found.hint is not None
    assert "Bash(git status:*)" in found.hint
    exact = parse_rule(
        'Bash(command="git status; ls")', decision, destructive=decision is Decision.ALLOW
    )
    assert exact.parameters[0].pattern.allows("git status; ls", None)


@pytest.mark.parametrize("decision", list(Decision))
@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("Read(path=docs/*)", "takes the path in 'path' for any text", "path=path:./docs/**"),
        ('Read(path="docs/a")', "takes the path", "path=path:"),
        ("Read(path=text:docs/a)", "takes the path", "path=path:"),
        ("Bash(directory=site, ...)", "takes the path in 'directory'", "directory=path:"),
        ("WebFetch(url=text:https://a.org/*)", "takes the address in 'url'", "url=domain:"),
        ("WebFetch(url=path:./x)", "takes the address", "url=domain:"),
        ("Grep(path=domain:a.org)", "takes the path", "path=path:"),
    ],
)
def test_what_a_tool_of_ours_resolves_is_no_text(
    decision: Decision, text: str, message: str, hint: str
) -> None:
    """By the letter a link, or a host in another spelling, is something else than it is."""
    found = problem(text, decision, destructive=False, places=PLACES)
    assert message in found.message
    assert hint in (found.hint or "")


def test_an_exact_rule_says_paths_by_the_letter() -> None:
    """It only answers where no link leads elsewhere."""
    text = 'Write(path="docs/a", content="x")'
    rule = parse_rule(text, Decision.ALLOW, exact=True, destructive=True, places=PLACES)
    assert len(rule.parameters) == 2


def test_without_places_a_path_is_an_error() -> None:
    """A rule that starts from nowhere would mean files that its author does not."""
    for text in ("Read(./x)", "mcp__git__log(x=path:./y)"):
        assert "nothing says where paths start" in problem(text).message


@given(
    st.text(max_size=20)
    | st.text("mcp_git*()Bash- ", max_size=20)
    | st.builds(
        "{}({})".format,
        st.sampled_from(["Bash", "Read", "WebFetch", "add", "mcp__git__log", "Bsh", "mcp__git"]),
        st.text("ab=,*\"'\\()[]{}.:/~ 1", max_size=14),
    )
)
def test_any_text_is_a_rule_or_an_error(text: str) -> None:
    """Nothing else is raised, and what is read names something."""
    try:
        rule = parse_rule(text, Decision.DENY, servers=SERVERS, places=PLACES)
    except ConfigError:
        return
    assert rule.server in SERVERS or rule.tool == text.partition("(")[0]
    assert rule.bare is not ("(" in text) or rule.rest
