"""The feed of events."""

import logging
import os
import threading
from typing import Callable, Iterator, Optional, Protocol
from urllib.parse import quote

from .decoding import decode
from .errors import SiwaError
from .models import Event, EventPage
from .transport import Clock, Transport

log = logging.getLogger("siwa_client")

LONGEST_PAUSE = 60
"""Seconds between two attempts while siwa does not respond, unless siwa names more."""
PAUSE_AFTER_EXCEPTION = 2
"""Seconds."""


class CursorStore(Protocol):
    """Keeps the position in the feed, best in the same database as the sessions."""

    def load(self) -> Optional[str]:
        """Returns the saved cursor, or None for a new backend."""

    def save(self, cursor: str) -> None:
        """Stores the cursor. An exception here ends the iteration, and the events come again."""


class FileCursor:
    """Keeps the cursor in a file, for one process."""

    def __init__(self, path: str) -> None:
        self._path = path

    def load(self) -> Optional[str]:
        """See CursorStore."""
        try:
            with open(self._path, encoding="ascii") as file:
                return file.read().strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        """See CursorStore. After a crash the file has the old cursor or the new one."""
        with open(self._path + ".new", "w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._path + ".new", self._path)


class Events:
    """An iterator over all events in their order, which waits for new ones and never ends.

    It saves the cursor of a page after the body of the loop has handled the page's last event. So an event can come
    again after a crash, and none is lost: handle each event so that a second time changes nothing. An exception in the
    loop ends the iteration without saving.

    While siwa does not respond, the iterator waits and asks again with the same cursor. Errors that need a person, such
    as `caller_unauthenticated`, are raised.

    Without a saved cursor, and after `cursor_ahead` (siwa's database was restored from a backup), it begins at the end
    of the feed. Earlier events are missed, so it first calls `resync`, which must read the states of all users with
    SiwaClient.states and end sessions whose state is not `authorized`. Without `resync`, `cursor_ahead` is raised.
    """

    def __init__(self, transport: Transport, clock: Clock, store: CursorStore, resync: Optional[Callable[[], object]],
                 wait: int) -> None:
        self._transport, self._clock, self._store, self._resync, self._wait = transport, clock, store, resync, wait
        self.cursor: Optional[str] = None
        """The last saved cursor: all events before it are handled. None until the feed has begun, and before then a
        backend must not accept sign-ins: it could miss their revocation."""
        self.is_caught_up = False
        """True if the last page was the end of the feed."""
        self.last_response_at: Optional[float] = None
        """The time of siwa's last response, in seconds since 1970: at most `wait` seconds ago while siwa responds. None
        before the first one."""

    def begin(self) -> None:
        """Begins the feed if the store has no cursor, and returns. Waits until siwa responds."""
        self._has_ended = False
        self.cursor = self._store.load()
        if not self.cursor:
            self._save(self._next())

    def check(self) -> None:
        """Raises SiwaError `feed_not_begun` (503) until the feed has begun. Call it before each sign-in."""
        if self.cursor is None:
            raise SiwaError("feed_not_begun", 503, "The revocation of a sign-in could be missed.")

    def start(self, handle: Optional[Callable[[Event], object]] = None) -> None:
        """Calls `handle` with each event, in a thread that ends with the process.

        After an exception it logs the exception, waits two seconds, and continues at the saved cursor. With a
        cursor that is not siwa's, it ends, and check() refuses sign-ins. Without `handle` it only begins the feed, for
        webhooks: siwa keeps their position, so the backend needs only the states from before its first start.
        """
        threading.Thread(target=self._run, args=(handle,), daemon=True, name="siwa-events").start()

    def _run(self, handle: Optional[Callable[[Event], object]]) -> None:
        while True:
            try:
                self.begin()
                if not handle:
                    return
                for event in self:
                    handle(event)
            except Exception:
                if self._has_ended:
                    return
                log.exception("reading events failed; the next attempt has the same cursor")
                self._clock.sleep(PAUSE_AFTER_EXCEPTION)

    def __iter__(self) -> Iterator[Event]:
        self.begin()
        while True:
            began = self._clock.now()
            page = self._next()
            yield from page.events
            if page.cursor != self.cursor:
                self._save(page)
            elif self._clock.now() - began < 1:
                # A service that does not wait would be asked without a pause.
                self._clock.sleep(1)
            self.is_caught_up = not page.has_more

    def _save(self, page: EventPage) -> None:
        self._store.save(page.cursor)
        self.cursor = page.cursor

    def _next(self) -> EventPage:
        """The next page, or the end of the feed if there is no usable cursor. Waits until siwa responds."""
        failures, cursor = 0, self.cursor
        while True:
            try:
                if cursor:
                    page = self._page(f"after={quote(cursor, safe='')}&wait={self._wait}")
                else:
                    # The end comes before the states, so that no change between the two is missed.
                    page = self._page("after=latest")
                    if self._resync:
                        self._resync()
            except SiwaError as error:
                if error.code == "cursor_ahead" and self._resync and cursor:
                    log.warning("siwa's feed ends before the saved cursor; all states are read again")
                    cursor = None
                    continue
                if error.code == "parameter_malformed" and cursor:
                    log.error("the feed ends, because the cursor %r is not siwa's: delete it, and start again", cursor)
                    self.cursor, self._has_ended = None, True
                if not error.is_temporary:
                    raise
                pause = min(2 ** min(failures, 10), LONGEST_PAUSE) if error.retry_after is None else error.retry_after
                if failures == 0:
                    log.warning("reading events failed (%s); the next attempts have the same cursor", error)
                failures += 1
                self._clock.sleep(pause)
            else:
                self.last_response_at = self._clock.now()
                return page

    def _page(self, query: str) -> EventPage:
        value = self._transport.call("GET", f"/v1/events?{query}", timeout=self._wait + 15, attempts=1)
        try:
            return decode(EventPage, value)
        except ValueError as error:
            raise SiwaError("unexpected_response", None, f"EventPage: {error}") from None
