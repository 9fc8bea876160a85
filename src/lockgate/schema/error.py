"""Why a schema can not be used at all."""

from __future__ import annotations


class SchemaError(ValueError):
    """The schema is no schema: its tool is left out, by name and with this reason (S3-05, PB-108).

    The text names the place and what is wrong there; it holds nothing else of the schema.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
