"""The clients of the OAuth cases, and the honest requests that every case departs from in one point."""

import base64
import hashlib
from urllib.parse import quote

ISSUER = "https://accounts.example.com"
APP = "com.example.siwa.app"
SECOND_APP = "com.example.siwa.second"

# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

# A secret has 32 random bytes. These are made of its client's name, so that they are always the same.
def secret(name):
    digest = hashlib.sha256(f"the secret of {name}".encode()).digest()
    return "siwa_cs_" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def hashed(name):
    return hashlib.sha256(secret(name).encode()).hexdigest()


SECRETS = {
    "google": [secret("google"), secret("google, the next one")],
    "google-second": [secret("google-second")],
    "google-third": [secret("google-third")],
    "shop": [secret("shop")],
    "ledger": [secret("ledger")],
    "installed": [secret("installed")],
}

HOST = "https://oauth-redirect.googleusercontent.com"
SANDBOX = "https://oauth-redirect-sandbox.googleusercontent.com"
BUNDLE_IDS = [
    "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise", "com.google.OPA",
    "com.google.OPA.dev", "com.google.OPA.enterprise",
]

CONFIGURATION = {
    "teams": [{
        "team_id": "FXTEAM0001",
        "apps": [
            {"client_ids": [APP, "com.example.siwa.web"], "web_redirect_url": "https://app.example.com/signed-in"},
            {"client_ids": [SECOND_APP, "com.example.siwa.second.web"],
             "web_redirect_url": "https://second.example.com/signed-in"},
        ],
    }],
    "oauth": {
        "issuer": ISSUER,
        "scopes": [
            {"name": "devices", "text": {"en": "Control your devices", "tr": "Cihazlarınızı kontrol etme"}},
            {"name": "history", "text": {"en": "See what your devices did"}, "optional": True},
        ],
        "clients": [
            {"id": "google", "kind": "google_linking", "app": APP, "name": {"en": "Google"},
             "secret_hashes": [hashed("google"), hashed("google, the next one")],
             "scopes": ["openid", "email", "devices", "history"], "project_id": "home-link-42",
             "google_client_ids": ["123-abc.apps.googleusercontent.com"], "app_flip": True},
            {"id": "google-second", "kind": "google_linking", "app": SECOND_APP, "name": {"en": "Google"},
             "secret_hashes": [hashed("google-second")], "scopes": ["devices"], "project_id": "second-7"},
            {"id": "google-third", "kind": "google_linking", "app": SECOND_APP, "name": {"en": "Google"},
             "secret_hashes": [hashed("google-third")], "scopes": ["devices"], "project_id": "third-8",
             "app_flip": True, "app_flip_bundle_ids": ["com.google.Future"], "max_authentication_age": 3600},
            {"id": "shop", "kind": "web", "app": APP, "name": {"en": "Example Shop"},
             "secret_hashes": [hashed("shop")], "scopes": ["openid", "profile", "email", "offline_access"],
             "redirect_uris": ["https://shop.example.com/cb", "https://shop.example.com/cb?tenant=1"]},
            {"id": "ledger", "kind": "web", "app": APP, "name": {"en": "Ledger"},
             "secret_hashes": [hashed("ledger")], "scopes": ["openid", "devices"],
             "redirect_uris": ["https://ledger.example.com/cb"], "audience": "https://api.example.com",
             "access_token_algorithm": "RS256", "access_token_lifetime": 600, "max_authentication_age": 3600},
            {"id": "desktop", "kind": "native", "app": APP, "name": {"en": "Example Desktop"},
             "scopes": ["openid", "profile", "email", "offline_access"], "platform": "linux",
             "redirect_uris": [
                 "com.example.app:/oauth2redirect", "http://127.0.0.1", "http://127.0.0.1/cb", "http://[::1]/cb"]},
            {"id": "phone", "kind": "native", "app": APP, "name": {"en": "Example Phone"},
             "scopes": ["openid", "email"], "platform": "ios",
             "redirect_uris": ["com.example.phone:/cb", "https://phone.example.com/cb"]},
            {"id": "legacy", "kind": "native", "app": APP, "name": {"en": "Example Legacy"}, "scopes": ["email"],
             "redirect_uris": ["com.example.legacy:/cb"], "allow_plain_pkce": True},
            {"id": "mobile", "kind": "native", "app": APP, "name": {"en": "Example App"}, "first_party": True,
             "scopes": ["openid", "email", "devices"], "platform": "ios", "allow_native_sign_in": True},
            {"id": "mobile-strict", "kind": "native", "app": APP, "name": {"en": "Example Bank"}, "first_party": True,
             "scopes": ["openid", "email"], "platform": "ios", "allow_native_sign_in": True, "bundle_id": APP,
             "max_authentication_age": 3600},
            {"id": "android", "kind": "native", "app": APP, "name": {"en": "Example for Android"}, "scopes": ["openid", "email"],
             "platform": "android", "allow_custom_scheme": True,
             "redirect_uris": ["com.example.android:/cb", "https://android.example.com/cb"]},
            {"id": "words", "kind": "native", "app": APP, "name": {"en": "Example Words"}, "imply_openid": True,
             "scopes": ["openid", "email", "profile", "devices"], "platform": "macos",
             "redirect_uris": ["com.example.words:/cb"]},
            {"id": "tv", "kind": "native", "app": APP, "name": {"en": "Example TV"},
             "scopes": ["openid", "email", "devices"], "allow_device_grant": True},
            {"id": "console", "kind": "native", "app": APP, "name": {"en": "Example Console"},
             "scopes": ["openid", "devices"], "allow_device_grant": True},
            {"id": "installed", "kind": "native", "app": APP, "name": {"en": "Example Installed"},
             "secret_hashes": [hashed("installed")], "scopes": ["email"], "platform": "windows",
             "redirect_uris": ["http://127.0.0.1"]},
        ],
    },
}

OAUTH_CONFIGURATION = {"standard": CONFIGURATION, "secrets": SECRETS}
AUTHORIZATION = {}
TOKEN = {}
APP_FLIP = {}
APP_FLIP_PROMPT = {}
REVOCATION = {}
INTROSPECTION = {}
USERINFO = {}
METADATA = {}


def encoded(parameters, safe=""):
    """A query or a form. `None` leaves a parameter out."""
    return "&".join(
        f"{name}={quote(value, safe=safe)}" for name, value in parameters.items() if value is not None)


def changed(members, changes):
    return {name: value for name, value in {**members, **changes}.items() if value is not None}
