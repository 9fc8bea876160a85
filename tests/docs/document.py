"""Runs the blocks of a document, in order, in a folder of its own (scheme: CONTRIBUTING.md)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser

ANYTHING = "..."


class Run:
    """One run of one document."""

    def __init__(
        self,
        folder: Path,
        environ: Mapping[str, str],
        check_yaml: Callable[[Path], None],
    ) -> None:
        self.folder = folder
        """Where its files are; the working directory of whoever runs it."""
        self._environ = environ
        self._check_yaml = check_yaml
        self._printed = ""
        self._python: subprocess.Popen[str] | None = None

    def blocks(self) -> Sybil:
        """What finds the blocks of a document and runs them here."""
        return Sybil(
            parsers=[
                CodeBlockParser("python", self.python),
                CodeBlockParser("output", self.output),
                CodeBlockParser("yaml", self.yaml),
                CodeBlockParser("console", self.console),
                CodeBlockParser("markdown", self.markdown),
            ]
        )

    def python(self, example: Example) -> str | None:
        """Run it; the names it makes live on in the document's later blocks."""
        # Blank lines in front make a traceback point into the document.
        blank = "\n" * (example.line + example.parsed.line_offset)
        block = {"source": f"{blank}{example.parsed}", "file": str(example.path)}
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-W", "error", str(Path(__file__).with_name("interpreter.py"))],
                cwd=self.folder,
                env=dict(self._environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        streams = self._python.stdin, self._python.stdout
        if streams[0] is None or streams[1] is None:
            return "the interpreter has no pipes"
        streams[0].write(json.dumps(block) + "\n")
        streams[0].flush()
        answer = json.loads(streams[1].readline() or '{"failed": "the interpreter ended"}')
        self._printed = answer.get("printed", "")
        return answer["failed"] or None

    def close(self) -> None:
        """End the interpreter, if there was one."""
        if self._python is not None:
            with self._python as process:
                if process.stdin is not None:
                    process.stdin.close()
                if process.wait(30) != 0:
                    raise AssertionError(f"the interpreter ended with {process.returncode}")

    def output(self, example: Example) -> str | None:
        """Compare with what the last python block printed."""
        return differs(str(example.parsed), self._printed)

    def yaml(self, example: Example) -> None:
        """Write it to the file it names, and check that file.

        Without a name it is a part: its sections in the place of those of lockgate.yaml.
        """
        text = str(example.parsed)
        named = re.match(r"# (\S+\.yaml)\n", text)
        if named is None:
            yaml: Any = YAML(typ="safe")  # untyped
            whole = self.folder / "lockgate.yaml"
            sections: dict[str, Any] = yaml.load(whole.read_text("utf-8")) if whole.exists() else {}
            sections.update(yaml.load(text))
            with (self.folder / "part.yaml").open("w", encoding="utf-8") as file:
                yaml.dump(sections, file)
        else:
            (self.folder / named[1]).write_text(text, "utf-8")
        self._check_yaml(self.folder / (named[1] if named else "part.yaml"))

    def markdown(self, example: Example) -> None:
        """Write it to the file that a comment in its front matter names."""
        text = str(example.parsed)
        named = re.match(r"---\n# (\S+\.md)\n", text)
        if named is not None:
            path = self.folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    def console(self, example: Example) -> str | None:
        """Run each command and compare what it says, both streams together."""
        for command, expected in commands(str(example.parsed)):
            exits = re.search(r"#\s*exits (\d+)\s*$", command)
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=dict(self._environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=50,
                check=False,
                start_new_session=True,  # no terminal, whoever runs the tests
            )
            if done.returncode != (int(exits[1]) if exits else 0):
                return f"$ {command}\nexited with {done.returncode} and said:\n{done.stdout}"
            if expected and (difference := differs(expected, done.stdout)):
                return f"$ {command}\n{difference}"
        return None


def blocks_of(path: Path, language: str) -> list[str]:
    """The text of every block of a language, unrun."""
    found = CodeBlockParser(language, lambda example: None)
    return [str(example.parsed) for example in Sybil(parsers=[found]).parse(path).examples()]


def commands(block: str) -> list[tuple[str, str]]:
    """(command, expected output) of every line that begins with `$ `."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError("a console block begins with a command: `$ ...`")
    return list(zip(parts[1::2], parts[2::2], strict=True))


def differs(expected: str, actual: str) -> str | None:
    """Why they are not the same, or None. `...` stands for anything, in a line or alone."""
    pattern = ""
    for line in expected.strip().splitlines():
        if line.strip() == ANYTHING:
            pattern += r"(?:.*\n)*?"
        else:
            parts = line.rstrip().split(ANYTHING)
            pattern += ".*?".join(map(re.escape, parts)) + r"[ \t]*\n"
    if re.fullmatch(pattern, actual.strip() + "\n" if actual.strip() else ""):
        return None
    return f"expected:\n{expected}\nsaid:\n{actual}"
