"""Which answers to a question may be kept for good: what a rule for it would say. Pure.

An answer for always becomes an allow rule. It is offered only where that rule would answer this
very question the next time: not over an ask rule, a doubt about a shell line, a control file or an
open unknown, all of which a person has to answer each time.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from lockgate.policy.approval import Question
from lockgate.rules.exact import exact_rule_text
from lockgate.tools.subject import Subjects

ANSWERABLE: Final = frozenset({"destructive", "not_exempt", "outside_roots"})
"""Codes of the reasons that an allow rule answers; any other voids it (`policy.gate`,
`policy.places`)."""


def with_lasting(question: Question, subjects: Subjects) -> Question:
    """`question` with what can be kept of an answer to it, in an attended run."""
    answerable = all(reason.code in ANSWERABLE for reason in question.reasons)
    always = None
    # A rule goes by what is written: where a link leads is not what it would answer for, nor a
    # directory outside of the roots that is not written at all.
    spoken = all(path.root is not None or n in question.arguments for n, path in subjects.paths)
    if answerable and spoken and subjects.as_written:
        always = exact_rule_text(question.tool, question.arguments)
    origin = question.origin
    judgeable = origin.server is not None and not origin.unreviewed
    return replace(question, always=always, judgeable=judgeable)
