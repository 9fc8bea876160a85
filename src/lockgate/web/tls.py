"""What TLS is agreed on with: the system's certificates, an operator's own, and a name of ours."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path


class TlsFilesError(ValueError):
    """A file for TLS can not be used. The text names the file and says why."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files in PEM form. There is no way to say that nobody is verified."""

    ca_file: Path | None = None
    """Certificates to trust beside those of the system."""
    client_cert: Path | None = None
    """What this side proves itself with, its chain included."""
    client_key: Path | None = None
    """The key of `client_cert`, without a passphrase; None if it stands in the same file."""

    def context(self) -> ssl.SSLContext:
        """A context that verifies certificates and names. Raises `TlsFilesError`."""
        made = ssl.create_default_context()
        if self.ca_file is not None:
            try:
                made.load_verify_locations(cafile=str(self.ca_file))
            except (OSError, ssl.SSLError) as error:
                raise _unusable("certificates", self.ca_file, error) from None
        if self.client_cert is not None:
            key = None if self.client_key is None else str(self.client_key)
            try:
                # A passphrase would be asked for on the terminal: that must never happen.
                made.load_cert_chain(str(self.client_cert), key, password=_no_passphrase)
            except (OSError, ssl.SSLError, ValueError) as error:
                raise _unusable("client certificate and key", self.client_cert, error) from None
        return made


def _no_passphrase() -> str:
    raise ValueError("it has a passphrase")


def _unusable(what: str, file: Path, error: Exception) -> TlsFilesError:
    if isinstance(error, ssl.SSLError):
        why = "it is no certificate, or does not fit its key"
    elif isinstance(error, OSError):
        why = (error.strerror or "it can not be read").lower()
    else:
        why = str(error)
    return TlsFilesError(f"the {what} in {file} can not be used: {why}")
