"""Requests to /oauth/token: RFC 6749 §3.2, §4.1.3, §5.2 and §6, RFC 7523, RFC 7636 §4.6, RFC 8693, RFC 8707,
RFC 9700."""

import base64
import hashlib

from oauth_cases import CHALLENGE, HOST, ISSUER, SECRETS, TOKEN, VERIFIER, changed, encoded
from oauth_reasons import reason

FORM = "application/x-www-form-urlencoded"
SHOP_URI = "https://shop.example.com/cb"
GOOGLE_URI = f"{HOST}/r/home-link-42"
DESKTOP_URI = "http://127.0.0.1:9004"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"

# {code}, {refresh_token} and {assertion} stand for what `given` describes.
REDEEM = {"grant_type": "authorization_code", "code": "{code}", "redirect_uri": SHOP_URI, "code_verifier": VERIFIER}
SHOP = {**REDEEM, "client_id": "shop", "client_secret": SECRETS["shop"][0]}
DESKTOP = {**REDEEM, "client_id": "desktop", "redirect_uri": DESKTOP_URI}
GOOGLE = {"grant_type": "authorization_code", "code": "{code}", "redirect_uri": GOOGLE_URI, "client_id": "google",
          "client_secret": SECRETS["google"][0]}
REFRESH = {"grant_type": "refresh_token", "refresh_token": "{refresh_token}"}
SHOP_REFRESH = {**REFRESH, "client_id": "shop", "client_secret": SECRETS["shop"][0]}
DESKTOP_REFRESH = {**REFRESH, "client_id": "desktop"}
GOOGLE_REFRESH = {**REFRESH, "client_id": "google", "client_secret": SECRETS["google"][0]}
ASSERTION = {"grant_type": JWT_BEARER, "assertion": "{assertion}", "intent": "get", "client_id": "google",
             "client_secret": SECRETS["google"][0]}

SHOP_CODE = {"code": "fresh", "client": "shop", "redirect_uri": SHOP_URI, "scope": "openid email offline_access",
             "code_challenge": CHALLENGE, "code_challenge_method": "S256"}
DESKTOP_CODE = {**SHOP_CODE, "client": "desktop", "redirect_uri": DESKTOP_URI, "scope": "email"}
GOOGLE_CODE = {"code": "fresh", "client": "google", "redirect_uri": GOOGLE_URI, "scope": "email devices"}


def form(parameters, **changes):
    return encoded({**parameters, **changes}, safe="{}")


def s256(verifier):
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def basic(client_id, secret):
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


def case(name, summary, body, expect, given=None, **request):
    assert name not in TOKEN, name
    request = changed({"content_type": FORM}, request)
    expect = changed(expect, {"reason": reason(name, expect)})
    TOKEN[name] = changed({
        "summary": summary, "given": given, "request": {**request, "body": body}, "expect": expect}, {})


def refused(name, summary, body, error, status=400, given=None, grant=None, challenge=None, code=None, tokens=None,
            **request):
    """`code` and `tokens` are what they are afterwards."""
    case(name, summary, body, changed({
        "status": status, "error": error, "www_authenticate": challenge, "grant": grant,
        "afterwards": changed({"code": code, "tokens": tokens}, {}) or None}, {}), given, **request)


def granted(name, summary, body, grant, given, tokens, scope, access_token=None, id_token=None, **request):
    # A code is used then; what the response gives is good.
    code = "used" if given.get("code") else None
    afterwards = None if given.get("assertion") else changed({"code": code, "tokens": "good"}, {})
    case(name, summary, body, changed({
        "status": 200, "grant": grant, "tokens": tokens, "scope": scope, "access_token": access_token,
        "id_token": id_token, "afterwards": afterwards}, {}), given, **request)


def linking(name, summary, body, grant, assertion, status, answer):
    """Streamlined linking without tokens."""
    case(name, summary, body, {"status": status, "grant": grant, "linking": answer}, {"assertion": assertion})


def code_grant(client, redirect_uri, verifier=VERIFIER):
    return changed({"client": client, "type": "authorization_code", "redirect_uri": redirect_uri,
                    "code_verifier": verifier}, {})


def refresh_grant(client, scope=None):
    return changed({"client": client, "type": "refresh_token", "scope": scope}, {})


SHOP_GRANT = code_grant("shop", SHOP_URI)
DESKTOP_GRANT = code_grant("desktop", DESKTOP_URI)
GOOGLE_GRANT = code_grant("google", GOOGLE_URI, None)
ALL = ["access_token", "refresh_token", "id_token"]
# A refresh says nothing new about the person.
ROTATED = ["access_token", "refresh_token"]

# Codes that are redeemed.
granted("code-web", "A web client with its secret in the body.", form(SHOP), SHOP_GRANT, SHOP_CODE, ALL,
        "openid email offline_access")
BASIC = {"client_id": None, "client_secret": None}
granted("code-web-by-basic", "The same by HTTP Basic.", form(SHOP, **BASIC), SHOP_GRANT, SHOP_CODE, ALL,
        "openid email offline_access", authorization=basic("shop", SECRETS["shop"][0]))
granted("code-web-by-basic-and-client-id", "HTTP Basic may repeat the client ID as a parameter.",
        form(SHOP, client_secret=None), SHOP_GRANT, SHOP_CODE, ALL, "openid email offline_access",
        authorization=basic("shop", SECRETS["shop"][0]))
granted("code-web-by-basic-lower-case", "The name of a scheme has no case (RFC 9110 section 11.1).",
        form(SHOP, **BASIC), SHOP_GRANT, SHOP_CODE, ALL, "openid email offline_access",
        authorization=basic("shop", SECRETS["shop"][0]).replace("Basic", "basic"))
