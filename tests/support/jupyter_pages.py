"""Jupyter servers and pages of a real browser, closed off from every other machine."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import nbformat

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
_BROWSER_FLAGS = [
    "--no-sandbox",  # CI runs as root, in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
# News and updates would be fetched from elsewhere and cover the page.
_SETTINGS = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
}
_SUPPORT = Path(__file__).parent
_READY = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const kernel = panel?.sessionContext?.session?.kernel;
  return Boolean(kernel) && panel.sessionContext.isReady && kernel.connectionStatus === "connected"
    && kernel.status === "idle" && panel.content.widgets.length > 0;
}"""


def write_notebook(path, *cells):
    """A notebook of code cells."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, path)


@dataclass
class Server:
    """A running Jupyter: `lab` or `notebook`."""

    kind: str
    address: str
    token: str
    settings: Path

    def page(self, name):
        """The address of a notebook, nothing else open beside it."""
        folder = "lab/tree" if self.kind == "lab" else "notebooks"
        return f"{self.address}/{folder}/{name}?token={self.token}&reset"

    def set(self, plugin, values):
        """Settings of Jupyter's user, for pages that are opened from now on."""
        file = self.settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))

    def end_kernels(self):
        """No kernel runs from now on."""
        for session in json.load(self._asked("api/sessions")):
            self._asked(f"api/sessions/{session['id']}", method="DELETE").close()

    def _asked(self, what, **request):
        return urllib.request.urlopen(
            urllib.request.Request(f"{self.address}/{what}?token={self.token}", **request), timeout=10
        )


@contextlib.contextmanager
def jupyter(kind, root):
    """A server of its own for `lab` or `notebook`."""
    with tempfile.TemporaryDirectory() as home, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port, token = taken.getsockname()[1], secrets.token_hex(16)
        taken.close()
        places = {
            name: f"{home}/{name.lower()}"
            for name in (
                "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
                "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR",
            )
        }  # fmt: skip
        server = Server(kind, f"http://127.0.0.1:{port}", token, Path(places["JUPYTERLAB_SETTINGS_DIR"]))
        for plugin, values in _SETTINGS.items():
            server.set(plugin, values)
        command = [
            sys.executable, "-m", "jupyter", kind, "--no-browser", "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}",
            f"--IdentityProvider.token={token}", "--ServerApp.allow_root=True",
            "--ServerApp.terminals_enabled=False", "--LabApp.extension_manager=readonly",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True",
        ]  # fmt: skip
        environment = {**os.environ, **places, "JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": str(_SUPPORT)}
        log = Path(home, "log")
        with log.open("w") as output:
            process = subprocess.Popen(
                command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
            try:
                _wait(process, f"{server.address}/api/status?token={token}", log)
                yield server
            finally:
                _end(process)


def _wait(process, address, log, patience=60):
    end = time.monotonic() + patience
    while True:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)


def _end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)  # a session of its own: the server and its kernels
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def browser():
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=_BROWSER_FLAGS)
        try:
            yield running
        finally:
            running.close()


class Witness:
    """What a page did that it must not: requests to elsewhere, errors on the console, dialogs."""

    def __init__(self, page, home):
        self.foreign, self.errors = [], []
        page.context.route(lambda url: not url.startswith((home, "data:", "blob:", "file:")), self._refuse)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: line.type == "error" and self.errors.append(line.text))
        page.on("dialog", self._dialog)

    def _refuse(self, route):
        self.foreign.append(route.request.url)
        route.abort()

    def _dialog(self, dialog):
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextlib.contextmanager
def page_of(running, home, *, dark=False, width=1400, height=1000):
    """A fresh page and its witness."""
    context = running.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    try:
        page = context.new_page()
        yield page, Witness(page, home)
    finally:
        context.close()


def open_notebook(page, server, name):
    """Open a notebook, its kernel ready."""
    page.goto(server.page(name))
    page.locator(".jp-Notebook").wait_for(timeout=60_000)
    page.wait_for_function(_READY, timeout=60_000)


def run_all(page):
    """Run every cell; comes back at once."""
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
