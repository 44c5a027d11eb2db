"""Requests to the other endpoints: RFC 7009, RFC 7662, OpenID Connect Core §5.3, RFC 8414 and RFC 7517."""

from oauth_cases import (
    APP, CONFIGURATION, INTROSPECTION, ISSUER, METADATA, REVOCATION, SECOND_APP, SECRETS, USERINFO, changed, encoded)
from oauth_tokens import DESKTOP_CODE, DESKTOP_TOKEN, FORM, GOOGLE_TOKEN, LEDGER_URI, SHOP_CODE, SHOP_TOKEN, basic

SHOP = {"client_id": "shop", "client_secret": SECRETS["shop"][0]}
SHOP_BY_BASIC = {"authorization": basic("shop", SECRETS["shop"][0])}
WRONG_BASIC = basic("shop", SECRETS["ledger"][0])
DESKTOP = {"client_id": "desktop"}
BASIC = {"scheme": "Basic"}
ACCESS, REFRESH, ID = "{access_token}", "{refresh_token}", "{id_token}"
INACTIVE = {"active": False}


def form(parameters, **changes):
    return encoded({**parameters, **changes}, safe="{}")


def case(folder, path, name, summary, status, given=None, body=None, error=None, challenge=None, members=None,
         headers=None, tokens=None, **request):
    assert name not in folder, name
    body_type = FORM if body is not None else None
    method = "GET" if body is None else "POST"
    is_cacheable = folder is METADATA
    folder[name] = changed({
        "summary": summary, "given": given,
        "request": changed({"method": method, "path": path, "content_type": body_type, "body": body}, request),
        "expect": changed({
            "status": status, "error": error, "www_authenticate": challenge,
            "headers": changed({"cache-control": "max-age" if is_cacheable else "no-store"}, headers or {}),
            "members": members,
            "afterwards": changed({"code": "used" if tokens and "code" in given else None, "tokens": tokens}, {}) or None,
        }, {})}, {})


# Revocation.

def revoked(name, summary, parameters, given=None, tokens="ended", **request):
    """RFC 7009 section 2.2: the status says it all. `tokens` is what all tokens of the line are afterwards."""
    case(REVOCATION, "/oauth/revoke", name, summary, 200, given, form(parameters), tokens=given and tokens, **request)


def not_revoked(name, summary, body, error, status=400, given=None, challenge=None, headers=None, **request):
    case(REVOCATION, "/oauth/revoke", name, summary, status, given, body, error, challenge, None, headers,
         given and "good", **request)


revoked("access-token", "It takes its refresh token along.", {**DESKTOP, "token": ACCESS}, DESKTOP_TOKEN)
revoked("refresh-token", "It takes its access tokens along (RFC 7009 section 2.1).", {**SHOP, "token": REFRESH},
        SHOP_TOKEN)
revoked("refresh-token-of-public-client", "A public client sends its ID alone.", {**DESKTOP, "token": REFRESH},
        DESKTOP_TOKEN)
revoked("refresh-token-by-basic", "The client authenticates by HTTP Basic.", {"token": REFRESH}, SHOP_TOKEN,
        **SHOP_BY_BASIC)
revoked("refresh-token-of-google", "Google unlinks on its side.",
        {"token": REFRESH, "client_id": "google", "client_secret": SECRETS["google"][0]}, GOOGLE_TOKEN)
revoked("access-token-without-refresh-token", "There is nothing to take along.", {**SHOP, "token": ACCESS},
        {**SHOP_CODE, "code": "redeemed 5 seconds ago", "scope": "openid email"})
revoked("refresh-token-rotated", "One who has an old token of the line has held the line.",
        {**DESKTOP, "token": REFRESH}, {**DESKTOP_TOKEN, "refresh_token": "rotated 5 seconds ago, successor unused"})
revoked("refresh-token-again", "It has been revoked already.", {**DESKTOP, "token": REFRESH},
        {**DESKTOP_TOKEN, "refresh_token": "revoked"})
