"""django-allauth's provider for OpenID Connect: `OAUTH_PKCE_ENABLED`."""

import django_site
from relying import ISSUER, User, expect, given, is_missing, without_pkce

web = given["clients"]["web"]
PROVIDER = {
    "OAUTH_PKCE_ENABLED": True,
    "APPS": [
        {
            "provider_id": "siwa", "name": "siwa", "client_id": web["id"], "secret": web["secret"],
            "settings": {"server_url": ISSUER},
        }
    ],
}
urlpatterns = []
django_site.start(
    __name__,
    apps=["allauth", "allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"],
    middleware=["allauth.account.middleware.AccountMiddleware"],
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    SOCIALACCOUNT_LOGIN_ON_GET=True,
    SOCIALACCOUNT_STORE_TOKENS=True,
    SOCIALACCOUNT_PROVIDERS={"openid_connect": PROVIDER},
)

from allauth.socialaccount.models import SocialAccount, SocialToken
from django.urls import include, path

urlpatterns.append(path("accounts/", include("allauth.urls")))


def sign_in(user):
    browser = django_site.browser()
    departure = browser.get("/accounts/oidc/siwa/login/")
    expect(departure.status_code == 302, departure.status_code)
    answer = user.authorize(departure["Location"], web["redirect_uri"])
    return answer, browser.get(answer)


user = User()
answer, arrival = sign_in(user)
expect(arrival.status_code == 302 and arrival["Location"] == "/in/", f"{answer} {arrival.status_code} {arrival.content}")
account = SocialAccount.objects.get()
expect(account.uid.startswith("acc_"), account.uid)
expect(account.user.email and account.user.first_name == "Ada", "address and name")
expect(SocialToken.objects.get().token, "the access token")
# The same user again, who is not asked: the client is a web client, also on this machine.
user.pages.clear()
answer, arrival = sign_in(user)
expect(arrival["Location"] == "/in/" and user.pages == [] and SocialAccount.objects.count() == 1, f"{user.pages}")

PROVIDER["OAUTH_PKCE_ENABLED"] = False
answer, _ = sign_in(User())
is_missing("code challenge", answer)
# It sends no nonce either, so `require_pkce: false` does not help.
PROVIDER["APPS"][0].update(client_id=without_pkce["id"], secret=without_pkce["secret"])
answer, _ = sign_in(User())
is_missing("nonce", answer)
print("done")
