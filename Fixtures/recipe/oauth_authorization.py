"""Requests to /oauth/authorize: RFC 6749 §4.1.1, RFC 7636, RFC 8252, RFC 8707, RFC 9207, OpenID Connect Core."""

from oauth_cases import AUTHORIZATION, BUNDLE_IDS, CHALLENGE, HOST, SANDBOX, VERIFIER, changed, encoded

SHOP_URI = "https://shop.example.com/cb"
SHOP = {
    "client_id": "shop", "redirect_uri": SHOP_URI, "response_type": "code", "scope": "openid email",
    "state": "af0ifjsldkj", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
}
GOOGLE_URI = f"{HOST}/r/home-link-42"
GOOGLE = {
    "client_id": "google", "redirect_uri": GOOGLE_URI, "response_type": "code", "scope": "email devices",
    "state": "STATE-OF-GOOGLE", "user_locale": "en-US",
}
DESKTOP = changed(SHOP, {"client_id": "desktop", "redirect_uri": "http://127.0.0.1:9004"})


def case(name, summary, query, expect, **request):
    assert name not in AUTHORIZATION, name
    AUTHORIZATION[name] = {
        "summary": summary, "request": changed({"method": "GET", "query": query}, request), "expect": expect}


def page(name, summary, query, error, status=400, **request):
    case(name, summary, query, {"page": {"status": status, "error": error}}, **request)


def redirect(name, summary, query, error, uri=SHOP_URI, state="af0ifjsldkj", **request):
    case(name, summary, query, {"redirect": changed(
        {"uri": uri, "error": error, "state": state, "iss": "https://accounts.example.com"}, {})}, **request)


SHOP_PROCEEDS = {
    "client": "shop", "redirect_uri": SHOP_URI, "scope": "openid email", "state": "af0ifjsldkj",
    "code_challenge": CHALLENGE, "code_challenge_method": "S256", "language": "en",
}
GOOGLE_PROCEEDS = {
    "client": "google", "redirect_uri": GOOGLE_URI, "scope": "email devices", "state": "STATE-OF-GOOGLE",
    "language": "en",
}


def proceed(name, summary, query, base=None, changes=None, **request):
    case(name, summary, query, {"proceed": changed(base or SHOP_PROCEEDS, changes or {})}, **request)


def shop(**changes):
    return encoded({**SHOP, **changes})


def google(**changes):
    return encoded({**GOOGLE, **changes})


def desktop(**changes):
    return encoded({**DESKTOP, **changes})


# What is right.
proceed("proceeds-web", "A web client with a challenge.", shop())
proceed("proceeds-challenge-of-no-verifier", "RFC 7636 section 4.2 allows it, though no SHA-256 is written like this.",
        shop(code_challenge=CHALLENGE[:-1] + "N"), changes={"code_challenge": CHALLENGE[:-1] + "N"})
proceed("proceeds-google-without-challenge", "Google's request for linking has no challenge.", google(),
        GOOGLE_PROCEEDS)
proceed("proceeds-google-with-challenge", "A challenge that Google sends is kept.",
        google(code_challenge=CHALLENGE, code_challenge_method="S256"), GOOGLE_PROCEEDS,
        {"code_challenge": CHALLENGE, "code_challenge_method": "S256"})
proceed("proceeds-google-sandbox", "Both hosts of Google belong to a project.",
        google(redirect_uri=f"{SANDBOX}/r/home-link-42"), GOOGLE_PROCEEDS,
        {"redirect_uri": f"{SANDBOX}/r/home-link-42"})
for bundle_id, host in [(BUNDLE_IDS[0], HOST), (BUNDLE_IDS[5], SANDBOX)]:
    label = "sandbox" if host == SANDBOX else "production"
    proceed(f"proceeds-app-flip-uri-{label}", "The URIs of App Flip are valid here too.",
            google(redirect_uri=f"{host}/a/{bundle_id}"), GOOGLE_PROCEEDS,
            {"redirect_uri": f"{host}/a/{bundle_id}"})
