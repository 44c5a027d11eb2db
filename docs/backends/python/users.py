"""The backend's own tables: its users with their sessions, and what it keeps of siwa's events. Keep yours.

Environment: DATABASE, a file, by default backend.sqlite. PASSWORD_USERS, users who have a password, separated by
commas, as user_id:name:iterations:salt:hash with salt and hash in hexadecimal (PBKDF2 with HMAC-SHA-256).
"""
import hashlib, hmac, os, secrets, sqlite3, threading, time
from datetime import datetime

from siwa_client import SiwaError, to_json

DAYS_OF_HANDLED = 8  # siwa sends an event again for seven days
lock = threading.RLock()  # one connection to the database serves all threads
sqlite3.register_adapter(datetime, to_json)  # times have one format, so that they compare as text
db = sqlite3.connect(os.environ.get("DATABASE", "backend.sqlite"), check_same_thread=False)
db.executescript("""
    PRAGMA foreign_keys = ON;
    CREATE TABLE IF NOT EXISTS users (
        user_id TEXT PRIMARY KEY,   -- your own user ID; all your other tables refer to it
        account_id TEXT UNIQUE,     -- `account.id` of siwa
        team_id TEXT, sub TEXT,     -- Apple's ID of the user, for states and for the second search
        former_account_id TEXT,     -- the previous account_id, for an account_erased that arrives late
        name TEXT UNIQUE, password TEXT);
    CREATE INDEX IF NOT EXISTS users_by_sub ON users (team_id, sub);
    CREATE TABLE IF NOT EXISTS sessions (
        session_hash TEXT PRIMARY KEY,  -- SHA-256 of the token that the app has
        user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
        since TEXT,                     -- `credential.since` of siwa; NULL if the session began with a password
        created_at INTEGER NOT NULL);   -- for your usual expiry of sessions
    -- The latest credential_revoked or sessions_ended of each account. A row is needed for a few minutes.
    CREATE TABLE IF NOT EXISTS revocations (account_id TEXT PRIMARY KEY, occurred_at TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS disabled (account_id TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS feed (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS handled (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL);  -- of webhooks
    CREATE INDEX IF NOT EXISTS handled_by_time ON handled (at);
""")


def run(sql, *values):
    with lock, db:
        return db.execute(sql, values).fetchall()


for entry in filter(None, os.environ.get("PASSWORD_USERS", "").split(",")):
    run("INSERT INTO users (user_id, name, password) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", *entry.split(":", 2))


def hashed(session):
    return hashlib.sha256(session.encode()).hexdigest()


def make_session(user_id, since=None):
    session = secrets.token_urlsafe(32)
    run("INSERT INTO sessions VALUES (?, ?, ?, ?)", hashed(session), user_id, since, int(time.time()))
    return {"session": session, "user_id": user_id}


def session_in(request):
    return hashed(request.headers.get("Authorization", "").removeprefix("Bearer "))


def of(request, even_disabled=False):
    """The user of the request's session."""
    sql = "SELECT user_id, account_id FROM users NATURAL JOIN sessions WHERE session_hash = ?"
    rows = run(sql, session_in(request))
    if not rows:
        raise SiwaError("session_ended", 401)  # the app gets it in the form of siwa's refusals
    user = dict(zip(("user_id", "account_id"), rows[0]))
    if not even_disabled and run("SELECT 1 FROM disabled WHERE account_id = ?", user["account_id"]):
        raise SiwaError("account_disabled", 403)  # until the account is enabled, when the session is good again
    return user


def account_of(request):
    """siwa's ID of the user's account. Empty for a user who has only a password."""
    return of(request)["account_id"] or ""


def apple_account(request):
    """The account, and the time of the sign-in with Apple that began the session."""
    with lock:
        # About a disabled account siwa decides, which has the URL with which Google ends linking.
        account_id = of(request, even_disabled=True)["account_id"]
        since = run("SELECT since FROM sessions WHERE session_hash = ?", session_in(request))[0][0]
    if not account_id:
        raise SiwaError("apple_account_missing", 409)  # the user has only a password
    return {"account_id": account_id, "authenticated_at": since}


