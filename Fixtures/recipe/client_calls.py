"""Vectors of the calls of a client, each with the request that it makes and what it reads from the response."""

import base64

from client_cases import (
    ACCOUNT, ACCOUNT_ID, APP, CLIENT_CALLS, CREDENTIAL, KEY, SUB, call, exchange, get, ok, post, problem, refusal,
    vector)

TOKEN = "eyJraWQiOiJBQkNERUZHSElKIiwiYWxnIjoiUlMyNTYifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIn0.QUFB"
CODE = "c4fbd1a7f0a1b4e3c9d2b7a5e6f8d9c0b.0.rtux.Gm6Lr3gUeNq1"
NONCE = "siwa-nonce-AaIE9cBpEJ4QyVgxsoEen0hAacJrqu8IAUg9F5Z8axEKKBeuhBeqyIFFpOthcm9r8a6T9Ovq"
CHALLENGE = NONCE.replace("nonce", "challenge")
OUTCOME = {"account": ACCOUNT, "credential": CREDENTIAL, "is_new_account": True}
SIGN_IN = {"identity_token": TOKEN, "nonce": NONCE, "client_id": APP}


def calls(name, summary, request, response, step, **more):
    vector(CLIENT_CALLS, name, summary, [exchange(request, response)], [step], **more)


def signs_in(name, summary, form, members, **options):
    """The form of an app, and the members that siwa gets. What the app may not decide is not passed on."""
    calls(f"sign-in-{name}", summary, post("/v1/sign-ins", {**SIGN_IN, **members}), ok(OUTCOME, 201),
          call("sign_in", {"form": form, **options}, {"account": {"id": ACCOUNT_ID}, "is_new_account": True}))


def text64(text):
    return base64.b64encode(text.encode()).decode()


MINTED = {"nonce": NONCE, "nonce_sha256": "96c1dadc1b0346920a071ce292d4d13e66d44f5f2cbb856426c05873bb098d7e",
          "expires_at": "2026-03-14T09:40:00.889Z"}
calls("make-nonce", "A call without parameters posts an empty object.", post("/v1/nonces", {}), ok(MINTED, 201),
      call("make_nonce", returns=MINTED))

# Forms of apps.
FORM = {"identity_token": TOKEN, "authorization_code": CODE, "nonce": NONCE}
USER = {"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": "ada@example.com"}
calls("sign-in", "The form of docs/ios-app.md, and the whole response.",
      post("/v1/sign-ins", {**SIGN_IN, "authorization_code": CODE, "user": USER}), ok(OUTCOME, 201),
      call("sign_in", {"form": {**FORM, "user": USER}}, OUTCOME))
calls("sign-in-known", "200: the account exists, and Apple sends no name any more.",
      post("/v1/sign-ins", {**SIGN_IN, "authorization_code": CODE}), ok({**OUTCOME, "is_new_account": False}),
      call("sign_in", {"form": FORM}, {"is_new_account": False, "account": {"first_name": "Ada"}}))
signs_in("client-id-of-the-app", "The app may not choose the client ID, the account or create.",
         {**FORM, "client_id": "com.example.other", "create": True, "account_id": ACCOUNT_ID},
         {"authorization_code": CODE})
signs_in("not-creating", "Only users who have an account may sign in.", FORM,
         {"authorization_code": CODE, "create": False}, create=False)
signs_in("proof", "The proof of App Attest and the version pass unchanged.",
         {**FORM, "attestation": {"key_id": "a2V5", "assertion": "YXNz", "client_data": "{\"challenge\":\"x\"}"},
          "app_version": "2.1"},
         {"authorization_code": CODE, "app_version": "2.1",
          "attestation": {"key_id": "a2V5", "assertion": "YXNz", "client_data": "{\"challenge\":\"x\"}"}})
signs_in("user-as-text", "Apple's form posts the user as JSON text, which passes unchanged.",
         {**FORM, "user": "{\"name\":{\"firstName\":\"Ada\"}}"},
         {"authorization_code": CODE, "user": "{\"name\":{\"firstName\":\"Ada\"}}"})