proceed("proceeds-custom-scheme-of-installed-apps", "The first example of Google's page for installed apps.",
        "scope=email%20profile&response_type=code&state=security_token%3D138r5719ru3e1%26url%3Dhttps%3A%2F%2F"
        "oauth2.example.com%2Ftoken&redirect_uri=com.example.app%3A/oauth2redirect&client_id=desktop"
        f"&code_challenge={CHALLENGE}&code_challenge_method=S256",
        changes={"client": "desktop", "scope": "email profile",
                 "redirect_uri": "com.example.app:/oauth2redirect",
                 "state": "security_token%3D138r5719ru3e1%26url%3Dhttps%3A%2F%2Foauth2.example.com%2Ftoken"})
proceed("proceeds-loopback-of-installed-apps", "The second example of Google's page for installed apps.",
        "scope=email%20profile&response_type=code&state=security_token%3D138r5719ru3e1%26url%3Dhttps%3A%2F%2F"
        "oauth2.example.com%2Ftoken&redirect_uri=http%3A//127.0.0.1%3A9004&client_id=desktop"
        f"&code_challenge={CHALLENGE}&code_challenge_method=S256",
        changes={"client": "desktop", "scope": "email profile", "redirect_uri": "http://127.0.0.1:9004",
                 "state": "security_token%3D138r5719ru3e1%26url%3Dhttps%3A%2F%2Foauth2.example.com%2Ftoken"})
redirect("example-of-installed-apps-without-challenge",
         "The example as it stands has no challenge, which this service requires.",
         "scope=email%20profile&response_type=code&state=security_token%3D138r5719ru3e1%26url%3Dhttps%3A%2F%2F"
         "oauth2.example.com%2Ftoken&redirect_uri=com.example.app%3A/oauth2redirect&client_id=desktop",
         "invalid_request", "com.example.app:/oauth2redirect",
         "security_token%3D138r5719ru3e1%26url%3Dhttps%3A%2F%2Foauth2.example.com%2Ftoken")
for name, uri in [("any-port", "http://127.0.0.1:51004/cb"), ("no-port", "http://127.0.0.1/cb"),
                  ("ipv6", "http://[::1]:61023/cb"), ("port-1", "http://127.0.0.1:1"),
                  ("port-65535", "http://127.0.0.1:65535")]:
    proceed(f"proceeds-loopback-{name}", "A loopback URI matches on every port (RFC 8252 section 7.3).",
            desktop(redirect_uri=uri), changes={"client": "desktop", "redirect_uri": uri})
proceed("proceeds-claimed-https-of-a-phone", "A native app with a claimed https URI.",
        encoded({**SHOP, "client_id": "phone", "redirect_uri": "https://phone.example.com/cb"}),
        changes={"client": "phone", "redirect_uri": "https://phone.example.com/cb"})
ANDROID_APP = {**SHOP, "client_id": "android", "redirect_uri": "com.example.android:/cb"}
proceed("proceeds-custom-scheme-on-android", "A client on Android that may have a custom scheme.", encoded(ANDROID_APP),
        changes={"client": "android", "redirect_uri": "com.example.android:/cb"})
proceed("proceeds-app-link-on-android", "An App Link is claimed https.",
        encoded({**ANDROID_APP, "redirect_uri": "https://android.example.com/cb"}),
        changes={"client": "android", "redirect_uri": "https://android.example.com/cb"})
for name, uri in [("two-slashes", "com.example.android://cb"), ("case", "com.example.Android:/cb"),
                  ("path", "com.example.android:/cb/"), ("other-app", "com.example.phone:/cb")]:
    page(f"custom-scheme-on-android-{name}", "A custom scheme is compared exactly, also on Android.",
         encoded({**ANDROID_APP, "redirect_uri": uri}), "redirect_uri_mismatch")
WORDS = {**SHOP, "client_id": "words", "redirect_uri": "com.example.words:/cb"}
for name, scope, granted in [
        ("email-and-profile", "email profile", "openid email profile"), ("email", "email", "openid email"),
        ("profile-and-another", "devices profile", "openid devices profile"), ("there", "email openid", "email openid"),
        ("no-identity", "devices", "devices")]:
    proceed(f"proceeds-implied-openid-{name}", "With imply_openid email and profile bring openid along, in front.",
            encoded({**WORDS, "scope": scope}),
            changes={"client": "words", "redirect_uri": "com.example.words:/cb", "scope": granted})
proceed("proceeds-existing-query", "A registered query is a part of the URI.",
        shop(redirect_uri="https://shop.example.com/cb?tenant=1"),
        changes={"redirect_uri": "https://shop.example.com/cb?tenant=1"})
