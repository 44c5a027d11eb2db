"""What the standards alone say of the outcome of an OAuth case: status, error code, challenge, cache and members."""

from urllib.parse import parse_qs

# RFC 6749 section 5.2, RFC 8707 section 2, RFC 6750 section 3.1.
STATUS_OF_ERROR = {
    # RFC 8628 section 3.5.
    "authorization_pending": 400, "slow_down": 400, "expired_token": 400, "access_denied": 400,
    "invalid_request": 400, "invalid_client": 401, "invalid_grant": 400, "unauthorized_client": 400,
    "unsupported_grant_type": 400, "invalid_scope": 400, "invalid_target": 400, "invalid_token": 401,
    "insufficient_scope": 403, "temporarily_unavailable": 503,
}
STATUS_OF_PAGE = {"invalid_client": 400, "redirect_uri_mismatch": 400, "invalid_request": 400, "disallowed_useragent": 403}
# RFC 6749 section 4.1.2.1, RFC 8707 and OpenID Connect Core section 3.1.2.6, each with the parameter that causes it.
CAUSE_OF_REDIRECT = {
    "invalid_request": "", "unsupported_response_type": "response_type", "invalid_scope": "scope",
    "invalid_target": "resource", "request_not_supported": "request", "request_uri_not_supported": "request_uri",
}
STATUS_OF_PROBLEM = {
    "redirect_uri_mismatch": 400, "member_malformed": 400, "member_missing": 400, "caller_forbidden": 403,
    "account_not_found": 404,
}
DECISIONS = {
    "code": {"granted"}, "access_denied": {"denied", "granted"}, "cancelled": {"cancelled", "granted"},
    "unrecoverable": {"granted"}, "invalid_request": {"granted", "denied", "cancelled"},
}
# What the service logs. Errors with one cause have one reason.
REASON_OF_ERROR = {
    "invalid_request": "request_malformed", "invalid_client": "client_not_authenticated",
    "unauthorized_client": "grant_type_not_allowed", "unsupported_grant_type": "grant_type_unknown",
    "invalid_target": "resource_differs",
}
STATES = {None, "good", "suspended", "ended"}
LANGUAGES = {None, "en", "ar", "tr", "pl"}
# RFC 9068 section 2.2 and OpenID Connect Core section 2.
ACCESS_TOKEN_CLAIMS = ["aud", "auth_time", "client_id", "exp", "iat", "iss", "jti", "scope", "sub"]
ID_TOKEN_CLAIMS = {"iss", "sub", "aud", "exp", "iat", "auth_time", "at_hash"}
EMAIL_CLAIMS = {"email", "email_verified", "is_private_email"}