granted("code-web-by-basic-escaped", "Client ID and secret are encoded before base64 (RFC 6749 section 2.3.1).",
        form(SHOP, **BASIC), SHOP_GRANT, SHOP_CODE, ALL, "openid email offline_access",
        authorization=basic("sh%6Fp", SECRETS["shop"][0].replace("_", "%5F")))
granted("code-web-without-offline-access", "Without offline_access there is no refresh token.", form(SHOP), SHOP_GRANT,
        {**SHOP_CODE, "scope": "email"}, ["access_token"], "email")
granted("code-native", "A public client sends its ID alone.", form(DESKTOP), DESKTOP_GRANT, DESKTOP_CODE,
        ["access_token", "refresh_token"], "email")
granted("code-native-by-basic", "Some libraries send a public client by HTTP Basic, with an empty secret.",
        form(DESKTOP, client_id=None), DESKTOP_GRANT, DESKTOP_CODE, ["access_token", "refresh_token"], "email",
        authorization=basic("desktop", ""))
granted("code-native-openid", "A native client gets a refresh token also without offline_access.", form(DESKTOP),
        DESKTOP_GRANT, {**DESKTOP_CODE, "scope": "openid"}, ALL, "openid")
granted("code-google", "Google sends no verifier.", form(GOOGLE), GOOGLE_GRANT, GOOGLE_CODE,
        ["access_token", "refresh_token"], "email devices")
granted("code-google-second-secret", "Two secrets are valid while one is replaced.",
        form(GOOGLE, client_secret=SECRETS["google"][1]), GOOGLE_GRANT, GOOGLE_CODE,
        ["access_token", "refresh_token"], "email devices")
granted("code-google-with-verifier", "A challenge of Google's is answered.", form(GOOGLE, code_verifier=VERIFIER),
        code_grant("google", GOOGLE_URI), {**GOOGLE_CODE, "code_challenge": CHALLENGE, "code_challenge_method": "S256"},
        ["access_token", "refresh_token"], "email devices")
granted("code-installed-with-secret", "An installed app has a secret that protects nothing.",
        form(DESKTOP, client_id="installed", client_secret=SECRETS["installed"][0]),
        code_grant("installed", DESKTOP_URI), {**DESKTOP_CODE, "client": "installed"},
        ["access_token", "refresh_token"], "email")
granted("code-plain", "Where plain is allowed, the challenge is the verifier.",
        form(DESKTOP, client_id="legacy", redirect_uri="com.example.legacy:/cb"),
        code_grant("legacy", "com.example.legacy:/cb"),
        {"code": "fresh", "client": "legacy", "redirect_uri": "com.example.legacy:/cb", "scope": "email",
         "code_challenge": VERIFIER, "code_challenge_method": "plain"}, ["access_token", "refresh_token"], "email")
granted("code-unknown-parameters", "Unknown parameters are ignored, also repeated ones.",
        form(SHOP) + "&x=1&x=2&y=%zz", SHOP_GRANT, SHOP_CODE, ALL, "openid email offline_access")
granted("code-scope-is-ignored", "A code has its scopes; the parameter has no meaning here.",
        form(SHOP, scope="openid profile"), SHOP_GRANT, SHOP_CODE, ALL, "openid email offline_access")
granted("code-charset", "Parameters of the media type are ignored.", form(SHOP), SHOP_GRANT, SHOP_CODE, ALL,
        "openid email offline_access", content_type=f"{FORM}; charset=UTF-8")
granted("code-media-type-in-capitals", "A media type has no case.", form(SHOP), SHOP_GRANT, SHOP_CODE, ALL,
        "openid email offline_access", content_type=FORM.upper())
granted("code-resource", "The resource is the client's audience.", form(SHOP, resource="https://accounts.example.com"),
        SHOP_GRANT, SHOP_CODE, ALL, "openid email offline_access")

# RFC 9068: the access token is a JWT of its own type. OpenID Connect Core: the ID token.
CLAIMS = ["aud", "auth_time", "client_id", "exp", "iat", "iss", "jti", "scope", "sub"]
ID_CLAIMS = ["at_hash", "aud", "auth_time", "exp", "iat", "iss", "nonce", "sub"]
EMAIL_CLAIMS = ["email", "email_verified", "is_private_email"]
granted("code-access-token", "RFC 9068 section 2: ES256, the issuer is the audience, one hour.", form(SHOP), SHOP_GRANT,
        {**SHOP_CODE, "nonce": "n-0S6_WzA2Mj"}, ALL, "openid email offline_access",
        {"alg": "ES256", "aud": ISSUER, "client_id": "shop", "expires_in": 3600, "claims": CLAIMS},
        {"alg": "RS256", "aud": "shop", "claims": sorted(ID_CLAIMS + EMAIL_CLAIMS)})
LEDGER_URI = "https://ledger.example.com/cb"
LEDGER = {**REDEEM, "client_id": "ledger", "client_secret": SECRETS["ledger"][0], "redirect_uri": LEDGER_URI}
granted("code-access-token-of-an-audience", "RFC 9068: audience, algorithm and lifetime of the configuration.",
        form(LEDGER, resource="https://api.example.com"), code_grant("ledger", LEDGER_URI),
        {**SHOP_CODE, "client": "ledger", "redirect_uri": LEDGER_URI, "scope": "openid devices", "nonce": "n"},
        ["access_token", "id_token"], "openid devices",
        {"alg": "RS256", "aud": "https://api.example.com", "client_id": "ledger", "expires_in": 600, "claims": CLAIMS},
        {"alg": "RS256", "aud": "ledger", "claims": ID_CLAIMS})

