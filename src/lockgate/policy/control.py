"""Files that decide what programs may do, or that make programs run: writing one is always asked
about (B-13).

By name alone, whatever the case, and wherever they lie: a file that is harmless here may be checked
out elsewhere. Not among them: what a person runs and nothing runs by itself, such as `Makefile` or
`package.json`.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_OURS: Final = "lockgate's own configuration"
_GIT: Final = "git's own, which can make it run programs"
_GIT_SETTINGS: Final = "a setting of git, which can make it run programs"
_HOST: Final = "the configuration of an agent host: its permissions, servers, hooks, skills, agents"
_EDITOR: Final = "the configuration of an editor, which runs tasks and servers by it"
_SHELL: Final = "run by every shell that starts"
_LOGIN: Final = "run or read at every login"
_SSH: Final = "what decides who may log in, and what logging in runs"
_SERVICE: Final = "run by the system, at a time or at every start"
_SYSTEM: Final = "what decides what programs and users of this system may do"
_DIRECTORY: Final = "run by every shell that enters the directory"
_HOOKS: Final = "what hooks of version control run"
_REVISIONS: Final = "version control's own, which can make it run programs"
_CONTAINER: Final = "the container that an editor builds, and what it runs in it and outside"
_TOOL: Final = "the configuration of a tool, which can make it run programs"
_INTERPRETER: Final = "run by every program of its language that starts"
_INSTRUCTIONS: Final = "instructions that every later agent in the project obeys"

CONTROL_FILES: Final[tuple[tuple[str, str], ...]] = (
    ("lockgate.yaml", _OURS),
    ("lockgate.pins.json", _OURS),
    (".lockgate", _OURS),
    ("hooks.json", "the hooks of an agent host, which it runs"),
    (".mcp.json", "a list of servers that agent hosts start"),
    ("mcp.json", "a list of servers that agent hosts start"),
    ("mcp_config.json", "a list of servers that agent hosts start"),
    ("claude_desktop_config.json", "a list of servers that agent hosts start"),
    (".claude.json", _HOST),
    (".claude", _HOST),
    (".cursor", _HOST),
    (".codex", _HOST),
    (".gemini", _HOST),
    (".qwen", _HOST),
    (".windsurf", _HOST),
    (".roo", _HOST),
    (".continue", _HOST),
    (".kiro", _HOST),
    (".opencode", _HOST),
    ("opencode.json", _HOST),
    (".github/copilot", _HOST),
    (".aider.conf.yml", _HOST),
    (".vscode/settings.json", _EDITOR),
    (".vscode/mcp.json", _EDITOR),
    (".vscode/tasks.json", _EDITOR),
    (".vscode/launch.json", _EDITOR),
    (".vscode/extensions.json", _EDITOR),
    (".zed", _EDITOR),
    (".idea", _EDITOR),
    (".vim", _EDITOR),
    (".config/nvim", _EDITOR),
    (".vimrc", _EDITOR),
    (".exrc", _EDITOR),
    (".nvimrc", _EDITOR),
    (".nvim.lua", _EDITOR),
    (".dir-locals.el", _EDITOR),
    (".emacs", _EDITOR),
    (".emacs.d", _EDITOR),
    (".git", _GIT),
    ("HEAD", "what makes a directory a repository to git, whose settings can then run programs"),
    (".gitmodules", _GIT_SETTINGS),
    (".gitconfig", _GIT_SETTINGS),
    (".config/git", _GIT_SETTINGS),
    ("/etc/gitconfig", _GIT_SETTINGS),
    (".husky", "a hook of git, which runs it"),
    (".githooks", "a hook of git, which runs it"),
    (".pre-commit-config.yaml", _HOOKS),
    (".pre-commit-config.yml", _HOOKS),
    ("lefthook.yml", _HOOKS),
    ("lefthook.yaml", _HOOKS),
    ("lefthook.toml", _HOOKS),
    ("lefthook.json", _HOOKS),
    (".lefthook.yml", _HOOKS),
    (".lefthook.yaml", _HOOKS),
    (".lefthook.toml", _HOOKS),
    (".lefthook.json", _HOOKS),
    ("lefthook-local.yml", _HOOKS),
    ("lefthook-local.yaml", _HOOKS),
    (".lefthook-local.yml", _HOOKS),
    (".lefthook-local.yaml", _HOOKS),
    (".lefthook", _HOOKS),
    (".lefthook-local", _HOOKS),
    (".overcommit.yml", _HOOKS),
    (".hg", _REVISIONS),
    (".hgrc", _REVISIONS),
    (".config/hg", _REVISIONS),
    (".jj", _REVISIONS),
    (".jjconfig.toml", _REVISIONS),
    (".config/jj", _REVISIONS),
    (".svn", _REVISIONS),
    (".subversion", _REVISIONS),
    (".devcontainer", _CONTAINER),
    (".devcontainer.json", _CONTAINER),
    (".envrc", _DIRECTORY),
    (".direnvrc", _DIRECTORY),
    (".config/direnv", _DIRECTORY),
    (".mise.toml", _DIRECTORY),
    ("mise.toml", _DIRECTORY),
    (".mise", _DIRECTORY),
    ("mise/config.toml", _DIRECTORY),
    (".config/mise", _DIRECTORY),
    (".config/mise.toml", _DIRECTORY),
    (".tool-versions", _DIRECTORY),
    (".cargo/config", _TOOL),
    (".cargo/config.toml", _TOOL),
    (".npmrc", _TOOL),
    (".yarnrc", _TOOL),
    (".yarnrc.yml", _TOOL),
    (".yarn/plugins", _TOOL),
    (".yarn/releases", _TOOL),
    (".pnpmfile.cjs", _TOOL),
    (".bazelrc", _TOOL),
    (".gdbinit", _TOOL),
    (".config/gdb", _TOOL),
    (".lldbinit", _TOOL),
    (".tmux.conf", _TOOL),
    (".config/tmux", _TOOL),
    (".screenrc", _TOOL),
    (".psqlrc", _TOOL),
    (".sqliterc", _TOOL),
    (".docker/config.json", _TOOL),
    (".kube/config", _TOOL),
    (".aws/config", _TOOL),
    (".gnupg", _TOOL),
    ("sitecustomize.py", _INTERPRETER),
    ("usercustomize.py", _INTERPRETER),
    (".pdbrc", _INTERPRETER),
    (".irbrc", _INTERPRETER),
    (".Rprofile", _INTERPRETER),
    (".Renviron", _INTERPRETER),
    ("AGENTS.md", _INSTRUCTIONS),
    ("AGENTS.override.md", _INSTRUCTIONS),
    ("AGENT.md", _INSTRUCTIONS),
    ("SKILL.md", _INSTRUCTIONS),
    ("CLAUDE.md", _INSTRUCTIONS),
    ("CLAUDE.local.md", _INSTRUCTIONS),
    ("GEMINI.md", _INSTRUCTIONS),
    ("QWEN.md", _INSTRUCTIONS),
    (".agents", _INSTRUCTIONS),
    (".clinerules", _INSTRUCTIONS),
    (".cursorrules", _INSTRUCTIONS),
    (".windsurfrules", _INSTRUCTIONS),
    (".roorules", _INSTRUCTIONS),
    (".goosehints", _INSTRUCTIONS),
    (".amazonq", _INSTRUCTIONS),
    (".junie", _INSTRUCTIONS),
    (".augment", _INSTRUCTIONS),
    (".github/copilot-instructions.md", _INSTRUCTIONS),
    (".github/instructions", _INSTRUCTIONS),
    (".github/prompts", _INSTRUCTIONS),
    (".github/agents", _INSTRUCTIONS),
    (".bashrc", _SHELL),
    (".bash_profile", _SHELL),
    (".bash_login", _SHELL),
    (".bash_logout", _SHELL),
    (".bash_aliases", _SHELL),
    (".profile", _SHELL),
    (".zshrc", _SHELL),
    (".zshenv", _SHELL),
    (".zprofile", _SHELL),
    (".zlogin", _SHELL),
    (".zlogout", _SHELL),
    (".kshrc", _SHELL),
    (".mkshrc", _SHELL),
    (".cshrc", _SHELL),
    (".tcshrc", _SHELL),
    (".inputrc", _SHELL),
    (".config/fish", _SHELL),
    (".config/powershell", _SHELL),
    ("/etc/profile", _SHELL),
    ("/etc/profile.d", _SHELL),
    ("/etc/bash.bashrc", _SHELL),
    ("/etc/bashrc", _SHELL),
    ("/etc/zsh", _SHELL),
    ("/etc/zshrc", _SHELL),
    ("/etc/zshenv", _SHELL),
    ("/etc/fish", _SHELL),
    (".login", _LOGIN),
    (".xprofile", _LOGIN),
    (".xinitrc", _LOGIN),
    (".xsession", _LOGIN),
    (".xsessionrc", _LOGIN),
    (".pam_environment", _LOGIN),
    (".config/environment.d", _LOGIN),
    (".config/autostart", _LOGIN),
    ("/etc/environment", _LOGIN),
    ("/etc/xdg/autostart", _LOGIN),
    (".ssh", _SSH),
    ("/etc/ssh", _SSH),
    (".config/systemd", _SERVICE),
    (".local/share/systemd", _SERVICE),
    ("/etc/systemd", _SERVICE),
    ("/usr/lib/systemd", _SERVICE),
    ("/usr/local/lib/systemd", _SERVICE),
    ("/lib/systemd", _SERVICE),
    ("/run/systemd", _SERVICE),
    ("/etc/init.d", _SERVICE),
    ("/etc/rc.local", _SERVICE),
    ("/etc/crontab", _SERVICE),
    ("/etc/anacrontab", _SERVICE),
    ("/etc/cron.d", _SERVICE),
    ("/etc/cron.hourly", _SERVICE),
    ("/etc/cron.daily", _SERVICE),
    ("/etc/cron.weekly", _SERVICE),
    ("/etc/cron.monthly", _SERVICE),
    ("/var/spool/cron", _SERVICE),
    ("/var/spool/at", _SERVICE),
    ("Library/LaunchAgents", _SERVICE),
    ("Library/LaunchDaemons", _SERVICE),
    ("/etc/udev", _SERVICE),
    ("/etc/sudoers", _SYSTEM),
    ("/etc/sudoers.d", _SYSTEM),
    ("/etc/pam.d", _SYSTEM),
    ("/etc/polkit-1", _SYSTEM),
    ("/etc/passwd", _SYSTEM),
    ("/etc/shadow", _SYSTEM),
    ("/etc/group", _SYSTEM),
    ("/etc/ld.so.preload", _SYSTEM),
    ("/etc/ld.so.conf", _SYSTEM),
    ("/etc/ld.so.conf.d", _SYSTEM),
    ("/proc/sys", _SYSTEM),
    ("/sys", _SYSTEM),
)
"""Names and why: one that begins with a slash stands at that place, every other anywhere. Of a
directory, all that is in it."""

_ENDINGS: Final[tuple[tuple[str, tuple[str, ...], str], ...]] = (
    (".git", ("config", "hooks"), _GIT),
    (".code-workspace", (), _EDITOR),
)
"""How a name ends, what may follow it (nothing: the name itself is one), and why."""
_MISE: Final = ("mise.", ".mise.")
"""How names of mise's files begin that end in `.toml`: there is one for each environment."""


