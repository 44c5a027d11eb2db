"""social-auth-core's generic backend for OpenID Connect: `SOCIAL_AUTH_OIDC_USE_PKCE = True`."""

from urllib.parse import parse_qsl, urlsplit

from relying import ISSUER, User, expect, given, introspect, is_missing, without_pkce

from social_core.backends.open_id_connect import OpenIdConnectAuth
from social_core.exceptions import AuthException
from social_core.storage import BaseStorage
from social_core.strategy import BaseStrategy

web = given["clients"]["web"]
remembered = {}


def remember(details, uid, response, **rest):
    remembered.update(details=details, uid=uid, response=response)


class States:
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


class Associations:
    """Where the library keeps its nonces."""

    kept = []

    @classmethod
    def store(cls, server_url, association):
        kept = cls()
        kept.id, kept.server_url = len(cls.kept), server_url
        kept.handle, kept.assoc_type = association.handle, association.assoc_type
        cls.kept.append(kept)

    @classmethod
    def get(cls, server_url, handle):
        return [one for one in cls.kept if (one.server_url, one.handle) == (server_url, handle)]

    @classmethod
    def remove(cls, ids_to_delete):
        cls.kept = [one for one in cls.kept if one.id not in ids_to_delete]

    def is_expired(self):
        return False


class Storage(BaseStorage):
    nonce = States
    association = Associations


class Strategy(BaseStrategy):
    """A web framework without a web: one session, one request."""

    settings = {
        "SOCIAL_AUTH_OIDC_OIDC_ENDPOINT": ISSUER,
        "SOCIAL_AUTH_OIDC_KEY": web["id"],
        "SOCIAL_AUTH_OIDC_SECRET": web["secret"],
        "SOCIAL_AUTH_OIDC_SCOPE": ["offline_access"],
        "SOCIAL_AUTH_OIDC_USE_PKCE": True,
        "SOCIAL_AUTH_PIPELINE": (
            "social_core.pipeline.social_auth.social_details",
            "social_core.pipeline.social_auth.social_uid",
            "__main__.remember",
        ),
    }
    session = {}

    def __init__(self, data):
        super().__init__(storage=Storage)
        self.data = data

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
    return OpenIdConnectAuth(Strategy(data), redirect_uri=web["redirect_uri"])


def sign_in():
    answer = User().authorize(backend({}).auth_url(), web["redirect_uri"])
    form = dict(parse_qsl(urlsplit(answer).query))
    if "error" not in form:
        backend(form).auth_complete()
    return answer


sign_in()
expect(remembered["uid"].startswith("acc_"), f"{remembered}")
expect(remembered["details"]["first_name"] == "Ada" and remembered["details"]["email"], f"{remembered['details']}")
response = remembered["response"]
expect(introspect(response["access_token"])["active"], "the access token")
refreshed = backend({}).refresh_token(response["refresh_token"])
expect(introspect(refreshed["access_token"])["active"], "the new access token")

Strategy.settings["SOCIAL_AUTH_OIDC_USE_PKCE"] = False
is_missing("code challenge", sign_in())
# Without PKCE it sends a nonce, and compares it with the one of the ID token.
Strategy.settings.update(SOCIAL_AUTH_OIDC_KEY=without_pkce["id"], SOCIAL_AUTH_OIDC_SECRET=without_pkce["secret"])
remembered.clear()
sign_in()
expect(remembered["uid"].startswith("acc_"), f"{remembered}")
Associations.kept = []
try:
    url = backend({}).auth_url()
    Associations.kept = []
    backend(dict(parse_qsl(urlsplit(User().authorize(url, web["redirect_uri"])).query))).auth_complete()
    expect(False, "a nonce that it does not know is refused")
except AuthException:
    pass
print("done")