# Codes that are not.
SECOND_VERIFIER = "the-verifier-of-another-request-has-also-43-characters"
for label, summary, given, code, tokens in [
        ("unknown", "Code injection: invented.", {"code": "unknown"}, None, None),
        ("expired", "After ten minutes.", {**SHOP_CODE, "code": "issued 601 seconds ago"}, "ended", None),
        ("retried", "A retry of a correct redemption ends nothing.", {**SHOP_CODE, "code": "redeemed 5 seconds ago"},
         "used", "good"),
        ("retried-late", "The last second of a retry.", {**SHOP_CODE, "code": "redeemed 9 seconds ago"}, "used", "good"),
        ("replayed", "Code replay: what the code gave ends (RFC 6749 section 4.1.2).",
         {**SHOP_CODE, "code": "redeemed 11 seconds ago"}, "used", "ended"),
        ("of-another-client", "A code for another client; it stays good for that one.",
         {**SHOP_CODE, "client": "ledger", "redirect_uri": LEDGER_URI}, "good", None),
        ("for-another-redirect-uri", "RFC 6749 section 4.1.3; the code stays good.",
         {**SHOP_CODE, "redirect_uri": "https://shop.example.com/cb?tenant=1"}, "good", None),
        ("for-another-challenge", "PKCE: the verifier does not fit; the code stays good.",
         {**SHOP_CODE, "code_challenge": s256(SECOND_VERIFIER), "code_verifier": SECOND_VERIFIER}, "good", None),
        ("with-challenge-plain-as-s256", "PKCE downgrade: the verifier as its own challenge with S256.",
         {**SHOP_CODE, "code_challenge": VERIFIER}, None, None),
        ("without-challenge", "PKCE downgrade: a verifier, but the request had no challenge.",
         {**SHOP_CODE, "code_challenge": None, "code_challenge_method": None}, "good", None),
        ("credential-revoked", "Apple's word reaches codes.", {**SHOP_CODE, "credential": "consent revoked"}, "ended",
         None),
        ("credential-suspended", "A rejected refresh token of Apple's suspends.",
         {**SHOP_CODE, "credential": "refresh token rejected"}, "suspended", None),
        ("account-erased", "An erased account has no codes.", {**SHOP_CODE, "account": "erased"}, "ended", None),
        ("redeemed-and-revoked", "Apple's word reaches what a code gave.",
         {**SHOP_CODE, "code": "redeemed 5 seconds ago", "credential": "consent revoked"}, "ended", "ended")]:
    refused(f"code-{label}", summary, form(SHOP), "invalid_grant", given=changed(given, {}), grant=SHOP_GRANT, code=code,
            tokens=tokens)
granted("code-last-second", "A code is good for ten minutes.", form(SHOP), SHOP_GRANT,
        {**SHOP_CODE, "code": "issued 599 seconds ago"}, ALL, "openid email offline_access")
refused("code-other-redirect-uri", "The request repeats the URI byte for byte, with its port.",
        form(DESKTOP, redirect_uri="http://127.0.0.1:9005"), "invalid_grant", given=DESKTOP_CODE,
        grant=code_grant("desktop", "http://127.0.0.1:9005"), code="good")
refused("code-redirect-uri-missing", "It was in the authorization request.", form(SHOP, redirect_uri=None),
        "invalid_grant", given=SHOP_CODE, grant=code_grant("shop", None), code="good")
refused("code-verifier-missing", "PKCE downgrade: the verifier is left out.", form(SHOP, code_verifier=None),
        "invalid_grant", given=SHOP_CODE, grant=code_grant("shop", SHOP_URI, None), code="good")
refused("code-verifier-short", "A verifier has at least 43 characters.", form(SHOP, code_verifier=VERIFIER[:42]),
        "invalid_request", given=SHOP_CODE, code="good")
refused("code-verifier-is-challenge", "The challenge is known to readers of the request.",
        form(SHOP, code_verifier=CHALLENGE), "invalid_grant", given=SHOP_CODE,
        grant=code_grant("shop", SHOP_URI, CHALLENGE), code="good")
refused("code-verifier-long", "A verifier has at most 128 characters.", form(SHOP, code_verifier="v" * 129),
        "invalid_request", given=SHOP_CODE, code="good")
refused("code-verifier-character", "A verifier has letters, digits and - . _ ~ only.",
        form(SHOP, code_verifier=VERIFIER + "+="), "invalid_request", given=SHOP_CODE, code="good")
refused("code-google-verifier-short", "Google knows one word for every failure.",
        form(GOOGLE, code_verifier=VERIFIER[:42]), "invalid_grant", given=GOOGLE_CODE, code="good")
refused("code-verifier-malformed", "It is not repaired.", form(SHOP, code_verifier=None) + "&code_verifier=%zz",
        "invalid_request", given=SHOP_CODE, code="good")
refused("code-google-unknown", "Google knows one word for every failure.", form(GOOGLE), "invalid_grant",
        given={"code": "unknown"}, grant=GOOGLE_GRANT)
refused("code-google-expired", "Google knows one word for every failure.", form(GOOGLE), "invalid_grant",
        given={**GOOGLE_CODE, "code": "issued 601 seconds ago"}, grant=GOOGLE_GRANT, code="ended")
refused("code-google-verifier-without-challenge", "PKCE downgrade, for Google too.",
        form(GOOGLE, code_verifier=VERIFIER), "invalid_grant", given=GOOGLE_CODE,
        grant=code_grant("google", GOOGLE_URI), code="good")
