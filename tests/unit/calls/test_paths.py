"""A path is looked up as the kernel would that opens it, once, and never raises."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from lockgate.calls.filesystem import RememberedFileSystem, Seen
from lockgate.calls.paths import barred_below, real_path, resolve_path
from lockgate.testing.filesystem import ScriptedFileSystem
from lockgate.tools.context import Environment
from lockgate.tools.subject import ResolvedPath

PROC = Path("/proc/self").exists()


@pytest.fixture
def place(tmp_path: Path) -> Environment:
    """A project with a few files, a home, lockgate's own state, all below one directory."""
    root = tmp_path.resolve()
    for name in ("project/docs", "project/deep/er", "home", "state", "outside/inner"):
        (root / name).mkdir(parents=True)
    (root / "project" / "docs" / "a.txt").write_text("a")
    (root / "outside" / "b.txt").write_text("b")
    return Environment(
        root / "project",
        roots=(root / "project",),
        barred=(root / "state",),
        control=(root / "project" / "special.conf",),
        home=root / "home",
    )


def look(given: str, place: Environment) -> ResolvedPath:
    """`given`, which has to lead somewhere."""
    found = resolve_path(given, place)
    assert found.problem is None, found.problem
    return found


@pytest.mark.parametrize(
    ("given", "real"),
    [
        ("docs/a.txt", "project/docs/a.txt"),
        ("./docs//./a.txt", "project/docs/a.txt"),
        ("docs/../docs/a.txt", "project/docs/a.txt"),
        (".", "project"),
        ("docs/", "project/docs"),
        ("docs/.", "project/docs"),
        ("..", ""),
        ("~", "home"),
        ("~/x", "home/x"),
        ("new/er/file", "project/new/er/file"),
        ("new/", "project/new"),
        ("../outside/b.txt", "outside/b.txt"),
        (".env ", "project/.env "),
        ("sub\\.env", "project/sub\\.env"),
    ],
)
def test_where_a_path_leads(given: str, real: str, place: Environment) -> None:
    """Relative ones from the working directory, what does not exist as it is written."""
    base = str(place.cwd.parent)
    assert look(given, place).real == f"{base}/{real}".rstrip("/")


def test_what_is_told_of_a_path(place: Environment) -> None:
    """As it was given, its root, and whether it is a directory now."""
    inside, outside = look("docs", place), look("../outside/b.txt", place)
    assert (inside.given, inside.root, inside.directory) == ("docs", str(place.cwd), True)
    assert (outside.root, outside.directory, outside.barred) == (None, False, False)
    assert look("../projects", place).root is None
    everywhere = Environment(place.cwd, roots=(Path("/"),))
    assert look("/etc", everywhere).root == "/"


def test_links_lead_to_their_target(place: Environment) -> None:
    """The real path is the target's; the other one keeps the name that was used."""
    (place.cwd / "link").symlink_to("../outside")
    (place.cwd / "file").symlink_to(place.cwd / "link" / "b.txt")
    for given in ("link/b.txt", "file"):
        found = look(given, place)
        assert found.real == str(place.cwd.parent / "outside" / "b.txt")
        assert found.lexical == str(place.cwd / given)
        assert found.root is None


def test_two_dots_behind_a_link_lead_where_its_target_lies(place: Environment) -> None:
    """The kernel goes up from the target; by the letter it would be beside the link."""
    (place.cwd / "link").symlink_to("../outside/inner")
    found = look("link/../b.txt", place)
    assert found.real == str(place.cwd.parent / "outside" / "b.txt")
    assert found.lexical == str(place.cwd / "b.txt")


def test_a_dangling_link_leads_to_what_a_write_would_make(place: Environment) -> None:
    """Outside of the root, for one that points there; a link to nothing is no safe place."""
    (place.cwd / "dangling").symlink_to("../outside/new")
    found = look("dangling", place)
    assert (found.real, found.root) == (str(place.cwd.parent / "outside" / "new"), None)
    assert look("dangling/x", place).real == str(place.cwd.parent / "outside" / "new" / "x")


@pytest.mark.parametrize(
    ("given", "part_of_problem"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("~root/x", "name of a user"),
        ("x" * 5000, "longer than 4095 bytes"),
        ("x" * 300, "longer than the file system takes"),
        ("x/" * 3000, "longer than 4095 bytes"),
        ("\ud800", "surrogate"),
        ("docs/a.txt/", "no directory"),
        ("docs/a.txt/.", "no directory"),
        ("docs/a.txt/..", "no directory"),
        ("docs/a.txt/x", "no directory"),
        ("none/../docs/a.txt", "does not exist"),
        ("circle", "circle"),
        ("circle/x", "circle"),
        ("ping", "circle"),
        ("self", "circle"),
    ],
)
def test_what_leads_nowhere_says_why(given: str, part_of_problem: str, place: Environment) -> None:
    """The kernel would open none of these; the reason does not hold the path."""
    (place.cwd / "circle").symlink_to("circle")
    (place.cwd / "ping").symlink_to("pong")
    (place.cwd / "pong").symlink_to("ping")
    (place.cwd / "self").symlink_to("self/self")
    found = resolve_path(given, place)
    assert part_of_problem in (found.problem or "")
    assert found.real == ""
    assert found.root == (str(place.cwd) if found.lexical.startswith(str(place.cwd)) else None)