def sign_in(user_id, account, since):
    """Makes a session. With the ID of a user, attaches the Apple Account to this user."""
    with lock:
        # The event of a revocation can arrive before the response of the sign-in that it revokes.
        if run("SELECT 1 FROM revocations WHERE account_id = ? AND occurred_at >= ?", account.id, since):
            raise SiwaError("credential_revoked", 401)
        # After a restore of siwa's database the same user can have another account ID, with the same sub.
        owner = (run("SELECT user_id FROM users WHERE account_id = ?", account.id)
                 or run("SELECT user_id FROM users WHERE team_id = ? AND sub = ?", account.team_id, account.sub))
        user_id = user_id or (owner[0][0] if owner else "usr_" + secrets.token_hex(16))
        if owner and owner[0][0] != user_id:
            raise SiwaError("other_apple_account", 409)  # of another user
        if not owner and run("SELECT 1 FROM users WHERE user_id = ? AND account_id NOT NULL", user_id):
            raise SiwaError("other_apple_account", 409)  # this user has another Apple Account
        run("INSERT INTO users (user_id) VALUES (?) ON CONFLICT DO NOTHING", user_id)
        run("UPDATE users SET former_account_id = coalesce(nullif(account_id, ?1), former_account_id),"
            " account_id = ?1, team_id = ?2, sub = ?3 WHERE user_id = ?4",
            account.id, account.team_id, account.sub, user_id)
        return make_session(user_id, since)


def sign_in_with_password(name, password):
    rows = run("SELECT user_id, password FROM users WHERE name = ?", name)
    user_id, stored = rows[0] if rows else ("", "600000::")  # takes as long for an unknown name
    iterations, salt, digest = stored.split(":")
    found = hashlib.pbkdf2_hmac("sha256", password.encode(), bytes.fromhex(salt), int(iterations)).hex()
    if not hmac.compare_digest(found, digest):
        raise SiwaError("password_wrong", 401)
    return make_session(user_id)


def sign_out(request):
    """Ends this session only: the account, the user's consent and other devices stay as they are."""
    run("DELETE FROM sessions WHERE session_hash = ?", session_in(request))
    return {}


def delete(user_id):
    run("DELETE FROM users WHERE user_id = ?", user_id)


def end_sessions(account_id, moment, even_of_password=False):
    """Ends the sessions that are not later than the moment: the user may have signed in again."""
    run("INSERT INTO revocations VALUES (?, ?) ON CONFLICT (account_id)"
        " DO UPDATE SET occurred_at = max(occurred_at, excluded.occurred_at)", account_id, moment)
    run("DELETE FROM sessions WHERE (since <= ? OR (since IS NULL AND ?))"
        " AND user_id = (SELECT user_id FROM users WHERE account_id = ?)", moment, even_of_password, account_id)


def forget(account_id):
    """Deletes the user of an account. A user who has a password stays, without the Apple Account."""
    # A user who has signed in again since the erasure was found by sub, and is deleted here as well.
    users = "SELECT user_id FROM users WHERE ? IN (account_id, former_account_id)"
    with lock:
        run(f"DELETE FROM users WHERE password IS NULL AND user_id IN ({users})", account_id)
        run(f"DELETE FROM sessions WHERE since NOT NULL AND user_id IN ({users})", account_id)
        run("UPDATE users SET account_id = NULL, team_id = NULL, sub = NULL, former_account_id = NULL"
            f" WHERE user_id IN ({users})", account_id)
        set_disabled(account_id, False)


def set_disabled(account_id, is_disabled):
    run("INSERT INTO disabled VALUES (?) ON CONFLICT DO NOTHING" if is_disabled else
        "DELETE FROM disabled WHERE account_id = ?", account_id)


def move(account_id, team_id, sub):
    run("UPDATE users SET team_id = ?, sub = ? WHERE account_id = ?", team_id, sub, account_id)


def sub_of(account_id):
    """Apple's ID of the account's user, or None for an unknown account."""
    return next((sub for sub, in run("SELECT sub FROM users WHERE account_id = ?", account_id)), None)


def with_apple_accounts():
    """By sub: the ID of the account, and the latest `since` of the user's sessions."""
    rows = run("SELECT sub, account_id, max(since) FROM users LEFT JOIN sessions USING (user_id)"
               " WHERE sub NOT NULL GROUP BY sub")
    return {sub: (account_id, since and datetime.fromisoformat(since.replace("Z", "+00:00")))
            for sub, account_id, since in rows}


def once(event, handle):
    """Handles the event of a webhook. A late copy is not handled again, because it could undo later events."""
    if not run("SELECT 1 FROM handled WHERE event_id = ?", event.id):
        handle(event)
        now = int(time.time())
        run("DELETE FROM handled WHERE at < ?", now - DAYS_OF_HANDLED * 86_400)
        run("INSERT INTO handled VALUES (?, ?) ON CONFLICT DO NOTHING", event.id, now)


def load():
    """The cursor of the last event that was handled, or None for a new backend."""
    return next((cursor for cursor, in run("SELECT cursor FROM feed")), None)


def save(cursor):
    run("INSERT INTO feed VALUES (1, ?) ON CONFLICT DO UPDATE SET cursor = excluded.cursor", cursor)