refused("code-google-missing", "For Google a missing code is a failure of the code.", form(GOOGLE, code=None),
        "invalid_grant")
refused("code-missing", "RFC 6749 section 5.2.", form(SHOP, code=None), "invalid_request")
refused("code-empty", "A parameter without a value is absent.", form(SHOP, code=""), "invalid_request")
refused("code-too-long", "It is none of ours.", form(SHOP, code="c" * 513), "invalid_grant")
refused("code-malformed", "It is none of ours.", form(SHOP, code=None) + "&code=%FF", "invalid_grant")

# Clients.
CHALLENGED = {"status": 401, "challenge": True}
for label, summary, changes in [
        ("unknown", "There is no such client.", {"client_id": "stranger"}),
        ("secret-wrong", "Client secret guessing.", {"client_secret": SECRETS["ledger"][0]}),
        ("secret-prefix", "A part of the secret is not the secret.", {"client_secret": SECRETS["shop"][0][:-1]}),
        ("secret-missing", "A confidential client authenticates.", {"client_secret": None}),
        ("secret-empty", "A parameter without a value is absent.", {"client_secret": ""}),
        ("secret-is-hash", "The hash of the configuration is no secret.",
         {"client_secret": hashlib.sha256(SECRETS["shop"][0].encode()).hexdigest()}),
        ("missing", "No client is named.", {"client_id": None, "client_secret": None}),
        ("secret-without-id", "A secret alone names no client.", {"client_id": None}),
        ("in-capitals", "A client ID is compared byte for byte.", {"client_id": "Shop"})]:
    refused(f"client-{label}", summary, form(SHOP, **changes), "invalid_client", 401)
refused("client-public-with-secret", "A public client has no secret.", form(DESKTOP, client_secret="guess"),
        "invalid_client", 401)
refused("client-installed-without-secret", "A configured secret is checked.", form(DESKTOP, client_id="installed"),
        "invalid_client", 401)
refused("client-installed-with-wrong-secret", "A configured secret is checked.",
        form(DESKTOP, client_id="installed", client_secret=SECRETS["shop"][0]), "invalid_client", 401)
refused("client-google-secret-wrong", "The client is not a failure of the code.",
        form(GOOGLE, client_secret=SECRETS["google-second"][0]), "invalid_client", 401)
refused("client-basic-wrong", "The scheme is named when Basic was used (RFC 6749 section 5.2).",
        form(SHOP, **BASIC), "invalid_client", authorization=basic("shop", "wrong"), **CHALLENGED)
refused("client-basic-unknown", "The same for an unknown client.", form(SHOP, **BASIC), "invalid_client",
        authorization=basic("stranger", "wrong"), **CHALLENGED)
refused("client-basic-public", "A public client has no secret, by Basic neither.", form(DESKTOP, client_id=None),
        "invalid_client", authorization=basic("desktop", "guess"), **CHALLENGED)
for label, authorization in [
        ("not-base64", "Basic ***"), ("without-colon", "Basic c2hvcA=="), ("bearer", "Bearer abc"), ("empty", "Basic "),
        ("broken-escape", basic("sh%6", SECRETS["shop"][0]))]:
    refused(f"client-basic-{label}", "Credentials that cannot be read.", form(SHOP, **BASIC), "invalid_client",
            authorization=authorization, **CHALLENGED)
refused("client-basic-empty-secret", "A confidential client authenticates, by Basic too.", form(SHOP, **BASIC),
        "invalid_client", authorization=basic("shop", ""), **CHALLENGED)
refused("client-two-methods", "Basic and a secret in the body (RFC 6749 section 2.3).", form(SHOP, client_id=None),
        "invalid_request", authorization=basic("shop", SECRETS["shop"][0]))
refused("client-two-ids", "Basic and the body name two clients.", form(SHOP, client_id="ledger", client_secret=None),
        "invalid_request", authorization=basic("shop", SECRETS["shop"][0]))
refused("client-assertion", "RFC 7523 for clients is not supported.",
        form(SHOP, client_secret=None, client_assertion="e30.e30.",
             client_assertion_type="urn:ietf:params:oauth:client-assertion-type:jwt-bearer"), "invalid_client", 401)
for name in ["client_id", "client_secret", "grant_type", "code", "redirect_uri", "code_verifier"]:
    refused(f"repeated-{name.replace('_', '-')}", "A repeated parameter is malformed (RFC 6749 section 3.2).",
            form(SHOP) + "&" + encoded({name: SHOP[name]}, safe="{}"), "invalid_request")

# The form.
refused("content-type-json", "A form is required.", '{"grant_type":"authorization_code"}', "invalid_request",
        content_type="application/json")
refused("content-type-missing", "A form is required.", form(SHOP), "invalid_request", content_type=None)
refused("content-type-multipart", "A form is required.", form(SHOP), "invalid_request",
        content_type="multipart/form-data; boundary=x")
refused("content-type-longer", "A media type is compared whole.", form(SHOP), "invalid_request",
        content_type=FORM + "-x")
refused("secret-in-query", "Secrets in URLs end in logs (RFC 6749 section 2.3.1).",
        form(SHOP, client_id=None, client_secret=None), "invalid_request",
        query=encoded({"client_id": "shop", "client_secret": SECRETS["shop"][0]}))
refused("token-in-query", "Tokens in URLs end in logs.", form(SHOP_REFRESH, refresh_token=None), "invalid_request",
        query="refresh_token=x")
