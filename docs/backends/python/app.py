"""The backend's part of Sign in with Apple, with the standard library of Python 3.9 or later.

Environment: SIWA_URL, SIWA_KEY (the API key), CLIENT_ID (the app's bundle ID), DATABASE (a file), and HOST and
PORT to listen at, 127.0.0.1 and 8000 by default. With WEBHOOK_SECRETS, events come to POST /siwa, and not from
the feed: one secret, or two with a space between them during a rotation.
"""
import hashlib, http.client, json, logging, os, re, secrets, sqlite3, sys, threading, time
import urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import passwords, webhooks

REQUIRED = ("SIWA_URL", "SIWA_KEY", "CLIENT_ID", "DATABASE")
if missing := [name for name in REQUIRED if not os.environ.get(name)]:
    sys.exit("missing environment variables: " + ", ".join(missing))
SIWA_URL, SIWA_KEY, CLIENT_ID, DATABASE = (os.environ[name] for name in REQUIRED)
try:
    WEBHOOK_KEYS = webhooks.keys(os.environ.get("WEBHOOK_SECRETS", ""))
except ValueError as error:
    sys.exit(f"WEBHOOK_SECRETS: {error}")
DAYS_OF_HANDLED = 8  # siwa sends an event again for seven days
feed_has_begun = threading.Event()
lock = threading.RLock()  # one connection to the database serves all threads
db = sqlite3.connect(DATABASE, check_same_thread=False)
db.executescript("""
    PRAGMA foreign_keys = ON;
    CREATE TABLE IF NOT EXISTS users (
        user_id TEXT PRIMARY KEY, account_id TEXT UNIQUE, team_id TEXT, sub TEXT, former_account_id TEXT);
    CREATE INDEX IF NOT EXISTS users_by_sub ON users (team_id, sub);
    CREATE TABLE IF NOT EXISTS sessions (
        session_hash TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
        since TEXT, created_at INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS revocations (account_id TEXT PRIMARY KEY, occurred_at TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS disabled (account_id TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS feed (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS handled (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS handled_by_time ON handled (at);
""")


class Refused(Exception):
    """What the app gets: a status, a code, and with a refused proof of App Attest cause and re_attest."""
    def __init__(self, status, code, **proof):
        super().__init__(code)
        self.status, self.code, self.proof = status, code, proof


class Misconfigured(Exception):
    """siwa does not accept the API key, or the response is not from siwa. The app gets a 500."""


def run(sql, *values):
    with lock, db:
        return db.execute(sql, values).fetchall()


