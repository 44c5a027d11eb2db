"""Mistakes to plant in copies of OAuth cases. The second reader has to find each, or it proves nothing."""

import copy

REMOVED = object()

# Folder, case, where in the case, and the wrong value that is put there.
MISTAKES = [
    ("authorization", "proceeds-web", "expect.proceed.client", "ledger"),
    ("authorization", "proceeds-web", "expect.proceed.redirect_uri", "https://shop.example.com/other"),
    ("authorization", "proceeds-web", "expect.proceed.scope", "openid email devices"),
    ("authorization", "proceeds-web", "expect.proceed.code_challenge", "x"),
    ("authorization", "proceeds-web", "expect.proceed.code_challenge_method", "plain"),
    ("authorization", "proceeds-web", "expect.proceed.state", "another"),
    ("authorization", "proceeds-web", "expect.proceed.prompt", ["login"]),
    ("authorization", "proceeds-web", "expect.proceed.max_age", 60),
    ("authorization", "proceeds-web", "expect.proceed", REMOVED),
    ("authorization", "proceeds-web", "expect.page", {"status": 400, "error": "redirect_uri_mismatch"}),
    ("authorization", "client-unknown", "expect.page.status", 303),
    ("authorization", "client-unknown", "expect.page.error", "server_error"),
    ("authorization", "REDIRECT", "expect.redirect.uri", "https://attacker.example.com/cb"),
    ("authorization", "REDIRECT", "expect.redirect.iss", "https://attacker.example.com"),
    ("authorization", "REDIRECT", "expect.redirect.error", "server_error"),
    ("token", "code-web", "expect.status", 400),
    ("token", "code-web", "expect.tokens", ["access_token", "refresh_token"]),
    ("token", "code-web", "expect.scope", "openid"),
    ("token", "code-web", "expect.grant.client", "ledger"),
    ("token", "code-web", "expect.grant.redirect_uri", "https://shop.example.com/other"),
    ("token", "code-web", "given.client", "ledger"),
    ("token", "code-web", "given.code_challenge", "x"),
    ("token", "code-unknown", "expect.status", 401),
    ("token", "code-unknown", "expect.error", "invalid_client"),
    ("token", "code-expired", "expect.reason", "code_unknown"),
    ("token", "code-unknown", "expect.reason", REMOVED),
    ("token", "client-basic-wrong", "expect.www_authenticate", REMOVED),
    ("token", "code-access-token", "expect.access_token.alg", "HS256"),
    ("token", "code-access-token", "expect.access_token.aud", "shop"),
    ("token", "code-access-token", "expect.id_token.claims", ["aud", "exp", "iat", "iss", "sub"]),
    ("token", "assertion-check", "expect.linking.account_found", "true"),
    ("token", "assertion-get", "expect.linking.login_hint", REMOVED),
    ("app-flip", "granted-identity-token", "expect.redirect.uri", "https://attacker.example.com/a"),
    ("app-flip", "granted-identity-token", "expect.redirect.state", "another"),
    ("app-flip", "granted-identity-token", "expect.outcome", "cancelled"),
    ("app-flip", "granted-identity-token", "expect.scope", "openid"),
    ("app-flip", "granted-identity-token", "expect.status", 400),
    ("app-flip", "granted-identity-token", "call.decision", "denied"),
    ("app-flip", "granted-identity-token", "expect.redirect", REMOVED),
    ("app-flip-prompt", "asks-all-scopes", "expect.prompt.scope", "openid"),
    ("app-flip-prompt", "asks-all-scopes", "expect.prompt.optional", REMOVED),
    ("app-flip-prompt", "asks-all-scopes", "expect.prompt.language", "de"),
    ("app-flip-prompt", "asks-all-scopes", "expect.prompt", REMOVED),
    ("app-flip-prompt", "asks-all-scopes", "expect.status", 400),
    ("app-flip-prompt", "asks-all-scopes", "call.decision", "granted"),
    ("app-flip-prompt", "invalid-client-unknown", "expect.redirect.uri", "https://attacker.example.com/a"),
    ("app-flip-prompt", "invalid-client-unknown", "expect.redirect.state", "another"),
    ("app-flip-prompt", "invalid-client-unknown", "expect.outcome", "cancelled"),
    ("app-flip-prompt", "invalid-client-unknown", "expect.sign_in_again", REMOVED),
    ("revocation", "access-token", "expect.status", 400),
    ("revocation", "access-token", "expect.afterwards", REMOVED),
    ("revocation", "access-token", "given.client", "ledger"),
    ("revocation", "access-token", "expect.headers.cache-control", "max-age"),
    ("introspection", "active-access-token", "expect.members", {"active": False, "client_id": "shop"}),
    ("introspection", "active-access-token", "expect.members.iss", "https://attacker.example.com"),
    ("introspection", "active-access-token", "expect.members.aud", "https://attacker.example.com"),
    ("introspection", "active-access-token", "expect.members.token_type", REMOVED),
    ("introspection", "active-access-token", "given.client", "ledger"),
    ("introspection", "api-key-unknown", "expect.www_authenticate", REMOVED),
    ("introspection", "api-key-unknown", "expect.status", 200),
    ("userinfo", "token-missing", "expect.members", {"error": "invalid_token"}),
    ("userinfo", "token-missing", "expect.www_authenticate.error", "invalid_token"),
    ("userinfo", "token-missing", "expect.status", 200),
    ("userinfo", "scope-profile", "expect.members.email", "ada@example.com"),
    ("metadata", "authorization-server", "expect.members.issuer", "https://attacker.example.com"),
    ("metadata", "authorization-server", "expect.members.token_endpoint", "https://attacker.example.com/token"),
    ("metadata", "authorization-server", "expect.members.jwks_uri", REMOVED),
    ("metadata", "authorization-server", "expect.members.code_challenge_methods_supported", ["S256"]),
    ("metadata", "keys", "expect.members.keys", [{"use": "sig", "d": "{text}"}]),
]


def planted(case, path, value):
    case = copy.deepcopy(case)
    parent, *names = case, *path.split(".")
    for name in names[:-1]:
        parent = parent[name]
    if value is REMOVED:
        del parent[names[-1]]
    else:
        parent[names[-1]] = value
    return case


def overlooked(folders, mistakes):
    """The planted mistakes that the reader does not find.

    - mistakes: reads folders and returns what it finds.
    """
    redirected = next(name for name, case in folders["authorization"].items() if "redirect" in case["expect"])
    empty = {folder: {} for folder in folders}
    for folder, name, path, value in MISTAKES:
        name = redirected if name == "REDIRECT" else name
        case = planted(folders[folder][name], path, value)
        if not mistakes({**empty, "configuration": folders["configuration"], folder: {name: case}}):
            yield f"oauth/{folder}/{name}: the second reader overlooks a wrong {path}"
