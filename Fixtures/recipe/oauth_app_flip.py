"""Calls of POST /v1/oauth/app-flip, and what Google is told."""

from oauth_cases import APP, APP_FLIP, BUNDLE_IDS, CHALLENGE, HOST, SANDBOX, SECOND_APP, VERIFIER, changed

FLIP_URI = f"{HOST}/a/com.google.Chromecast"
CALL = {
    "client_id": "google", "redirect_uri": FLIP_URI, "state": "STATE", "scope": "email devices", "user_locale": "en-US",
    "decision": "granted", "identity_token": "{identity_token}",
}


def case(name, summary, expect, identity=None, caller=None, **changes):
    assert name not in APP_FLIP, name
    APP_FLIP[name] = changed({
        "summary": summary, "caller": caller, "given": {"identity": identity} if identity else None,
        "call": changed(CALL, {name.rstrip("_"): value for name, value in changes.items()}), "expect": expect}, {})


def outcome(name, summary, word, identity=None, state="STATE", scope=None, message=None, ago=None, **changes):
    """`state` and `scope` are what is expected; `state_` and `scope_` change the call. `ago` is the age of the
    authentication in seconds."""
    expect = {"status": 200, "outcome": word, "redirect": changed(
        {"uri": changes.get("redirect_uri", FLIP_URI), "error": None if word == "code" else word, "state": state}, {})}
    case(name, summary, changed(
        {**expect, "scope": scope, "language": message, "authenticated_seconds_ago": ago}, {}), identity, **changes)


def refused(name, summary, status, code, **changes):
    case(name, summary, {"status": status, "code": code}, **changes)


# A code.
outcome("granted-identity-token", "The identity token is a sign-in.", "code", "accepted", scope="email devices")
outcome("granted-account", "The backend knows the account.", "code", "accepted", scope="email devices",
        identity_token=None, account_id="{account_id}")
for index, bundle_id in enumerate(BUNDLE_IDS):
    host = [HOST, SANDBOX][index % 2]
    outcome(f"granted-{bundle_id.lower().replace('.', '-')}", "One of the twelve URIs.", "code", "accepted",
            scope="email devices", redirect_uri=f"{host}/a/{bundle_id}")
outcome("granted-some-scopes", "Granular consent.", "code", "accepted", scope="devices", granted_scopes="devices")
outcome("granted-with-challenge", "A challenge of the universal link comes along.", "code", "accepted",
        scope="email devices", code_challenge=CHALLENGE, code_challenge_method="S256")
outcome("granted-with-empty-challenge", "A parameter without a value is absent.", "code", "accepted",
        scope="email devices", code_challenge="", code_challenge_method="", user_locale="")
outcome("granted-state-is-encoded", "The state is a parameter of the URL, a space is %20.", "code", "accepted",
        state="a%20b%26c%3Dd%23%C3%A9%2B", scope="email devices", state_="a b&c=d#\u00e9+")
for tag, language in [("ar-EG", "ar"), ("tr", "tr"), ("pl-PL", "pl"), ("de", "en"), (None, "en")]:
    outcome(f"message-{language}-for-{tag.lower() if tag else 'none'}", "The message is in the person's language.",
            "code", "accepted", scope="email devices", message=language, user_locale=tag)

# The person's decision.
outcome("denied", "The person refuses. Google ends linking.", "access_denied", decision="denied")
outcome("denied-without-identity", "Who refuses need not be known.", "access_denied", decision="denied",
        identity_token=None)
outcome("cancelled", "The person gives up. Google goes on in the browser.", "cancelled", decision="cancelled")
outcome("no-scope-left", "All is unticked.", "access_denied", granted_scopes="")
refused("decision-missing", "The backend must say it.", 400, "member_missing", decision=None)
refused("decision-unknown", "The backend must say one of three words.", 400, "member_malformed", decision="yes")
outcome("message-tr-for-denied", "Errors have a message too.", "access_denied", message="tr", decision="denied",
        user_locale="tr-TR")

# The identity.
outcome("identity-missing", "Nothing says who it is.", "cancelled", identity_token=None)
for identity, word in [
        ("refused", "cancelled"), ("credential revoked", "cancelled"),
        ("unavailable", "cancelled"), ("account erased", "cancelled"), ("account being erased", "cancelled"),
        ("apple account deleted", "cancelled")]:
    outcome(f"identity-{identity.replace(' ', '-')}", "Every refused token is recoverable: a new sign-in heals it.", word,
            identity)
refused("identity-of-two", "The two could be of two people.", 400, "member_malformed", account_id="{account_id}")
for word in ["of another app", "expired", "nonce of another sign-in"]:
    outcome(f"identity-refused-{word.replace(' ', '-')}", "Every refused token is a sign-in that failed.", "cancelled",
            f"refused: {word}", nonce="raw" if "nonce" in word else None)
ACCOUNT = {"identity_token": None, "account_id": "{account_id}"}
for identity, word in [
        ("credential revoked", "cancelled"), ("account erased", "unrecoverable"),
        ("account being erased", "unrecoverable"), ("apple account deleted", "unrecoverable")]:
    outcome(f"identity-{identity.replace(' ', '-')}-by-account", "When the backend names the account, there may be nothing to heal.", word,
            identity, **ACCOUNT)
refused("identity-account-unknown", "No account has or had this ID.", 404, "account_not_found",
        identity="account unknown", **ACCOUNT)
STRICT = {"client_id": "google-third", "scope_": "devices"}
outcome("identity-too-old", "The client's max_authentication_age.", "cancelled", "too old", **STRICT)
outcome("identity-too-old-by-account", "When the backend does not say when the person signed in, it was then.",
        "cancelled", "too old", **STRICT, **ACCOUNT)
