"""The seam to the network: a JSON body out, a JSON body back, through a provider's SDK."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from .faults import Fault, WireError, retry_after_s

__all__ = ["SDKWire", "Wire"]

_LONGEST_SHOWN = 80


class Wire(Protocol):
    """Sends requests to one place; `send` raises WireError for whatever fails."""

    async def send(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """One attempt."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class SDKWire:
    """A provider's own client, made inside the event loop at the first request and closed at the end.

    The SDKs have the same build, so that one class serves them. They neither retry nor end a turn: we do.
    Bodies go past their typed methods, which differ from version to version and know not every field.

    Args:
        sdk: The SDK's module.
        client: Makes the client; called inside the loop.
        path: Where requests go, below the client's base address.
    """

    def __init__(self, sdk: Any, client: Callable[[], Any], path: str) -> None:
        self._sdk = sdk
        self._make_client = client
        self._path = path
        self._client: Any = None

    async def send(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """One attempt.

        Raises:
            WireError: It failed.
        """
        if self._client is None:
            self._client = self._make_client()
        try:
            reply = await self._client.post(self._path, body=dict(body), cast_to=object)
        except self._sdk.APIStatusError as error:
            raise WireError(_status_fault(error)) from error
        except self._sdk.APITimeoutError as error:
            raise WireError(Fault("timeout", str(error))) from error
        except self._sdk.APIConnectionError as error:
            raise WireError(_connection_fault(error)) from error
        except (json.JSONDecodeError, self._sdk.APIResponseValidationError) as error:
            shown = _beginning(getattr(error, "doc", ""))
            raise WireError(Fault("malformed", f"it is no JSON: {shown}")) from error
        return _read(reply)

    async def close(self) -> None:
        """Close the connections; the next request would open new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _beginning(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _read(reply: object) -> Mapping[str, Any]:
    if not isinstance(reply, dict):
        raise WireError(Fault("malformed", f"it is no JSON object: {_beginning(str(reply))}"))
    if isinstance(fault := reply.get("error"), dict) and not {"choices", "content"} & reply.keys():
        # Some gateways report an error under status 200.
        status = fault.get("code") if isinstance(fault.get("code"), int) else None
        kind = "malformed" if status is None else "status"
        raise WireError(Fault(kind, _said(fault, json.dumps(fault)), status=status))
    return reply


def _status_fault(error: Any) -> Fault:
    response = error.response
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else body
    return Fault(
        "status",
        _said(inner, response.text or str(error)),
        status=response.status_code,
        retry_after_s=retry_after_s(response.headers),
    )


def _said(fault: object, otherwise: str) -> str:
    """What an error says, with its code and what it is about where the message does not hold them."""
    if not isinstance(fault, dict) or not isinstance(fault.get("message"), str):
        return otherwise
    message: str = fault["message"]
    more = (fault.get("code") or fault.get("type"), fault.get("param"))
    unsaid = [each for each in more if isinstance(each, str) and each not in message]
    return f"{message} ({', '.join(unsaid)})" if unsaid else message


def _connection_fault(error: BaseException) -> Fault:
    """Whether nobody listens there, or the connection broke; the deepest cause says it."""
    cause: BaseException = error
    seen = {id(cause)}
    refused = False
    while True:
        refused = refused or isinstance(cause, ConnectionRefusedError) or _is_refusal(cause)
        inner = cause.__cause__ or cause.__context__
        if inner is None or id(inner) in seen:
            break
        seen.add(id(inner))
        cause = inner
    text = str(cause) or type(cause).__name__
    return Fault("refused" if refused else "connection", text)


def _is_refusal(error: BaseException) -> bool:
    """An asyncio or anyio error that holds refusals on every address of a name."""
    if isinstance(error, BaseExceptionGroup):
        return all(isinstance(inner, ConnectionRefusedError) for inner in error.exceptions)
    return isinstance(error, OSError) and error.errno is None and "Connect call failed" in str(error)