signs_in("unicode", "Names in UTF-8, with an emoji and characters that HTML escapes.",
         {**FORM, "user": {"name": {"firstName": "Zo\u00eb \U0001f34f", "lastName": "</script>&\u2028\"\\"}}},
         {"authorization_code": CODE,
          "user": {"name": {"firstName": "Zo\u00eb \U0001f34f", "lastName": "</script>&\u2028\"\\"}}})
signs_in("nulls", "Members that the app sends as null or empty are absent.",
         {**FORM, "authorization_code": None, "user": None, "attestation": None, "app_version": ""}, {})
# The JSON of the libraries of docs/app-frameworks.md, with the nonce that the app adds.
LIBRARY = {"identityToken": TOKEN, "authorizationCode": CODE, "nonce": NONCE}
NAMES = {"givenName": "Ada", "familyName": "Lovelace"}
FULL_NAME = {"namePrefix": None, "givenName": "Ada", "middleName": None, "familyName": "Lovelace", "nameSuffix": None,
             "nickname": None}
NO_NAME = dict.fromkeys(FULL_NAME)
APPLE_ID = {"user": SUB, "email": "ada@example.com", "state": None, "realUserStatus": 2}
signs_in("expo", "expo-apple-authentication: user is the sub, and not the name.",
         {**LIBRARY, **APPLE_ID, "fullName": FULL_NAME},
         {"authorization_code": CODE, "user": {"fullName": FULL_NAME, "email": "ada@example.com"}})
signs_in("react-native", "react-native-apple-authentication: the credential contains the raw nonce.",
         {**LIBRARY, **APPLE_ID, "authorizedScopes": [], "fullName": FULL_NAME},
         {"authorization_code": CODE, "user": {"fullName": FULL_NAME, "email": "ada@example.com"}})
signs_in("react-native-later", "react-native-apple-authentication at a later sign-in: no name and no address.",
         {**LIBRARY, **APPLE_ID, "email": None, "authorizedScopes": [], "fullName": NO_NAME},
         {"authorization_code": CODE, "user": {"fullName": NO_NAME}})
signs_in("flutter", "sign_in_with_apple of Flutter: the names are flat.",
         {**LIBRARY, **NAMES, "userIdentifier": SUB, "email": "ada@example.com", "state": None},
         {"authorization_code": CODE, "user": {**NAMES, "email": "ada@example.com"}})
signs_in("capacitor", "The plugin of Capacitor wraps the credential, and the app adds the nonce beside it.",
         {"response": {"user": SUB, "email": "ada@example.com", **NAMES, "identityToken": TOKEN,
                       "authorizationCode": CODE}, "nonce": NONCE},
         {"authorization_code": CODE, "user": {**NAMES, "email": "ada@example.com"}})
# JsonUtility of Unity writes an empty text or an empty object in place of null.
UNITY_NAME = {f"_{name}": value or "" for name, value in FULL_NAME.items()}
UNITY_NAME = {**UNITY_NAME, "_hasPhoneticRepresentation": False, "_phoneticRepresentation": dict.fromkeys(UNITY_NAME, "")}
signs_in("unity", "apple-signin-unity with JsonUtility: the fields of the credential, token and code in base64.",
         {"nonce": NONCE, "_base64IdentityToken": text64(TOKEN), "_base64AuthorizationCode": text64(CODE), "_state": "",
          "_user": SUB, "_authorizedScopes": [], "_hasFullName": True, "_fullName": UNITY_NAME,
          "_email": "ada@example.com", "_realUserStatus": 2},
         {"authorization_code": CODE, "user": {"_fullName": UNITY_NAME, "_email": "ada@example.com"}})