def control_reason(*paths: str) -> str | None:
    """Why any of these absolute paths is a control file, as `a file of ...`; None if none is."""
    for path in paths:
        names = [_loosely(name) for name in path.split("/") if name]
        for at, name in enumerate(names):
            for rest, anchored, why in _TABLE.get(name, ()):
                if (not anchored or at == 0) and tuple(names[at + 1 : at + 1 + len(rest)]) == rest:
                    return why
        for ending, following, why in _ENDINGS:
            for at, name in enumerate(names):
                if name.endswith(ending) and (
                    not following or (at + 1 < len(names) and names[at + 1] in following)
                ):
                    return why
        if names and names[-1].startswith(_MISE) and names[-1].endswith(".toml"):
            return _DIRECTORY
    return None


def _loosely(name: str) -> str:
    """A name as the most forgiving file system takes it: case, forms of a character, and characters
    that are not shown."""
    if name.isascii():
        return name.lower()
    shown = "".join(c for c in name if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", shown).casefold()


_Entry = tuple[tuple[str, ...], bool, str]


def _table(files: Iterable[tuple[str, str]]) -> Mapping[str, tuple[_Entry, ...]]:
    found: defaultdict[str, list[_Entry]] = defaultdict(list)
    for text, why in files:
        first, *rest = [_loosely(name) for name in text.split("/") if name]
        found[first].append((tuple(rest), text.startswith("/"), why))
    return MappingProxyType({first: tuple(entries) for first, entries in found.items()})


_TABLE: Final = _table(CONTROL_FILES)
