"""The fixtures ``fake_apple`` and ``fake_google``.

A process starts at the first test that needs it and serves the whole session. Before each test the fixture resets it:
`FakeApple.reset` restores the state of the start, and `FakeGoogle.reset` leaves keys and service accounts. The
arguments of ``@pytest.mark.fake_apple(...)`` and ``@pytest.mark.fake_google(...)`` go to `FakeApple` and `FakeGoogle`;
a test with other arguments gets a process of its own, which later tests with the same arguments share.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, TypeVar, Union

import pytest

from .apple import FakeApple
from .control import EmulatorError
from .google import FakeGoogle

Fake = TypeVar("Fake", bound=Union[FakeApple, FakeGoogle])


class RunningFakes:
    """The fakes of one test session, by their arguments."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._fakes: Dict[str, Any] = {}

    def get(self, make: Callable[..., Fake], request: pytest.FixtureRequest, marker: str) -> Fake:
        """Returns the fake for the marker of this test, after a reset."""
        arguments: Dict[str, Any] = {}
        # The closest marker last, so that a test adds to the arguments of its module and class.
        for mark in reversed(list(request.node.iter_markers(marker))):
            if mark.args:
                example = "client_ids=[...]" if marker == "fake_apple" else "issuer=..."
                raise pytest.UsageError(
                    f"{marker}: expected keyword arguments, found {mark.args[0]!r}; write {example}"
                )
            arguments.update(mark.kwargs)
        name = f"{marker} {sorted(arguments.items())!r}"
        fake: Fake
        if name in self._fakes:
            fake = self._fakes[name]
            try:
                fake.reset()
                return fake
            except EmulatorError as error:
                # One test can have ended the fake. The next tests do not fail for it.
                if error.code != "stopped":
                    raise
        fake = make(**arguments)
        self._stack.enter_context(fake)
        self._fakes[name] = fake
        return fake


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fake_apple(**arguments): arguments of siwa_dev.FakeApple for this test")
    config.addinivalue_line("markers", "fake_google(**arguments): arguments of siwa_dev.FakeGoogle for this test")


@pytest.fixture(scope="session")
def _siwa_dev_fakes() -> Iterator[RunningFakes]:
    with contextlib.ExitStack() as stack:
        yield RunningFakes(stack)


@pytest.fixture
def fake_apple(request: pytest.FixtureRequest, _siwa_dev_fakes: RunningFakes) -> FakeApple:
    """A fake Apple with the state of its start."""
    return _siwa_dev_fakes.get(FakeApple, request, "fake_apple")


@pytest.fixture
def fake_google(request: pytest.FixtureRequest, _siwa_dev_fakes: RunningFakes) -> FakeGoogle:
    """A fake Google without links, events and faults."""
    return _siwa_dev_fakes.get(FakeGoogle, request, "fake_google")
