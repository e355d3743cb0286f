"""One download over HTTP: redirects checked hop by hop, the size bounded, straight to the disk."""

from __future__ import annotations

import ssl
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from holodeck_nb._version import __version__
from holodeck_nb.sync import in_thread

from .addresses import Target, check_address, target_of, unreadable_address
from .cache import KeptDownload
from .extraction import FileError
from .limits import DOWNLOAD_BYTES, REDIRECTS, size_text

if TYPE_CHECKING:
    import httpx2

__all__ = ["Answer", "Download", "TransientError", "certificates", "download"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OK, _NOT_MODIFIED = 200, 304
# What another try may mend.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_PORTS = {"http": 80, "https": 443}


class TransientError(FileError):
    """The file cannot be had now; it may be a moment later, and a kept copy would do."""


@dataclass(frozen=True, slots=True)
class Download:
    """What is wanted: the address, where the content goes, and the copy that is here already."""

    url: str
    part: Path
    kept: KeptDownload | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said; unless the kept copy is current, the content is in the part file."""

    is_current: bool = False
    etag: str | None = None
    last_modified: str | None = None
    may_be_kept: bool = True


async def download(wanted: Download) -> Answer:
    """Fetch once, from redirect to redirect. The caller bounds the time.

    httpx2's transport is used without its client, which would log whole addresses, signatures included.

    Raises:
        TransientError: Another try may succeed.
        FileError: None will.
    """
    import httpx2  # noqa: PLC0415 - only for remote files

    url, origin = wanted.url, None
    for _ in range(REDIRECTS + 1):
        reason = unreadable_address(url)
        if reason is not None:
            raise FileError(reason if origin is None else f"it redirects to what cannot be fetched: {reason}")
        parts = urlsplit(url)
        host, scheme = parts.hostname or "", parts.scheme.lower()
        proxy = _proxy(scheme, host)
        target = await _target(host, parts.port or _PORTS[scheme], proxied=proxy is not None)
        if origin is None:
            origin = target
        elif target is not None and origin is not None:
            check_address(target, origin, host)
        connect_to = None if target is None or proxy is not None else target.addresses[0]
        request = _request(url, connect_to, wanted.kept)
        try:
            async with httpx2.AsyncHTTPTransport(verify=certificates(), proxy=proxy) as transport:
                response = await transport.handle_async_request(request)
                try:
                    moved = response.headers.get("location") if response.status_code in _REDIRECTS else None
                    if moved is None:
                        return await _answer(response, wanted)
                finally:
                    await response.aclose()
        except httpx2.TransportError as error:
            # The message of such an error may hold a part of the address; its type says enough.
            raise TransientError(f"{host} could not be reached: {type(error).__name__}") from None
        following = _joined(url, moved)
        if scheme == "https" and urlsplit(following).scheme.lower() == "http":
            raise FileError("it redirects from https to plain http")
        url = following
    raise FileError(f"it redirects more than {REDIRECTS} times")


async def _target(host: str, port: int, *, proxied: bool) -> Target | None:
    """What the host stands for; None where only the proxy knows."""
    try:
        return await target_of(host, port)
    except (OSError, UnicodeError):
        if proxied:
            return None
        raise TransientError(f"there is no host {host!r}") from None


def _request(url: str, connect_to: str | None, kept: KeptDownload | None) -> httpx2.Request:
    """A request to the address that was checked, under the name that the certificate must have."""
    import httpx2  # noqa: PLC0415 - only for remote files

    whole = httpx2.URL(url)
    headers = {
        "Host": whole.netloc.decode("ascii").rpartition("@")[2],
        "User-Agent": f"holodeck-nb/{__version__}",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
    }
    if whole.userinfo:
        # For this address alone: a redirect has its own or none.
        pair = f"{whole.username}:{whole.password}".encode()
        headers["Authorization"] = f"Basic {b64encode(pair).decode('ascii')}"
    if kept is not None:
        headers |= {"If-None-Match": kept.etag} if kept.etag is not None else {}
        headers |= {"If-Modified-Since": kept.last_modified} if kept.last_modified is not None else {}
    extensions: dict[str, Any] = {"sni_hostname": whole.host}
    place = whole if connect_to is None else whole.copy_with(host=connect_to)
    return httpx2.Request("GET", place, headers=headers, extensions=extensions)


async def _answer(response: httpx2.Response, wanted: Download) -> Answer:
    status, headers = response.status_code, response.headers
    if status == _NOT_MODIFIED and wanted.kept is not None:
        return Answer(is_current=True)
    if status != _OK:
        fault = TransientError if status in _TRANSIENT else FileError
        raise fault(f"the server answered {status} {response.reason_phrase}".rstrip())
    await _save(response, wanted.part)
    return Answer(
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        may_be_kept="no-store" not in headers.get("cache-control", "").lower(),
    )


async def _save(response: httpx2.Response, part: Path) -> None:
    """Write the content to the disk as it comes; neither it nor what it unpacks to may be too large."""
    stated = response.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > DOWNLOAD_BYTES:
        raise FileError(_too_large(int(stated)))
    size = 0
    with part.open("wb") as file:
        async for chunk in _unpacked(response):
            size += len(chunk)
            if size > DOWNLOAD_BYTES:
                raise FileError(_too_large(size))
            await in_thread(file.write, chunk)


async def _unpacked(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The content in pieces; packed only where the server packs without having been asked to."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in {"", "identity"}:
        async for chunk in response.aiter_raw():
            yield chunk
        return
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise FileError(f"the server sends it packed as {encoding!r}, which was not asked for")
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    try:
        async for chunk in response.aiter_raw():
            piece = unpack.decompress(chunk, 1024 * 1024)
            while piece:
                yield piece
                piece = unpack.decompress(unpack.unconsumed_tail, 1024 * 1024)
    except zlib.error as error:
        raise FileError(f"what the server packed is damaged: {error}") from error


def _joined(url: str, moved: str) -> str:
    try:
        return urljoin(url, moved)
    except ValueError:  # such as half a bracket
        return moved


def _too_large(size: int) -> str:
    return f"it has {size_text(size)} or more; at most {size_text(DOWNLOAD_BYTES)} are fetched"


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for this host."""
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - only for remote files

    return None if proxy_bypass(host) else getproxies().get(scheme)


@cache
def certificates() -> ssl.SSLContext:
    """Whom to trust, settled once: this and the import take a moment, which should stop no other case."""
    import httpx2  # noqa: PLC0415 - only for remote files

    return httpx2.create_ssl_context()
