"""Through which proxy an address is reached, from what is given and nothing else. Pure.

The environment counts only where it is handed in: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in
either case, the lower one first. This machine itself is never asked for through a proxy that the
environment names, whatever `NO_PROXY` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Final

from lockgate.web.location import LocationError, ip_of
from lockgate.web.target import Target, read_target

_CGI: Final = "REQUEST_METHOD"
"""Where this is set, `HTTP_PROXY` is what a visitor sent as the header `Proxy`."""


def proxy_for(
    target: Target, environ: Mapping[str, str], explicit: str | None = None
) -> Target | None:
    """The proxy for `target`; None for none.

    `explicit` is the operator's own word: an address, empty for no proxy at all, None for what
    `environ` says. Raises `LocationError` for a proxy that is no http or https address.
    """
    if explicit is not None:
        return read_target(explicit) if explicit else None
    if is_local(target.host) or _excepted(target, _value(environ, "no_proxy")):
        return None
    name = f"{target.scheme}_proxy"
    if name == "http_proxy" and _CGI in environ:
        text = environ.get(name, "")
    else:
        text = _value(environ, name)
    if not text:
        return None
    try:
        return read_target(text if "://" in text else f"http://{text}")
    except LocationError as error:
        raise LocationError(
            f"the proxy that {name.upper()} names can not be used: {error}"
        ) from None


def _value(environ: Mapping[str, str], name: str) -> str:
    return (environ.get(name) or environ.get(name.upper()) or "").strip()


def is_local(host: str) -> bool:
    """Whether a host is this machine itself, as far as its name says."""
    address = ip_of(host)
    return host == "localhost" if address is None else address.is_loopback


def _excepted(target: Target, rules: str) -> bool:
    """Whether `NO_PROXY` names the host: itself, a domain above it, a network, or `*`."""
    return any(rule == "*" or _names(rule, target) for rule in _rules(rules))


def _rules(text: str) -> Iterator[str]:
    for rule in text.replace(" ", ",").split(","):
        if rule:
            yield rule.lower()


def _names(rule: str, target: Target) -> bool:
    address = ip_of(target.host)
    if address is not None and "/" in rule:
        try:
            return address in ip_network(rule, strict=False)
        except (ValueError, TypeError):
            return False
    name, port = rule, ""
    if rule.startswith("["):
        name, _, port = rule[1:].partition("]")
        port = port.removeprefix(":")
    elif rule.count(":") == 1:
        name, _, port = rule.partition(":")
    if port and port != str(target.port):
        return False
    if address is not None:
        return ip_of(name) == address
    name = name.removeprefix("*").strip(".")
    return bool(name) and (target.host == name or target.host.endswith(f".{name}"))