refused("body-empty", "Nothing is there.", "", "invalid_client", 401)
refused("body-too-large", "A bound on its length.", form(SHOP) + "&x=" + "a" * 16_384, "invalid_request")
refused("body-too-many-parameters", "A bound on their number.", form(SHOP) + "&x=1" * 60, "invalid_request")
refused("body-null", "U+0000 is in no parameter of ours.", form(SHOP, redirect_uri=None) + "&redirect_uri=%00",
        "invalid_request")
refused("grant-type-missing", "RFC 6749 section 5.2.", form(SHOP, grant_type=None), "invalid_request")
for grant_type in ["password", "client_credentials", "implicit", "AUTHORIZATION_CODE", "code",
                   "urn:ietf:params:oauth:grant-type:saml2-bearer"]:
    refused(f"grant-type-{grant_type.lower().split(':')[-1].replace('_', '-')}", "It is not offered.",
            form(SHOP, grant_type=grant_type), "unsupported_grant_type")
refused("resource-foreign", "RFC 8707: not the audience of this client.", form(SHOP, resource="https://other.example"),
        "invalid_target")
refused("resource-foreign-refresh", "The same with a refresh token.",
        form(SHOP_REFRESH, resource="https://api.example.com"), "invalid_target")

# Refresh tokens.
SHOP_TOKEN = {"refresh_token": "fresh", "client": "shop", "scope": "openid email offline_access"}
DESKTOP_TOKEN = {**SHOP_TOKEN, "client": "desktop"}
GOOGLE_TOKEN = {"refresh_token": "fresh", "client": "google", "scope": "email devices"}
granted("refresh-web", "It is rotated.", form(SHOP_REFRESH), refresh_grant("shop"), SHOP_TOKEN, ROTATED,
        "openid email offline_access")
granted("refresh-native", "It is rotated.", form(DESKTOP_REFRESH), refresh_grant("desktop"), DESKTOP_TOKEN, ROTATED,
        "openid email offline_access")
granted("refresh-google", "It is not rotated.", form(GOOGLE_REFRESH), refresh_grant("google"), GOOGLE_TOKEN,
        ["access_token"], "email devices")
granted("refresh-narrower", "Some of the scopes (RFC 6749 section 6).", form(DESKTOP_REFRESH, scope="email"),
        refresh_grant("desktop", "email"), DESKTOP_TOKEN, ["access_token", "refresh_token"], "email")
granted("refresh-scope-with-raw-space", "A client that does not encode a space means a space.",
        form(DESKTOP_REFRESH) + "&scope=openid email", refresh_grant("desktop", "openid email"), DESKTOP_TOKEN,
        ["access_token", "refresh_token"], "openid email")
granted("refresh-lost-answer", "The successor is unused, so its answer was lost.", form(DESKTOP_REFRESH),
        refresh_grant("desktop"), {**DESKTOP_TOKEN, "refresh_token": "rotated 29 seconds ago, successor unused"},
        ROTATED, "openid email offline_access")
for label, summary, given in [
        ("lost-answer-late", "The successor is unused, so its answer was lost.",
         "rotated 3000 seconds ago, successor unused"),
        ("repeated-after-successor", "The exchange is repeated: it gives the newest token.",
         "rotated 59 seconds ago, successor used"),
        ("repeated-two-generations", "An exchange repeated at once, two generations later.", "rotated twice")]:
    granted(f"refresh-{label}", summary, form(DESKTOP_REFRESH), refresh_grant("desktop"),
            {**DESKTOP_TOKEN, "refresh_token": given}, ROTATED, "openid email offline_access")
for label, summary, given, tokens in [
        ("reused-late", "Refresh token reuse: the family ends.",
         {"refresh_token": "rotated 86400 seconds ago, successor unused"}, "ended"),
        ("reused-after-successor", "Refresh token reuse: the family ends.",
         {"refresh_token": "rotated 60 seconds ago, successor used"}, "ended"),
        ("of-another-client", "Cross-client use; it stays good for its client.",
         {"client": "phone", "scope": "openid email"}, "good"),
        ("revoked", "RFC 7009: its access tokens end with it.", {"refresh_token": "revoked"}, "ended"),
        ("expired", "Past its lifetime.", {"refresh_token": "expired"}, "ended"),
        ("unknown", "Invented.", {"refresh_token": "unknown", "client": None, "scope": None}, None),
        ("altered", "The line is right and the secret is not, as with an old one.", {"refresh_token": "altered"}, "ended"),
        ("consent-revoked", "Apple's word ends it for good.", {"credential": "consent revoked"}, "ended"),
        ("suspended", "Until the next sign-in.", {"credential": "refresh token rejected"}, "suspended"),
        ("account-erased", "An erased account has no tokens.", {"account": "erased"}, "ended")]:
    refused(f"refresh-{label}", summary, form(DESKTOP_REFRESH), "invalid_grant",
            given=changed(DESKTOP_TOKEN, given), grant=refresh_grant("desktop"), tokens=tokens)
refused("refresh-google-revoked", "Google knows one word for every failure.", form(GOOGLE_REFRESH), "invalid_grant",
        given={**GOOGLE_TOKEN, "refresh_token": "revoked"}, grant=refresh_grant("google"), tokens="ended")
for credential, tokens in [("consent revoked", "ended"), ("refresh token rejected", "suspended")]:
    refused(f"refresh-google-{credential.replace(' ', '-')}", "Apple's word reaches Google's tokens.",
            form(GOOGLE_REFRESH), "invalid_grant", given={**GOOGLE_TOKEN, "credential": credential},
            grant=refresh_grant("google"), tokens=tokens)
