"""The backend's part of Sign in with Apple, with Flask and siwa-client. users.py has the backend's own tables.
Environment: SIWA_URL, SIWA_API_KEY, SIWA_CLIENT_ID (the app's bundle ID), HOST and PORT. With SIWA_WEBHOOK_SECRETS,
events come to POST /siwa, and not from the feed."""
import os, sys

import users
from flask import Flask, request
from siwa_client import SiwaClient, SiwaError, frameworks, to_json
from werkzeug.exceptions import HTTPException

try:
    siwa = SiwaClient()
    siwa.check()
except (ValueError, SiwaError) as error:
    sys.exit(f"cannot start: {error}")
app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 65_536
frameworks.flask_errors(app)
app.register_error_handler(HTTPException, lambda error: ({"error": error.name.lower().replace(" ", "_")}, error.code))

def form():
    return request.get_json() if isinstance(request.get_json(), dict) else {}

def sign_in():
    """With a session, attaches the Apple Account to the user of the session."""
    feed.check()
    user_id = users.of(request)["user_id"] if "Authorization" in request.headers else None
    outcome = siwa.sign_in(form())
    return users.sign_in(user_id, outcome.account, outcome.credential.since)

def delete():
    user = users.of(request)
    report = to_json(unless_gone(siwa.delete, user["account_id"] or "")) or {}
    users.delete(user["user_id"])
    return {name: report[name] for name in ("user_must_revoke", "instructions") if name in report}

def unless_gone(call, *arguments):
    """Returns None if siwa no longer has the account or the grant, or if the user has only a password."""
    try:
        return call(*arguments)
    except SiwaError as error:
        if error.code not in ("account_not_found", "grant_not_found"):
            raise

def google_link():
    """Without a decision, returns what the app asks the user. With a decision, returns the URL to open."""
    decision = form().get("decision")
    # The account is that of the session, never one that the app names. A user who refuses need not be known.
    needs_account = decision == "granted" or (not decision and "Authorization" in request.headers)
    account = users.apple_account(request) if needs_account else {}
    return to_json((siwa.app_flip if decision else siwa.app_flip_prompt)(form(), **account))

def handle(event):
    """Handles one event. After a crash the same event can come again."""
    if not event.account_id:
        return  # about a user who has never signed in
    if event.type == "credential_revoked" and event.client_id == os.environ["SIWA_CLIENT_ID"]:
        users.end_sessions(event.account_id, event.occurred_at)
    elif event.type == "sessions_ended":  # everywhere, also where the session began with a password
        users.end_sessions(event.account_id, event.occurred_at, even_of_password=True)
    elif event.type in ("account_disabled", "account_enabled"):
        users.set_disabled(event.account_id, event.type == "account_disabled")
    elif event.type == "account_deleted" and (sub := users.sub_of(event.account_id)):
        if siwa.state(sub).state != "authorized":  # otherwise the user has kept the Apple Account, and signed in again
            unless_gone(siwa.delete, event.account_id)
            users.forget(event.account_id)
    elif event.type == "account_erased":
        users.forget(event.account_id)
    elif event.type == "account_transferred":  # the app belongs to another team, where the user has another sub
        users.move(event.account_id, event.team_id, event.sub)

def webhook():
    """siwa gets 2xx when everything is stored, and sends the event again otherwise."""
    event = siwa.verify_webhook(request.headers, request.get_data())
    feed.check()  # the states that are being read can be older than the event
    users.once(event, handle)
    return {}

feed = siwa.events(users, resync=lambda: [handle(event) for event in siwa.missed_events(users.with_apple_accounts())])
has_webhooks = bool(os.environ.get("SIWA_WEBHOOK_SECRETS"))
for route, view in {
    "POST /nonce": lambda: to_json(siwa.make_nonce()),
    "POST /signin": sign_in,
    "POST /password": lambda: users.sign_in_with_password(str(form().get("name")), str(form().get("password"))),
    "GET /me": lambda: users.of(request),
    "POST /signout": lambda: users.sign_out(request),
    "DELETE /account": delete,
    "POST /app-attest/challenges": lambda: to_json(siwa.make_challenge(form().get("purpose"))),
    "POST /app-attest/keys": lambda: to_json(siwa.register_key(form())),
    "POST /google-link": google_link,
    "GET /links": lambda: {"links": to_json(unless_gone(siwa.grants, users.account_of(request)) or [])},
    "DELETE /links/grt_<uuid:id>": lambda id: unless_gone(siwa.end_grant, users.account_of(request), f"grt_{id}") or {},
    **({"POST /siwa": webhook} if has_webhooks else {}),
}.items():
    respond = lambda view=view, **path: (view(**path), {"Cache-Control": "no-store"})
    app.add_url_rule(route.split()[1], route, respond, methods=[route.split()[0]])

feed.start(None if has_webhooks else handle)  # in a thread
if __name__ == "__main__":
    app.run(os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000")))
