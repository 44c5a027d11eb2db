"""A fake Apple and a fake Google for tests of any backend.

`FakeApple` and `FakeGoogle` are context managers. With pytest, the fixtures ``fake_apple`` and ``fake_google`` are
there after the installation. The program is ``siwa-dev``, which the wheel contains.
"""

from .apple import (
    Clock, Endpoint, FakeApple, Faults, Forgery, Key, Keys, Notification, NotificationType, Outbox, People, Person,
    SignIn, User, WebSignIn,
)
from .control import EmulatorError
from .google import FakeGoogle, GoogleFaults, LinkStart, Response

__all__ = [
    "Clock", "EmulatorError", "Endpoint", "FakeApple", "FakeGoogle", "Faults", "Forgery", "GoogleFaults", "Key", "Keys",
    "LinkStart", "Notification", "NotificationType", "Outbox", "People", "Person", "Response", "SignIn", "User",
    "WebSignIn",
]
