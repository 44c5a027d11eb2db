"""Sign in with Apple in Python backends: the client of a siwa service. README.md begins with an example."""

from .client import SiwaClient
from .decoding import to_json
from .errors import SiwaError
from .events import CursorStore, Events, FileCursor
from .transport import API_VERSION, VERSION, Clock

__all__ = ["API_VERSION", "Clock", "CursorStore", "Events", "FileCursor", "SiwaClient", "SiwaError", "VERSION", "to_json"]
