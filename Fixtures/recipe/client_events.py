"""Vectors of events: in signed webhooks, and read from the feed with a cursor."""

from cases import AT
from client_cases import (
    CLIENT_EVENTS, CLIENT_WEBHOOKS, call, exchange, get, ok, page, problem, refusal, vector)
from jws import json_bytes
from webhooks import BODY, EVENT, ID, NEW, OLD, STRANGE, WEBHOOKS, sign

# Webhooks.


def webhook(name, summary, event=None, error=None, body=None, secrets=OLD, names=None):
    """A message that siwa signs by the old secret, changed in the points named."""
    body = json_bytes(event).decode() if body is None else body
    headers = names or {"webhook-id": ID, "webhook-timestamp": str(AT), "webhook-signature": sign(OLD, body=body)}
    vector(CLIENT_WEBHOOKS, name, summary, [],
           [call("verify_webhook", {"secrets": secrets, "headers": headers, "body": body}, event, error)])


GRANT = {**{name: EVENT[name] for name in ("id", "team_id", "account_id", "client_id", "occurred_at", "recorded_at")},
         "type": "grant_revoked", "reason": "google_revoked", "grant": {
             "id": "grt_01a1fbea-fd31-7c11-8a3b-0e1c2d3f4a5b", "client_id": "google", "reason": "google_revoked",
             "google_event": {"type": "account-disabled", "reason": "hijacking"}}}
MALFORMED = {"code": "event_malformed", "status": 400}
webhook("event", "The event of a revocation, with all its members.", EVENT)
webhook("event-of-a-grant", "Objects in objects.", GRANT)
webhook("event-minimal", "An event about a user without an account.",
        {**{name: EVENT[name] for name in ("id", "team_id", "occurred_at", "recorded_at")}, "type": "credential_revoked"})
webhook("event-of-2031", "An unknown type, and unknown members of any form, are no error.",
        {**EVENT, "type": "passkey_added", "reason": "new_reason"},
        body=json_bytes({**EVENT, "type": "passkey_added", "reason": "new_reason", "detail": [{"a": None}]}).decode())
webhook("headers-in-capitals", "Frameworks differ in the case of header names.", EVENT, names={
    "Webhook-Id": ID, "WEBHOOK-TIMESTAMP": str(AT), "Webhook-Signature": sign(OLD, body=BODY)})
for name, body in [("array", "[]"), ("text", "\"event\""), ("empty", ""), ("html", "<html>"),
                   ("without-type", "{\"id\":\"evt_1\"}"), ("time-malformed", BODY.replace(EVENT["occurred_at"], "soon")),
                   ("id-number", BODY.replace(f"\"{ID}\"", "7")), ("nested", "[" * 60_000)]:
    webhook(f"body-{name}", "A good signature, and no event: a refusal, not a crash.", error=MALFORMED, body=body)
for name in ("secret-wrong", "body-changed", "timestamp-stale", "timestamp-future", "id-missing", "accepted-300-seconds-old",
             "accepted-two-secrets-old-signature", "accepted-two-signatures-new-secret"):
    # Some of ../webhooks stand here too, so that this folder alone shows what a package must do.
    case = WEBHOOKS[name]
    status = {"webhook_signature_invalid": 401}.get(case.get("code"), 400)
    error = {"code": case["code"], "status": status} if "code" in case else None
    CLIENT_WEBHOOKS[name] = {
        "summary": case["summary"], "at": case["at"], "exchanges": [], "steps": [call(
            "verify_webhook", {"secrets": case["secrets"], "headers": case["headers"], "body": case["body"]}, EVENT, error)]}
webhook("three-secrets", "A receiver may have any number of secrets.", EVENT, secrets=f"{NEW} {STRANGE} {OLD}")

# The feed.
IDS = [f"evt_01a1fbea-fd31-70c4-8d21-64a7bb3d2a{number}" for number in range(10, 20)]


def feed(name, summary, exchanges, trace, cursor="c0", waits=(), error=None, resync=False, take=None, **more):
    arguments = {"cursor": cursor, "take": take or len(trace)}
    arguments.update({"resync": True} if resync else {})
    arguments.update(more)
    vector(CLIENT_EVENTS, name, summary, exchanges,
           [call("events", arguments, trace, error, **({"waits": list(waits)} if waits else {}))])


def ask(after, response, wait=30):
    return exchange(get(f"/v1/events?after={after}&wait={wait}"), response)


def events(*numbers, cursor, more=False):
    return ok({"events": [{**EVENT, "id": IDS[number]} for number in numbers], "cursor": cursor, "has_more": more})


