"""Requests that can be sent once only: first sign-ins, and notifications."""

import shutil

from .load import wrk
from .processes import Server
from .stores import fill_sqlite
from .subjects import Stage, Subject
from .tokens import ONCE_PER_SECOND, notified, posted, write_requests

_TITLES = {
    "first-sign-in": "siwa, first sign-in, durable, SQLite",
    "notification": "siwa, notification of a withdrawn consent, durable, SQLite",
}


def subject(name: str, stage: Stage, seconds: int) -> Subject:
    """Each run has a new database, on which nothing of this has happened: an empty one for first sign-ins, and one with
    all the people for notifications about them."""
    count = ONCE_PER_SECOND * seconds
    template = stage.database(f"{name}-template")
    server, port = stage.sqlite(f"{name}-template")
    server.end()
    key = stage.key
    if name == "notification":
        fill_sqlite(template, count)
        payloads = (notified(key.notification(number)) for number in range(count))
    else:
        payloads = (posted("/v1/sign-ins")(key.token(number)) for number in range(count))
    requests = write_requests(stage.directory / f"{name}.requests", payloads)
    # The first seconds of a process are not its usual ones; these requests change nothing.
    warm_up = write_requests(
        stage.directory / f"{name}-warm-up.requests", [posted("/v1/identity-tokens/verify")(key.token(0))])
    running: list[Server] = []

    def renew() -> tuple[Server, int]:
        if running:
            running.pop().end()
        database = stage.database(name)
        for ending in ("", "-wal", "-shm"):
            database.with_name(database.name + ending).unlink(missing_ok=True)
        shutil.copyfile(template, database)
        server, port = stage.sqlite(name)
        running.append(server)
        wrk(server, port, warm_up, seconds=1)
        return server, port

    return Subject(name, _TITLES[name], server, port, requests, renew=renew)
