"""APIs that take access tokens: PyJWT, joserfc and Authlib verify them alone, django-oauth-toolkit asks."""

import time

import django_site
from relying import ISSUER, User, discovery, expect, given, metadata, withdraw_consent

import jwt
import requests
from django.http import HttpResponse
from django.urls import path
from joserfc import jwt as joserfc_jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from requests_oauthlib import OAuth2Session

web = given["clients"]["web"]
API = "https://api.example.com"
user = User()
session = OAuth2Session(
    web["id"], redirect_uri=web["redirect_uri"], scope=["openid", "email", "offline_access"], pkce="S256"
)
url, _ = session.authorization_url(metadata["authorization_endpoint"])
answer = user.authorize(url, web["redirect_uri"])
tokens = session.fetch_token(
    metadata["token_endpoint"], authorization_response=answer, client_secret=web["secret"]
)
access, identity = tokens["access_token"], tokens["id_token"]


def by_pyjwt(token, audience=API):
    key = jwt.PyJWKClient(discovery["jwks_uri"]).get_signing_key_from_jwt(token)
    decoded = jwt.decode_complete(
        token, key, algorithms=["ES256"], audience=audience, issuer=ISSUER, options={"require": ["exp", "sub"]}
    )
    expect(decoded["header"]["typ"] == "at+jwt", "an access token")
    return decoded["payload"]


def by_joserfc(token, audience=API):
    keys = KeySet.import_key_set(requests.get(discovery["jwks_uri"]).json())
    decoded = joserfc_jwt.decode(token, keys, algorithms=["ES256"])
    expect(decoded.header["typ"] == "at+jwt", "an access token")
    joserfc_jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": audience}, exp={"essential": True},
    ).validate(decoded.claims)
    return decoded.claims


def is_refused(verify, *arguments):
    try:
        verify(*arguments)
    except (jwt.PyJWTError, JoseError, ValueError):
        return
    expect(False, f"{verify.__name__} accepts {arguments[1:]}")


for verify in (by_pyjwt, by_joserfc):
    claims = verify(access)
    expect(claims["sub"].startswith("acc_") and claims["scope"].split() == session.scope, f"{claims}")
    is_refused(verify, access, "https://another.example.com")
    is_refused(verify, access[:-8] + "AAAAAAAA")
    # An ID token is not an access token.
    is_refused(verify, identity)

# django-oauth-toolkit knows an introspection endpoint with a bearer token, or with HTTP Basic: name and API key.
from django.test import override_settings

# With 0 seconds a token has expired before it is looked at.
ASKING = {
    "RESOURCE_SERVER_INTROSPECTION_URL": metadata["introspection_endpoint"], "RESOURCE_SERVER_TOKEN_CACHING_SECONDS": 1,
}
BASIC = {**ASKING, "RESOURCE_SERVER_INTROSPECTION_CREDENTIALS": (given["api_key_name"], given["api_key"])}
BEARER = {**ASKING, "RESOURCE_SERVER_AUTH_TOKEN": given["api_key"]}
urlpatterns = []
django_site.start(__name__, apps=["oauth2_provider"], OAUTH2_PROVIDER=BASIC)

from oauth2_provider.decorators import protected_resource
from oauth2_provider.models import AccessToken


@protected_resource(scopes=["email"])
def read(request):
    return HttpResponse("read")


@protected_resource(scopes=["devices"])
def control(request):
    return HttpResponse("controlled")


urlpatterns += [path("read", read), path("control", control)]


def call(target, token):
    site = django_site.browser(API.removeprefix("https://"))
    return site.get(target, HTTP_AUTHORIZATION=f"Bearer {token}", secure=True).status_code


with override_settings(ALLOWED_HOSTS=["api.example.com"]):
    for way in (BASIC, BEARER):
        AccessToken.objects.all().delete()
        with override_settings(OAUTH2_PROVIDER=way):
            expect(call("/read", access) == 200, f"{way.keys()}: {call('/read', access)}")
            expect(call("/control", access) == 403, "a scope that the token does not have")
            expect(call("/read", "invented") == 403, "an unknown token")
    # Those that ask learn at once what ends a token; those that verify alone learn it when the token expires.
    withdraw_consent(user)
    time.sleep(1.2)
    expect(call("/read", access) == 403, "an ended token")
    expect(by_pyjwt(access)["sub"] and by_joserfc(access)["sub"], "until it expires")
print("done")