proceed("proceeds-by-post", "OpenID Connect Core section 3.1.2.1: the same by POST.", None, method="POST",
        form=shop())
proceed("proceeds-by-post-state", "A form writes a space as a plus sign; the query of the answer must not.", None,
        changes={"state": "a%20b"}, method="POST", form=shop(state=None) + "&state=a+b")
proceed("proceeds-without-state", "The client need not send a state.", shop(state=None), changes={"state": None})
proceed("proceeds-empty-state", "A parameter without a value is absent (RFC 6749 section 3.1).", shop(state=""),
        changes={"state": None})
proceed("proceeds-without-scope", "Without a scope it is all of the client's.", shop(scope=None),
        changes={"scope": "openid profile email offline_access"})
proceed("proceeds-empty-scope", "An empty scope is absent.", shop(scope=""),
        changes={"scope": "openid profile email offline_access"})
proceed("proceeds-scope-order-kept", "The order of the request is kept.", shop(scope="offline_access email openid"),
        changes={"scope": "offline_access email openid"})
proceed("proceeds-scope-twice", "A scope that comes twice counts once.", shop(scope="email openid email"),
        changes={"scope": "email openid"})
proceed("proceeds-unknown-parameters", "Unknown parameters are ignored, also repeated and broken ones.",
        shop() + "&access_type=offline&x=1&x=2&include_granted_scopes=true&y=%zz&%zz=1&&")
for label, state in [("escaped", "a%2Bb%26c%3Dd%25e"), ("plus", "a+b"), ("lower-case-escapes", "%c3%a9%2f"),
                     ("not-escaped", "a/b?c:d@e!$'()*,;~-._"), ("broken-escape", "100%"), ("not-utf-8", "%FF%FE"),
                     ("null", "%00"), ("markup", "<script>alert(1)</script>"), ("line-break", "a%0D%0Ab"),
                     ("4096-bytes", "s" * 4096)]:
    proceed(f"proceeds-state-{label}", "The state goes back byte for byte.",
            shop(state=None) + f"&state={state}", changes={"state": state})
proceed("proceeds-all-hints", "Everything of OpenID Connect that is understood.",
        shop(nonce="n-0S6_WzA2Mj", prompt="login consent", max_age="3600", login_hint="anna@example.com",
             ui_locales="de pl", resource="https://accounts.example.com", response_mode="query"),
        changes={"nonce": "n-0S6_WzA2Mj", "prompt": ["consent", "login"], "max_age": 3600,
                 "login_hint": "anna@example.com", "language": "pl"})
proceed("proceeds-prompt-none", "No page may be shown; what follows from it is decided later.",
        shop(prompt="none"), changes={"prompt": ["none"]})
proceed("proceeds-prompt-select-account", "Google's word for another account.", shop(prompt="select_account"),
        changes={"prompt": ["select_account"]})
proceed("proceeds-max-age-zero", "Every authentication is too old.", shop(max_age="0"), changes={"max_age": 0})
LEDGER = {**SHOP, "client_id": "ledger", "redirect_uri": "https://ledger.example.com/cb", "scope": "devices"}
LEDGER_PROCEEDS = {"client": "ledger", "redirect_uri": "https://ledger.example.com/cb", "scope": "devices"}
proceed("proceeds-age-of-the-client", "The client's own bound holds without max_age.", encoded(LEDGER),
        changes={**LEDGER_PROCEEDS, "max_age": 3600})
proceed("proceeds-stricter-age", "Of two bounds the stricter one counts.", encoded({**LEDGER, "max_age": "60"}),
        changes={**LEDGER_PROCEEDS, "max_age": 60})
proceed("proceeds-wider-age", "A client cannot widen its bound by the request.",
        encoded({**LEDGER, "max_age": "86400"}), changes={**LEDGER_PROCEEDS, "max_age": 3600})
proceed("proceeds-own-audience", "The resource is the client's audience.",
        encoded({**LEDGER, "resource": "https://api.example.com"}), changes={**LEDGER_PROCEEDS, "max_age": 3600})
proceed("proceeds-resource-twice", "RFC 8707 allows several resources; all are the audience.",
        encoded({**LEDGER, "resource": "https://api.example.com"}) + "&resource=https://api.example.com",
        changes={**LEDGER_PROCEEDS, "max_age": 3600})