UNITY_NAME = {**{name[0].upper() + name[1:]: value for name, value in FULL_NAME.items()}, "PhoneticRepresentation": None}
signs_in("unity-properties", "apple-signin-unity with a serializer of properties, which writes bytes as base64.",
         {"nonce": NONCE, "IdentityToken": text64(TOKEN), "AuthorizationCode": text64(CODE), "State": None, "User": SUB,
          "AuthorizedScopes": None, "FullName": UNITY_NAME, "Email": "ada@example.com", "RealUserStatus": 2},
         {"authorization_code": CODE, "user": {"FullName": UNITY_NAME, "Email": "ada@example.com"}})
signs_in("web-page", "Apple's script for web pages: AppleID.auth.signIn() returns this object.",
         {"authorization": {"code": CODE, "id_token": TOKEN, "state": "s"}, "user": USER, "nonce": NONCE},
         {"authorization_code": CODE, "user": USER})
signs_in("names-in-snake-case", "An app that renames the members.",
         {**FORM, "given_name": "Ada", "family_name": "Lovelace", "email": ""},
         {"authorization_code": CODE, "user": {"given_name": "Ada", "family_name": "Lovelace"}})
signs_in("base64", "Swift's JSONEncoder writes the Data of token and code as base64.",
         {"identityToken": text64(TOKEN), "authorizationCode": text64(CODE), "nonce": NONCE},
         {"authorization_code": CODE})
for name, form in [("missing", {"identity_token": TOKEN}),
                   ("of-the-app", {"identity_token": TOKEN, "nonce": "96c1dadc1b0346920a071ce292d4d13e"}),
                   ("number", {"identity_token": TOKEN, "nonce": 7})]:
    vector(CLIENT_CALLS, f"sign-in-nonce-{name}", "A stolen token would pass with its digest as the nonce: no request.",
           [], [call("sign_in", {"form": form}, error=refusal("nonce_missing", 400, request_id=None))])
for name, form in [("array", [TOKEN]), ("text", TOKEN), ("null", None), ("without-token", {"nonce": NONCE}),
                   ("token-number", {"nonce": NONCE, "identity_token": 7})]:
    vector(CLIENT_CALLS, f"sign-in-form-{name}", "The app decides about the form: a refusal, not a crash, and no request.",
           [], [call("sign_in", {"form": form}, error=refusal("member_missing", 400, request_id=None))])
calls("sign-in-own-nonce", "A backend that makes its own nonces says so.",
      post("/v1/sign-ins", {"identity_token": TOKEN, "nonce": "n-1", "client_id": APP}), ok(OUTCOME),
      call("sign_in", {"form": {"identity_token": TOKEN, "nonce": "n-1"}, "minted_nonce": False}, OUTCOME))
calls("sign-in-dropped", "Members of the response that this version does not know are no error.",
      post("/v1/sign-ins", SIGN_IN),
      ok({**OUTCOME, "dropped": ["user.name"], "app_check": {"kind": "verified"},
          "member_of_2031": {"a": [1]}, "account": {**ACCOUNT, "email_forwarding": "value_of_2031", "new": None}}),
      call("sign_in", {"form": {"identity_token": TOKEN, "nonce": NONCE}},
           {"dropped": ["user.name"], "account": {"email_forwarding": "value_of_2031"}}))
for name, response in [("empty", {}), ("without-account", {**OUTCOME, "account": None}),
                       ("without-id", {**OUTCOME, "account": {**ACCOUNT, "id": None}}),
                       ("id-number", {**OUTCOME, "account": {**ACCOUNT, "id": 0}})]:
    calls(f"sign-in-response-{name}", "An account without an ID would be one user for all people.",
          post("/v1/sign-ins", SIGN_IN), ok(response),
          call("sign_in", {"form": {"identity_token": TOKEN, "nonce": NONCE}}, error={"code": "unexpected_response"}))

IDENTITY = {"iss": "https://appleid.apple.com", "sub": SUB, "aud": APP, "team_id": "A1B2C3D4E5", "client_id": APP,
            "iat": "2026-03-14T09:29:40.000Z", "exp": "2026-03-15T09:29:40.000Z", "email_verified": True,
            "real_user_status": 2}
