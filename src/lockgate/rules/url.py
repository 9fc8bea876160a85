"""`domain:example.com`: which addresses a rule means, by host or by the whole address.

| written | means |
|---|---|
| `domain:example.com` | that host, over http and https, at any port |
| the same, if one can own it | every host below it as well, unless others own names there |
| `https://example.com/docs/**` | this scheme, host and port, and every path below `/docs/` |
| `https://example.com/*/index.html` | `*` is anything within one part of a path |
| `*`, `**` | every address |

Hosts are compared as wholes, never as parts of a text. The query is no part of a pattern. An allow
rule means exactly what is written, in every way in which a server may read the path; a deny or ask
rule also every host and path below, whatever the scheme and the port, and what can not be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Self

from lockgate.rules.matcher import Match
from lockgate.rules.url_path import PathGlob, PathGlobError, readings
from lockgate.tools.subject import Resolved, ResolvedUrl, SubjectKind
from lockgate.web.addresses import AddressRules
from lockgate.web.location import LocationError, host_of, ip_of, locate
from lockgate.web.suffixes import Suffixes

_DOMAIN: Final = "domain:"


class UrlPatternError(ValueError):
    """A pattern that can not be read: what is wrong, and what to write."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """Which addresses are meant."""

    text: str
    """As it was written."""
    source: str | None
    """Where the rule stands (file and key path), for reasons."""
    host: str | None
    """Normalised as in `ResolvedUrl`; None: every host."""
    scheme: str | None = None
    """None: http and https."""
    port: int | None = None
    """None: every port."""
    path: PathGlob | None = None
    """None: every path."""
    _below: Suffixes | None = field(default=None, repr=False, compare=False)
    """Set if hosts below `host` are meant for certain: those that nobody else can own."""

    @classmethod
    def parse(cls, text: str, source: str | None = None) -> Self:
        """Read a pattern. Raises `UrlPatternError`."""
        if not text or text != text.strip():
            raise UrlPatternError(
                "begins or ends with a space" if text else "names no address",
                "write domain:<host>, or https://<host>/<path>",
            )
        if text in ("*", "**"):
            return cls(text, source, None)
        if text.startswith(_DOMAIN):
            return cls._of_domain(text, source)
        if text.lower().startswith(("http://", "https://")):
            return cls._of_address(text, source)
        raise UrlPatternError(
            "is neither a domain nor an address", "write domain:<host>, or https://<host>/<path>"
        )

    @property
    def kind(self) -> SubjectKind:
        """The kind of subject it is a pattern for."""
        return SubjectKind.URL

    @property
    def constrains(self) -> bool:
        """False if it means every address."""
        return self.host is not None

    def allows(self, resolved: Resolved) -> bool:
        """Whether the address is meant for certain. Not one with a `problem`."""
        if not isinstance(resolved, ResolvedUrl) or resolved.problem is not None:
            return False
        if self.scheme is not None and (self.scheme, self.port) != (resolved.scheme, resolved.port):
            return False
        if self.host is None:
            return True
        if resolved.host != self.host and not self._owns(resolved.host):
            return False
        if self.path is None:
            return True
        ways = readings(resolved.path)
        return ways is not None and all(self.path.means(way) for way in ways)

    def catches(self, resolved: Resolved) -> Match:
        """How far an address is meant by a rule that has to hold.

        YES for one with a `problem`; MAYBE where the host is meant and the path can not be read.
        """
        if not isinstance(resolved, ResolvedUrl) or resolved.problem is not None:
            return Match.YES
        if self.host is None:
            return Match.YES
        if resolved.host != self.host and not resolved.host.endswith("." + self.host):
            return Match.NO
        if self.path is None:
            return Match.YES
        if resolved.host != self.host:
            return Match.NO  # a whole address names one host
        ways = readings(resolved.path)
        if ways is None:
            return Match.MAYBE
        return Match.YES if any(self.path.reaches(way) for way in ways) else Match.NO

    def _owns(self, host: str) -> bool:
        return self._below is not None and self._below.owned(host) == self.host

    @classmethod
    def _of_domain(cls, text: str, source: str | None) -> Self:
        name = text.removeprefix(_DOMAIN)
        if name.startswith("*."):
            raise UrlPatternError(
                "has a *, and hosts are compared as wholes",
                f"write domain:{name[2:]}: hosts below it are meant too, if it can be owned",
            )
        if any(character in name for character in "*/?#@%\\ "):
            raise UrlPatternError(
                "names more than a host", "write domain:<host> alone, or https://<host>/<path>"
            )
        if name.startswith("[") != name.endswith("]") or (":" in name and name[0] != "["):
            raise UrlPatternError(
                "has a port, which a domain does not", "write https://<host>:<port>/**"
            )
        try:
            host = host_of(name)
        except LocationError as error:
            raise UrlPatternError(f"can not be read: {error}", "write it as it is usual") from None
        if ip_of(host) is not None:
            return cls(text, source, host)
        suffixes = Suffixes(host)
        if suffixes.holds(host):
            raise UrlPatternError(
                "is a public suffix: everyone can have a name below it",
                f"name a host or a domain below it, as in domain:example.{host}",
            )
        return cls(text, source, host, _below=suffixes if suffixes.owned(host) == host else None)

    @classmethod
    def _of_address(cls, text: str, source: str | None) -> Self:
        if "?" in text or "#" in text:
            raise UrlPatternError(
                "has a query or a fragment, which patterns do not look at",
                "leave out what begins with ? or #",
            )
        authority = text.partition("://")[2].partition("/")[0]
        if "*" in authority:
            raise UrlPatternError(
                "has a * in its host or port, which are compared as wholes",
                "write domain:<host> for a domain and the hosts below it",
            )
        if "/" not in text.partition("://")[2]:
            raise UrlPatternError(
                "has no path",
                f"write {text}/** for every page, {text}/ for the first one alone",
            )
        try:
            path = PathGlob.parse(text.partition("://")[2].partition("/")[2])
            at = locate(text)
        except (LocationError, PathGlobError) as error:
            raise UrlPatternError(f"can not be read: {error}", None) from None
        return cls(text, source, at.host, at.scheme, at.port, path)


def resolve_url(text: str, reach: AddressRules | None = None) -> ResolvedUrl:
    """Take an address apart, once. Pure; what is no address has a `problem`, and what lies beyond
    `reach` is `barred`."""
    try:
        at = locate(text)
    except LocationError as error:
        return ResolvedUrl(text, "", "", "", None, "", str(error))
    barred = None if reach is None else reach.objection_to(at)
    return ResolvedUrl(text, at.text, at.scheme, at.host, at.port, at.path, barred=barred)
