"""A question for programs: one JSON object, whole, or with the values of secret keys masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lockgate.policy.approval import Question
from lockgate.showing import looks_secret, masked


def question_data(question: Question, *, reveal: bool) -> dict[str, Any]:
    """Everything that `render_question` shows, as JSON.

    Keys: `call`, `tool`, `server`, `originalName`, `source`, `level`, `destructive`, `claim`,
    `ruling`, `arguments`, `resolved` (by argument, the real paths where they are others than what
    is written, a list), `always` (the rule that an answer for always would write; null if it is not
    offered), `reasons` (each `code`, `text`, `source`), `digest`, `fingerprint`, `execution`,
    `session`, `principal`, `agent` (the sub-agent or skill that asks, by name; null for the agent
    itself). With `reveal` the arguments are given as they are, else a text with the
    length stands in the place of what a secret-looking key holds.
    """
    origin = question.origin
    resolved = {name: paths.split("\n") for name, paths in question.resolved.items()}
    return {
        "call": question.call_id,
        "tool": question.tool,
        "server": origin.server,
        "originalName": origin.original_name,
        "source": origin.source,
        "level": question.level.value,
        "destructive": question.destructive,
        "claim": origin.claim,
        "ruling": origin.ruling,
        "arguments": question.arguments if reveal else _masked(question.arguments, secret=False),
        "resolved": resolved if reveal else _masked(resolved, secret=False),
        "always": question.always,
        "reasons": [
            {"code": reason.code, "text": reason.text, "source": reason.source}
            for reason in question.reasons
        ],
        "digest": question.digest,
        "fingerprint": origin.fingerprint.digest,
        "execution": question.execution_id,
        "session": question.session_id,
        "principal": question.principal,
        "agent": question.agent,
    }


def _masked(value: Any, *, secret: bool) -> Any:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        return {key: _masked(held, secret=secret or looks_secret(key)) for key, held in members}
    if isinstance(value, list):
        return [_masked(held, secret=secret) for held in cast("list[Any]", value)]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if secret and (number or (isinstance(value, str) and value)):
        return masked(cast("object", value))
    return value