calls("verify", "Verifies and stores nothing. There is no name to pass on.",
      post("/v1/identity-tokens/verify", {**SIGN_IN, "authorization_code": CODE}), ok({"identity": IDENTITY}),
      call("verify", {"form": {**FORM, "user": USER}}, {"identity": IDENTITY}))
calls("account", "An account by its ID.", get(f"/v1/accounts/{ACCOUNT_ID}"), ok(ACCOUNT),
      call("account", {"account_id": ACCOUNT_ID}, ACCOUNT))
calls("account-minimal", "Every member that may be absent is absent.", get(f"/v1/accounts/{ACCOUNT_ID}"),
      ok({**{name: ACCOUNT[name] for name in ("id", "team_id", "sub", "email_forwarding", "created_at")},
          "credentials": []}),
      call("account", {"account_id": ACCOUNT_ID}, {"id": ACCOUNT_ID, "credentials": [], "email": None}))
calls("account-id-encoded", "An ID is one segment of the path, whatever it contains.",
      get("/v1/accounts/a%2Fb%3Fc%23d%20%C3%A9%25"), problem(404, "account_not_found"),
      call("account", {"account_id": "a/b?c#d \u00e9%"}, error=refusal("account_not_found", 404)))
for name, value in [("empty", ""), ("dot", "."), ("dots", "..")]:
    vector(CLIENT_CALLS, f"account-id-{name}", "A proxy would make another path of it: no request.", [],
           [call("delete", {"account_id": value}, error=refusal("account_not_found", 404, request_id=None))])
    vector(CLIENT_CALLS, f"erasure-id-{name}", "Without a check, it would be a request for another path.", [],
           [call("erasure", {"erasure_id": value}, error=refusal("erasure_not_found", 404, request_id=None))])
    vector(CLIENT_CALLS, f"state-sub-{name}", "Without a check, it would be a request for another path.", [],
           [call("state", {"sub": value}, error=refusal("credential_not_found", 404, request_id=None))])
calls("account-of", "An account by Apple's user ID.", get(f"/v1/accounts?client_id={APP}&sub={SUB}"), ok(ACCOUNT),
      call("account_of", {"sub": SUB}, {"id": ACCOUNT_ID}))
calls("find-accounts", "A search: parameters in the order of their names, in UTF-8 and percent-encoded.",
      get("/v1/accounts?disabled=true&limit=2&name=Zo%C3%AB%20%26%20Ada%2B"),
      ok({"accounts": [ACCOUNT], "cursor": "c1", "has_more": True}),
      call("find_accounts", {"name": "Zo\u00eb & Ada+", "disabled": True, "limit": 2},
           {"accounts": [{"id": ACCOUNT_ID}], "cursor": "c1", "has_more": True}))
calls("state", "The state for the app of the client.", get(f"/v1/credentials/{SUB}?client_id={APP}"), ok(CREDENTIAL),
      call("state", {"sub": SUB}, CREDENTIAL))
calls("state-not-found", "notFound is a state, and no error.", get(f"/v1/credentials/{SUB}?client_id=com.example.two"),
      ok({"client_id": "com.example.two", "state": "notFound"}),
      call("state", {"sub": SUB, "client_id": "com.example.two"}, {"state": "notFound", "since": None}))
calls("states", "Several states, in the order of the request.",
      post("/v1/credentials/query", {"client_id": APP, "subs": [SUB, "b"]}),
      ok({"credentials": [{"sub": SUB, **CREDENTIAL}, {"sub": "b", "client_id": APP, "state": "notFound"}]}),
      call("states", {"subs": [SUB, "b"]}, [{"sub": SUB, "state": "authorized"}, {"sub": "b", "state": "notFound"}]))
vector(CLIENT_CALLS, "states-of-nobody", "Nothing to ask.", [], [call("states", {"subs": []}, [])])
DISABLED = {**ACCOUNT, "disabled": {"reason": "fraud", "since": "2026-03-14T09:30:01.000Z",
                                    "until": "2026-03-20T00:00:00.000Z"}}
