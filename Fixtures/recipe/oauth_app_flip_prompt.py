"""Calls of POST /v1/oauth/app-flip/prompt. What is decided without the user is decided as for the response."""

import copy

import oauth_app_flip  # noqa: F401  (importing the module collects its cases)
from oauth_cases import APP, APP_FLIP, APP_FLIP_PROMPT, SECOND_APP, changed

LINK = {name: value for name, value in oauth_app_flip.CALL.items() if name not in ("decision", "identity_token")}
ACCOUNT = "{account_id}"


def case(name, summary, expect, identity=None, caller=None, **changes):
    assert name not in APP_FLIP_PROMPT, name
    APP_FLIP_PROMPT[name] = changed({
        "summary": summary, "caller": caller, "given": {"identity": identity} if identity else None,
        "call": changed(LINK, {name.rstrip("_"): value for name, value in changes.items()}), "expect": expect}, {})


def asks(name, summary, scope="email devices", optional=None, language="en", identity="accepted", **changes):
    """`scope` and `optional` are what is expected; `scope_` changes the call."""
    prompt = changed({"language": language, "scope": scope, "optional": optional}, {})
    case(name, summary, {"status": 200, "outcome": "prompt", "prompt": prompt}, identity, **changes)


def refused(name, summary, word, sign_in_again, identity, **changes):
    redirect = {"uri": changes.get("redirect_uri", oauth_app_flip.FLIP_URI), "error": word, "state": "STATE"}
    case(name, summary, {"status": 200, "outcome": word, "redirect": redirect, "sign_in_again": sign_in_again}, identity,
         **{"account_id": ACCOUNT, **changes})


# Each link that the response refuses is refused before the user is asked, in the same way.
OF_THE_LINK = ("invalid-client", "invalid-scope", "invalid-challenge", "invalid-method", "invalid-state", "invalid-redirect",
               "redirect-uri-", "caller-of-another", "caller-before", "caller-limited")
for twin, frozen in APP_FLIP.items():
    if twin.startswith(OF_THE_LINK):
        expect = copy.deepcopy(frozen["expect"])
        if "redirect" in expect:
            expect["sign_in_again"] = False
        call = {name: value for name, value in frozen["call"].items() if name not in ("decision", "identity_token")}
        APP_FLIP_PROMPT[twin] = changed({
            "summary": frozen["summary"], "caller": frozen.get("caller"), "call": call, "expect": expect}, {})

asks("asks-account", "The account is known and can be linked.", account_id=ACCOUNT)
asks("asks-without-account", "A user who has not signed in yet: the link is good.", identity=None)
asks("asks-all-scopes", "Without a scope a request asks for all scopes of its client.", scope="openid email devices history",
     optional="history", account_id=ACCOUNT, scope_=None)
asks("asks-optional-scope", "The user can leave the scope out.", scope="history", optional="history", account_id=ACCOUNT,
     scope_="history")
asks("asks-with-challenge", "A challenge of the universal link comes along.", account_id=ACCOUNT,
     code_challenge=oauth_app_flip.CHALLENGE, code_challenge_method="S256")
asks("asks-caller-of-this-app", "The API key is for this app.", caller=[APP], account_id=ACCOUNT)
for label, tag, header, language in [
        ("locale", "tr-TR", "pl", "tr"), ("header", None, "pl-PL, en;q=0.5", "pl"), ("locale-unknown", "de", "ar;q=0.9", "ar"),
        ("both-unknown", "de", "fr", "en"), ("neither", None, None, "en"), ("one-tag", "", "ar-EG", "ar")]:
    asks(f"language-of-{label}", "user_locale, then the language of the app, then English.", language=language,
         account_id=ACCOUNT, user_locale=tag, accept_language=header)

# The account.
refused("account-credential-revoked", "A new sign-in authorizes the credential again.", "cancelled", True,
        "credential revoked")
for identity in ["account erased", "account being erased", "apple account deleted"]:
    refused(identity.replace(" ", "-"), "There is nothing to heal.", "unrecoverable", False, identity)
STRICT = {"client_id": "google-third", "scope_": "devices"}
refused("account-too-old", "The client's max_authentication_age; the user can sign in again.", "cancelled", True, "too old",
        **STRICT)
refused("account-too-old-as-the-backend-says", "The backend says when the user signed in.", "cancelled", True,
        "too old as the backend says", authenticated_at="{3601 seconds ago}", **STRICT)
asks("account-recent-as-the-backend-says", "The backend says that the user has signed in since.", scope="devices",
     identity="signed in 4000 seconds ago", account_id=ACCOUNT, authenticated_at="{3599 seconds ago}", **STRICT)
case("account-unknown", "No account has or had this ID.", {"status": 404, "code": "account_not_found"}, "account unknown",
     account_id=ACCOUNT)
case("account-of-another-key", "The account exists, but not for this key.", {"status": 403, "code": "caller_forbidden"},
     "accepted", [SECOND_APP], account_id=ACCOUNT)

# What is asked before the user has decided has no decision, and does not use up an identity token.
for member, value in [("decision", "granted"), ("granted_scopes", "email"), ("identity_token", "{identity_token}"),
                      ("nonce", "raw")]:
    case(f"member-{member.replace('_', '-')}", "The member belongs to the response.",
         {"status": 400, "code": "member_unknown"}, **{member: value})