class OutcomeReader:
    def __init__(self, configuration, expect):
        """- expect: takes name, judgement and text."""
        self.clients = {client["id"]: client for client in configuration["oauth"]["clients"]}
        self.issuer = configuration["oauth"]["issuer"]
        self.expect = expect

    def check_authorization(self, name, case):
        expect = case["expect"]
        self.expect(name, len({"page", "redirect", "proceed"} & expect.keys()) == 1, "not one outcome")
        if "page" in expect:
            page = expect["page"]
            self.expect(name, STATUS_OF_PAGE.get(page.get("error"), 0) == page.get("status"), "another status")
        if "redirect" in expect:
            text = case["request"].get("query", case["request"].get("form"))
            cause = CAUSE_OF_REDIRECT.get(expect["redirect"].get("error"), "?")
            self.expect(name, not cause or f"&{cause}=" in f"&{text}", "the error has no cause in the request")
        self.expect(name, expect.get("proceed", {}).get("language") in LANGUAGES, "another language")

    def check_token(self, name, case):
        expect, tokens, linking = case["expect"], case["expect"].get("tokens"), case["expect"].get("linking")
        outcomes = [outcome for outcome in (expect.get("error"), tokens, linking) if outcome]
        self.expect(name, len(outcomes) == 1, "not one outcome")
        is_challenged = "authorization" in case["request"] and expect.get("error") == "invalid_client"
        self.expect(name, expect.get("www_authenticate", False) == is_challenged, "the challenge (RFC 6749 section 5.2)")
        if linking:
            found, error = linking.get("account_found"), linking.get("error")
            status = {"true": 200, "false": 404}.get(found) if error is None else 401
            self.expect(name, status == expect.get("status"), "another status")
            self.expect(name, error is None or (error == "linking_error" and "@" in linking.get("login_hint", "")),
                        "a linking error without a hint")
        elif tokens:
            self.expect(name, expect.get("status") == 200, "another status")
            self.check_tokens(name, expect, case.get("given", {}))
        else:
            self.expect(name, STATUS_OF_ERROR.get(expect.get("error"), 0) == expect.get("status"), "another status")
        self.check_reason(name, expect, case.get("given", {}))
        for key in ("code", "tokens"):
            self.expect(name, expect.get("afterwards", {}).get(key) in STATES | {"used"}, "an unknown state")

    def check_reason(self, name, expect, given):
        error, reason = expect.get("error", expect.get("linking", {}).get("error")), expect.get("reason")
        self.expect(name, (reason is None) == (error in (None, "temporarily_unavailable")), "a refusal without a reason, or the other way")
        # A sign-in that is too old is no fault of the request.
        wanted = "credential_revoked" if given.get("identity") == "too old" else REASON_OF_ERROR.get(error)
        if wanted is None and error is not None and "grant" in expect:
            code, grant = given.get("code", given.get("refresh_token", "")), expect["grant"]
            if given.get("credential") == "refresh token rejected":
                wanted = "credential_revoked"
            elif given.get("client", grant["client"]) != grant["client"]:
                wanted = "other_client"
            elif code.startswith("issued") or code == "expired":
                wanted = {"authorization_code": "code_expired", "refresh_token": "token_expired"}[grant["type"]]
            elif code.startswith("rotated"):
                wanted = "token_rotated"
            elif "redirect_uri" in given and given["redirect_uri"] != grant.get("redirect_uri"):
                wanted = "redirect_uri_differs"
            elif "disabled" in given.get("assertion", ""):
                wanted = "google_account_disabled"
        self.expect(name, wanted is None or reason == wanted, f"another reason than {wanted}")

    def check_tokens(self, name, expect, given):
        grant, scope = expect.get("grant", {}), expect.get("scope", "").split(" ")
        client = self.clients.get(grant.get("client"), {})
        wanted = ["access_token"]
        # What was granted decides, not what a refresh asks for.
        offline = "offline_access" in given.get("scope", expect.get("scope", "")).split(" ")
        if client.get("kind") == "google_linking":
            wanted += ["refresh_token"] if grant.get("type") != "refresh_token" else []
        elif client.get("kind") == "native" or offline:
            wanted.append("refresh_token")
        if "openid" in scope and grant.get("type") in ("authorization_code", "token-exchange", "device_code"):
            wanted.append("id_token")
        self.expect(name, expect["tokens"] == wanted, f"other tokens than {wanted}")
        if "access_token" in expect:
            self.expect(name, expect["access_token"] == {
                "alg": client.get("access_token_algorithm", "ES256"), "aud": client.get("audience", self.issuer),
                "client_id": client.get("id"), "expires_in": client.get("access_token_lifetime", 3600),
                "claims": ACCESS_TOKEN_CLAIMS}, "another access token")
        if "id_token" in expect:
            claims = ID_TOKEN_CLAIMS | ({"nonce"} if "nonce" in given else set()) | (
                EMAIL_CLAIMS if "email" in scope else set())
            self.expect(name, expect["id_token"] == {
                "alg": "RS256", "aud": client.get("id"), "claims": sorted(claims)}, "another ID token")

    def check_app_flip(self, name, case):
        call, expect = case["call"], case["expect"]
        self.expect(name, ("redirect" in expect) != ("code" in expect), "not one outcome")
        status = 200 if "redirect" in expect else STATUS_OF_PROBLEM.get(expect.get("code"))
        self.expect(name, expect.get("status") == status, "another status")
        self.expect(name, expect.get("language") in LANGUAGES, "another language")
        if "redirect" in expect:
            decisions = DECISIONS.get(expect.get("outcome"), set())
            self.expect(name, call.get("decision") in decisions, "the decision does not lead there")

    def check_app_flip_prompt(self, name, case):
        call, expect = case["call"], case["expect"]
        self.expect(name, len({"redirect", "code", "prompt"} & set(expect)) == 1, "not one outcome")
        self.expect(name, ("redirect" in expect) == ("sign_in_again" in expect), "whether a sign-in helps")
        self.expect(name, expect.get("outcome") != "code", "a code without a decision")
        others = set(call) & {"decision", "granted_scopes", "identity_token", "nonce"}
        is_unknown = expect.get("code") == "member_unknown"
        self.expect(name, bool(others) == is_unknown, "a member of the response")
        status = STATUS_OF_PROBLEM.get(expect.get("code"), 400 if is_unknown else None) if "code" in expect else 200
        self.expect(name, expect.get("status") == status, "another status")
        if "prompt" in expect:
            self.expect(name, expect.get("outcome") == "prompt", "another outcome")
            self.expect(name, expect["prompt"].get("language") in LANGUAGES - {None}, "another language")

    def check_endpoint(self, name, case):
        """Revocation, introspection, userinfo and metadata."""
        request, expect = case["request"], case["expect"]
        error, status = expect.get("error"), expect.get("status")
        is_document = request["path"].startswith("/.well-known/") or request["path"].endswith("jwks.json")
        headers = expect.get("headers", {})
        self.expect(name, headers.get("cache-control") == ("max-age" if is_document else "no-store"), "caches")
        is_wrong_method = request["method"] == "GET" and request["path"] == "/oauth/introspect"
        self.expect(name, headers.get("allow") == ("POST" if is_wrong_method else None), "the allowed method")
        wanted = 405 if is_wrong_method else STATUS_OF_ERROR.get(error, 0) if error else 200
        if request["path"] == "/oauth/userinfo" and not self.has_token(request):
            wanted = 401
        self.expect(name, status == wanted, "another status")
        self.check_challenge(name, request, expect)
        self.expect(name, expect.get("afterwards", {}).get("tokens") in STATES, "an unknown state")
        members = expect.get("members", {})
        if request["path"] == "/oauth/introspect" and members.get("active"):
            # RFC 7662 section 2.2; a refresh token has no audience and no identifier.
            others = {"token_type": "Bearer", "jti": "{text}"} if "{access_token}" in request["body"] else {}
            for key, value in {"sub": "{account}", "iss": self.issuer, **others}.items():
                self.expect(name, members.get(key) == value, f"another {key}")
            self.expect(name, members.get("auth_time") == members.get("iat") != None, "other times")  # noqa: E711

    def check_challenge(self, name, request, expect):
        challenge = expect.get("www_authenticate", {})
        scheme = request.get("authorization", "").partition(" ")[0].capitalize() or None
        if request["path"] == "/oauth/userinfo" or "api_key" in request:
            scheme = "Bearer"
        is_due = request["path"] == "/oauth/userinfo" and expect.get("status") != 200 or (
            expect.get("error") == "invalid_client")
        self.expect(name, challenge.get("scheme") == (scheme if is_due else None), "another challenge")
        scope = "openid" if expect.get("error") == "insufficient_scope" else None
        self.expect(name, challenge.get("scope") == scope, "the scope that is missing")

    def has_token(self, request):
        return (request.get("authorization", "").lower().startswith("bearer ") or "access_token=" in request.get("query", "")
                or "access_token" in parse_qs(request.get("body", ""), keep_blank_values=True))