LATEST = exchange(get("/v1/events?after=latest"), events(cursor="c9"))
AHEAD = problem(409, "cursor_ahead")
feed("pages", "The cursor is saved when the events of its page are handled, and not before.",
     [ask("c0", events(0, 1, cursor="c2", more=True)), ask("c2", events(2, cursor="c3"))],
     ["load", IDS[0], IDS[1], "save c2", IDS[2]])
feed("long-poll", "A page without events has the same cursor, which needs no save. The pause protects against a service "
     "that does not wait.", [ask("c0", events(cursor="c0")), ask("c0", events(0, cursor="c1"))], ["load", IDS[0]], waits=[1])
feed("page-without-events-and-another-cursor", "Events that the key may not see move the cursor.",
     [ask("c0", events(cursor="c5")), ask("c5", events(0, cursor="c6"))], ["load", "save c5", IDS[0]])
feed("cursor-encoded", "A cursor is opaque: it is a parameter, whatever it contains.",
     [ask("a%2Bb%26c%3D%2F%20", events(0, cursor="c1"))], ["load", IDS[0]], cursor="a+b&c=/ ")
feed("handler-fails", "The events of the page come again: the cursor is not saved.",
     [ask("c0", events(0, 1, cursor="c2"))], ["load", IDS[0]], take=9, fail_at=IDS[1])
feed("restart", "The cursor of the store, and the event after it.", [ask("c2", events(2, cursor="c3"))], ["load", IDS[2]],
     cursor="c2")
feed("first-start", "Without a cursor: the end of the feed, which is saved before anything is read.",
     [LATEST, ask("c9", events(0, cursor="d1"))], ["load", "save c9", IDS[0]], cursor=None)
feed("first-start-with-resync", "The end first, then all states, then the save: no change in between is missed.",
     [LATEST, ask("c9", events(0, cursor="d1"))], ["load", "resync", "save c9", IDS[0]], cursor=None, resync=True)
feed("first-start-while-down", "siwa does not respond at the start.",
     [exchange(LATEST["request"], page(503)), LATEST, ask("c9", events(0, cursor="d1"))],
     ["load", "resync", "save c9", IDS[0]], cursor=None, resync=True, waits=[1])
feed("cursor-ahead", "The database was restored: all states are read again.",
     [ask("c0", AHEAD), LATEST, ask("c9", events(0, cursor="d1"))], ["load", "resync", "save c9", IDS[0]], resync=True)
feed("cursor-ahead-without-resync", "Events were missed, so the client does not go on by itself.", [ask("c0", AHEAD)], None,
     error=refusal("cursor_ahead", 409), take=9)
feed("unavailable-between", "The next attempt has the same cursor, after siwa's pause.",
     [ask("c0", events(0, cursor="c1")), ask("c1", problem(503, "overloaded", {"retry-after": "3"})),
      ask("c1", events(1, cursor="c2"))], ["load", IDS[0], "save c1", IDS[1]], waits=[3])
feed("outage", "The pauses grow from a second to a minute, and begin again after a response.",
     [ask("c0", page(502))] * 8 + [ask("c0", events(0, cursor="c1")), ask("c1", page(502)), ask("c1", events(1, cursor="c2"))],
     ["load", IDS[0], "save c1", IDS[1]], waits=[1, 2, 4, 8, 16, 32, 60, 60, 1])
feed("lost-response", "The response is cut off in an event. No event of it is handled.",
     [ask("c0", {**events(0, 1, cursor="c2"), "fault": "cut", "bytes": 500}), ask("c0", events(0, 1, cursor="c2"))],
     ["load", IDS[0], IDS[1]], waits=[1])
feed("key-wrong", "A wrong key does not mend itself: the caller gets the error.",
     [ask("c0", problem(401, "caller_unauthenticated"))], None, error=refusal("caller_unauthenticated", 401), take=9)
feed("html", "The URL is that of another server.", [ask("c0", page(200))], None,
     error={"code": "unexpected_response", "request_id": None}, take=9)
feed("page-malformed", "One event is malformed. No event of the page is handled.",
     [ask("c0", ok({"events": [EVENT, {"id": 7}], "cursor": "c2", "has_more": False}))], None,
     error={"code": "unexpected_response"}, take=9)
feed("event-of-2031", "An unknown type is handled as any other.",
     [ask("c0", ok({"events": [{**EVENT, "type": "passkey_added", "x": []}], "cursor": "c1", "has_more": False}))],
     ["load", EVENT["id"]])
