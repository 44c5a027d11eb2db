"""siwa and its fakes for the tests: the program that SIWA_BINARY names, or that of `swift build`, and siwa-dev beside it."""

import json
import logging
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SIWA = os.environ.get("SIWA_BINARY", str(ROOT / ".build/debug/siwa"))
SIWA_DEV = str(pathlib.Path(SIWA).with_name("siwa-dev"))


def free_ports(count):
    """Ports at which nothing listens. Those that the kernel chooses could go to another program before ours starts."""
    ports = []
    while len(ports) < count:
        try:
            socket.create_server(("127.0.0.1", port := random.randint(10_000, 32_000))).close()
            ports.append(port)
        except OSError:
            continue
    return ports


def post(url, body=None):
    """Calls a fake. Returns its JSON."""
    data = json.dumps({} if body is None else body).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method="POST"), timeout=15) as response:
        return json.load(response)


class Program:
    """A process that serves HTTP."""

    def __init__(self, arguments, ready_url, environment=None):
        self.arguments, self.ready_url, self.environment = arguments, ready_url, environment
        self.start()

    def start(self):
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.arguments, stdout=self.output, stderr=subprocess.STDOUT, env=self.environment)
        deadline = time.monotonic() + 60
        while True:
            try:
                return urllib.request.urlopen(self.ready_url, timeout=2).close()
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.stop(signal.SIGKILL)
                    self.output.seek(0)
                    raise AssertionError(f"{self.arguments[0]} did not start: {self.output.read()!r}") from None
                time.sleep(0.1)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.send_signal(signal.SIGCONT)
        self.process.wait(timeout=30)


class Apple:
    """The fake Apple."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/emulator"

    def person(self, **members):
        return post(f"{self.url}/users", members)["sub"]

    def sign_in(self, sub, nonce):
        """What the app posts to its backend after a sign-in on the iPhone."""
        form = post(f"{self.url}/identity-tokens?format=sign-in", {"sub": sub, "code": True, "nonce": nonce.nonce_sha256})
        return {**form, "nonce": nonce.nonce}

    def revoke_consent(self, sub):
        post(f"{self.url}/users/{sub}/revoke-consent")


class Development:
    """`siwa dev`: the service, the fake Apple, the fake Google."""

    def __init__(self, folder):
        port, apple, self.google_port, receivers = free_ports(4)
        self.url, self.apple = f"http://127.0.0.1:{port}", Apple(apple)
        self.program = Program([
            SIWA_DEV, "dev", "--port", str(port), "--emulator-port", str(apple), "--google-port", str(self.google_port),
            "--receiver-port", str(receivers), "--database", f"sqlite://{folder}/dev.sqlite"], f"{self.url}/readyz")


@pytest.fixture(scope="session")
def siwa_dev(tmp_path_factory):
    """One for all stories, because a start costs more than a story."""
    development = Development(tmp_path_factory.mktemp("siwa_dev"))
    yield development
    logging.getLogger("siwa_client").disabled = True  # the feeds of the stories go on in their threads
    development.program.stop()


@pytest.fixture
def environment(monkeypatch):
    """The process without variables of siwa."""
    for name in [name for name in os.environ if name.startswith("SIWA_")]:
        monkeypatch.delenv(name)
    return monkeypatch
