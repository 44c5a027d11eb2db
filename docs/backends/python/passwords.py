"""The password sign-in that your backend may have already; keep yours. This one reads its users from
PASSWORD_USERS, as user_id:name:iterations:salt:hash with salt and hash in hexadecimal, separated by commas
(PBKDF2 with HMAC-SHA-256)."""
import hashlib
import hmac
import os

USERS = {}
for entry in filter(None, os.environ.get("PASSWORD_USERS", "").split(",")):
    user_id, name, iterations, salt, digest = entry.split(":")
    USERS[name] = (user_id, int(iterations), bytes.fromhex(salt), bytes.fromhex(digest))


def check(name, password):
    """The user's ID, or None when the name is unknown or the password is wrong."""
    user_id, iterations, salt, digest = USERS.get(name, ("", 600_000, b"unknown", b""))
    found = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    return user_id if hmac.compare_digest(found, digest) else None


def exists(user_id):
    return any(user[0] == user_id for user in USERS.values())


def remove(user_id):
    for name in [name for name, user in USERS.items() if user[0] == user_id]:
        del USERS[name]
