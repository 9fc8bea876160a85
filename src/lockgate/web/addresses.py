"""Which IP addresses and host names a request may reach: by default, public ones alone.

Every range that the registries of special-purpose addresses (IANA, RFC 6890) do not call global is
refused, and what a cloud answers its own machines from. An IPv6 address that carries an IPv4
address is judged by that, or refused where such addresses are no longer in use.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, TypeAlias

import msgspec

from lockgate.web.location import IPAddress, Location, ip_of
from lockgate.web.ports import UNSAFE

Network: TypeAlias = IPv4Network | IPv6Network


def _networks(what: str, *networks: str) -> tuple[tuple[Network, str], ...]:
    return tuple(
        (IPv6Network(text) if ":" in text else IPv4Network(text), what) for text in networks
    )


_ALWAYS: Final = (
    *_networks("unspecified", "0.0.0.0/8", "::/128"),
    *_networks("link-local", "169.254.0.0/16", "fe80::/10"),
    *_networks(
        "a cloud's metadata service",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "fd00:ec2::/32",
        "fd20:ce::/32",
        "fd00:c1::/32",
    ),
    *_networks("multicast", "224.0.0.0/4", "ff00::/8"),
    *_networks("reserved", "240.0.0.0/4", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),
    *_networks("for documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
    *_networks("for documentation", "2001:db8::/32", "3fff::/20"),
    # IPv4 in IPv6 as it was done once: nobody's public address, and a way around each range above.
    *_networks("an IPv4-compatible address", "::/96"),
    *_networks("a 6to4 address", "2002::/16"),
    *_networks("a Teredo address", "2001::/32"),
    *_networks("reserved", "2001::/23"),
)
"""Refused whatever is set; the first that fits names the reason."""

_PRIVATE: Final = (
    *_networks("loopback", "127.0.0.0/8", "::1/128"),
    *_networks("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    *_networks("shared by a provider's customers", "100.64.0.0/10"),
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
"""All of IPv6 that is given out for use on the internet."""
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
"""RFC 6052: what a name server in a network without IPv4 makes of an IPv4 address."""

_LOCAL_NAMES: Final = ("localhost", "local", "internal", "localdomain", "lan", "home.arpa")


class AddressRules(msgspec.Struct, frozen=True):
    """What may be reached. An explicit value: no environment and no configuration changes it."""

    private: bool = False
    """Whether loopback and private addresses, and names such as `localhost`, may be reached too.
    Link-local addresses, metadata services, multicast and reserved ranges never may."""

    def objection_to(self, at: Location) -> str | None:
        """Why `at` may not be asked for, as far as it says by itself; None if it may."""
        if at.named_port and at.port in UNSAFE:
            return "the port belongs to another service than the web"
        address = at.ip
        if address is not None:
            return self.objection_to_address(address)
        if self.private:
            return None
        if "." not in at.host:
            return "the host is a name of the local network"
        for name in _LOCAL_NAMES:
            if at.host == name or at.host.endswith("." + name):
                return f"names in .{name} are not public"
        return None

    def objection_to_address(self, address: IPAddress) -> str | None:
        """Why `address` may not be connected to; None if it may."""
        kind = self._kind(address)
        return None if kind is None else f"the address is {kind}"

    def objection_to_any(self, addresses: Iterable[str]) -> str | None:
        """Why a name with these addresses may not be connected to: one bad address is enough."""
        for text in addresses:
            address = ip_of(text)
            kind = "no IP address" if address is None else self._kind(address)
            if kind is not None:
                return f"the name leads to an address that is {kind}"
        return None

    def _kind(self, address: IPAddress) -> str | None:
        if isinstance(address, IPv6Address):
            if address.scope_id is not None:
                return "bound to one network interface"
            if address in _MAPPED or address in _NAT64:
                return self._kind(IPv4Address(int(address) & 0xFFFFFFFF))
        for network, kind in () if self.private else _PRIVATE:
            if address in network:
                return kind
        for network, kind in _ALWAYS:
            if address in network and not (self.private and address == IPv6Address("::1")):
                return kind
        if isinstance(address, IPv6Address) and address not in _GLOBAL_V6:
            inside = any(address in network for network, _ in _PRIVATE)
            return None if self.private and inside else "reserved"
        return None
