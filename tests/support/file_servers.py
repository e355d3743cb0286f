"""A real HTTP server on 127.0.0.1 whose answers are slow, dripping, redirecting, huge, changing or broken."""

import contextlib
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """What the server says: a status, headers, and pieces of a body with a pause before each."""

    body: bytes = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    pieces: object = None
    pause_s: float = 0.0
    stated_length: int | None = None


class FileServer:
    """Serves `routes`: by path, an Answer or a function of the request (its `headers`, its number from 1)."""

    def __init__(self):
        self.routes = {}
        self.requests = []
        self._ending = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.requests.append((self.path, dict(self.headers)))
                path = self.path.partition("?")[0]
                answer = outer.routes.get(path, Answer(status=404))
                if callable(answer):
                    number = sum(asked.partition("?")[0] == path for asked, _ in outer.requests)
                    answer = answer(self, number)
                with contextlib.suppress(OSError):
                    outer.give(self, answer)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def give(self, handler, answer):
        """Answer; a connection that the other side has left ends it."""
        handler.close_connection = True
        pieces = answer.pieces or [answer.body]
        length = len(answer.body) if answer.stated_length is None else answer.stated_length
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        if answer.status != 304 and length >= 0:
            handler.send_header("Content-Length", str(length))
        handler.send_header("Connection", "close")
        handler.end_headers()
        for piece in pieces if answer.status != 304 else ():
            if answer.pause_s and self._ending.wait(answer.pause_s):
                return
            handler.wfile.write(piece)
            handler.wfile.flush()

    def asked(self, path):
        """How often a path was asked for."""
        return sum(asked.partition("?")[0] == path for asked, _ in self.requests)

    def close(self):
        """End it, whatever is still dripping."""
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()


def dripping(pause_s=0.02):
    """A body that comes byte by byte and never ends in time."""
    return Answer(pieces=(b"x" for _ in range(100_000)), pause_s=pause_s, stated_length=100_000)


def slow(body, pause_s):
    """An answer whose body comes late."""
    return Answer(body, pause_s=pause_s)


def with_etag(body, etag='"1"', **headers):
    """An answer that says "not modified" to whoever knows its ETag."""

    def answer(request, _number):
        if request.headers.get("If-None-Match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(body, headers={"ETag": etag, **headers})

    return answer


def redirect(to, status=302):
    """An answer that leads elsewhere."""
    return Answer(status=status, headers={"Location": to})


def wait_until(condition, seconds=5.0):
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