calls("disable", "Without an end.", post(f"/v1/accounts/{ACCOUNT_ID}/disable", {"reason": "fraud"}), ok(DISABLED),
      call("disable", {"account_id": ACCOUNT_ID, "reason": "fraud"}, {"disabled": DISABLED["disabled"]}))
calls("disable-until", "A time is RFC 3339 in UTC with milliseconds.",
      post(f"/v1/accounts/{ACCOUNT_ID}/disable", {"reason": "fraud", "until": "2026-03-20T00:00:00.000Z"}),
      ok(DISABLED),
      call("disable", {"account_id": ACCOUNT_ID, "reason": "fraud", "until": "2026-03-20T00:00:00.000Z"}, DISABLED))
calls("enable", "The account as it is now.", post(f"/v1/accounts/{ACCOUNT_ID}/enable", {}), ok(ACCOUNT),
      call("enable", {"account_id": ACCOUNT_ID}, {"disabled": None}))
calls("sign-out", "Everywhere; links with Google stay.", post(f"/v1/accounts/{ACCOUNT_ID}/sign-out", {}),
      ok({**ACCOUNT, "sessions_ended_at": "2026-03-14T09:30:01.000Z"}),
      call("sign_out", {"account_id": ACCOUNT_ID}, {"sessions_ended_at": "2026-03-14T09:30:01.000Z"}))
calls("sign-out-google", "Links with Google end too.", post(f"/v1/accounts/{ACCOUNT_ID}/sign-out", {"google": True}),
      ok(ACCOUNT), call("sign_out", {"account_id": ACCOUNT_ID, "google": True}, {"id": ACCOUNT_ID}))
ERASURE = {"id": "era_01a1fca4-861b-7ad2-b0d1-5950c0d5ea9c", "account_id": ACCOUNT_ID, "state": "completed",
           "requested_at": "2026-03-14T09:30:00.099Z", "finished_at": "2026-03-14T09:30:00.115Z",
           "personal_data": "erased", "user_must_revoke": False,
           "tokens": [{"client_id": APP, "outcome": "revoked_and_proven", "attempts": 1}]}
PENDING = {**ERASURE, "state": "in_progress", "finished_at": None, "user_must_revoke": True,
           "user_must_revoke_at": [{"client_id": APP, "cause": "still_valid"}], "instructions": "Open Settings."}
PENDING = {name: value for name, value in PENDING.items() if value is not None}
calls("delete", "A body is not sent.", get(f"/v1/accounts/{ACCOUNT_ID}", "DELETE"), ok({"erasure": ERASURE}),
      call("delete", {"account_id": ACCOUNT_ID}, ERASURE))
calls("delete-unfinished", "202: Apple is unreachable. The user must revoke.",
      get(f"/v1/accounts/{ACCOUNT_ID}", "DELETE"), ok({"erasure": PENDING}, 202),
      call("delete", {"account_id": ACCOUNT_ID}, PENDING))
calls("erasure", "The report later.", get(f"/v1/erasures/{ERASURE['id']}"), ok({"erasure": ERASURE}),
      call("erasure", {"erasure_id": ERASURE["id"]}, {"state": "completed"}))
GRANT = {"id": "grt_01a1fbea-fd31-7c11-8a3b-0e1c2d3f4a5b", "account_id": ACCOUNT_ID, "client_id": "google", "app": APP,
         "scope": "openid email", "google_account_known": False, "created_at": "2026-03-14T09:30:00.000Z",
         "consented_at": "2026-03-14T09:30:00.000Z", "last_used_on": "2026-03-14"}
calls("grants", "The clients that have access.", get(f"/v1/accounts/{ACCOUNT_ID}/grants"), ok({"grants": [GRANT]}),
      call("grants", {"account_id": ACCOUNT_ID}, [GRANT]))