proceed("proceeds-plain-where-allowed", "The client's configuration allows plain.",
        encoded({**SHOP, "client_id": "legacy", "redirect_uri": "com.example.legacy:/cb", "scope": "email",
                 "code_challenge": VERIFIER, "code_challenge_method": "plain"}),
        changes={"client": "legacy", "redirect_uri": "com.example.legacy:/cb", "scope": "email",
                 "code_challenge": VERIFIER, "code_challenge_method": "plain"})
proceed("proceeds-plain-without-method", "A challenge without a method means plain (RFC 7636 section 4.3).",
        encoded({**SHOP, "client_id": "legacy", "redirect_uri": "com.example.legacy:/cb", "scope": "email",
                 "code_challenge": VERIFIER, "code_challenge_method": None}),
        changes={"client": "legacy", "redirect_uri": "com.example.legacy:/cb", "scope": "email",
                 "code_challenge": VERIFIER, "code_challenge_method": "plain"})
for label, hints, accept, language in [
        ("user-locale", {"user_locale": "ar-EG"}, None, "ar"),
        ("user-locale-before-ui-locales", {"user_locale": "tr", "ui_locales": "pl"}, "ar", "tr"),
        ("ui-locales", {"user_locale": None, "ui_locales": "fr pl-PL tr"}, "ar", "pl"),
        ("accept-language", {"user_locale": None}, "de;q=0.9, tr;q=0.7, pl;q=0.8, *;q=0.5", "pl"),
        ("accept-language-refused", {"user_locale": None}, "pl;q=0, tr;q=0.1", "tr"),
        ("unknown", {"user_locale": "de-DE"}, "fr", "en"),
        ("underscore", {"user_locale": "tr_TR"}, None, "tr"),
        ("nonsense", {"user_locale": "<b>"}, ";;q=,", "en")]:
    request = {"accept_language": accept} if accept else {}
    proceed(f"proceeds-language-{label}", "The language of the pages.", google(**hints), GOOGLE_PROCEEDS,
            {"language": language}, **request)

# No client, or no redirect URI of it: never a redirect.
page("client-missing", "Without a client there is no URI to trust.", shop(client_id=None), "invalid_request")
page("client-unknown", "Open redirect: an unknown client.", shop(client_id="stranger"), "invalid_client")
page("client-in-capitals", "A client ID is compared byte for byte.", shop(client_id="SHOP"), "invalid_client")
page("client-repeated", "Two clients are none.", shop() + "&client_id=desktop", "invalid_request")
page("client-malformed", "A broken escape is not repaired.", shop(client_id=None) + "&client_id=shop%",
     "invalid_request")
page("client-with-null", "U+0000 ends a text in other languages.", shop(client_id=None) + "&client_id=shop%00",
     "invalid_request")
page("redirect-uri-missing", "It is required, also with one registered URI.", shop(redirect_uri=None),
     "invalid_request")
page("redirect-uri-empty", "A parameter without a value is absent.", shop(redirect_uri=""), "invalid_request")
page("redirect-uri-repeated", "One of the two could be the attacker's.", shop() + "&redirect_uri=https://evil.example",
     "invalid_request")
page("redirect-uri-of-another-client", "Open redirect: registered, but not for this client.",
     shop(redirect_uri="https://ledger.example.com/cb"), "redirect_uri_mismatch")
page("both-wrong", "The client is the first thing that is told.", shop(client_id="stranger", redirect_uri=None),
     "invalid_client")
