"""Servers of providers for tests over real HTTP on 127.0.0.1: two that others wrote, one that we script."""

import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

AIMOCK = Path(__file__).parents[2] / ".mockservers/node_modules/@copilotkit/aimock/dist/cli.js"


def missing_node():
    """Why aimock cannot be started; None where it can."""
    if shutil.which("node") is None:
        return "aimock needs Node, and there is none"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").partition(".")[0]) < 20:
        return f"aimock needs Node 20, and this is {version.strip()}"
    return None if AIMOCK.exists() else "aimock is not installed: `make mockservers`"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _post(url, data, method="POST"):
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        raise ValueError(error.read().decode()) from error


class Aimock:
    """The npm package `@copilotkit/aimock` as a child process."""

    def __init__(self, folder):
        empty = Path(folder) / "fixtures.json"
        first = {"match": {"userMessage": "ping"}, "response": {"content": "pong"}}
        empty.write_text(json.dumps({"fixtures": [first]}))
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self._process = subprocess.Popen(
            ["node", str(AIMOCK), "-h", "127.0.0.1", "-p", str(port), "-f", str(empty)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait()

    def _wait(self):
        for _ in range(200):
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("aimock did not start")

    def endpoint(self, provider):
        return self.url if provider != "openai" else f"{self.url}/v1"

    def play(self, *fixtures):
        """Forget everything, then answer by these fixtures."""
        _post(f"{self.url}/__aimock/reset", {})
        _post(f"{self.url}/__aimock/fixtures", {"fixtures": list(fixtures)})

    def fail_next(self, status, message="no"):
        _post(f"{self.url}/__aimock/error", {"status": status, "body": {"message": message}})

    @property
    def requests(self):
        """The bodies of all requests so far."""
        return [entry["body"] for entry in self.journal]

    @property
    def journal(self):
        return _post(f"{self.url}/__aimock/journal", None, "GET")

    def stop(self):
        self._process.terminate()
        self._process.wait(10)


class Llmock:
    """The Python package `llmock`, in a thread of this process."""

    def __init__(self):
        from llmock.testing import LLMockServer

        self._server = LLMockServer().start()
        self.url = self._server.url

    def endpoint(self, provider):
        return f"{self.url}/anthropic" if provider == "anthropic" else f"{self.url}/v1"

    def play(self, *behaviors):
        """Forget everything, then behave like this, one after the other."""
        self._server.state.reset()
        _post(f"{self.url}/_llmock/scenario", {"behaviors": list(behaviors)})

    @property
    def requests(self):
        return [entry["body"] for entry in self.journal]

    @property
    def journal(self):
        return _post(f"{self.url}/_llmock/requests", None, "GET")["requests"]

    def stop(self):
        self._server.stop()


class Wired:
    """A server of ours that answers what a test tells it, for what no other server can be made to send.

    `answer(body)` gives a mapping (200), or `(status, body, headers)`, where a body of bytes is sent as it
    is, and only its first half under a header `x-cut`; None cuts the connection.
    """

    def __init__(self, answer):
        self.requests = []
        self.headers = []
        self.connections = set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                outer.connections.add(self.client_address)

            def finish(self):
                outer.connections.discard(self.client_address)
                super().finish()

            def do_POST(self):
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length))
                outer.requests.append(body)
                outer.headers.append(dict(self.headers))
                given = answer(body)
                if given is None:
                    self.close_connection = True
                    return
                status, sent, headers = (200, given, {}) if isinstance(given, dict) else given
                raw = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw[: len(raw) // 2] if "x-cut" in headers else raw)
                self.close_connection = "x-cut" in headers

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, client_address):
                pass  # a client that hangs up is part of the tests

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def endpoint(self, provider):
        return self.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