revoked("refresh-token-suspended", "The next sign-in does not bring it back.", {**DESKTOP, "token": REFRESH},
        {**DESKTOP_TOKEN, "credential": "refresh token rejected"})
revoked("unknown-refresh-token", "An invalid token is no error (RFC 7009 section 2.2).", {**DESKTOP, "token": REFRESH},
        {"refresh_token": "unknown"}, None)
revoked("unknown-text", "An invalid token is no error (RFC 7009 section 2.2).", {**DESKTOP, "token": "x"})
revoked("unknown-token-too-long", "It is none of ours.", {**DESKTOP, "token": "x" * 4096})
revoked("id-token", "An ID token is none of the two.", {**SHOP, "token": ID}, SHOP_TOKEN, "good")
for label, token in [("access", ACCESS), ("refresh", REFRESH)]:
    revoked(f"{label}-token-of-another-client", "The answer is the same, and nothing ends.", {**SHOP, "token": token},
            DESKTOP_TOKEN, "good")
for label, token, hint in [
        ("unknown", REFRESH, "saml_assertion"), ("wrong-for-refresh-token", REFRESH, "access_token"),
        ("wrong-for-access-token", ACCESS, "refresh_token"), ("right", REFRESH, "refresh_token"), ("empty", ACCESS, "")]:
    revoked(f"hint-{label}", "A hint says only where to look first (RFC 7009 section 2.1).",
            {**DESKTOP, "token": token, "token_type_hint": hint}, DESKTOP_TOKEN)
revoked("unknown-parameters", "They are ignored.", {**DESKTOP, "token": REFRESH, "all": "true"}, DESKTOP_TOKEN)

not_revoked("client-missing", "It explains what is missing.", form({"token": REFRESH}), "invalid_request",
            given=DESKTOP_TOKEN)
not_revoked("client-unknown", "Not one of the configuration.", form({"token": "x", "client_id": "nobody"}),
            "invalid_client", 401)
not_revoked("client-without-secret", "A confidential client authenticates.",
            form({"token": REFRESH, "client_id": "shop"}), "invalid_client", 401, given=SHOP_TOKEN)
not_revoked("client-wrong-secret", "Without HTTP Basic no scheme is named.",
            form(SHOP, client_secret=SECRETS["ledger"][0], token=REFRESH), "invalid_client", 401, given=SHOP_TOKEN)
not_revoked("client-wrong-secret-by-basic", "The scheme is named (RFC 6749 section 5.2).", form({"token": REFRESH}),
            "invalid_client", 401, given=SHOP_TOKEN, challenge=BASIC, authorization=WRONG_BASIC)
not_revoked("client-public-with-secret", "A public client has no secret.",
            form(DESKTOP, client_secret="guess", token=REFRESH), "invalid_client", 401, given=DESKTOP_TOKEN)
not_revoked("client-two-methods", "Basic and a secret in the body.", form(SHOP, token="x"), "invalid_request",
            **SHOP_BY_BASIC)
not_revoked("token-missing", "RFC 7009 section 2.1.", form(DESKTOP), "invalid_request")
not_revoked("token-empty", "A parameter without a value is absent.", form(DESKTOP, token=""), "invalid_request")
not_revoked("token-repeated", "A repeated parameter is malformed.", form(DESKTOP, token=REFRESH) + "&token=x",
            "invalid_request", given=DESKTOP_TOKEN)
not_revoked("hint-repeated", "A repeated parameter is malformed.",
            form(DESKTOP, token=REFRESH) + "&token_type_hint=access_token&token_type_hint=refresh_token",
            "invalid_request", given=DESKTOP_TOKEN)
not_revoked("token-in-query", "Tokens in URLs end in logs.", form(DESKTOP), "invalid_request", given=DESKTOP_TOKEN,
            query="token={refresh_token}")
not_revoked("content-type-json", "A form is required.", '{"token":"x","client_id":"desktop"}', "invalid_request",
            content_type="application/json")
not_revoked("content-type-missing", "A form is required.", form(DESKTOP, token=REFRESH), "invalid_request",
            given=DESKTOP_TOKEN, content_type=None)
