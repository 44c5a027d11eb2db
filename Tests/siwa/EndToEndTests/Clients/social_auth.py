"""social-auth-core's own backend for Apple: authorize, exchange, refresh, revoke."""

from fake_apple import ISSUER, User, expect, finish, given, private_key

from social_core.backends.apple import AppleIdAuth
from social_core.exceptions import AuthCredentialError
from social_core.storage import BaseStorage
from social_core.strategy import BaseStrategy

remembered = {}


class AppleWithTokens(AppleIdAuth):
    """The backend keeps the identity token's claims only. An application that needs the other tokens remembers them."""

    REVOKE_TOKEN_URL = f"{ISSUER}/auth/revoke"

    def request_access_token(self, *arguments, **named):
        tokens = super().request_access_token(*arguments, **named)
        remembered["tokens"] = tokens
        return tokens

    def revoke_token_params(self, token, uid):
        client_id, secret = self.get_key_and_secret()
        return {"client_id": client_id, "client_secret": secret, "token": token}


def remember(details, uid, response, **rest):
    remembered.update(details=details, uid=uid, claims=response)


class Nonces:
    used = set()

    @classmethod
    def use(cls, scope, timestamp, salt):
        cls.used.add((scope, timestamp, salt))
        return True

    @classmethod
    def consume(cls, scope, timestamp, salt):
        known = (scope, timestamp, salt) in cls.used
        cls.used.discard((scope, timestamp, salt))
        return known


class Storage(BaseStorage):
    nonce = Nonces


class Strategy(BaseStrategy):
    """A web framework without a web: one session, one request."""

    settings = {
        "SOCIAL_AUTH_APPLE_ID_CLIENT": given["client_id"],
        "SOCIAL_AUTH_APPLE_ID_TEAM": given["team"],
        "SOCIAL_AUTH_APPLE_ID_KEY": given["key_id"],
        "SOCIAL_AUTH_APPLE_ID_SECRET": private_key(),
        "SOCIAL_AUTH_APPLE_ID_SCOPE": ["name", "email"],
        "SOCIAL_AUTH_PIPELINE": (
            "social_core.pipeline.social_auth.social_details",
            "social_core.pipeline.social_auth.social_uid",
            "__main__.remember",
        ),
    }

    def __init__(self, data):
        super().__init__(storage=Storage)
        self.data = data

    session = {}

    def get_setting(self, name):
        return self.settings[name]

    def get_request_data(self, merge=True):
        return self.data

    def build_absolute_uri(self, path=None):
        return path

    def session_get(self, name, default=None):
        return self.session.get(name, default)

    def session_set(self, name, value):
        self.session[name] = value

    def session_pop(self, name):
        return self.session.pop(name, None)


def backend(data):
    return AppleWithTokens(Strategy(data), redirect_uri=given["redirect_uri"])


address, form = User().sign_in(backend({}).auth_url())
expect(address == given["redirect_uri"], address)
expect("user" in form, "the name comes with the first authorization")
backend(form).auth_complete()
expect(remembered["uid"] == remembered["claims"]["sub"], "the user ID")
expect(remembered["details"]["first_name"], "the name")
tokens = remembered["tokens"]

refreshed = backend({}).refresh_token(tokens["refresh_token"])
expect(refreshed["access_token"] != tokens["access_token"], "a new access token")
claims = backend({}).decode_id_token(refreshed["id_token"])
expect(claims["sub"] == remembered["uid"], "the same user")

backend({}).revoke_token(tokens["refresh_token"], remembered["uid"])
try:
    backend({}).refresh_token(tokens["refresh_token"])
    expect(False, "a revoked token is refused")
except AuthCredentialError as refusal:
    expect(refusal.code == "reauthentication_required", refusal.code)
finish()
