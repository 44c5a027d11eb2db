"""Plays one vector of Fixtures/clients, whose README.md describes the format."""

import functools
import itertools
import json
import logging
import pathlib
import subprocess
import sys
import threading
import time
from datetime import datetime

from siwa_client import Clock, SiwaClient, SiwaError, to_json

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "Fixtures"
FOLDERS = ("calls", "retries", "transport", "webhooks", "events", "tokens", "key-sets")


class VectorClock(Clock):
    """Shows the time of the vector, and does not wait."""

    def __init__(self, at):
        self.time, self.waits = seconds(at), []

    def now(self):
        return self.time

    def sleep(self, seconds):
        # An iterator whose request is wrong would ask for ever.
        assert len(self.waits) < 50, "too many pauses"
        self.waits.append(seconds)
        self.time += seconds


class TracingStore:
    """A cursor store that notes what happens to it."""

    def __init__(self, cursor, trace):
        self.cursor, self.trace = cursor, trace

    def load(self):
        self.trace.append("load")
        return self.cursor

    def save(self, cursor):
        self.trace.append(f"save {cursor}")
        self.cursor = cursor


class HandlerFailure(Exception):
    """The handler of the vector fails."""


class Warnings(logging.Handler):
    """Counts the warnings of the package."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record):
        self.count += 1


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def body_of(case):
    parts = case.get("body_parts", [{"text": case.get("body", "")}])
    return "".join(part["text"] * part.get("times", 1) for part in parts).encode()


@functools.lru_cache(maxsize=None)
def server():
    """The process that plays siwa, until the tests end."""
    return subprocess.Popen(
        [sys.executable, str(FIXTURES / "clients/server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(line):
    print(line, file=server().stdin, flush=True)
    return json.loads(server().stdout.readline())


def play(path):
    """Raises AssertionError unless the client makes exactly the requests of the vector, with its results."""
    vector = json.loads(path.read_text(encoding="utf-8"))
    port = ask(path)
    results = list(results_of(vector, f"http://127.0.0.1:{port}"))
    verdict = ask(port)
    for step, (found, waits, warnings, took) in zip(vector["steps"], results):
        name = "error" if "error" in step else "returns"
        wanted = step[name]
        for result in found:
            assert name in result, f"{step['call']}: expected {name} {wanted}, found {result}"
            assert matches(wanted, result[name]), f"{step['call']}: expected {wanted}, found {result[name]}"
        assert waits == step.get("waits", []), f"{step['call']}: waits"
        assert warnings == step.get("warnings", warnings), f"{step['call']}: warnings"
        assert took < step.get("within_seconds", 60), f"{step['call']}: {took} s"
    assert verdict == {"verdict": "passed"}, verdict["mistakes"]


def results_of(vector, url):
    options = {"api_key": "siwa_development", "client_id": "com.example.app", "issuer": "https://signin.example.com",
               **vector.get("client", {})}
    options["timeout"] = options.pop("timeout_seconds", 12)
    clock = VectorClock(vector["at"])
    client = SiwaClient(url, clock=clock, **options)
    for step in vector["steps"]:
        if "at" in step:
            clock.time = seconds(step["at"])
        clock.waits = []
        warnings = Warnings()
        logging.getLogger("siwa_client").addHandler(warnings)
        found, began = [], time.monotonic()
        threads = [threading.Thread(target=lambda: found.append(result_of(client, clock, step)))
                   for _ in range(step.get("together", 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        logging.getLogger("siwa_client").removeHandler(warnings)
        assert len(found) == len(threads), "a call ended with another exception than SiwaError"
        yield found, clock.waits, warnings.count, time.monotonic() - began


def result_of(client, clock, step):
    arguments = dict(step["arguments"])
    try:
        if step["call"] == "events":
            return {"returns": trace_of(client, arguments)}
        if step["call"] == "verify_webhook":
            # The secret is an option of the client.
            client = SiwaClient("http://unused", "unused", webhook_secrets=arguments["secrets"], clock=clock)
            return {"returns": to_json(client.verify_webhook(arguments["headers"], body_of(arguments)))}
        return {"returns": to_json(getattr(client, step["call"])(**arguments))}
    except SiwaError as error:
        return {"error": {name: getattr(error, name) for name in (
            "code", "status", "request_id", "retry_after", "cause", "re_attest")}}


def trace_of(client, arguments):
    trace = []
    resync = (lambda: trace.append("resync")) if arguments.get("resync") else None
    feed = iter(client.events(TracingStore(arguments["cursor"], trace), resync=resync))
    try:
        for event in itertools.chain(feed):
            if event.id == arguments.get("fail_at"):
                raise HandlerFailure
            trace.append(event.id)
            if len(trace) >= arguments["take"]:
                break
    except HandlerFailure:
        pass
    return trace


def matches(wanted, found):
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(matches(value, found.get(name)) for name, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(matches, wanted, found))
    return type(wanted) is type(found) and wanted == found
