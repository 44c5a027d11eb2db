"""The client that openapi-python-client makes from openapi.yaml: sign-in, account, feed and deletion, and OAuth's calls."""

import base64
import datetime
import hashlib
import secrets

from relying import ISSUER, User, expect, given, withdraw_consent

import requests

from generated_siwa import AuthenticatedClient, Client
from generated_siwa.api.accounts import erase_account, get_account
from generated_siwa.api.credentials import get_credential, query_credentials
from generated_siwa.api.events import list_events
from generated_siwa.api.grants import list_grants
from generated_siwa.api.oauth import authorize, get_user_info, introspect_token, issue_tokens, revoke_token
from generated_siwa.api.tokens import mint_nonce, sign_in, verify_identity_token
from generated_siwa.models import (
    AppleUser, AppleUserNameType0, CredentialQuery, IdentityTokenRequest, IntrospectionRequest, OAuthErrorResponse, Problem,
    RevocationRequest, SignInRequest, TokenRequest,
)

backend = AuthenticatedClient(ISSUER, token=given["api_key"])
anyone = Client(ISSUER)


def sign_in_with_name():
    """As the app's backend does it, and deletes the account at the end."""
    nonce = mint_nonce.sync(client=backend)
    subject = requests.post(f"{given['apple']}/emulator/users?format=text", json={"first_name": "Ada"}).text.strip()
    minted = requests.post(
        f"{given['apple']}/emulator/identity-tokens",
        json={"sub": subject, "code": True, "nonce": nonce.nonce_sha256},
    ).json()
    question = IdentityTokenRequest(identity_token=minted["identity_token"], nonce=nonce.nonce)
    verified = verify_identity_token.sync(client=backend, body=question)
    expect(verified.identity.sub == subject, f"{verified}")

    user = AppleUser(name=AppleUserNameType0(first_name="Ada", last_name="Lovelace"))
    user.additional_properties = {"apple_may": {"add": ["some"]}}
    body = SignInRequest(
        identity_token=minted["identity_token"], nonce=nonce.nonce, user=user,
        authorization_code=minted["authorization_code"],
    )
    answer = sign_in.sync_detailed(client=backend, body=body)
    expect(answer.status_code == 201, f"{answer}")
    outcome = answer.parsed
    expect(outcome.is_new_account and outcome.account.last_name == "Lovelace", f"{outcome}")
    expect(isinstance(outcome.credential.since, datetime.datetime), f"{outcome.credential}")

    again = sign_in.sync(client=backend, body=body)
    expect(isinstance(again, Problem) and again.code == "nonce_used", f"{again}")
    client_id = outcome.credential.client_id
    expect(get_account.sync(outcome.account.id, client=backend).sub == subject, "the account")
    credential = get_credential.sync(subject, client=backend, client_id=client_id)
    expect(credential.state == "authorized", f"{credential}")
    states = query_credentials.sync(client=backend, body=CredentialQuery(client_id=client_id, subs=[subject, "nobody"]))
    expect(len(states.credentials) == 2, f"{states}")

    erased = erase_account.sync_detailed(outcome.account.id, client=backend)
    expect(erased.status_code in (200, 202), f"{erased}")
    feed = list_events.sync(client=backend, after="0")
    expect(any(event.account_id == outcome.account.id for event in feed.events), f"{feed}")


def oauth(client_id, secret, redirect_uri):
    user, verifier = User(), secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    link = authorize._get_kwargs(
        client_id=client_id, redirect_uri=redirect_uri, response_type="code", state="s t/a+te",
        scope="openid email offline_access", code_challenge=challenge, code_challenge_method="S256",
    )
    answer = user.authorize(requests.Request("GET", ISSUER + link["url"], params=link["params"]).prepare().url, redirect_uri)
    code = dict(part.split("=", 1) for part in answer.split("?", 1)[1].split("&"))["code"]

    who = {"client_id": client_id, **({"client_secret": secret} if secret else {})}
    tokens = issue_tokens.sync(
        client=anyone,
        body=TokenRequest(
            grant_type="authorization_code", code=code, redirect_uri=redirect_uri, code_verifier=verifier, **who
        ),
    )
    expect(not isinstance(tokens, OAuthErrorResponse) and tokens.id_token and tokens.token_type == "Bearer", f"{tokens}")
    info = get_user_info.sync(client=AuthenticatedClient(ISSUER, token=tokens.access_token))
    expect(info.sub and info.email, f"{info}")
    grants = list_grants.sync(info.sub, client=backend)
    expect([grant.client_id for grant in grants.grants] == [client_id], f"{grants}")

    refresh = TokenRequest(grant_type="refresh_token", refresh_token=tokens.refresh_token, **who)
    refreshed = issue_tokens.sync(client=anyone, body=refresh)
    expect(refreshed.refresh_token != tokens.refresh_token, f"{refreshed}")
    question = IntrospectionRequest(token=refreshed.access_token)
    told = introspect_token.sync(client=backend, body=question)
    expect(told.active is True and told.sub == info.sub, f"{told}")
    if secret:
        told = introspect_token.sync(client=anyone, body=IntrospectionRequest(token=refreshed.access_token, **who))
        expect(told.active is True and told.client_id == client_id, f"{told}")

    done = revoke_token.sync_detailed(client=anyone, body=RevocationRequest(token=refreshed.refresh_token, **who))
    expect(done.status_code == 200, f"{done}")
    expect(introspect_token.sync(client=backend, body=question).active is False, "revoked")
    refusal = issue_tokens.sync(client=anyone, body=refresh)
    expect(isinstance(refusal, OAuthErrorResponse) and refusal.error == "invalid_grant", f"{refusal}")
    withdraw_consent(user)


sign_in_with_name()
native, web = given["clients"]["native"], given["clients"]["web"]
oauth(native["id"], None, "http://127.0.0.1:9004")
oauth(web["id"], web["secret"], "http://127.0.0.1:9005/site")
print("done")