not_revoked("method-get", "What a person tries in a browser explains what to send.", None, "invalid_request")
not_revoked("method-get-with-token", "A link must not revoke.", None, "invalid_request", given=DESKTOP_TOKEN,
            query="token={refresh_token}&client_id=desktop")


# Introspection.

def introspected(name, summary, members, given=None, parameters=None, tokens=None, **request):
    case(INTROSPECTION, "/oauth/introspect", name, summary, 200, given, form(parameters or {}), members=members,
         tokens=tokens, **request)


def not_introspected(name, summary, body, error, status=400, given=None, challenge=None, headers=None, **request):
    case(INTROSPECTION, "/oauth/introspect", name, summary, status, given, body, error, challenge, None, headers,
         **request)


def active(given, **changes):
    """RFC 7662 section 2.2, with `auth_time` of OpenID Connect."""
    return changed({
        "active": True, "scope": given["scope"], "client_id": given["client"], "sub": "{account}", "iss": ISSUER,
        "auth_time": "{now}", "iat": "{now}"}, changes)


# RFC 9068 section 2.2.
BEARER = {"token_type": "Bearer", "aud": ISSUER, "exp": "{now+3600}", "jti": "{text}"}
ALL, OWN, OTHER = {"api_key": "all"}, {"api_key": APP}, {"api_key": SECOND_APP}
LEDGER_CODE = {**SHOP_CODE, "client": "ledger", "redirect_uri": LEDGER_URI, "scope": "openid devices"}

introspected("active-access-token", "All members of a JWT access token.", active(SHOP_TOKEN, **BEARER), SHOP_TOKEN,
             {**SHOP, "token": ACCESS})
introspected("active-access-token-by-basic", "The client authenticates by HTTP Basic.", active(SHOP_TOKEN, **BEARER),
             SHOP_TOKEN, {"token": ACCESS}, **SHOP_BY_BASIC)
introspected("active-access-token-of-google", "The app's API asks about a call of Google's.",
             active(GOOGLE_TOKEN, **BEARER), GOOGLE_TOKEN, {"token": ACCESS}, **OWN)
introspected("active-access-token-of-an-audience", "Audience and lifetime are the client's.",
             active(LEDGER_CODE, **{**BEARER, "aud": "https://api.example.com", "exp": "{now+595}", "iat": "{now-5}",
                                    "auth_time": "{now-5}"}),
             {**LEDGER_CODE, "code": "redeemed 5 seconds ago"}, {"token": ACCESS}, **ALL)
introspected("active-refresh-token", "Without token_type, which is that of access tokens.",
             active(SHOP_TOKEN, exp="{now+15552000}"), SHOP_TOKEN, {**SHOP, "token": REFRESH})
introspected("active-refresh-token-of-google", "Google's have no end, so there is no exp.", active(GOOGLE_TOKEN),
             GOOGLE_TOKEN, {"token": REFRESH, "client_id": "google", "client_secret": SECRETS["google"][0]})
introspected("active-by-api-key", "An API key for all apps.", active(DESKTOP_TOKEN, **BEARER), DESKTOP_TOKEN,
             {"token": ACCESS}, **ALL)
introspected("active-by-api-key-of-the-app", "An API key for the client's app.", active(DESKTOP_TOKEN, **BEARER),
             DESKTOP_TOKEN, {"token": ACCESS}, **OWN)
for label, hint in [("unknown", "saml_assertion"), ("wrong", "refresh_token")]:
    introspected(f"active-hint-{label}", "A hint says only where to look first (RFC 7662 section 2.1).",
                 active(DESKTOP_TOKEN, **BEARER), DESKTOP_TOKEN, {"token": ACCESS, "token_type_hint": hint}, **ALL)