def test_a_long_chain_of_links_is_followed_as_far_as_the_kernel_does(place: Environment) -> None:
    """Forty links and no more."""
    (place.cwd / "l0").symlink_to("docs")
    for number in range(1, 41):
        (place.cwd / f"l{number}").symlink_to(f"l{number - 1}")
    assert look("l39/a.txt", place).real == str(place.cwd / "docs" / "a.txt")
    (place.cwd / "l39" / "a.txt").read_bytes()
    assert "40" in (resolve_path("l40/a.txt", place).problem or "")
    with pytest.raises(OSError, match="symbolic links"):
        (place.cwd / "l40" / "a.txt").read_bytes()


def test_links_that_multiply_end_soon(place: Environment) -> None:
    """Each link holds the one before many times over: the steps are counted, not only the links."""
    (place.cwd / "m0").symlink_to("./" * 1500 + "docs")
    for number in range(1, 8):
        (place.cwd / f"m{number}").symlink_to(f"m{number - 1}/.." * 90)
    assert resolve_path("m7", place).problem is not None


@pytest.mark.skipif(not PROC, reason="no /proc here")
@pytest.mark.parametrize(
    "given",
    [
        "/proc/self/fd/0",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/docs/a.txt",
        "/proc/1/mem",
        "/proc/thread-self/fd",
        "/proc/../proc/self/maps",
        "/dev/stdin",
        "/dev/fd/0",
        "/dev/fd",
        "link/fd/1",
    ],
)
def test_processes_and_open_descriptors_are_no_files(given: str, place: Environment) -> None:
    """Their links lead past every name, and their memory and environment hold what is secret."""
    (place.cwd / "link").symlink_to("/proc/self")
    assert "process" in (resolve_path(given, place).problem or "")


def test_a_directory_that_may_not_be_looked_into_is_told(place: Environment) -> None:
    """What an error of the system says becomes the problem, whatever it is."""

    class Locked(ScriptedFileSystem):
        def look(self, path: str) -> Seen:
            if path.startswith("/locked/"):
                raise PermissionError(13, "denied")
            if path.startswith("/broken"):
                raise OSError(5, "input/output error")
            return super().look(path)

    files = Locked()
    files.add("/locked/")
    assert "may not look into" in (resolve_path("/locked/x", place, files).problem or "")
    assert "EIO" in (resolve_path("/broken", place, files).problem or "")


def test_a_name_that_is_no_text_is_a_problem(place: Environment) -> None:
    """A link can lead to a name that can neither be shown nor recorded."""
    (place.cwd / "odd").symlink_to(os.fsdecode(b"\xff"))
    assert "no Unicode" in (resolve_path("odd", place).problem or "")


def test_without_a_home_or_a_working_directory_nothing_is_guessed(place: Environment) -> None:
    """A tilde would be a name, and a relative path would start from wherever the process is."""
    bare = Environment(Path("somewhere"))
    assert "no home" in (resolve_path("~/x", bare).problem or "")
    assert "not known" in (resolve_path("x", bare).problem or "")


def test_lockgates_own_state_is_barred_by_either_name(place: Environment) -> None:
    """By its real path, through a link, and by a link in it that leads elsewhere."""
    state = place.barred[0]
    (place.cwd / "link").symlink_to(state)
    (state / "away").symlink_to(place.cwd / "docs")
    for given in (str(state), f"{state}/x", "link/state.db", "../state/x", f"{state}/away/a.txt"):
        assert look(given, place).barred
    assert not look(f"{state}2/x", place).barred


def test_a_search_leaves_out_what_is_barred(place: Environment) -> None:
    """When it starts above; one that starts elsewhere need not look."""
    left_out = barred_below([look("docs", place), look("..", place)], place)
    assert left_out is not None
    assert left_out.catches(look("../state/state.db", place))
    assert not left_out.catches(look("docs/a.txt", place))
    assert left_out.catches(ResolvedPath("", "", "", None, problem="is empty"))
    assert barred_below([look(".", place), look("docs/a.txt", place)], place) is None