for label, uri in [
        ("foreign", "https://evil.example/cb"), ("prefix", "https://shop.example.com/cb/more"),
        ("suffix", "https://shop.example.com.evil.example/cb"), ("shorter", "https://shop.example.com/c"),
        ("added-query", "https://shop.example.com/cb?x=1"), ("other-query", "https://shop.example.com/cb?tenant=2"),
        ("fragment", "https://shop.example.com/cb#x"), ("empty-fragment", "https://shop.example.com/cb#"),
        ("userinfo", "https://shop.example.com@evil.example/cb"),
        ("userinfo-before-host", "https://evil@shop.example.com/cb"),
        ("encoded-slash", "https://shop.example.com%2Fcb"), ("encoded-dot", "https://shop%2Eexample.com/cb"),
        ("encoded-letter", "https://shop.example.com/%63b"), ("dot-segments", "https://shop.example.com/x/../cb"),
        ("trailing-dot", "https://shop.example.com./cb"), ("trailing-slash", "https://shop.example.com/cb/"),
        ("case-of-host", "https://Shop.example.com/cb"), ("case-of-path", "https://shop.example.com/CB"),
        ("case-of-scheme", "HTTPS://shop.example.com/cb"), ("http", "http://shop.example.com/cb"),
        ("default-port", "https://shop.example.com:443/cb"), ("port", "https://shop.example.com:8443/cb"),
        ("backslash", "https://shop.example.com\\cb"),
        ("backslash-and-at", "https://evil.example\\@shop.example.com/cb"),
        ("unicode-host", "https://shop.ex\u00e4mple.com/cb"), ("full-width", "https://shop.example.com\uff0fcb"),
        ("white-space", "https://shop.example.com/cb "), ("line-break", "https://shop.example.com/cb\r\nX: y"),
        ("scheme-relative", "//shop.example.com/cb"),
        ("javascript", "javascript:alert(1)//https://shop.example.com/cb")]:
    page(f"redirect-uri-{label}", "URI trick: compared byte for byte, nothing is normalized.", shop(redirect_uri=uri),
         "redirect_uri_mismatch")
for label, uri in [
        ("localhost", "http://localhost:9004"), ("other-address", "http://127.0.0.2:9004"),
        ("https", "https://127.0.0.1:9004"), ("path", "http://127.0.0.1:9004/other"),
        ("slash", "http://127.0.0.1:9004/"), ("suffix", "http://127.0.0.1:9004.evil.example"),
        ("userinfo", "http://127.0.0.1:9004@evil.example"), ("port-0", "http://127.0.0.1:0"),
        ("port-65536", "http://127.0.0.1:65536"), ("port-zeros", "http://127.0.0.1:09004"),
        ("port-empty", "http://127.0.0.1:"), ("port-sign", "http://127.0.0.1:+9004"),
        ("long-ipv6", "http://[0:0:0:0:0:0:0:1]:9004/cb"), ("decimal", "http://2130706433:9004")]:
    page(f"loopback-{label}", "Only the port of a loopback URI may differ.", desktop(redirect_uri=uri),
         "redirect_uri_mismatch")
for label, uri in [("two-slashes", "com.example.app://oauth2redirect"), ("no-slash", "com.example.app:oauth2redirect"),
                   ("capitals", "COM.EXAMPLE.APP:/oauth2redirect"), ("longer", "com.example.app.x:/oauth2redirect")]:
    page(f"custom-scheme-{label}", "A custom scheme is compared byte for byte.", desktop(redirect_uri=uri),
         "redirect_uri_mismatch")
page("google-other-project", "The project is a part of Google's URIs.",
     google(redirect_uri=f"{HOST}/r/home-link-43"), "redirect_uri_mismatch")
page("too-many-parameters", "A bound on their number.", shop() + "&x=1" * 60, "invalid_request")
page("too-many-bytes", "A bound on their length.", shop() + "&x=" + "a" * 16_384, "invalid_request")

# The exception: the URIs of App Flip belong to Google.
FLIP_URI = f"{HOST}/a/com.google.OPA"
redirect("app-flip-uri-unknown-client", "The URI is Google's own, so the error goes there.",
         google(client_id="stranger", redirect_uri=FLIP_URI), "invalid_request", FLIP_URI, "STATE-OF-GOOGLE")
redirect("app-flip-uri-missing-client", "The same without a client.", google(client_id=None, redirect_uri=FLIP_URI),
         "invalid_request", FLIP_URI, "STATE-OF-GOOGLE")
redirect("app-flip-uri-of-client-without-app-flip", "A client of Google's without App Flip.",
         google(client_id="google-second", redirect_uri=FLIP_URI), "invalid_request", FLIP_URI, "STATE-OF-GOOGLE")
FUTURE_URI = f"{HOST}/a/com.google.Future"
redirect("app-flip-uri-of-another-client", "A URI of App Flip that another client of Google's has.",
         google(redirect_uri=FUTURE_URI), "invalid_request", FUTURE_URI, "STATE-OF-GOOGLE")
proceed("proceeds-app-flip-uri-configured", "The list of Google's apps can be extended.",
        google(client_id="google-third", redirect_uri=FUTURE_URI, scope="devices"), GOOGLE_PROCEEDS,
        {"client": "google-third", "redirect_uri": FUTURE_URI, "scope": "devices", "max_age": 3600})