for kind, token in [("access", ACCESS), ("refresh", REFRESH)]:
    introspected(f"{kind}-token-by-api-key-of-another-app", "Tokens of other apps are inactive.", INACTIVE,
                 DESKTOP_TOKEN, {"token": token}, "good", **OTHER)
    introspected(f"{kind}-token-of-another-client", "Nothing is learned about another client's token.", INACTIVE,
                 DESKTOP_TOKEN, {**SHOP, "token": token}, "good")
    introspected(f"{kind}-token-revoked", "RFC 7009 is seen here at once.", INACTIVE,
                 {**SHOP_TOKEN, "refresh_token": "revoked"}, {**SHOP, "token": token}, "ended")
    introspected(f"{kind}-token-suspended", "Inactive until the next sign-in.", INACTIVE,
                 {**SHOP_TOKEN, "credential": "refresh token rejected"}, {**SHOP, "token": token}, "suspended")
    introspected(f"{kind}-token-consent-revoked", "Apple's word is seen here at once, and is final.", INACTIVE,
                 {**SHOP_TOKEN, "credential": "consent revoked"}, {**SHOP, "token": token}, "ended")
    introspected(f"{kind}-token-account-erased", "An erased account has no tokens.", INACTIVE,
                 {**SHOP_TOKEN, "account": "erased"}, {**SHOP, "token": token}, "ended")
introspected("access-token-expired", "After an hour.", INACTIVE, {**DESKTOP_CODE, "code": "redeemed 3600 seconds ago"},
             {"token": ACCESS}, **ALL)
introspected("access-token-in-its-last-second", "One second before.",
             active(DESKTOP_CODE, **{**BEARER, "exp": "{now+1}", "iat": "{now-3599}", "auth_time": "{now-3599}"}),
             {**DESKTOP_CODE, "code": "redeemed 3599 seconds ago"}, {"token": ACCESS}, **ALL)
introspected("refresh-token-expired", "Past its lifetime.", INACTIVE, {**SHOP_TOKEN, "refresh_token": "expired"},
             {**SHOP, "token": REFRESH}, "ended")
introspected("refresh-token-rotated", "Its successor has taken its place.", INACTIVE,
             {**SHOP_TOKEN, "refresh_token": "rotated 5 seconds ago, successor unused"}, {**SHOP, "token": REFRESH})
introspected("refresh-token-altered", "A token with a wrong character is unknown.", INACTIVE,
             {**SHOP_TOKEN, "refresh_token": "altered"}, {**SHOP, "token": REFRESH}, "good")
introspected("unknown-refresh-token", "Not an error (RFC 7662 section 2.2).", INACTIVE, {"refresh_token": "unknown"},
             {"token": REFRESH}, **ALL)
introspected("unknown-text", "Not an error (RFC 7662 section 2.2).", INACTIVE, None, {"token": "x"}, **ALL)
introspected("unsigned-token", "A JWT with alg none.", INACTIVE, None, {"token": "eyJhbGciOiJub25lIn0.e30."}, **ALL)
introspected("id-token", "An ID token is no access token (RFC 9068 section 4).", INACTIVE, SHOP_TOKEN,
             {**SHOP, "token": ID}, "good")

not_introspected("client-public", "With the ID of a public client everyone could try tokens (RFC 7662 section 4).",
                 form(DESKTOP, token=ACCESS), "invalid_client", 401, given=DESKTOP_TOKEN)
not_introspected("client-public-by-basic", "The same by HTTP Basic.", form({"token": ACCESS}), "invalid_client", 401,
                 given=DESKTOP_TOKEN, challenge=BASIC, authorization=basic("desktop", ""))
not_introspected("client-missing", "No credentials.", form({"token": ACCESS}), "invalid_client", 401,
                 given=DESKTOP_TOKEN)
not_introspected("client-without-secret", "A confidential client authenticates.",
                 form({"token": ACCESS, "client_id": "shop"}), "invalid_client", 401, given=SHOP_TOKEN)
not_introspected("client-wrong-secret", "Without HTTP Basic no scheme is named.",
                 form(SHOP, client_secret=SECRETS["ledger"][0], token=ACCESS), "invalid_client", 401, given=SHOP_TOKEN)
not_introspected("client-wrong-secret-by-basic", "The scheme is named (RFC 6749 section 5.2).", form({"token": ACCESS}),
                 "invalid_client", 401, given=SHOP_TOKEN, challenge=BASIC, authorization=WRONG_BASIC)
