"""Authlib's OpenID Connect client, which finds Apple's endpoints by discovery: authorize, exchange, refresh, revoke."""

import urllib.parse

from fake_apple import ISSUER, User, client_secret, expect, finish, given

import django
from django.conf import settings

site = urllib.parse.urlsplit(given["redirect_uri"])
settings.configure(
    ALLOWED_HOSTS=[site.hostname],
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
)
django.setup()

from authlib.integrations.django_client import OAuth
from authlib.integrations.base_client import OAuthError
from django.test import RequestFactory

apple = OAuth().register(
    "apple",
    client_id=given["client_id"],
    client_secret=client_secret(),
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    authorize_params={"response_mode": "form_post"},
    client_kwargs={
        "scope": "openid name email",
        "token_endpoint_auth_method": "client_secret_post",
        "revocation_endpoint_auth_method": "client_secret_post",
    },
)
requests = RequestFactory(HTTP_HOST=site.netloc)
session = {}

begin = requests.get("/login")
begin.session = session
departure = apple.authorize_redirect(begin, given["redirect_uri"])
address, form = User().sign_in(departure["Location"])
expect(address == given["redirect_uri"], address)
expect("user" in form, "the name comes with the first authorization")

callback = requests.post(site.path, form)
callback.session = session
tokens = apple.authorize_access_token(callback)
expect(tokens["userinfo"]["sub"] and tokens["userinfo"]["email"], "who it is")

client = apple._get_oauth_client(**apple.load_server_metadata())
refreshed = client.refresh_token(apple.load_server_metadata()["token_endpoint"], tokens["refresh_token"])
expect(refreshed["access_token"] != tokens["access_token"], "a new access token")
again = apple.parse_id_token(refreshed, nonce=None)
expect(again["sub"] == tokens["userinfo"]["sub"], "the same user")

metadata = apple.load_server_metadata()
for name in ("authorization_endpoint", "token_endpoint", "revocation_endpoint", "jwks_uri"):
    expect(metadata[name].startswith(f"{ISSUER}/auth/"), f"{name} {metadata[name]}")
expect(client.revoke_token(metadata["revocation_endpoint"], tokens["refresh_token"]).status_code == 200, "revocation")
try:
    client.refresh_token(metadata["token_endpoint"], tokens["refresh_token"])
    expect(False, "a revoked token is refused")
except OAuthError as refusal:
    expect(refusal.error == "invalid_grant", refusal.error)
finish()
