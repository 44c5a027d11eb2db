"""The figures to reach, and what a measurement is worth against them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    must: float
    aim: float
    unit: str = ""
    more_is_better: bool = False

    def verdict(self, measured: float) -> str:
        if self._reaches(measured, self.aim):
            return "aim reached"
        return "must reached" if self._reaches(measured, self.must) else "MISSED"

    def _reaches(self, measured: float, wanted: float) -> bool:
        return measured >= wanted if self.more_is_better else measured <= wanted

    def value(self, number: float | None) -> str:
        if number is None:
            return "not measured"
        return f"{number:.0f}{self.unit}" if self.unit == " MB" else f"{number:.2f}{self.unit}"


FIGURES = [
    Figure("verify", "verify, CPU per request, against HAProxy", 0.95, 0.8),
    Figure("sign-in", "durable sign-in on SQLite (known accounts), against HAProxy's bare verify", 1.7, 1.4),
    Figure("state", "credential state, against HAProxy's bare verify", 0.65, 0.5),
    Figure("verify-oauth", "the same verify with OAuth clients configured", 0.95, 0.8),
    Figure("sign-in-oauth", "the same sign-in with OAuth clients configured", 1.7, 1.4),
    Figure("state-oauth", "the same credential state with OAuth clients configured", 0.65, 0.5),
    Figure("introspection", "introspection of an access token, against HAProxy's bare verify", 4.0, 3.0),
    Figure("refresh", "refresh with rotation, durable, SQLite, against HAProxy's bare verify", 5.0, 4.0),
    Figure("code", "code for tokens without ID token, durable, SQLite, against HAProxy's bare verify", 6.0, 5.0),
    Figure("authorize", "authorize page of a person who is signed in, against HAProxy's bare verify", 3.0, 2.5),
    Figure("authorize-arrival", "authorization request that goes on to Apple, against HAProxy's bare verify", 3.0, 2.0),
    Figure("attestation", "attestation of a new key, durable, SQLite, CPU of the whole request", 1.0, 0.8, " ms"),
    Figure("assertion", "an assertion, CPU of a sign-in with one beyond a sign-in without", 0.2, 0.15, " ms"),
    Figure("sign-in-attested", "sign-in with an assertion, against one without", 1.6, 1.4),
    Figure("sign-in-receivers", "durable sign-in on SQLite with three receivers of events, against none", 1.1, 1.0),
    Figure(
        "sign-in-receivers-postgres", "durable sign-in on PostgreSQL with three receivers of events, against none",
        1.1, 1.0),
    Figure("delivery", "1,000 events a second to one receiver, SQLite, CPU of a core", 0.3, 0.2),
    Figure("delivery-postgres", "1,000 events a second to one receiver, PostgreSQL, CPU of a core", 0.3, 0.2),
    Figure("paused", "first sign-ins with three paused receivers, against none, SQLite", 1.05, 1.0),
    Figure("paused-postgres", "first sign-ins with three paused receivers, against none, PostgreSQL", 1.05, 1.0),
    Figure("nonce", "a new nonce, against a state query", 1.15, 1.0),
    Figure(
        "pgbench", "sign-ins per second on PostgreSQL, 64 connections, against pgbench's same upsert, 64 clients",
        1.0, 1.8, more_is_better=True),
    Figure(
        "sign-in-postgres", "durable sign-in on PostgreSQL, its server's CPU included, against HAProxy's bare verify",
        2.2, 2.0),
    Figure("jwt-kit", "verify, against jwt-kit on Hummingbird", 0.65, 0.45),
    Figure("pyjwt", "verify, against PyJWT on uvicorn", 0.1, 0.05),
    Figure("scale-state", "state query at {most} accounts against {fewest}", 1.3, 1.1),
    Figure("scale-sign-in", "sign-in at {most} accounts against {fewest}", 1.3, 1.1),
    Figure("scale-memory", "resident memory at {most} accounts, 256 connections", 80, 80, " MB"),
    *(
        Figure(f"{part}-{kind}", f"{title} at 1,000,000 grants against 10,000, {store}", 1.3, 1.1)
        for part, store in (("scale-grants", "SQLite"), ("scale-grants-postgres", "PostgreSQL"))
        for kind, title in (("introspection", "introspection"), ("refresh", "refresh"), ("code", "code for tokens"))),
    Figure("console", "a page of the console with up to 1,000,000 people, the slowest median", 50, 20, " ms"),
    Figure("half-peak", "p99 at half of the peak rate, the worst of verify, sign-in and state", 10, 5, " ms"),
    Figure(
        "overload", "successes at twice the peak rate, as a share of the peak, the worse of verify and sign-in",
        0.9, 1.0, more_is_better=True),
]