not_introspected("api-key-unknown", "An API key that is not configured.", form({"token": ACCESS}), "invalid_client", 401,
                 given=SHOP_TOKEN, challenge={"scheme": "Bearer"}, api_key="unknown")
not_introspected("token-as-api-key", "An access token does not authorize introspection.", form({"token": ACCESS}),
                 "invalid_client", 401, given=SHOP_TOKEN, challenge={"scheme": "Bearer"},
                 authorization=f"Bearer {ACCESS}")
not_introspected("token-missing", "RFC 7662 section 2.1.", "", "invalid_request", **ALL)
not_introspected("token-repeated", "A repeated parameter is malformed.", form({"token": ACCESS}) + "&token=x",
                 "invalid_request", given=DESKTOP_TOKEN, **ALL)
not_introspected("token-in-query", "Tokens in URLs end in logs.", "", "invalid_request", given=DESKTOP_TOKEN,
                 query=f"token={ACCESS}", **ALL)
not_introspected("content-type-json", "A form is required.", '{"token":"x"}', "invalid_request",
                 content_type="application/json", **ALL)
not_introspected("method-get", "Introspection is a POST (RFC 7662 section 2.1).", None, "invalid_request", 405,
                 headers={"allow": "POST"}, query="token=x", **ALL)


# Userinfo.

def shown(name, summary, given, members, **request):
    case(USERINFO, "/oauth/userinfo", name, summary, 200, given, members=members, **request)


def refused(name, summary, error, status=401, given=None, scope=None, **request):
    """RFC 6750 section 3. Without a token neither the challenge nor the body has an error."""
    challenge = changed({"scheme": "Bearer", "error": error, "scope": scope}, {})
    case(USERINFO, "/oauth/userinfo", name, summary, status, given, error=error, challenge=challenge,
         members=None if error else {}, **request)


BY_FIELD = {"authorization": f"Bearer {ACCESS}"}
EMAIL = {"sub": "{account}", "email": "q4zjk7x2rt@privaterelay.appleid.com", "email_verified": True,
         "is_private_email": True}
shown("get", "OpenID Connect Core section 5.3.", SHOP_TOKEN, EMAIL, **BY_FIELD)
shown("post", "POST, with the token in the field.", SHOP_TOKEN, EMAIL, method="POST", **BY_FIELD)
shown("post-form", "POST, with the token in the form (RFC 6750 section 2.2).", SHOP_TOKEN, EMAIL,
      body=form({"access_token": ACCESS}))
shown("scheme-in-lower-case", "The name of a scheme has no case (RFC 9110 section 11.1).", SHOP_TOKEN, EMAIL,
      authorization=f"bearer {ACCESS}")
shown("scope-openid", "The scope decides what is shown.", {**SHOP_TOKEN, "scope": "openid offline_access"},
      {"sub": "{account}"}, **BY_FIELD)
shown("scope-profile", "A name that is not known is left out.",
      {**SHOP_TOKEN, "scope": "openid profile offline_access"}, {"sub": "{account}"}, **BY_FIELD)
refused("token-missing", "RFC 6750 section 3.1: no error code.", None)
refused("token-missing-in-form", "RFC 6750 section 3.1: no error code.", None, body="")
refused("token-by-basic", "A client's credentials are no token.", None, **SHOP_BY_BASIC)
refused("token-unknown", "RFC 6750 section 3.1.", "invalid_token", authorization="Bearer x")
refused("token-unsigned", "A JWT with alg none.", "invalid_token", authorization="Bearer eyJhbGciOiJub25lIn0.e30.")
refused("token-expired", "After an hour.", "invalid_token",
        given={**SHOP_CODE, "code": "redeemed 3600 seconds ago"}, **BY_FIELD)
refused("token-is-refresh-token", "It is for the token endpoint.", "invalid_token", given=SHOP_TOKEN,
        authorization=f"Bearer {REFRESH}")
