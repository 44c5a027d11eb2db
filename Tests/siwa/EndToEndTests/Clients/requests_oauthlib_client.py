"""requests-oauthlib as a native app and as a web application: code with PKCE, refresh, userinfo, ID token, revoke."""

from relying import ISSUER, User, discovery, expect, given, introspect, is_refused, metadata, withdraw_consent

import jwt
import requests
from oauthlib.oauth2 import InvalidGrantError
from requests_oauthlib import OAuth2Session


def verified(token, audience, nonce, access_token):
    """By PyJWT, with the keys that the metadata names."""
    key = jwt.PyJWKClient(discovery["jwks_uri"]).get_signing_key_from_jwt(token)
    decoded = jwt.decode_complete(token, key.key, algorithms=["RS256"], audience=audience, issuer=ISSUER)
    claims = decoded["payload"]
    expect(claims["nonce"] == nonce, "the nonce comes back")
    expect(claims["auth_time"] <= claims["iat"], "auth_time is the sign-in at Apple")
    digest = jwt.get_algorithm_by_name("RS256").compute_hash_digest(access_token.encode())
    expect(claims["at_hash"] == jwt.utils.base64url_encode(digest[: len(digest) // 2]).decode(), "at_hash")
    return claims


def run(client_id, secret, redirect_uri):
    user, nonce = User(), f"nonce-of-{client_id}"
    scope = ["openid", "email", "profile", "devices.control", "offline_access"]
    session = OAuth2Session(client_id, redirect_uri=redirect_uri, scope=scope, pkce="S256")
    url, state = session.authorization_url(metadata["authorization_endpoint"], nonce=nonce)
    answer = user.authorize(url, redirect_uri, leave_out=["devices.control"])
    expect(f"state={state}" in answer and "iss=" in answer, answer.split("?")[0])
    expect(user.pages == ["choose", "allow", "decision"], f"{user.pages}")
    authentication = {"include_client_id": True} if secret is None else {"client_secret": secret}
    tokens = session.fetch_token(metadata["token_endpoint"], authorization_response=answer, **authentication)
    expect(set(tokens["scope"]) == set(scope) - {"devices.control"}, f"{tokens['scope']}")
    expect(tokens["token_type"] == "Bearer" and tokens["expires_in"] == 3600, "the token answer")

    claims = verified(tokens["id_token"], client_id, nonce, tokens["access_token"])
    info = session.get(metadata["userinfo_endpoint"]).json()
    expect(info["sub"] == claims["sub"] and info["email"] == claims["email"], f"{info}")
    header = jwt.get_unverified_header(tokens["access_token"])
    expect(header["typ"] == "at+jwt" and header["alg"] == "ES256", f"{header}")
    state_of_token = introspect(tokens["access_token"])
    expect(state_of_token["active"] is True and state_of_token["sub"] == claims["sub"], f"{state_of_token}")

    # The code is good once, and refused when it is used again at once.
    again = requests.post(
        metadata["token_endpoint"],
        data={
            "grant_type": "authorization_code", "code": answer.split("code=")[1].split("&")[0],
            "redirect_uri": redirect_uri, "client_id": client_id, "code_verifier": session._code_verifier,
            **({"client_secret": secret} if secret else {}),
        },
    )
    is_refused(again)

    # The library repeats the scope when it refreshes, and cannot know what the user left out.
    session.scope = tokens["scope"]
    extra = {"client_id": client_id, **({"client_secret": secret} if secret else {})}
    refreshed = session.refresh_token(metadata["token_endpoint"], **extra)
    expect(refreshed["access_token"] != tokens["access_token"], "a new access token")
    expect(refreshed["refresh_token"] != tokens["refresh_token"], "refresh tokens are rotated")
    expect(introspect(refreshed["access_token"])["active"] is True, "the new one is good")

    # Revoked by the client: refresh token and access tokens end.
    url, headers, body = session._client.prepare_token_revocation_request(
        metadata["revocation_endpoint"], refreshed["refresh_token"], token_type_hint="refresh_token", **extra
    )
    expect(requests.post(url, headers=headers, data=body).status_code == 200, "revocation")
    expect(introspect(refreshed["access_token"]) == {"active": False}, "a revoked token says nothing")
    expect(session.get(metadata["userinfo_endpoint"]).status_code == 401, "userinfo says the same")
    try:
        session.refresh_token(metadata["token_endpoint"], **extra)
        expect(False, "a revoked token is refused")
    except InvalidGrantError:
        pass

    # The same user links again. The session at siwa is still there, so Apple is not asked.
    user.pages.clear()
    session = OAuth2Session(client_id, redirect_uri=redirect_uri, scope=scope, pkce="S256")
    url, _ = session.authorization_url(metadata["authorization_endpoint"])
    answer = user.authorize(url, redirect_uri)
    expect(user.pages == ["decision"], f"{user.pages}")
    tokens = session.fetch_token(metadata["token_endpoint"], authorization_response=answer, **authentication)

    # Apple's word: the consent is withdrawn there, and every token ends at once.
    withdraw_consent(user)
    expect(introspect(tokens["access_token"]) == {"active": False}, "inactive after the consent was withdrawn")
    try:
        session.refresh_token(metadata["token_endpoint"], **extra)
        expect(False, "no refresh after the consent was withdrawn")
    except InvalidGrantError:
        pass


native, web = given["clients"]["native"], given["clients"]["web"]
run(native["id"], None, "http://127.0.0.1:9004")
run(web["id"], web["secret"], "http://127.0.0.1:9005/site")
print("done")