refused("refresh-web-reused-late", "A web client's are rotated like a native one's.", form(SHOP_REFRESH),
        "invalid_grant", given={**SHOP_TOKEN, "refresh_token": "rotated 60 seconds ago, successor used"},
        grant=refresh_grant("shop"), tokens="ended")
refused("refresh-scope-escalation", "Scope escalation: the client's, but not the token's.",
        form(DESKTOP_REFRESH, scope="email profile"), "invalid_scope", given={**DESKTOP_TOKEN, "scope": "openid email"},
        grant=refresh_grant("desktop", "email profile"), tokens="good")
refused("refresh-scope-unknown", "Scope escalation: not the client's.", form(DESKTOP_REFRESH, scope="admin"),
        "invalid_scope")
refused("refresh-scope-malformed", "RFC 6749 section 3.3.", form(DESKTOP_REFRESH, scope="openid  email"),
        "invalid_scope")
refused("refresh-missing", "RFC 6749 section 5.2.", form(DESKTOP_REFRESH, refresh_token=None), "invalid_request")
refused("refresh-google-missing", "For Google it is a failure of the token.",
        form(GOOGLE_REFRESH, refresh_token=None), "invalid_grant")
refused("refresh-too-long", "It is none of ours.", form(DESKTOP_REFRESH, refresh_token="r" * 513), "invalid_grant")
refused("refresh-repeated", "A repeated parameter is malformed.", form(DESKTOP_REFRESH) + "&refresh_token=x",
        "invalid_request")
refused("refresh-web-without-secret", "Refresh token theft: a confidential client authenticates.",
        form(SHOP_REFRESH, client_secret=None), "invalid_client", 401)

# Google's assertion.
ADA = "ada@gmail.com"
FOUND = {"account_found": "true"}
NOT_FOUND = {"account_found": "false"}


def assertion_grant(intent, scope=None):
    return changed({"client": "google", "type": "jwt-bearer", "intent": intent, "scope": scope}, {})


def linking_error(login_hint=ADA):
    return {"error": "linking_error", "login_hint": login_hint}


GOOGLE_ACCOUNT = "of a Google account "
UNLINKED = GOOGLE_ACCOUNT + "that is not linked"
SAME_ADDRESS = GOOGLE_ACCOUNT + "with the verified address of an account"
LINKED = "of a linked Google account"
DISABLED = "of a disabled Google account"
REVOKED = "of a linked Google account whose credential is revoked"
linking("assertion-check", "Google asks whether there is an account.", form(ASSERTION, intent="check"),
        assertion_grant("check"), UNLINKED, 404, NOT_FOUND)
linking("assertion-get", "The person signs in in the browser.", form(ASSERTION), assertion_grant("get"), UNLINKED, 401,
        linking_error())
linking("assertion-create", "Accounts without Apple are not allowed here.", form(ASSERTION, intent="create"),
        assertion_grant("create"), UNLINKED, 401, linking_error())
linking("assertion-scope", "With some of the client's scopes.", form(ASSERTION, scope="devices"),
        assertion_grant("get", "devices"), UNLINKED, 401, linking_error())
for label, summary, assertion, status, answer in [
        ("linked", "Found by the Google account of an earlier link.", LINKED, 200, FOUND),
        ("same-address", "Found by an address that both sides have verified.", SAME_ADDRESS, 200, FOUND),
        ("workspace", "Google answers for the addresses of a domain that it hosts.",
         "of a Google Workspace account with the verified address of an account", 200, FOUND),
        ("foreign-address", "The address can have passed to another person since Google saw it.",
         GOOGLE_ACCOUNT + "with an address that Google does not answer for", 404, NOT_FOUND),
        ("unverified-address", "Anyone can claim an address that is not verified.",
         GOOGLE_ACCOUNT + "with an address that is not verified", 404, NOT_FOUND),
        ("private-address", "A private relay address finds no account.",
         GOOGLE_ACCOUNT + "with the private address of an account", 404, NOT_FOUND),
        ("revoked", "A revoked credential is no account to link.", REVOKED, 404, NOT_FOUND),
        ("disabled", "Google has disabled the account.", DISABLED, 401, linking_error())]:
    linking(f"assertion-check-{label}", summary, form(ASSERTION, intent="check"), assertion_grant("check"), assertion,
            status, answer)
for label, assertion, hint in [("linked", LINKED, "countess@gmail.com"), ("same-address", SAME_ADDRESS, ADA)]:
    granted(f"assertion-get-{label}", "The account is linked.", form(ASSERTION, scope="devices"),
            assertion_grant("get", "devices"), {"assertion": assertion}, ["access_token", "refresh_token"], "devices")
    linking(f"assertion-create-{label}", "There is an account already.", form(ASSERTION, intent="create"),
            assertion_grant("create"), assertion, 401, linking_error(hint))
linking("assertion-get-revoked", "A new sign-in heals it.", form(ASSERTION), assertion_grant("get"), REVOKED, 401,
        linking_error())
linking("assertion-get-disabled", "No new link for a disabled account.", form(ASSERTION), assertion_grant("get"),
        DISABLED, 401, linking_error())
for assertion in ["expired", "of another audience", "of another issuer", "with a forged signature",
                  "without a signature", "an identity token of Apple's", "a security event token", "no token"]:
    label = assertion.replace("'", "").replace(" ", "-")
    refused(f"assertion-refused-{label}", "A bad assertion (RFC 7523 section 3.1).", form(ASSERTION), "invalid_grant",
            given={"assertion": assertion}, grant=assertion_grant("get"))