refused("token-is-id-token", "An ID token is no access token (RFC 9068 section 4).", "invalid_token", given=SHOP_TOKEN,
        authorization=f"Bearer {ID}")
refused("token-revoked", "401 for each token that introspection calls inactive.", "invalid_token",
        given={**SHOP_TOKEN, "refresh_token": "revoked"}, **BY_FIELD)
refused("token-suspended", "Until the next sign-in.", "invalid_token",
        given={**SHOP_TOKEN, "credential": "refresh token rejected"}, **BY_FIELD)
refused("token-consent-revoked", "Apple's word reaches here.", "invalid_token",
        given={**SHOP_TOKEN, "credential": "consent revoked"}, **BY_FIELD)
refused("token-account-erased", "An erased account has no tokens.", "invalid_token",
        given={**SHOP_TOKEN, "account": "erased"}, **BY_FIELD)
refused("token-in-query", "Tokens in URLs end in logs.", "invalid_request", 400, given=SHOP_TOKEN,
        query=f"access_token={ACCESS}")
refused("token-twice", "One way at a time (RFC 6750 section 2).", "invalid_request", 400, given=SHOP_TOKEN,
        body=form({"access_token": ACCESS}), **BY_FIELD)
refused("token-repeated", "A repeated parameter is malformed.", "invalid_request", 400, given=SHOP_TOKEN,
        body=form({"access_token": ACCESS}) + "&access_token=x")
refused("scope-without-openid", "The needed scope is named.", "insufficient_scope", 403, given=GOOGLE_TOKEN,
        scope="openid", **BY_FIELD)


# Metadata.

def published(name, summary, path, members, **request):
    case(METADATA, path, name, summary, 200, members=members, **request)


SERVER = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/oauth/authorize",
    "token_endpoint": f"{ISSUER}/oauth/token",
    "revocation_endpoint": f"{ISSUER}/oauth/revoke",
    "introspection_endpoint": f"{ISSUER}/oauth/introspect",
    "userinfo_endpoint": f"{ISSUER}/oauth/userinfo",
    "end_session_endpoint": f"{ISSUER}/oauth/logout",
    "jwks_uri": f"{ISSUER}/oauth/jwks.json",
    "account_connections_uri": f"{ISSUER}/account/connections",
    "scopes_supported": ["openid", "profile", "email", "offline_access"] + [
        scope["name"] for scope in CONFIGURATION["oauth"]["scopes"]],
    "response_types_supported": ["code"],
    "response_modes_supported": ["query"],
    "grant_types_supported": [
        "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:token-exchange", "urn:ietf:params:oauth:grant-type:device_code"],
    "device_authorization_endpoint": f"{ISSUER}/oauth/device_authorization",
    # One client of the configuration may use plain.
    "code_challenge_methods_supported": ["S256", "plain"],
    "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "Bearer"],
    "authorization_response_iss_parameter_supported": True,
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["RS256"],
    "claims_supported": [
        "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "email_verified",
        "is_private_email", "name", "given_name", "family_name"],
    "claims_parameter_supported": False,
    "request_parameter_supported": False,
    "request_uri_parameter_supported": False,
    "prompt_values_supported": ["none", "login", "consent", "select_account"],
    "ui_locales_supported": ["en", "ar", "tr", "pl"],
}
KEY = {"use": "sig", "kid": "{text}"}
published("authorization-server", "RFC 8414 section 2, with iss of RFC 9207 section 3.",
          "/.well-known/oauth-authorization-server", SERVER)
published("openid-configuration", "OpenID Connect Discovery section 4: the same document.",
          "/.well-known/openid-configuration", SERVER)
published("risc-configuration", "Where Google finds the keys of our security event tokens.",
          "/.well-known/risc-configuration", {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/oauth/jwks.json"})
published("keys", "RFC 7517: one key for each algorithm, without private members.", "/oauth/jwks.json", {"keys": [
    {**KEY, "alg": "ES256", "kty": "EC", "crv": "P-256", "x": "{text}", "y": "{text}"},
    {**KEY, "alg": "RS256", "kty": "RSA", "n": "{text}", "e": "AQAB"}]})
