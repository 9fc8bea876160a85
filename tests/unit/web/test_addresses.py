"""Which addresses may be reached: public ones, in whatever form the others come."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.web.addresses import AddressRules
from lockgate.web.location import locate

PUBLIC = AddressRules()
PRIVATE = AddressRules(private=True)

NEVER = [
    "0.0.0.0",  # noqa: S104 - to be refused
    "0.1.2.3",
    "169.254.169.254",
    "169.254.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::7f00:1",
    "::808:808",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%1",
    "2606:4700::1%1",
    "fec0::1",
    "ff02::1",
]
LOCAL = [
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "::1",
    "fc00::1",
    "fd12:3456::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::c0a8:101",
]
GLOBAL = [
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "192.1.0.1",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_never_reached(address: str) -> None:
    """Link-local, metadata, multicast, reserved and disguised addresses: under any rule."""
    assert PUBLIC.objection_to_address(ip_address(address)) is not None
    assert PRIVATE.objection_to_address(ip_address(address)) is not None


@pytest.mark.parametrize("address", LOCAL)
def test_local_addresses_are_reached_only_where_that_is_said(address: str) -> None:
    """Loopback and private ranges are refused unless `private` is set, in IPv6's forms too."""
    assert PUBLIC.objection_to_address(ip_address(address)) is not None
    assert PRIVATE.objection_to_address(ip_address(address)) is None


@pytest.mark.parametrize("address", GLOBAL)
def test_public_addresses_are_reached(address: str) -> None:
    """What the registries call global is no one's secret."""
    assert PUBLIC.objection_to_address(ip_address(address)) is None
    assert PRIVATE.objection_to_address(ip_address(address)) is None


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_nothing_that_python_calls_not_global_is_reached(
    address: IPv4Address | IPv6Address,
) -> None:
    """The standard library's own table is a second opinion: the stricter of both holds."""
    judged: IPv4Address | IPv6Address = address
    if isinstance(address, IPv6Address) and address in PREFIXED:
        judged = IPv4Address(int(address) & 0xFFFFFFFF)
    if not judged.is_global or judged.is_multicast:
        assert PUBLIC.objection_to_address(address) is not None


class _Prefixed:
    """The forms of IPv6 that stand for an IPv4 address."""

    def __contains__(self, address: IPv6Address) -> bool:
        return address.ipv4_mapped is not None or int(address) >> 32 == 0x64FF9B << 64


PREFIXED = _Prefixed()


@given(st.ip_addresses(v=4))
def test_a_disguised_address_is_judged_by_what_it_stands_for(address: IPv4Address) -> None:
    """An IPv4 address in IPv6's clothes is never easier to reach than it is by itself."""
    bare = PUBLIC.objection_to_address(address)
    number = int(address)
    for disguise in (
        (0xFFFF << 32) | number,
        (0x64FF9B << 96) | number,
        number,
        (0x2002 << 112) | (number << 80),
    ):
        hidden = PUBLIC.objection_to_address(IPv6Address(disguise))
        assert hidden is not None or bare is None


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "a.localhost",
        "LOCALHOST.",
        "printer.local",
        "metadata.google.internal",
        "a.internal",
        "router.lan",
        "x.home.arpa",
        "a.localdomain",
        "intranet",
    ],
)
def test_names_of_the_local_network_are_refused(host: str) -> None:
    """Before anything is looked up, unless private addresses may be reached."""
    at = locate(f"http://{host}/")
    assert PUBLIC.objection_to(at) is not None
    assert PRIVATE.objection_to(at) is None


@pytest.mark.parametrize("host", ["local.example.com", "mylocal.de", "internal.de", "xlan.de"])
def test_only_whole_labels_at_the_end_make_a_name_local(host: str) -> None:
    """A public name that looks a little like a local one is public."""
    assert PUBLIC.objection_to(locate(f"http://{host}/")) is None


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("http://a.de/", False),
        ("https://a.de/", False),
        ("http://a.de:8080/", False),
        ("https://a.de:80/", False),
        ("http://a.de:22/", True),
        ("http://a.de:25/", True),
        ("https://a.de:6667/", True),
        ("http://a.de:10080/", True),
        ("http://a.de:6379/", True),
    ],
)
def test_ports_of_other_services_are_refused(address: str, refused: bool) -> None:
    """A request to a mail server is a mail to someone: under any rule."""
    assert (PUBLIC.objection_to(locate(address)) is not None) is refused
    assert (PRIVATE.objection_to(locate(address)) is not None) is refused


@pytest.mark.parametrize(
    ("addresses", "refused"),
    [
        (("1.1.1.1", "2606:4700::1111"), False),
        (("1.1.1.1", "127.0.0.1"), True),
        (("10.0.0.1", "1.1.1.1"), True),
        (("1.1.1.1", "::ffff:7f00:1"), True),
        (("1.1.1.1", "not an address"), True),
    ],
)
def test_one_bad_address_of_a_name_is_enough(addresses: tuple[str, ...], refused: bool) -> None:
    """Every address of a name is looked at: which one is connected to is not ours to foresee."""
    assert (PUBLIC.objection_to_any(addresses) is not None) is refused
