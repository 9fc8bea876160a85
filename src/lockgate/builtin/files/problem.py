"""Why a file tool did nothing, in words that a model can act on."""

from __future__ import annotations

from lockgate.builtin.files.stamp import NotOpened
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.subject import ResolvedPath


class FileProblem(Exception):
    """Nothing was changed, and this is why. Becomes the call's error result."""

    def __init__(self, reason: str, text: str, *, kind: ErrorKind = ErrorKind.TOOL_ERROR) -> None:
        """`reason` is a code for programs, such as `absent`; `text` is for the model."""
        super().__init__(text)
        self.reason = reason
        self.text = text
        self.kind = kind

    @property
    def result(self) -> ToolResult:
        """What the caller gets."""
        return ToolResult.error(self.kind, self.text, reason=self.reason)


def wrong_argument(reason: str, text: str) -> FileProblem:
    """For arguments that no file could make right."""
    return FileProblem(reason, text, kind=ErrorKind.INVALID_ARGUMENTS)


def not_opened(path: ResolvedPath, refusal: NotOpened) -> FileProblem:
    """For a file that could not be opened or written as it was decided about."""
    text = f"{path.given}: {refusal}"
    if refusal.reason in ("moved", "changed"):
        text += ". Nothing was done; look at it again and make the call anew"
    return FileProblem(refusal.reason, text)


def subject_of(context: ToolContext, name: str = "path") -> ResolvedPath:
    """What the path of the call was resolved to before it was decided.

    Raises `FileProblem` if there is no such thing: a path that nobody decided about is not touched.
    """
    path = context.subjects.get(name)
    if not isinstance(path, ResolvedPath):
        raise FileProblem(
            "unresolved",
            f"the argument {name} was not resolved before the call was decided; nothing was done",
            kind=ErrorKind.INTERNAL,
        )
    if path.problem is not None:
        raise wrong_argument("unresolved", f"{path.given}: {path.problem}")
    return path