refused("assertion-intent-unknown", "An unknown intent.", form(ASSERTION, intent="steal"), "invalid_request")
refused("assertion-intent-missing", "An intent is required.", form(ASSERTION, intent=None), "invalid_request")
refused("assertion-missing", "RFC 7523 section 2.1.", form(ASSERTION, assertion=None), "invalid_request")
refused("assertion-scope-unknown", "Not one of the client's scopes.", form(ASSERTION, scope="admin"), "invalid_scope")
refused("assertion-of-web-client", "Only Google has it.",
        form(ASSERTION, client_id="shop", client_secret=SECRETS["shop"][0]), "unauthorized_client")
refused("assertion-of-native-client", "Only Google has it.",
        form(ASSERTION, client_id="desktop", client_secret=None), "unauthorized_client")
refused("assertion-without-google-client-ids", "Without the aud of Google's tokens none can be verified.",
        form(ASSERTION, client_id="google-second", client_secret=SECRETS["google-second"][0]), "unauthorized_client")

# Apple's identity token (RFC 8693): a native sign-in without a browser.
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"
EXCHANGE = {"grant_type": TOKEN_EXCHANGE, "client_id": "mobile", "subject_token": "{subject_token}",
            "subject_token_type": TOKEN_TYPE + "id_token", "nonce": "{nonce}"}


def exchange_grant(scope=None, client="mobile"):
    return changed({"client": client, "type": "token-exchange", "scope": scope}, {})


def exchanged(name, summary, body, scope="openid email devices", identity="accepted", grant=None, tokens=ALL):
    granted(f"exchange-{name}", summary, body, grant or exchange_grant(), {"identity": identity}, tokens, scope)


exchanged("all-scopes", "Without scope the client gets all of its scopes.", form(EXCHANGE))
exchanged("scope", "Some of the client's scopes.", form(EXCHANGE, scope="devices"), "devices",
          grant=exchange_grant("devices"), tokens=["access_token", "refresh_token"])
exchanged("code", "Apple's code is bound to the token by c_hash.", form(EXCHANGE, authorization_code="c0ffee.0.abc"),
          identity="accepted with a code")
exchanged("user", "Apple's object with the name of the user.",
          form(EXCHANGE, user='{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"ada@example.com"}'))
exchanged("requested-token-type", "The only type that is issued.",
          form(EXCHANGE, requested_token_type=TOKEN_TYPE + "access_token"))
exchanged("resource-and-audience", "Both name the client's audience.",
          form(EXCHANGE, resource=ISSUER, audience=ISSUER) + "&" + encoded({"audience": ISSUER}))
exchanged("unknown-parameters", "Unknown parameters are ignored.", form(EXCHANGE) + "&x=1&x=2")
exchanged("after-a-revocation", "A new sign-in authorizes the app again.", form(EXCHANGE),
          identity="from after the consent was revoked")
exchanged("bundle-id", "The bundle ID is named in the configuration.", form(EXCHANGE, client_id="mobile-strict"),
          "openid email", grant=exchange_grant(client="mobile-strict"))
for identity in ["of the Services ID", "of another app", "of an unknown app", "expired", "with a forged signature",
                 "no token", "an access token of this service", "with the nonce itself", "without a nonce",
                 "without a nonce of an old system", "with the nonce of another sign-in",
                 "with a nonce of the app's own", "with an invented nonce", "with an expired nonce",
                 "with a used nonce", "from before the consent was revoked", "from before the erasure"]:
    label = identity.replace("'", "").replace(" ", "-")
    refused(f"exchange-refused-{label}", "An invalid subject token (RFC 8693 section 2.2.2).", form(EXCHANGE),
            "invalid_request", given={"identity": identity}, grant=exchange_grant())
refused("exchange-refused-too-old", "The sign-in at Apple is older than the client allows.",
        form(EXCHANGE, client_id="mobile-strict"), "invalid_request", given={"identity": "too old"},
        grant=exchange_grant(client="mobile-strict"))
refused("exchange-without-apples-keys", "Apple's keys cannot be fetched.", form(EXCHANGE), "temporarily_unavailable",
        503, given={"identity": "unavailable"}, grant=exchange_grant())
refused("exchange-refused-other-code", "A code that did not come with the token.",
        form(EXCHANGE, authorization_code="c0ffee.0.xyz"), "invalid_request",
        given={"identity": "accepted with a code"}, grant=exchange_grant())
refused("exchange-user-malformed", "Apple's object is JSON.", form(EXCHANGE, user="Ada"), "invalid_request",
        given={"identity": "accepted"}, grant=exchange_grant())
for label, summary, changes in [
        ("subject-token-missing", "RFC 8693 section 2.1.", {"subject_token": None}),
        ("subject-token-too-long", "A bound on its length.", {"subject_token": "x" * 8193}),
        ("subject-token-type-missing", "RFC 8693 section 2.1.", {"subject_token_type": None}),
        ("subject-token-type-jwt", "An ID token is announced as such.", {"subject_token_type": TOKEN_TYPE + "jwt"}),
        ("subject-token-type-access-token", "Tokens of this service are not exchanged.",
         {"subject_token_type": TOKEN_TYPE + "access_token"}),
        ("requested-token-type-refresh-token", "The refresh token comes with the access token.",
         {"requested_token_type": TOKEN_TYPE + "refresh_token"}),
        ("actor-token", "Delegation is not supported.",
         {"actor_token": "x", "actor_token_type": TOKEN_TYPE + "id_token"}),
        ("nonce-missing", "Without a nonce the token would be good again and again.", {"nonce": None})]:
    refused(f"exchange-{label}", summary, form(EXCHANGE, **changes), "invalid_request")
