"""Where an address may lead: the suite's own anywhere, a redirect never into a private network."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import unquote, urlsplit

from .extraction import FileError

__all__ = ["Target", "check_address", "name_of", "target_of", "unreadable_address"]

_PORTS = {"http": 80, "https": 443}


def unreadable_address(url: str) -> str | None:
    """Why nothing can be fetched from there; None where it can be tried.

    >>> unreadable_address("ftp://example.org/a.pdf")
    "an address begins with http:// or https://, got 'ftp'"
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return f"this is no address: {error}"
    if parts.scheme.lower() not in _PORTS:
        return f"an address begins with http:// or https://, got {parts.scheme!r}"
    return None if parts.hostname else "the address has no host"


def name_of(url: str) -> str:
    """The file's name in an address, else its host; never a query.

    >>> name_of("https://example.org/a/net%20cash.pdf?sig=x")
    'net cash.pdf'
    """
    try:
        parts = urlsplit(url)
        return unquote(parts.path.rpartition("/")[2]) or parts.hostname or "file"
    except ValueError:
        return "file"


class Target:
    """An address that was checked: whether it is in a private network, and the one to connect to.

    Attributes:
        addresses: What the host's name stands for.
    """

    def __init__(self, addresses: list[str]) -> None:
        self.addresses = addresses
        parsed = [ipaddress.ip_address(address.partition("%")[0]) for address in addresses]
        self.is_private = any(not _plain(address).is_global for address in parsed)
        self.is_link_local = any(_plain(address).is_link_local for address in parsed)


def _plain(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An IPv4 address that is dressed as IPv6 is what it is underneath."""
    return getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None) or address


async def target_of(host: str, port: int) -> Target:
    """Ask what a host's name stands for.

    Raises:
        OSError: It stands for nothing.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return Target(list(dict.fromkeys(str(entry[4][0]) for entry in found)))


def check_address(target: Target, origin: Target, host: str) -> None:
    """Refuse a redirect into a private network, unless the suite itself named an address in one.

    Link-local addresses, where clouds tell secrets, are never reached by a redirect.

    Raises:
        FileError: The redirect leads where it may not.
    """
    if (target.is_private and not origin.is_private) or (target.is_link_local and not origin.is_link_local):
        raise FileError(
            f"it redirects to {host!r}, which is a private address: name that address in the suite"
        )
