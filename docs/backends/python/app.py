"""The backend's part of Sign in with Apple, with Flask and siwa-client. users.py has the backend's own tables.

Environment: SIWA_URL, SIWA_API_KEY, SIWA_CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at, 127.0.0.1
and 8000 by default. With SIWA_WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed.
"""
import logging, os, sys, threading, time

import users
from flask import Flask, request
from siwa_client import SiwaClient, SiwaError, to_json
from siwa_client.frameworks import flask_errors
from siwa_client.models import CredentialReason, CredentialState, EventType
from werkzeug.exceptions import HTTPException
from werkzeug.serving import make_server

if missing := [name for name in ("SIWA_URL", "SIWA_API_KEY", "SIWA_CLIENT_ID") if not os.environ.get(name)]:
    sys.exit("missing environment variables: " + ", ".join(missing))
try:
    siwa = SiwaClient()
    siwa.make_nonce()  # so that a wrong key is found at the start
except (ValueError, SiwaError) as error:
    if not getattr(error, "is_temporary", False):
        sys.exit(f"cannot start: {error}")


def session():
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


def form():
    return request.get_json() if isinstance(request.get_json(), dict) else {}


def sign_in():
    """With a session, attaches the Apple Account to the user of the session."""
    check_feed()
    user_id = users.of(session()).user_id if session() else None
    outcome = siwa.sign_in(form())
    return users.sign_in(user_id, outcome.account, outcome.credential.since)


def delete():
    user = users.of(session())
    report = to_json(unless_gone(siwa.delete, user.account_id)) or {}
    users.delete(user.user_id)
    return {name: report[name] for name in ("user_must_revoke", "instructions") if name in report}


def unless_gone(call, *arguments):
    """Returns None if siwa has ended it already, or if the user has only a password."""
    try:
        return call(*arguments)
    except SiwaError as error:
        if error.code not in ("account_not_found", "grant_not_found"):
            raise


def unlink(link):
    unless_gone(siwa.end_grant, users.of(session()).account_id, f"grt_{link}")
    return {}


def google_link():
    """Without a decision, returns what the app asks the user. With a decision, returns the URL to open."""
    decision, account = form().get("decision"), {}
    # The account is that of the session, never one that the app names. A user who refuses need not be known.
    if decision == "granted" or (decision is None and session()):
        # About a disabled account siwa decides, which has the URL with which Google ends linking.
        user = users.of(session(), even_disabled=True)
        if not user.account_id:
            raise SiwaError("apple_account_missing", 409)  # the user has only a password
        account = {"account_id": user.account_id, "authenticated_at": user.since}
    return to_json((siwa.app_flip_prompt if decision is None else siwa.app_flip)(form(), **account))


def handle(event):
    """Handles one event. After a crash the same event can come again."""
    if event.type == EventType.CREDENTIAL_REVOKED and event.client_id == os.environ["SIWA_CLIENT_ID"]:
        users.end_sessions(event.account_id, event.occurred_at)
    elif event.type == EventType.SESSIONS_ENDED:  # everywhere, also where the session began with a password
        users.end_sessions(event.account_id, event.occurred_at, even_of_password=True)
    elif event.type in (EventType.ACCOUNT_DISABLED, EventType.ACCOUNT_ENABLED):
        users.set_disabled(event.account_id, event.type == EventType.ACCOUNT_DISABLED)
    elif event.type == EventType.ACCOUNT_DELETED:
        delete_unless_authorized(event.account_id)
    elif event.type == EventType.ACCOUNT_ERASED:
        users.forget(event.account_id)
    elif event.type == EventType.ACCOUNT_TRANSFERRED:  # to another team, where the user has another sub
        users.move(event.account_id, event.team_id, event.sub)


def delete_unless_authorized(account_id):
    """After the Apple Account was deleted. The user may have kept it and signed in again."""
    sub = users.sub_of(account_id)
    if sub and siwa.state(sub).state != CredentialState.AUTHORIZED:
        unless_gone(siwa.delete, account_id)
        users.forget(account_id)


def read_states():
    """Called by the feed when events were missed."""
    known = users.with_apple_accounts()
    for credential in siwa.states(list(known)):
        account_id, since = known[credential.sub]
        users.set_disabled(account_id, credential.account_disabled)
        if credential.reason == CredentialReason.APPLE_ACCOUNT_DELETED:
            delete_unless_authorized(account_id)
        elif credential.reason == CredentialReason.ERASED:
            users.forget(account_id)
        elif credential.state != CredentialState.AUTHORIZED:
            # If siwa does not know the user, the sessions from before the query end.
            users.end_sessions(account_id, credential.since or since)


def follow_events():
    while True:
        try:
            feed.begin()
            for event in () if has_webhooks else feed:
                handle(event)
            return
        except Exception:
            logging.exception("reading events failed; the next attempt has the same cursor")
            time.sleep(2)


def check_feed():
    if feed.cursor is None:
        raise SiwaError("try_again", 503)  # the states are still being read, or a revocation could be missed


def webhook():
    """siwa gets 2xx when everything is stored, and sends the event again otherwise."""
    event = siwa.verify_webhook(request.headers, request.get_data())
    check_feed()
    if not users.is_handled(event.id):  # a late copy must not undo later events
        handle(event)
        users.keep_handled(event.id)
    return {}


has_webhooks = bool(os.environ.get("SIWA_WEBHOOK_SECRETS"))
feed = siwa.events(users, resync=read_states)
app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 65_536
flask_errors(app)
app.register_error_handler(HTTPException, lambda error: ({"error": error.name.lower().replace(" ", "_")}, error.code))
for route, view in {
    "POST /nonce": lambda: to_json(siwa.make_nonce()),
    "POST /signin": sign_in,
    "POST /password": lambda: users.sign_in_with_password(str(form().get("name")), str(form().get("password"))),
    "GET /me": lambda: {"user_id": users.of(session()).user_id, "account_id": users.of(session()).account_id or None},
    "POST /signout": lambda: users.sign_out(session()),
    "DELETE /account": delete,
    "POST /app-attest/challenges": lambda: to_json(siwa.make_challenge(form().get("purpose"))),
    "POST /app-attest/keys": lambda: to_json(siwa.register_key(form())),
    "POST /google-link": google_link,
    "GET /links": lambda: {"links": to_json(unless_gone(siwa.grants, users.of(session()).account_id) or [])},
    "DELETE /links/grt_<uuid:link>": unlink,
    **({"POST /siwa": webhook} if has_webhooks else {}),
}.items():
    app.add_url_rule(route.split()[1], route, view, methods=[route.split()[0]])

if __name__ == "__main__":
    threading.Thread(target=follow_events, daemon=True).start()
    make_server(os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000")), app, threaded=True).serve_forever()