@pytest.mark.parametrize(
    "given",
    [
        "special.conf",
        "link-to-special",
        "link-from-git",
        "lockgate.yaml",
        "sub/LOCKGATE.YAML",
        "lockgate.pins.json",
        ".mcp.json",
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".git",
        ".gitmodules",
        "vendor/x.git/hooks/post-update",
        "vendor/x.git/config",
        "vendor/bare/hooks/post-update",
        "vendor/bare/config",
        "any/HEAD",
        ".claude/settings.json",
        ".vscode/tasks.json",
        "~/.bashrc",
        "~/.ssh/authorized_keys",
        "~/.config/systemd/user/x.service",
        "/etc/cron.d/x",
        "a.code-workspace",
        ".g\u200dit/config",
    ],
)
def test_control_files_are_told(given: str, place: Environment) -> None:
    """By either name, whatever the case, existing or not (B-13)."""
    (place.cwd / "vendor" / "bare").mkdir(parents=True)
    (place.cwd / "vendor" / "bare" / "HEAD").write_text("ref: refs/heads/main")
    (place.cwd / "link-to-special").symlink_to("special.conf")
    (place.cwd / ".git").mkdir()
    (place.cwd / ".git" / "link").symlink_to("../docs/a.txt")
    (place.cwd / "link-from-git").symlink_to(".git/new")
    assert look(given, place).control is not None
    assert look(".git/link", place).control is not None


@pytest.mark.parametrize(
    "given",
    ["docs/a.txt", "config", "hooks/x.py", ".gitignore", "git/config", ".vscode/x", "etc/cron.d/x"],
)
def test_others_are_no_control_files(given: str, place: Environment) -> None:
    """What only resembles one is not asked about."""
    assert look(given, place).control is None


def test_a_real_path_of_nothing_is_what_was_asked_for(tmp_path: Path) -> None:
    """What rules call a directory may not exist, or be a circle; that is no reason to fail."""
    root = tmp_path.resolve()
    (root / "there").mkdir()
    (root / "link").symlink_to("there")
    (root / "circle").symlink_to("circle")
    assert real_path(f"{root}/link/x") == f"{root}/there/x"
    assert real_path(f"{root}/circle") == f"{root}/circle"


# A file system that folds case or Unicode forms is not at hand where these tests run: the next ones
# look at a scripted one, and nothing here has seen a real one.


def test_where_case_is_folded_names_are_spelled_as_they_are() -> None:
    """NOT ON A REAL FILE SYSTEM: the name that is stored is the real one, and it is told."""
    files = ScriptedFileSystem(folds_case=True)
    files.add("/Users/ann/Project/.env")
    place = Environment(Path("/users/ANN/project"), roots=(Path("/Users/ann/Project"),))
    found = resolve_path(".ENV", place, files)
    assert found.real == "/Users/ann/Project/.env"
    assert (found.folds_case, found.root) == (True, "/Users/ann/Project")
    new = resolve_path("New.TXT", place, files)
    assert (new.real, new.folds_case) == ("/Users/ann/Project/New.TXT", True)
    barred = Environment(Path("/"), barred=(Path("/users/ann/project"),))
    assert resolve_path("/Users/ann/Project/x", barred, files).barred


def test_where_case_counts_another_case_is_another_name() -> None:
    """Beside a file of the other case, and beside a second name of the same file."""
    files = ScriptedFileSystem()
    files.add("/p/Docs/a")
    place = Environment(Path("/p"))
    found = resolve_path("docs/a", place, files)
    assert (found.real, found.folds_case) == ("/p/docs/a", False)
    assert not resolve_path("Docs/a", place, files).folds_case


def test_two_names_of_one_file_do_not_make_a_file_system_fold(tmp_path: Path) -> None:
    """`a` and `A` may be hard links to the same file."""
    (tmp_path / "name").write_text("x")
    os.link(tmp_path / "name", tmp_path / "NAME")
    place = Environment(tmp_path.resolve())
    assert not look("name", place).folds_case
    assert look("NAME", place).real == str(tmp_path.resolve() / "NAME")


def test_where_forms_are_folded_names_are_spelled_as_they_are() -> None:
    """NOT ON A REAL FILE SYSTEM: the form that is stored is the real one."""
    files = ScriptedFileSystem(folds_form=True)
    stored = unicodedata.normalize("NFD", "한글.txt")
    files.add(f"/p/{stored}")
    place = Environment(Path("/p"))
    assert resolve_path("한글.txt", place, files).real == f"/p/{stored}"
    plain = ScriptedFileSystem()
    plain.add(f"/p/{stored}")
    assert resolve_path("한글.txt", place, plain).real == "/p/한글.txt"


def test_looking_up_costs_little() -> None:
    """A few looks for each name, and no listing where nothing is folded."""
    files = ScriptedFileSystem()
    files.add("/a/b/c/d/e/f.txt")
    resolve_path("/a/b/c/d/e/f.txt", Environment(Path("/")), files)
    assert files.looks <= 2 * 6 + 2


def test_what_was_looked_at_is_not_looked_at_again() -> None:
    """Several paths of one moment: the same answers, each name asked about once."""
    files = ScriptedFileSystem(folds_case=True)
    files.add("/home/Me/project/")
    files.add("/home/link", link="/home/me")
    remembered = RememberedFileSystem(files)
    asked = ("/home/ME/project/new", "/home/link/Project", "/home/none/at/all", "/HOME/me")
    plain = [real_path(path, files) for path in asked]
    alone, files.looks = files.looks, 0
    assert [real_path(path, remembered) for path in asked] == plain
    assert files.looks < alone / 2
    files.looks = 0
    assert [real_path(path, remembered) for path in asked] == plain
    assert not files.looks