redirect("app-flip-uri-of-web-client", "A client that is not Google.", shop(redirect_uri=FLIP_URI),
         "invalid_request", FLIP_URI)
page("app-flip-uri-unknown-bundle-id", "Only the known apps of Google.",
     google(client_id="stranger", redirect_uri=f"{HOST}/a/com.google.Other"), "invalid_client")
page("app-flip-uri-case", "Also these are compared byte for byte.",
     google(client_id="stranger", redirect_uri=f"{HOST}/a/com.google.opa"), "invalid_client")

# Everything else is told to the client.
redirect("state-repeated", "Of two states none is sent back.", shop() + "&state=second", "invalid_request", state=None)
redirect("state-too-long", "A bound on the state.", shop(state="s" * 4097), "invalid_request", state=None)
redirect("response-type-missing", "RFC 6749 section 4.1.2.1.", shop(response_type=None), "invalid_request")
redirect("response-type-token", "The implicit grant is gone (RFC 9700 section 2.1.2).", shop(response_type="token"),
         "unsupported_response_type")
redirect("response-type-hybrid", "No tokens in URLs.", shop(response_type="code id_token"),
         "unsupported_response_type")
redirect("response-type-in-capitals", "Words are compared byte for byte.", shop(response_type="CODE"),
         "unsupported_response_type")
redirect("response-type-repeated", "A repeated parameter is malformed.", shop() + "&response_type=code",
         "invalid_request")
redirect("response-mode-fragment", "Only the query.", shop(response_mode="fragment"), "invalid_request")
redirect("response-mode-form-post", "Only the query.", shop(response_mode="form_post"), "invalid_request")
redirect("scope-unknown", "No such scope.", shop(scope="openid admin"), "invalid_scope")
redirect("scope-of-another-client", "Declared, but not for this client.", shop(scope="devices"), "invalid_scope")
redirect("scope-in-capitals", "A scope is case-sensitive.", shop(scope="Email"), "invalid_scope")
redirect("scope-two-spaces", "RFC 6749 section 3.3: single spaces.", shop(scope="openid  email"), "invalid_scope")
redirect("scope-tab", "RFC 6749 section 3.3: no other white space.", shop(scope="openid\temail"), "invalid_scope")
redirect("scope-quotation-mark", "RFC 6749 section 3.3: characters of a scope.", shop(scope='"email"'),
         "invalid_scope")
redirect("scope-repeated", "A repeated parameter is malformed.", shop() + "&scope=email", "invalid_request")
redirect("scope-malformed", "A broken escape is not repaired.", shop(scope=None) + "&scope=email%2", "invalid_request")
redirect("challenge-missing", "PKCE downgrade: a web client must send a challenge.",
         shop(code_challenge=None, code_challenge_method=None), "invalid_request")
redirect("challenge-dropped", "PKCE downgrade: the challenge is gone, the method is left.", shop(code_challenge=None),
         "invalid_request")
redirect("challenge-method-without-challenge-google", "The same where no challenge is required.",
         google(code_challenge_method="S256"), "invalid_request", GOOGLE_URI, "STATE-OF-GOOGLE")
redirect("challenge-plain", "PKCE downgrade: plain is not allowed.",
         shop(code_challenge=VERIFIER, code_challenge_method="plain"), "invalid_request")
redirect("challenge-without-method", "Without a method it is plain.", shop(code_challenge_method=None),
         "invalid_request")
redirect("challenge-method-unknown", "RFC 7636 section 4.4.1.", shop(code_challenge_method="S512"),
         "invalid_request")
redirect("challenge-method-lower-case", "Words are compared byte for byte.", shop(code_challenge_method="s256"),
         "invalid_request")
redirect("challenge-short", "A SHA-256 has 43 characters.", shop(code_challenge=CHALLENGE[:-1]), "invalid_request")
redirect("challenge-padded", "base64url without padding.", shop(code_challenge=CHALLENGE + "="), "invalid_request")
redirect("challenge-standard-alphabet", "base64url, not base64.", shop(code_challenge=CHALLENGE.replace("-", "+")),
         "invalid_request")
redirect("challenge-repeated", "A repeated parameter is malformed.", shop() + f"&code_challenge={CHALLENGE}",
         "invalid_request")
