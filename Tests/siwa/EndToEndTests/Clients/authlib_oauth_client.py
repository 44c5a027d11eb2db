"""Authlib's OAuth 2.0 session: code with PKCE, refresh, introspect, revoke, and the ID token by joserfc."""

from relying import ISSUER, User, discovery, expect, given, introspect, metadata

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet


def run(client_id, secret, method, redirect_uri):
    scope, verifier, nonce = "openid email offline_access", generate_token(48), generate_token(20)
    session = OAuth2Session(
        client_id, secret, token_endpoint_auth_method=method, revocation_endpoint_auth_method=method, scope=scope,
        redirect_uri=redirect_uri, code_challenge_method="S256",
    )
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
    )
    answer = User().authorize(url, redirect_uri)
    tokens = session.fetch_token(
        metadata["token_endpoint"], authorization_response=answer, code_verifier=verifier, state=state
    )
    keys = KeySet.import_key_set(requests.get(discovery["jwks_uri"]).json())
    token = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"])
    rules = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": client_id},
        nonce={"essential": True, "value": nonce}, exp={"essential": True}, sub={"essential": True},
    )
    rules.validate(token.claims)
    access = jwt.decode(tokens["access_token"], keys, algorithms=["ES256"])
    expect(access.header["typ"] == "at+jwt" and access.claims["sub"] == token.claims["sub"], "the access token")

    expect(session.get(metadata["userinfo_endpoint"]).json()["sub"] == token.claims["sub"], "userinfo")
    if secret:
        told = session.introspect_token(metadata["introspection_endpoint"], token=tokens["access_token"]).json()
        expect(told["active"] is True and told["client_id"] == client_id, f"{told}")
    old = tokens["refresh_token"]
    tokens = session.refresh_token(metadata["token_endpoint"], old)
    expect(tokens["refresh_token"] != old, "refresh tokens are rotated")
    expect(introspect(tokens["access_token"])["active"] is True, "the new access token")
    revoked = session.revoke_token(metadata["revocation_endpoint"], tokens["access_token"], "access_token")
    expect(revoked.status_code == 200, f"revocation: {revoked.status_code} {revoked.text}")
    # An access token takes its refresh token along.
    expect(introspect(tokens["access_token"]) == {"active": False}, "the access token has ended")
    try:
        session.refresh_token(metadata["token_endpoint"], tokens["refresh_token"])
        expect(False, "the refresh token has ended")
    except OAuthError as refusal:
        expect(refusal.error == "invalid_grant", refusal.error)

    # The user refuses.
    url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    refusal = User().authorize(url, redirect_uri, decision="cancel")
    expect("error=access_denied" in refusal and f"state={state}" in refusal and "code=" not in refusal, refusal)


native, web = given["clients"]["native"], given["clients"]["web"]
run(native["id"], None, "none", "http://127.0.0.1:9004")
run(web["id"], web["secret"], "client_secret_basic", "http://127.0.0.1:9005/site")
run(web["id"], web["secret"], "client_secret_post", "http://127.0.0.1:9005/site")
print("done")