outcome("identity-too-old-as-the-backend-says", "The backend says when the person signed in.", "cancelled",
        "too old as the backend says", authenticated_at="{3601 seconds ago}", **STRICT, **ACCOUNT)
outcome("granted-recent-authentication", "The backend says that the person has signed in since.", "code",
        "signed in 4000 seconds ago", scope="devices", ago=3599, authenticated_at="{3599 seconds ago}", **STRICT, **ACCOUNT)
outcome("granted-authenticated-at", "What the backend says becomes auth_time.", "code", "accepted",
        scope="email devices", ago=1800, authenticated_at="{1800 seconds ago}", **ACCOUNT)
outcome("granted-old-authentication", "A client without max_authentication_age takes every sign-in.", "code",
        "signed in 4000 seconds ago", scope="email devices", ago=4000)
outcome("granted-healed", "A new sign-in heals a revoked credential.", "code", "healed by a new sign-in",
        scope="email devices")
outcome("granted-with-nonce", "The nonce is checked as in every sign-in.", "code", "accepted with its nonce",
        scope="email devices", nonce="a nonce of the app")

# Client and parameters: the error goes to Google, so that it can fall back.
for label, changes in [
        ("client-missing", {"client_id": None}), ("client-unknown", {"client_id": "stranger"}),
        ("client-in-capitals", {"client_id": "Google"}), ("client-of-google-itself",
         {"client_id": "123-abc.apps.googleusercontent.com"}),
        ("client-web", {"client_id": "shop"}), ("client-native", {"client_id": "desktop"}),
        ("client-without-app-flip", {"client_id": "google-second"}),
        ("scope-unknown", {"scope_": "email admin"}),
        ("scope-of-another-client", {"scope_": "profile"}), ("scope-two-spaces", {"scope_": "email  devices"}),
        ("granted-more", {"granted_scopes": "email history"}), ("granted-unknown", {"granted_scopes": "admin"}),
        ("granted-two-spaces", {"granted_scopes": "email  devices"}),
        ("challenge-without-method", {"code_challenge": CHALLENGE}),
        ("method-without-challenge", {"code_challenge_method": "S256"}),
        ("challenge-plain", {"code_challenge": VERIFIER, "code_challenge_method": "plain"}),
        ("challenge-malformed", {"code_challenge": "short", "code_challenge_method": "S256"}),
        ("method-unknown", {"code_challenge": CHALLENGE, "code_challenge_method": "S512"}),
        ("denied-with-wrong-scope", {"decision": "denied", "scope_": "admin"})]:
    outcome(f"invalid-{label}", "Client and parameters come before the decision.", "invalid_request", **changes)
outcome("invalid-state-missing", "Google needs its state.", "invalid_request", state=None, state_=None)
outcome("invalid-state-empty", "An empty state is missing.", "invalid_request", state=None, state_="")
for label, value in [("missing", None), ("empty", "")]:
    outcome(f"granted-scope-{label}", "Without scope a request asks for all scopes of its client (RFC 6749 section 3.3).",
            "code", "accepted", scope="openid email devices history", scope_=value)
outcome("invalid-state-too-long", "A bound on the state.", "invalid_request", state=None, state_="s" * 4097)

outcome("invalid-redirect-uri-of-another-client", "A URI of App Flip that another client of Google's has.",
        "invalid_request", redirect_uri=f"{HOST}/a/com.google.Future")
outcome("granted-configured-bundle-id", "The list of Google's apps can be extended.", "code", "accepted",
        scope="devices", client_id="google-third", redirect_uri=f"{HOST}/a/com.google.Future", scope_="devices")

# No URL to open.
for label, uri in [
        ("missing", None), ("foreign", "https://evil.example/a/com.google.OPA"),
        ("of-the-project", f"{HOST}/r/home-link-42"),
        ("unknown-bundle-id", f"{HOST}/a/com.google.Other"), ("prefix", f"{HOST}/a/com.google.OPA.devx"),
        ("added-query", f"{HOST}/a/com.google.OPA?x=1"), ("fragment", f"{HOST}/a/com.google.OPA#x"),
        ("slash", f"{HOST}/a/com.google.OPA/"), ("case", f"{HOST}/a/com.google.opa"),
        ("http", "http://oauth-redirect.googleusercontent.com/a/com.google.OPA"),
        ("port", "https://oauth-redirect.googleusercontent.com:443/a/com.google.OPA"),
        ("userinfo", "https://oauth-redirect.googleusercontent.com@evil.example/a/com.google.OPA"),
        ("suffix", "https://oauth-redirect.googleusercontent.com.evil.example/a/com.google.OPA"),
        ("encoded", f"{HOST}/a/com%2Egoogle.OPA"), ("of-web-client", "https://shop.example.com/cb")]:
    refused(f"redirect-uri-{label}", "Nothing is sent to a URI that is not Google's.", 400, "redirect_uri_mismatch",
            redirect_uri=uri)
refused("redirect-uri-before-client", "The redirect URI is the first thing that is looked at.", 400,
        "redirect_uri_mismatch", redirect_uri="https://evil.example/", client_id="stranger")
refused("caller-of-another-app", "The API key is for another app.", 403, "caller_forbidden", caller=[SECOND_APP])
refused("caller-before-parameters", "The caller comes before the parameters.", 403, "caller_forbidden",
        caller=[SECOND_APP], scope_="admin")
outcome("caller-of-this-app", "The API key is for this app.", "code", "accepted", scope="email devices", caller=[APP])
outcome("caller-limited-client-unknown", "There is no app to be limited to.", "invalid_request", caller=[SECOND_APP],
        client_id="stranger")