redirect("prompt-none-and-login", "OpenID Connect Core section 3.1.2.1.", shop(prompt="none login"),
         "invalid_request")
redirect("prompt-unknown", "A word that is not known cannot be obeyed.", shop(prompt="sleep"), "invalid_request")
for label, age in [("negative", "-1"), ("words", "an hour"), ("fraction", "1.5"), ("eleven-digits", "1" * 11)]:
    redirect(f"max-age-{label}", "A number of seconds.", shop(max_age=age), "invalid_request")
redirect("nonce-too-long", "A bound on the nonce.", shop(nonce="n" * 513), "invalid_request")
redirect("nonce-repeated", "A repeated parameter is malformed.", shop(nonce="a") + "&nonce=a", "invalid_request")
redirect("login-hint-repeated", "A repeated parameter is malformed.", shop(login_hint="a") + "&login_hint=b",
         "invalid_request")
redirect("resource-foreign", "RFC 8707: not the audience of this client.", shop(resource="https://other.example"),
         "invalid_target")
redirect("resource-with-slash", "Compared byte for byte.", shop(resource="https://accounts.example.com/"),
         "invalid_target")
redirect("resource-one-foreign", "All of several must be the audience.",
         shop(resource="https://accounts.example.com") + "&resource=https://other.example", "invalid_target")
redirect("request-object", "OpenID Connect Core section 6.1 is not supported.",
         shop(request="eyJhbGciOiJub25lIn0.e30."), "request_not_supported")
redirect("request-uri-object", "OpenID Connect Core section 6.2 is not supported.",
         shop(request_uri="https://evil.example/request"), "request_uri_not_supported")
redirect("error-keeps-existing-query", "A registered query stays in front.",
         shop(redirect_uri="https://shop.example.com/cb?tenant=1", response_type="token"),
         "unsupported_response_type", "https://shop.example.com/cb?tenant=1")
redirect("error-at-loopback", "The error goes to the port of the request.", desktop(response_type="token"),
         "unsupported_response_type", "http://127.0.0.1:9004")
redirect("error-without-state", "There is no state to send back.", shop(state=None, response_type="token"),
         "unsupported_response_type", state=None)
redirect("error-text-with-markup", "Nothing of the request is repeated in the description.",
         shop(scope="<script>alert(1)</script>", prompt="<b>"), "invalid_scope")
redirect("error-state-with-line-break", "A state cannot end the header field.",
         shop(state=None, response_type="token") + "&state=a%0D%0ASet-Cookie:x=y", "unsupported_response_type",
         state="a%0D%0ASet-Cookie:x=y")

# Browsers inside of apps.
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
ANDROID = "Mozilla/5.0 (Linux; Android 14; Pixel 8"
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0 Mobile Safari/537.36"
for label, agent in [
        ("ios", f"{IPHONE} Mobile/15E148"),
        ("ios-instagram", f"{IPHONE} Version/18.1 Mobile/15E148 Safari/604.1 Instagram 350.0.0.0"),
        ("ios-facebook", f"{IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/480.0.0.0]"),
        ("android", f"{ANDROID}; wv) {CHROME.replace('Chrome', 'Version/4.0 Chrome')}"),
        ("android-line", f"{ANDROID}) {CHROME} Line/14.0")]:
    page(f"user-agent-{label}", "RFC 8252 section 8.12: an embedded web view.", shop(), "disallowed_useragent", 403,
         user_agent=agent)
page("user-agent-after-the-redirect-uri", "A foreign URI is told first.", shop(redirect_uri="https://evil.example"),
     "redirect_uri_mismatch", user_agent=f"{IPHONE} Mobile/15E148")
page("user-agent-before-the-rest", "Nothing is sent to the client from there.", shop(response_type="token"),
     "disallowed_useragent", 403, user_agent=f"{IPHONE} Mobile/15E148")
for label, agent in [
        ("safari-on-ios", f"{IPHONE} Version/18.1 Mobile/15E148 Safari/604.1"),
        ("chrome-on-ios", f"{IPHONE} CriOS/129.0 Mobile/15E148 Safari/604.1"),
        ("chrome-on-android", f"{ANDROID}) {CHROME}"),
        ("firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0"),
        ("nothing-known", "curl/8.10.1")]:
    proceed(f"proceeds-user-agent-{label}", "A browser of the system.", shop(), user_agent=agent)
