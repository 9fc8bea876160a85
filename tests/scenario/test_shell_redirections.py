"""Where a shell line redirects to and from: with a tilde, by links, into lockgate's own state."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.policy.approval import Answer, Question, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.shell import ShellRoad
from lockgate.tools.result import ErrorKind


def no() -> ScriptedApprover:
    """Somebody who is there and refuses everything."""
    return ScriptedApprover.always(False)


class Swapping:
    """Says yes, and puts a link in the place of the directory that was asked about."""

    name = "swapping"
    scopes = frozenset({Scope.ONCE})

    def __init__(self, directory: Path, elsewhere: Path) -> None:
        self._directory = directory
        self._elsewhere = elsewhere

    async def __call__(self, question: Question) -> Answer:
        self._directory.rmdir()
        self._directory.symlink_to(self._elsewhere)
        return Answer(True, self.name)


HOME_FORMS = (
    "~/state/new",
    "~//state/../state/new",
    "~/'state'/new",
    '~/"state"/new',
    "~/link/new",
)


@pytest.mark.req("B-13")
@pytest.mark.parametrize("target", HOME_FORMS)
@pytest.mark.parametrize("line", ["echo x >{}", "echo x 2>>{}", "bash -c 'ls; echo x &>{}'"])
async def test_a_tilde_leads_no_redirection_there_either(
    tmp_path: Path, line: str, target: str
) -> None:
    """It is the HOME that the line gets."""
    approver = ScriptedApprover.always(True)
    if "'" in target and "'" in line:
        target = target.replace("'", '"')
    with ShellRoad(tmp_path, attended=[approver], environ={"HOME": str(tmp_path)}) as road:
        (tmp_path / "link").symlink_to("state")
        assert (await road.line(line.format(target))).kind is ErrorKind.DENIED
    assert approver.questions == []


@pytest.mark.req("B-13")
async def test_no_redirection_reads_the_state_of_lockgate(tmp_path: Path) -> None:
    """What it reads could be the key of a seal; not even with a yes."""
    approver = ScriptedApprover.always(True)
    with ShellRoad(tmp_path, attended=[approver], environ={"HOME": str(tmp_path)}) as road:
        secret = tmp_path / "state" / "audit.key"
        secret.write_text("hidden")
        (road.work / "link").symlink_to(secret)
        for source in (secret, "../state/audit.key", "~/state/audit.key", "link"):
            for line in (f"cat <{source}", f"bash -c 'cat <{source}'", f"cat 0<> {source}"):
                assert (await road.line(line)).kind is ErrorKind.DENIED, line
    assert approver.questions == []


async def test_where_a_redirection_leads_is_shown(tmp_path: Path) -> None:
    """What only the shell will know is shown as it is written; a quoted ~ is a name."""
    approver = no()
    lines = {
        "echo x >~/out": {"redirection": f"{tmp_path}/out"},
        "echo x >'~/out'": {"redirection": str(tmp_path / "work/~/out")},
        "cat <in >out": {
            "redirection": str(tmp_path / "work/out"),
            "input redirection": str(tmp_path / "work/in"),
        },
        "echo x >$X/out 2>~root/err": {
            "redirection": "(is not known before the line runs) $X/out\n"
            "(is not known before the line runs) ~root/err"
        },
        "HOME=/ bash -c 'echo x >~/out'": {
            "redirection": "(is not known before the line runs) ~/out"
        },
        "echo $HOME >~/out": {"redirection": f"{tmp_path}/out"},
        "cat 2>&1 <&3 >&-": {},
        "pwd": {},
    }
    with ShellRoad(tmp_path, attended=[approver], environ={"HOME": str(tmp_path)}) as road:
        for line, shown in lines.items():
            await road.line(line)
            assert approver.questions[-1].resolved == shown, line
        await road.line("pwd", directory=".")
        assert approver.questions[-1].resolved == {"directory": str(road.work)}


@pytest.mark.req("B-01")
async def test_a_tilde_that_leads_elsewhere_meanwhile(tmp_path: Path) -> None:
    """By a link: a yes for the one is none for the other."""
    (tmp_path / "work" / "out").mkdir(parents=True)
    swapping = Swapping(tmp_path / "work" / "out", tmp_path)
    with ShellRoad(tmp_path, attended=[swapping], environ={"HOME": f"{tmp_path}/work"}) as road:
        result = await road.line("echo x >~/out/made")
        assert result.kind is ErrorKind.TOOL_CHANGED
        assert not (tmp_path / "made").exists()


@pytest.mark.req("B-01")
async def test_an_answer_for_the_session_is_for_where_a_tilde_led(tmp_path: Path) -> None:
    """The same line is asked about again once a link leads it elsewhere, and not before."""
    approver = ScriptedApprover(
        [Answer(True, "scripted", Scope.SESSION), Answer(False, "scripted")],
        scopes=frozenset(Scope),
    )
    with ShellRoad(tmp_path, attended=[approver], environ={"HOME": str(tmp_path)}) as road:
        (tmp_path / "first").write_text("")
        (tmp_path / "second").write_text("kept")
        link = tmp_path / "link"
        link.symlink_to(tmp_path / "first")
        line = "echo x >~/link"
        assert (await road.line(line)).kind is None
        assert (await road.line(line)).kind is None
        assert len(approver.questions) == 1
        link.unlink()
        link.symlink_to(tmp_path / "second")
        assert (await road.line(line)).kind is ErrorKind.NOT_APPROVED
    assert len(approver.questions) == 2
    assert (tmp_path / "second").read_text() == "kept"