def siwa(method, path, body=None, timeout=12):
    """Calls siwa. All calls of this file can be repeated, so a call with an unknown outcome is sent again."""
    for attempt in range(3):
        request = urllib.request.Request(SIWA_URL + path, method=method)
        request.add_header("Authorization", f"Bearer {SIWA_KEY}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        pause = 1
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return {} if response.status == 204 else json.load(response)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                problem = problem_of(error)
                code = problem["code"]
                if not code or code.startswith("caller_"):
                    text = f"siwa answers {error.code} {code}: check SIWA_URL and SIWA_KEY"
                    raise Misconfigured(text) from None
                proof = {name: problem[name] for name in ("cause", "re_attest") if name in problem}
                raise Refused(error.code, code, **proof) from None
            retry_after = error.headers.get("Retry-After", "")
            pause = min(int(retry_after), 5) if retry_after.isdigit() else 1
        except (OSError, ValueError, http.client.HTTPException):
            pass  # no connection, no response in time, or an incomplete response
        if attempt < 2:
            time.sleep(pause)
    logging.error("siwa does not answer at %s; requests that need it get 503", SIWA_URL)
    raise Refused(503, "try_again")


def problem_of(error):
    """The body of a refusal. Its code is "" when the response is not from siwa."""
    try:
        problem = json.load(error)
        return {**problem, "code": str(problem["code"])}
    except (ValueError, KeyError, TypeError):
        return {"code": ""}


def hashed(session):
    return hashlib.sha256(session.encode()).hexdigest()


def make_session(user_id, since):
    session = secrets.token_urlsafe(32)
    run("INSERT INTO sessions VALUES (?, ?, ?, ?)", hashed(session), user_id, since, int(time.time()))
    return {"session": session, "user_id": user_id}


def user_of(session, even_disabled=False):
    """The ID of the session's user, and siwa's ID of their account."""
    sql = "SELECT user_id, account_id FROM users NATURAL JOIN sessions WHERE session_hash = ?"
    rows = run(sql, hashed(session))
    if not rows:
        raise Refused(401, "session_ended")
    if not even_disabled and run("SELECT 1 FROM disabled WHERE account_id = ?", rows[0][1]):
        raise Refused(403, "account_disabled")  # until the account is enabled, when the session is good again
    return rows[0]


def sign_in(body, session):
    """With a session, attaches the Apple Account to the user of the session."""
    if not feed_has_begun.is_set():
        raise Refused(503, "try_again")  # the revocation of this sign-in could be missed
    user_id = user_of(session)[0] if session else None
    # Only nonces of siwa are limited to one sign-in. The digest that a stolen token contains would pass as
    # a nonce of your own.
    if not str(body.get("nonce")).startswith("siwa-nonce-"):
        raise Refused(400, "nonce_missing")
    members = {name: body.get(name) for name in ("identity_token", "authorization_code", "nonce", "user")}
    outcome = siwa("POST", "/v1/sign-ins", {**members, **proof_of(body), "client_id": CLIENT_ID})
    account_id, team_id, sub = (outcome["account"][name] for name in ("id", "team_id", "sub"))
    since = outcome["credential"]["since"]
    with lock:
        # The event of a revocation can arrive before the response of the sign-in that it revokes.
        if run("SELECT 1 FROM revocations WHERE account_id = ? AND occurred_at >= ?", account_id, since):
            raise Refused(401, "credential_revoked")
        # After a restore of siwa's database the same user can have another account_id, with the same sub.
        owner = (run("SELECT user_id FROM users WHERE account_id = ?", account_id)
                 or run("SELECT user_id FROM users WHERE team_id = ? AND sub = ?", team_id, sub))
        user_id = user_id or (owner[0][0] if owner else "usr_" + secrets.token_hex(16))
        if owner and owner[0][0] != user_id:
            raise Refused(409, "other_apple_account")  # of another user
        if not owner and run("SELECT 1 FROM users WHERE user_id = ? AND account_id NOT NULL", user_id):
            raise Refused(409, "other_apple_account")  # this user has another Apple Account
        run("INSERT INTO users (user_id) VALUES (?) ON CONFLICT DO NOTHING", user_id)
        run("UPDATE users SET former_account_id = coalesce(nullif(account_id, ?1), former_account_id),"
            " account_id = ?1, team_id = ?2, sub = ?3 WHERE user_id = ?4", account_id, team_id, sub, user_id)
        return make_session(user_id, since)


def proof_of(body):
    """The app's proof of App Attest and its version. siwa decides about them, so they are passed on as they are."""
    return {name: body.get(name) for name in ("attestation", "app_version")}


def challenge(body, _):
    """The app asks for a challenge before it attests a key, and before each proof."""
    return siwa("POST", "/v1/app-attest/challenges", {"purpose": body.get("purpose"), "client_id": CLIENT_ID})


def register_key(body, _):
    members = {name: body.get(name) for name in ("key_id", "attestation", "challenge")}
    return siwa("POST", "/v1/app-attest/keys", {**members, "client_id": CLIENT_ID})


def sign_in_with_password(body, _):
    user_id = passwords.check(str(body.get("name")), str(body.get("password")))
    if not user_id:
        raise Refused(401, "password_wrong")
    run("INSERT INTO users (user_id) VALUES (?) ON CONFLICT DO NOTHING", user_id)
    return make_session(user_id, None)


def sign_out(_, session):
    """Ends this session only: the account, the user's consent and other devices stay as they are."""
    run("DELETE FROM sessions WHERE session_hash = ?", hashed(session))
    return {}


def delete_user(_, session):
    user_id, account_id = user_of(session)
    erasure = erase(account_id) if account_id else {}
    passwords.remove(user_id)
    run("DELETE FROM users WHERE user_id = ?", user_id)
    return {name: erasure[name] for name in ("user_must_revoke", "instructions") if name in erasure}


def erase(account_id):
    try:
        return siwa("DELETE", f"/v1/accounts/{account_id}")["erasure"]
    except Refused as refused:
        if refused.code != "account_not_found":
            raise
        return {}


LINK_PARAMETERS = ("client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language",
                   "code_challenge", "code_challenge_method")


def account_of(session):
    """siwa's ID of the session's account, and the time of the sign-in with Apple that began the session."""
    with lock:
        # About a disabled account siwa decides, which has the URL with which Google ends linking.
        _, account_id = user_of(session, even_disabled=True)
        since = run("SELECT since FROM sessions WHERE session_hash = ?", hashed(session))[0][0]
    if not account_id:
        raise Refused(409, "apple_account_missing")  # the user has only a password
    return account_id, since


def google_link(body, session):
    """Without a decision, returns what the app asks the user. With a decision, returns the URL to open.

    A link that cannot succeed has a URL to open in both cases.
    """
    call = {name: body[name] for name in LINK_PARAMETERS if name in body}
    decision = body.get("decision")
    # The account is that of the session, never one that the app names. A user who refuses need not be known.
    if decision == "granted" or (decision is None and session):
        account_id, since = account_of(session)
        call.update(account_id=account_id, authenticated_at=since)
    if decision is None:
        return siwa("POST", "/v1/oauth/app-flip/prompt", call)
    return siwa("POST", "/v1/oauth/app-flip",
                {**call, **proof_of(body), "decision": decision, "granted_scopes": body.get("granted_scopes")})


def links(_, session):
    """The clients that have access to the account, such as Google."""
    account_id = user_of(session)[1]
    try:
        return {"links": siwa("GET", f"/v1/accounts/{account_id}/grants")["grants"] if account_id else []}
    except Refused as refused:
        if refused.code != "account_not_found":
            raise
        return {"links": []}


def unlink(body, session):
    """Ends a link of the session's user. It is done, too, when an earlier attempt has ended it."""
    account_id, link = user_of(session)[1], body["id"]
    if not re.fullmatch("grt_[0-9a-f-]{1,64}", link):
        raise Refused(404, "not_found")  # the ID becomes a part of a path
    try:
        return siwa("DELETE", f"/v1/accounts/{account_id}/grants/{link}") if account_id else {}
    except Refused as refused:
        if refused.code not in ("grant_not_found", "account_not_found"):
            raise
        return {}


def handle(event):
    """Handles one event. After a crash the same event can come again."""
    account_id, occurred_at = event.get("account_id"), event["occurred_at"]
    if not account_id:
        return  # about a user who has never signed in
    row = run("SELECT user_id, sub FROM users WHERE account_id = ?", account_id)
    if event["type"] == "credential_revoked" and event["client_id"] == CLIENT_ID:
        end_sessions(account_id, occurred_at)
    elif event["type"] == "sessions_ended":
        # The user was signed out everywhere, also where the session began with a password.
        end_sessions(account_id, occurred_at)
        run("DELETE FROM sessions WHERE since IS NULL AND user_id ="
            " (SELECT user_id FROM users WHERE account_id = ?)", account_id)
    elif event["type"] == "account_disabled":
        run("INSERT INTO disabled VALUES (?) ON CONFLICT DO NOTHING", account_id)
    elif event["type"] == "account_enabled":
        run("DELETE FROM disabled WHERE account_id = ?", account_id)
    elif event["type"] == "account_deleted" and row:
        # The user may have kept the Apple Account and signed in again: read the state.
        if siwa("GET", f"/v1/credentials/{quote(row[0][1])}?client_id={CLIENT_ID}")["state"] != "authorized":
            erase(account_id)
            forget(row[0][0])
    elif event["type"] == "account_erased":
        # A user who has signed in again since the erasure was found by sub, and is deleted here as well.
        sql = "SELECT user_id FROM users WHERE ? IN (account_id, former_account_id)"
        for (user_id,) in run(sql, account_id):
            forget(user_id)
        run("DELETE FROM disabled WHERE account_id = ?", account_id)
    elif event["type"] == "account_transferred":
        # The app belongs to another team, where the user has another sub.
        run("UPDATE users SET team_id = ?, sub = ? WHERE account_id = ?",
            event["team_id"], event.get("sub"), account_id)


def take_webhook(headers, body):
    """Handles the event of a webhook. siwa gets 2xx when everything is stored, and sends the event again otherwise."""
    try:
        event_id = webhooks.verify(headers, body, WEBHOOK_KEYS)
    except webhooks.Refused as refused:
        raise Refused(refused.status, refused.code) from None
    if not feed_has_begun.is_set():
        raise Refused(503, "try_again")  # the states that begin_feed is reading can be older than the event
    # An event that comes again is not handled again: later events may have come in between.
    if not run("SELECT 1 FROM handled WHERE event_id = ?", event_id):
        handle(json.loads(body))
        now = int(time.time())
        run("DELETE FROM handled WHERE at < ?", now - DAYS_OF_HANDLED * 86_400)
        run("INSERT INTO handled VALUES (?, ?) ON CONFLICT DO NOTHING", event_id, now)
    return {}


def end_sessions(account_id, moment):
    """Ends the sessions that are not later than the moment: the user may have signed in again.

    The times can be compared, and all have one format, so that they compare as text.
    """
    run("INSERT INTO revocations VALUES (?, ?) ON CONFLICT (account_id)"
        " DO UPDATE SET occurred_at = max(occurred_at, excluded.occurred_at)", account_id, moment)
    run("DELETE FROM sessions WHERE since <= ? AND user_id ="
        " (SELECT user_id FROM users WHERE account_id = ?)", moment, account_id)


def forget(user_id):
    """Deletes a user. A user who has a password stays, without the Apple Account."""
    if passwords.exists(user_id):
        run("DELETE FROM sessions WHERE user_id = ? AND since IS NOT NULL", user_id)
        run("UPDATE users SET account_id = NULL, team_id = NULL, sub = NULL, former_account_id = NULL"
            " WHERE user_id = ?", user_id)
    else:
        run("DELETE FROM users WHERE user_id = ?", user_id)


def cursor():
    """The cursor of the last event that was read, or "" for a new backend."""
    rows = run("SELECT cursor FROM feed")
    return rows[0][0] if rows else ""


def keep(end):
    run("INSERT INTO feed VALUES (1, ?) ON CONFLICT DO UPDATE SET cursor = excluded.cursor", end)


def read_events():
    """Reads one page."""
    try:
        page = siwa("GET", f"/v1/events?after={cursor()}&wait=30", timeout=45) if cursor() else None
    except Refused as refused:
        if refused.code != "cursor_ahead":
            raise
        page = None  # siwa's database was restored from a backup
    if page is None:
        return begin_feed()
    for event in page["events"]:
        handle(event)
    keep(page["cursor"])


def begin_feed():
    """Begins at the end of the feed when there is no usable cursor. The states replace earlier events."""
    end = siwa("GET", "/v1/events?after=latest")["cursor"]  # before the states, so that no change is missed
    sql = "SELECT sub, account_id, max(since) FROM users LEFT JOIN sessions USING (user_id) GROUP BY sub"
    users = {sub: (account_id, since or "") for sub, account_id, since in run(sql) if sub}
    for start in range(0, len(users), 1000):
        query = {"client_id": CLIENT_ID, "subs": list(users)[start : start + 1000]}
        for credential in siwa("POST", "/v1/credentials/query", query)["credentials"]:
            account_id, since = users[credential["sub"]]
            change = "account_disabled" if credential.get("account_disabled") else "account_enabled"
            handle({"type": change, "account_id": account_id, "occurred_at": since})
            if credential["state"] != "authorized":
                handle({"type": EVENT_OF_REASON.get(credential.get("reason"), "credential_revoked"),
                        "account_id": account_id, "client_id": CLIENT_ID,
                        # If siwa does not know the user, the sessions from before the query end.
                        "occurred_at": credential.get("since", since)})
    keep(end)
    feed_has_begun.set()


EVENT_OF_REASON = {"apple_account_deleted": "account_deleted", "erased": "account_erased"}


def start_feed():
    """If siwa does not respond at the start, begins the feed later, and only then takes sign-ins."""
    try:
        if cursor():
            feed_has_begun.set()
            siwa("GET", "/v1/events?after=latest")  # so that a wrong key is found at the start
        else:
            begin_feed()
    except Refused as refused:
        if refused.status != 503:
            raise


def follow_events():
    """Reads the feed. With webhooks, only until it has begun."""
    while not (WEBHOOK_KEYS and feed_has_begun.is_set()):
        try:
            read_events()
        except (Refused, Misconfigured) as error:
            logging.error("reading events failed (%s); the next attempt has the same cursor", error)
            time.sleep(2)
        except Exception:
            logging.exception("reading events failed; the next attempt has the same cursor")
            time.sleep(2)


ROUTES = {
    "POST /nonce": lambda *_: siwa("POST", "/v1/nonces"),
    "POST /app-attest/challenges": challenge,
    "POST /app-attest/keys": register_key,
    "POST /signin": sign_in,
    "POST /password": sign_in_with_password,
    "POST /signout": sign_out,
    "GET /me": lambda _, session: dict(zip(("user_id", "account_id"), user_of(session))),
    "DELETE /account": delete_user,
    "POST /google-link": google_link,
    "GET /links": links,
    "DELETE /links/": unlink,
}


class Handler(BaseHTTPRequestHandler):
    timeout = 30

    def respond(self):
        status = 200
        try:
            result = self.route()
        except Refused as refused:
            status, result = refused.status, {"error": refused.code, **refused.proof}
        except Misconfigured as error:
            logging.error("%s %s: %s", self.command, self.path, error)
            status, result = 500, {"error": "internal_error"}
        except Exception:
            logging.exception("%s %s", self.command, self.path)
            status, result = 500, {"error": "internal_error"}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(json.dumps(result).encode())

    def route(self):
        path, link = self.path, None
        if path.startswith("/links/"):
            path, link = "/links/", path.removeprefix("/links/")
        if WEBHOOK_KEYS and (self.command, path) == ("POST", "/siwa"):
            return take_webhook(self.headers, self.content(webhooks.LONGEST + 1))
        route = ROUTES.get(f"{self.command} {path}")
        if not route:
            raise Refused(404, "not_found")
        try:
            body = json.loads(self.content(65_536) or "{}")
        except ValueError:
            raise Refused(400, "body_not_json") from None
        if not isinstance(body, dict):
            raise Refused(400, "body_not_json")
        body = {"id": link} if link is not None else body
        return route(body, self.headers.get("Authorization", "").removeprefix("Bearer "))

    def content(self, most):
        """The beginning of the body."""
        length = self.headers["Content-Length"] or "0"
        if not re.fullmatch("[0-9]{1,9}", length):
            raise Refused(400, "body_not_json")
        return self.rfile.read(min(int(length), most))

    do_GET = do_POST = do_DELETE = respond


if __name__ == "__main__":
    address = (os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000")))
    try:
        start_feed()
        server = ThreadingHTTPServer(address, Handler)
    except (Refused, Misconfigured, OSError) as error:
        sys.exit(f"cannot start: {error}")
    threading.Thread(target=follow_events, daemon=True).start()
    print(f"listening on {address[0]}:{server.server_port}", flush=True)
    server.serve_forever()