refused("exchange-repeated-subject-token", "A repeated parameter is malformed.", form(EXCHANGE) + "&subject_token=x",
        "invalid_request")
refused("exchange-audience-foreign", "Not the audience of this client.", form(EXCHANGE, audience="https://other.example"),
        "invalid_target")
refused("exchange-second-audience-foreign", "Each audience is checked.",
        form(EXCHANGE, audience=ISSUER) + "&" + encoded({"audience": "https://other.example"}), "invalid_target")
refused("exchange-resource-foreign", "RFC 8707.", form(EXCHANGE, resource="https://other.example"), "invalid_target")
refused("exchange-scope-unknown", "Not one of the client's scopes.", form(EXCHANGE, scope="profile"), "invalid_scope")
refused("exchange-with-secret", "A public client has no secret.", form(EXCHANGE, client_secret="guess"),
        "invalid_client", 401)
refused("exchange-of-native-client", "Only with allow_native_sign_in.", form(EXCHANGE, client_id="phone"),
        "unauthorized_client")
refused("exchange-of-web-client", "Only native clients.",
        form(EXCHANGE, client_id="shop", client_secret=SECRETS["shop"][0]), "unauthorized_client")

# RFC 8628: a device without a browser polls with {device_code}.
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
POLL = {"grant_type": DEVICE_CODE, "client_id": "tv", "device_code": "{device_code}"}
AGREED = {"device": "agreed", "client": "tv", "scope": "openid email"}


def poll_grant(client="tv"):
    return {"client": client, "type": "device_code"}


granted("device-agreed", "The user has agreed: what a code would give.", form(POLL), poll_grant(), AGREED, ALL,
        "openid email")
granted("device-agreed-to-some-scopes", "Without openid there is no ID token.", form(POLL), poll_grant(),
        {**AGREED, "scope": "devices"}, ["access_token", "refresh_token"], "devices")
granted("device-polled-early-after-the-consent", "A poll that gets tokens is never too early.", form(POLL), poll_grant(),
        {**AGREED, "device": "polled 1 seconds ago, agreed"}, ALL, "openid email")
granted("device-last-second", "A device code is good for ten minutes.", form(POLL), poll_grant(),
        {**AGREED, "device": "agreed 599 seconds ago"}, ALL, "openid email")
for label, summary, device, error in [
        ("unknown", "Invented.", {"device": "unknown"}, "invalid_grant"),
        ("waiting", "The user has not decided (RFC 8628 section 3.5).", {"device": "waiting"}, "authorization_pending"),
        ("waiting-polled-in-time", "A poll after the interval.", {"device": "polled 5 seconds ago"},
         "authorization_pending"),
        ("polled-early", "RFC 8628 section 3.5.", {"device": "polled 4 seconds ago"}, "slow_down"),
        ("polled-after-slow-down", "The interval has grown by five seconds.",
         {"device": "polled early, then 9 seconds ago"}, "slow_down"),
        ("refused", "The user has refused.", {"device": "refused"}, "access_denied"),
        ("expired", "After ten minutes.", {"device": "requested 600 seconds ago"}, "expired_token"),
        ("expired-after-the-consent", "The device did not poll in time.", {**AGREED, "device": "agreed 600 seconds ago"},
         "expired_token"),
        ("of-another-client", "A device code is bound to its client.", {"device": "waiting", "client": "console"},
         "invalid_grant"),
        ("agreed-of-another-client", "The consent was to another client.",
         {"device": "agreed", "client": "console", "scope": "openid"}, "invalid_grant"),
        ("consent-revoked", "Apple's word reaches consents that no poll has used.",
         {**AGREED, "credential": "consent revoked"}, "invalid_grant"),
        ("credential-suspended", "A rejected refresh token of Apple's suspends.",
         {**AGREED, "credential": "refresh token rejected"}, "invalid_grant"),
        ("account-erased", "An erased account has no consents.", {**AGREED, "account": "erased"}, "invalid_grant")]:
    given = {"client": "tv", **device} if device["device"] != "unknown" else device
    refused(f"device-{label}", summary, form(POLL), error, given=given, grant=poll_grant())
refused("device-retried", "A retry of a poll that got tokens ends nothing.", form(POLL), "invalid_grant",
        given={**AGREED, "device": "redeemed 9 seconds ago"}, grant=poll_grant(), tokens="good")
refused("device-replayed", "Code replay: what the device code gave ends.", form(POLL), "invalid_grant",
        given={**AGREED, "device": "redeemed 11 seconds ago"}, grant=poll_grant(), tokens="ended")
refused("device-malformed", "No device code of this service has this form.", form(POLL, device_code="siwa_ac_x"),
        "invalid_grant", given={"device": "unknown"}, grant=poll_grant())
refused("device-missing", "RFC 8628 section 3.4.", form(POLL, device_code=None), "invalid_request")
refused("device-too-long", "A bound on its length: not a code of this service.", form(POLL, device_code="x" * 513),
        "invalid_grant")
refused("device-repeated", "A repeated parameter is malformed.", form(POLL) + "&device_code=x", "invalid_request")
refused("device-with-secret", "A public client has no secret.", form(POLL, client_secret="guess"), "invalid_client", 401)
refused("device-of-native-client", "Only with allow_device_grant.", form(POLL, client_id="desktop"),
        "unauthorized_client")
refused("device-of-web-client", "Only with allow_device_grant.",
        form(POLL, client_id="shop", client_secret=SECRETS["shop"][0]), "unauthorized_client")
refused("device-resource-foreign", "RFC 8707.", form(POLL, resource="https://other.example"), "invalid_target")