calls("end-grant", "204 has no body.", get(f"/v1/accounts/{ACCOUNT_ID}/grants/{GRANT['id']}", "DELETE"),
      {"status": 204, "headers": {"content-type": None, "content-length": None}},
      call("end_grant", {"account_id": ACCOUNT_ID, "grant_id": GRANT["id"]}, None))
calls("web-result", "The one-time code of a sign-in on the web.", post("/v1/web/results", {"code": "w-1"}), ok(OUTCOME),
      call("web_result", {"code": "w-1"}, {"account": {"id": ACCOUNT_ID}}))

# App Attest and App Flip.
calls("make-challenge", "A challenge for one assertion.",
      post("/v1/app-attest/challenges", {"purpose": "assertion", "client_id": APP}),
      ok({"challenge": CHALLENGE, "expires_at": "2026-03-14T09:35:00.000Z"}, 201),
      call("make_challenge", {"purpose": "assertion"}, {"challenge": CHALLENGE}))
ATTESTED = {"key_id": "xYtkGpAhqO0fdYrQdXDzaMhOcz5QWHKQzUvBRqSqqRo=", "client_id": APP, "team_id": "A1B2C3D4E5",
            "environment": "development", "created_at": "2026-03-14T09:30:00.000Z"}
KEY_FORM = {"key_id": ATTESTED["key_id"], "attestation": "o2NmbXQ=", "challenge": CHALLENGE}
calls("register-key", "The app's form. The client ID is the client's.",
      post("/v1/app-attest/keys", {**KEY_FORM, "client_id": APP}), ok({"key": ATTESTED, "is_new_key": True}, 201),
      call("register_key", {"form": {**KEY_FORM, "client_id": "com.example.other"}},
           {"key": ATTESTED, "is_new_key": True}))
calls("register-key-refused", "The app learns the cause, and whether to attest a new key.",
      post("/v1/app-attest/keys", {**KEY_FORM, "client_id": APP}),
      problem(401, "attestation_invalid", cause="challenge_used", re_attest=True),
      call("register_key", {"form": KEY_FORM},
           error=refusal("attestation_invalid", 401, cause="challenge_used", re_attest=True)))
LINK = {"client_id": "google", "redirect_uri": "https://oauth-redirect.googleusercontent.com/r/my-project",
        "state": "s/1+2", "scope": "openid email", "user_locale": "pl-PL", "accept_language": "pl",
        "code_challenge": "x", "code_challenge_method": "S256"}
PROMPT = {"outcome": "prompt", "prompt": {
    "language": "pl", "direction": "ltr", "title": "T", "purpose": ["P"], "scopes_title": "S", "notes": [{"text": "N"}],
    "scopes": [{"scope": "openid", "text": "O", "optional": False}], "agree": "A", "cancel": "C"}}
calls("app-flip-prompt", "The account is the session's: the app cannot name another one.",
      post("/v1/oauth/app-flip/prompt", {**LINK, "account_id": ACCOUNT_ID,
                                         "authenticated_at": "2026-03-14T09:29:40.000Z"}), ok(PROMPT),
      call("app_flip_prompt", {"form": {**LINK, "account_id": "acc_other", "authenticated_at": "2030", "x": 1},
                               "account_id": ACCOUNT_ID, "authenticated_at": "2026-03-14T09:29:40.000Z"}, PROMPT))
calls("app-flip-prompt-signed-out", "Without an account only the link is checked.",
      post("/v1/oauth/app-flip/prompt", {"redirect_uri": LINK["redirect_uri"]}),
      ok({"outcome": "invalid_request", "redirect_to": "https://x.example/", "message": "M", "sign_in_again": False}),
      call("app_flip_prompt", {"form": {"redirect_uri": LINK["redirect_uri"], "account_id": ACCOUNT_ID}},
           {"outcome": "invalid_request", "redirect_to": "https://x.example/", "prompt": None}))
FLIPPED = {"redirect_to": "https://oauth-redirect.googleusercontent.com/r/my-project?code=c&state=s", "outcome": "code",
           "message": "Linked."}
