"""Servers that a driver starts."""

import signal
import subprocess
import time

import requests

from pages import expect


def start(command):
    # The tests' own process blocks signals in some of its threads, and children inherit that: no server would end.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    return subprocess.Popen(command)


def stop(server):
    server.terminate()
    server.wait(timeout=30)


def first_answer(server, call):
    """What the server answers as soon as it listens."""
    for _ in range(400):
        try:
            return call()
        except requests.ConnectionError:
            expect(server.poll() is None, "the server has ended")
            time.sleep(0.05)
    expect(False, "the server does not listen")
