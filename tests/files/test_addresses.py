"""Which addresses may be fetched from, and where a redirect may lead."""

import asyncio

import pytest

from holodeck_nb.files.addresses import Target, check_address, name_of, target_of, unreadable_address
from holodeck_nb.files.extraction import FileError

PUBLIC, PRIVATE, LINK_LOCAL = "8.8.8.8", "10.0.0.1", "169.254.169.254"

ADDRESSES = [
    #  address                     private
    ("8.8.8.8",                    False),
    ("2606:4700:4700::1111",       False),
    ("127.0.0.1",                  True),
    ("10.1.2.3",                   True),
    ("172.16.0.1",                 True),
    ("192.168.1.1",                True),
    ("100.64.0.1",                 True),   # carriers' own
    ("169.254.169.254",            True),   # where clouds tell secrets
    ("0.0.0.0",                    True),
    ("::1",                        True),
    ("fd00::1",                    True),
    ("fe80::1%eth0",               True),
    ("::ffff:127.0.0.1",           True),   # IPv4 dressed as IPv6
    ("2002:7f00:1::",              True),   # the same by 6to4
    ("::ffff:8.8.8.8",             False),
]  # fmt: skip


@pytest.mark.parametrize(("address", "private"), ADDRESSES)
def test_private_addresses(address, private):
    assert Target([address]).is_private is private


def test_a_name_with_one_private_address_is_private():
    assert Target([PUBLIC, PRIVATE]).is_private


REDIRECTS = [
    (PUBLIC, PUBLIC, True),
    (PUBLIC, PRIVATE, False),
    (PUBLIC, LINK_LOCAL, False),
    (PRIVATE, PUBLIC, True),
    (PRIVATE, PRIVATE, True),  # the suite named a private address itself
    (PRIVATE, LINK_LOCAL, False),
    (LINK_LOCAL, LINK_LOCAL, True),
]


@pytest.mark.parametrize(("origin", "to", "allowed"), REDIRECTS)
def test_where_a_redirect_may_lead(origin, to, allowed):
    if allowed:
        check_address(Target([to]), Target([origin]), "host")
        return
    with pytest.raises(FileError, match="it redirects to 'host', which is a private address"):
        check_address(Target([to]), Target([origin]), "host")


def test_a_name_is_looked_up():
    assert asyncio.run(target_of("localhost", 80)).is_private


BAD = [
    ("ftp://example.org/a.pdf", "an address begins with http:// or https://, got 'ftp'"),
    ("file:///etc/passwd", "an address begins with http:// or https://, got 'file'"),
    ("report.pdf", "an address begins with http:// or https://, got ''"),
    ("http://", "the address has no host"),
    ("http://[::1/a", "this is no address: Invalid IPv6 URL"),
    ("http://host:99999/a", "this is no address: Port out of range 0-65535"),
]


@pytest.mark.parametrize(("url", "said"), BAD)
def test_what_is_no_address(url, said):
    assert unreadable_address(url) == said


NAMES = [
    ("https://example.org/a/net%20cash.pdf?sig=x#page", "net cash.pdf"),
    ("https://example.org/", "example.org"),
    ("https://user:secret@example.org", "example.org"),
    ("http://[::1/a", "file"),
]


@pytest.mark.parametrize(("url", "name"), NAMES)
def test_how_a_remote_file_is_called(url, name):
    assert name_of(url) == name