calls("app-flip", "The decision of the user, for the account of the session.",
      post("/v1/oauth/app-flip", {**LINK, "decision": "granted", "granted_scopes": "openid", "account_id": ACCOUNT_ID,
                                  "authenticated_at": "2026-03-14T09:29:40.000Z"}), ok(FLIPPED),
      call("app_flip", {"form": {**LINK, "decision": "granted", "granted_scopes": "openid", "account_id": "acc_other",
                                 "identity_token": TOKEN},
                        "account_id": ACCOUNT_ID, "authenticated_at": "2026-03-14T09:29:40.000Z"}, FLIPPED))
calls("app-flip-no-scopes", "The user left out all scopes. An absent member would grant all of them.",
      post("/v1/oauth/app-flip", {**LINK, "decision": "granted", "granted_scopes": "", "account_id": ACCOUNT_ID}), ok(FLIPPED),
      call("app_flip", {"form": {**LINK, "decision": "granted", "granted_scopes": ""}, "account_id": ACCOUNT_ID}, FLIPPED))
for name, account in [("without-account", {}), ("empty-account", {"account_id": ""})]:
    calls(f"app-flip-{name}", "Without a session the user signs in with Apple for this decision.",
          post("/v1/oauth/app-flip", {**LINK, "decision": "granted", "identity_token": TOKEN, "nonce": NONCE}), ok(FLIPPED),
          call("app_flip", {"form": {**LINK, **FORM, "decision": "granted", "account_id": "acc_other"}, **account}, FLIPPED))
calls("app-flip-denied", "A user who refuses need not be known.",
      post("/v1/oauth/app-flip", {**LINK, "decision": "denied"}), ok({**FLIPPED, "outcome": "access_denied"}),
      call("app_flip", {"form": {**LINK, "decision": "denied"}}, {"outcome": "access_denied"}))

# Introspection: form-encoded, and answered with the standard's members.
ACTIVE = {"active": True, "scope": "openid email", "client_id": "shop", "sub": ACCOUNT_ID, "token_type": "Bearer",
          "iss": "https://signin.example.com", "aud": "https://api.example.com", "iat": 1773480000, "exp": 1773483600,
          "jti": "j1", "auth_time": 1773479000}
QUESTION = {"method": "POST", "target": "/oauth/introspect", "body": "token=a%2Bb.c%2F%3D",
            "headers": {"authorization": f"Bearer {KEY}", "content-type": "application/x-www-form-urlencoded"}}
ASK = {"bearer": "Bearer a+b.c/=", "audience": "https://api.example.com", "scopes": ["email"]}
calls("introspect", "The token is valid now.", QUESTION, ok(ACTIVE), call("introspect", ASK, ACTIVE))
for name, summary, response, code, status in [
    ("inactive", "It has ended, or was never valid.", {"active": False}, "token_inactive", 401),
    ("inactive-with-members", "active decides, whatever else is there.", {**ACTIVE, "active": False}, "token_inactive", 401),
    ("refresh-token", "A refresh token has no token_type. No API accepts refresh tokens.",
     {name: value for name, value in ACTIVE.items() if name != "token_type"}, "token_inactive", 401),
    ("other-audience", "For another API.", {**ACTIVE, "aud": "https://other.example.com"}, "audience_mismatch", 401),
    ("scope", "The token lacks a scope. A prefix of a scope is another scope.", {**ACTIVE, "scope": "openid email.read"},
     "scope_missing", 403),
]:
    calls(f"introspect-{name}", summary, QUESTION, ok(response), call("introspect", ASK, error={"code": code, "status": status}))
for name, value in [("missing", None), ("basic", "Basic c2hvcDpz"), ("empty", "Bearer "), ("two", "Bearer a b")]:
    vector(CLIENT_CALLS, f"introspect-bearer-{name}", "No token to ask about: no request.", [],
           [call("introspect", {**ASK, "bearer": value}, error={"code": "token_missing", "status": 401})])
