"""mozilla-django-oidc: `OIDC_USE_PKCE = True`."""

import django_site
from relying import User, discovery, expect, given, is_missing, without_pkce

web = given["clients"]["web"]
urlpatterns = []
django_site.start(
    __name__,
    apps=["mozilla_django_oidc"],
    AUTHENTICATION_BACKENDS=["mozilla_django_oidc.auth.OIDCAuthenticationBackend"],
    OIDC_RP_CLIENT_ID=web["id"],
    OIDC_RP_CLIENT_SECRET=web["secret"],
    OIDC_RP_SIGN_ALGO="RS256",
    OIDC_RP_SCOPES="openid email profile",
    OIDC_OP_AUTHORIZATION_ENDPOINT=discovery["authorization_endpoint"],
    OIDC_OP_TOKEN_ENDPOINT=discovery["token_endpoint"],
    OIDC_OP_USER_ENDPOINT=discovery["userinfo_endpoint"],
    OIDC_OP_JWKS_ENDPOINT=discovery["jwks_uri"],
    OIDC_USE_PKCE=True,
)

from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.test import override_settings
from django.urls import include, path

urlpatterns += [path("oidc/", include("mozilla_django_oidc.urls")), path("", lambda request: HttpResponse("failed"))]


def sign_in(user):
    browser = django_site.browser()
    departure = browser.get("/oidc/authenticate/")
    expect(departure.status_code == 302, departure.status_code)
    answer = user.authorize(departure["Location"], web["redirect_uri"])
    return answer, browser.get(answer)


answer, arrival = sign_in(User())
expect(arrival.status_code == 302 and arrival["Location"] == "/in/", f"{answer} {arrival.status_code}")
expect("@" in get_user_model().objects.get().email, "the address")

with override_settings(OIDC_USE_PKCE=False):
    answer, _ = sign_in(User())
    is_missing("code challenge", answer)
    # It sends a nonce, and compares it with the one of the ID token.
    with override_settings(OIDC_RP_CLIENT_ID=without_pkce["id"], OIDC_RP_CLIENT_SECRET=without_pkce["secret"]):
        answer, arrival = sign_in(User())
        expect(arrival["Location"] == "/in/" and get_user_model().objects.count() == 2, answer)
print("done")
