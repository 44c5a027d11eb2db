"""Scenarios about people: who signs in, what is remembered, and what Apple says later and out of order."""

from cases import APP, AT, DAY, STRANGER_APP, SUB, WEB, Without, claims, event, header, notice, sha256_hex, signed
from steps import (
    HOUR, MINUTE, NOT_FOUND, OTHER_TEAM, OTHER_TEAMS_APP, SECOND_APP, TEAM, Scenario, authorized, created,
    minted_nonce, ok, payload, refused, revoked, since, token,
)

OTHER_SUB = "001847.a0b1c2d3e4f5061728394a5b6c7d8e9f.1102"
RELAY = "h7k2m9x4qd@privaterelay.appleid.com"
REAL = dict(email="person@example.com", is_private_email=Without)
REVOKED = refused(403, "credential_revoked")
NO_ACCOUNT = refused(404, "account_not_found")
NAME = {"name": {"firstName": "Ana", "lastName": "Ruiz"}}


def scenario(name, summary):
    return Scenario(name, summary).apple_keys(0, "current.json")


# E-mail addresses are no identifiers.
(scenario("one-address-of-two-people",
          "An account is a subject; services that key on the address give one person's account to another.")
 .sign_in(0, token(0, **REAL), created(person="first", account={"sub": SUB, "email": "person@example.com"}))
 .sign_in(MINUTE, token(60, sub=OTHER_SUB, **REAL), created(person="second", account={"sub": OTHER_SUB}))
 .sign_in(HOUR, token(HOUR, **REAL), ok(person="first", is_new_account=False)))

(scenario("one-person-with-changing-address",
          "Services that key on the address lose the account when the address changes.")
 .sign_in(0, token(0),
          created(person="first", account={"email": RELAY, "is_private_email": True, "email_verified": True}))
 .sign_in(HOUR, token(HOUR, **REAL),
          ok(person="first", is_new_account=False, account={"email": "person@example.com"},
             events=["email_changed"]))
 .sign_in(2 * HOUR, token(MINUTE), ok(person="first", account={"email": "person@example.com"}, events=[]),
          note="an older token does not bring the old address back")
 .account(2 * HOUR, ok(person="first", account={"email": "person@example.com"})))

(scenario("relay-address-without-claim",
          "Real tokens have a relay address and no is_private_email: the domain says it. Another domain says nothing.")
 .sign_in(0, token(0, is_private_email=Without),
          created(person="first", account={"email": RELAY, "is_private_email": True}))
 .sign_in(MINUTE, token(MINUTE, sub=OTHER_SUB, **REAL),
          created(person="second", account={"email": "person@example.com"},
                  account_lacks={"is_private_email": False}))
 .account(MINUTE, ok(person="second", account_lacks={"is_private_email": True}), sub=OTHER_SUB)
 .notification(HOUR, payload(HOUR, "jti-relay-000000000005", sub=OTHER_SUB, type="email-disabled",
                             email="h7k2m9x4qd@private.icloud.com"),
               ok(receipt="applied", events=["email_forwarding_changed", "email_changed"]),
               note="an event too")
 .account(HOUR, ok(person="second", account={"is_private_email": True}), sub=OTHER_SUB))

(scenario("address-absent-later", "A token without address takes no address away.")
 .sign_in(0, token(0), created(account={"email": RELAY}))
 .sign_in(HOUR, token(HOUR, email=Without, email_verified=Without, is_private_email=Without),
          ok(account={"email": RELAY, "is_private_email": True}, events=[])))

(scenario("unsigned-address-is-not-trusted",
          "The user object of the web flow is unsigned: the browser can write any address into it.")
 .sign_in(0, token(0, email=Without, email_verified=Without, is_private_email=Without),
          created(person="first", account_lacks={"email_verified": True}),
          user={**NAME, "email": "victim@example.com"})
 .sign_in(HOUR, token(HOUR), ok(person="first", account={"email": RELAY, "email_verified": True}),
          user={"email": "victim@example.com"}, note="the signed address wins")
 .sign_in(2 * HOUR, token(2 * HOUR, email=Without, email_verified=Without, is_private_email=Without),
          ok(person="first", account={"email": RELAY, "email_verified": True}),
          user={"email": "victim@example.com"},
          note="and stays"))

# Subjects are bytes.
(scenario("subjects-that-only-look-equal", "U+212A equals K, and NFC equals NFD, for String ==: four people, not two.")
 .sign_in(0, token(0, sub="K.1"), created(person="ascii", account={"sub": "K.1"}))
 .sign_in(0, token(0, sub="\u212a.1"), created(person="kelvin", account={"sub": "\u212a.1"}))
 .sign_in(0, token(0, sub="caf\u00e9"), created(person="composed", account={"sub": "caf\u00e9"}))
 .sign_in(0, token(0, sub="cafe\u0301"), created(person="decomposed", account={"sub": "cafe\u0301"}))
 .notification(HOUR, payload(HOUR, "jti-looks-equal-000001", sub="\u212a.1"), ok(receipt="applied"))
 .notification(HOUR, payload(HOUR, "jti-looks-equal-000002", sub="cafe\u0301"), ok(receipt="applied"))
 .credential(HOUR, authorized(0), sub="K.1")
 .credential(HOUR, authorized(0), sub="caf\u00e9")
 .credential(HOUR, revoked(HOUR - 10), sub="\u212a.1")
 .credential(HOUR, revoked(HOUR - 10), sub="cafe\u0301")
 .account(HOUR, ok(person="kelvin", account={"sub": "\u212a.1"}), sub="\u212a.1"))

# The name comes once.
(scenario("name-after-a-failed-first-call",
          "Apple tells the app the name once; services lose it when that call fails.")
 .apple_unreachable(0)
 .sign_in(0, token(0), refused(503, "keys_unavailable"), user=NAME, note="the call with the name fails")
 .apple_keys(10 * MINUTE, "current.json")
 .sign_in(10 * MINUTE, token(600), created(person="first", account_lacks={"first_name": "Ana"}),
          note="the user tries again")
 .sign_in(11 * MINUTE, token(660),
          ok(person="first", account={"first_name": "Ana", "last_name": "Ruiz"}, events=["profile_changed"]),
          user=NAME, note="the app kept the name and sends it again")
 .account(11 * MINUTE, ok(person="first", account={"first_name": "Ana", "last_name": "Ruiz"})))

(scenario("name-is-never-emptied", "Later calls carry no name, or an empty one.")
 .sign_in(0, token(0), created(account={"first_name": "Ana", "last_name": "Ruiz"}), user=NAME)
 .sign_in(HOUR, token(HOUR), ok(account={"first_name": "Ana", "last_name": "Ruiz"}, events=[]))
 .sign_in(2 * HOUR, token(2 * HOUR), ok(account={"first_name": "Ana", "last_name": "Ruiz"}, events=[]),
          user={"name": {"firstName": "", "lastName": ""}})
 .sign_in(3 * HOUR, token(3 * HOUR), ok(account={"first_name": "Ana", "last_name": "Ruiz"}, events=[]),
          user={"name": {}}))

(scenario("name-in-two-parts", "Each part is filled in while it is empty.")
 .sign_in(0, token(0), created(account={"first_name": "Ana"}), user={"name": {"firstName": "Ana"}})
 .sign_in(HOUR, token(HOUR), ok(account={"first_name": "Ana", "last_name": "Ruiz"}),
          user={"name": {"lastName": "Ruiz"}}))

# Revocation and sign-in, in every order.
(scenario("old-token-after-revocation",
          "Tokens live for a day: after a revocation an old one must not sign in again.")
 .sign_in(0, token(0), created(credential=authorized(0)))
 .notification(HOUR, payload(HOUR, "jti-old-token-00000001"), ok(receipt="applied"))
 .credential(HOUR, revoked(HOUR - 10))
 .sign_in(2 * HOUR, token(0), REVOKED, note="the very token of the first sign-in, still unexpired")
 .sign_in(2 * HOUR, token(HOUR - 11), REVOKED, note="another token from before the revocation")
 .credential(2 * HOUR, revoked(HOUR - 10))
 .sign_in(3 * HOUR, token(3 * HOUR, auth_time=Without),
          ok(is_new_account=False, credential=authorized(3 * HOUR), events=["credential_authorized"]),
          note="consent given again")
 .credential(3 * HOUR, authorized(3 * HOUR)))

(scenario("fresh-token-of-an-old-authorization", "What counts is auth_time, not when the token was minted.")
 .sign_in(0, token(0), created())
 .notification(HOUR, payload(HOUR, "jti-fresh-old-00000001"), ok(receipt="applied"))
 .sign_in(2 * HOUR, token(2 * HOUR, auth_time=AT), REVOKED))

(scenario("sign-in-at-the-moment-of-revocation", "Authorized means strictly later than the revocation.")
 .sign_in(0, token(0), created())
 .notification(HOUR, payload(HOUR, "jti-moment-00000000001", event_after=HOUR - 10), ok(receipt="applied"))
 .sign_in(2 * HOUR, token(HOUR - 10), REVOKED)
 .sign_in(2 * HOUR, token(HOUR - 9), ok(credential=authorized(HOUR - 9))))

(scenario("revocation-between-two-seconds",
          "Notifications count milliseconds and tokens count seconds: both are one clock.")
 .sign_in(0, token(0), created())
 .notification(HOUR, payload(HOUR, "jti-between-0000000001", event_time=(AT + HOUR - 10) * 1000 + 622),
               ok(receipt="applied"))
 .credential(HOUR, {**revoked(HOUR - 10), "since": since(HOUR - 10).replace(".000Z", ".622Z")})
 .sign_in(2 * HOUR, token(HOUR - 10), REVOKED, note="622 ms too early")
 .sign_in(2 * HOUR, token(HOUR - 9), ok(credential=authorized(HOUR - 9))))

(scenario("old-revocation-after-new-sign-in",
          "A revocation that is delivered late must not undo a newer sign-in.")
 .sign_in(0, token(0), created())
 .sign_in(2 * HOUR, token(2 * HOUR), ok())
 .notification(3 * HOUR, payload(3 * HOUR, "jti-late-0000000000001", event_after=HOUR),
               ok(receipt="applied", events=[]))
 .credential(3 * HOUR, authorized(2 * HOUR)))

(scenario("revocation-of-a-user-not-yet-known", "The revocation overtakes the sign-in: it is remembered.")
 .notification(HOUR, payload(HOUR, "jti-unknown-user-00001"), ok(receipt="applied"),
               note="acknowledged, or Apple retries for ever")
 .account(HOUR, NO_ACCOUNT)
 .sign_in(HOUR, token(MINUTE), REVOKED, note="a token from before")
 .account(HOUR, NO_ACCOUNT)
 .sign_in(2 * HOUR, token(2 * HOUR), created(credential=authorized(2 * HOUR))))

(scenario("deletion-of-a-user-not-yet-known", "A deletion is remembered for every app of the team.")
 .notification(HOUR, payload(HOUR, "jti-unknown-user-00002", type="account-deleted"), ok(receipt="applied"))
 .sign_in(HOUR, token(MINUTE), REVOKED)
 .sign_in(HOUR, token(MINUTE, aud=SECOND_APP), REVOKED)
 .sign_in(HOUR, token(MINUTE, aud=OTHER_TEAMS_APP), created(),
          note="another team's subject is another person"))

(scenario("consent-is-per-app",
          "Consent is given to one app, by any of its client IDs, and withdrawn from one.")
 .sign_in(0, token(0),
          created(person="first", account={"team_id": TEAM}, credential={"client_id": APP, **authorized(0)}))
 .sign_in(MINUTE, token(60, aud=WEB), ok(person="first", credential={"client_id": APP, **authorized(60)}),
          note="a Services ID of the same app")
 .sign_in(2 * MINUTE, token(120, aud=SECOND_APP),
          ok(person="first", credential={"client_id": SECOND_APP, **authorized(120)}))
 .sign_in(2 * MINUTE, token(120, aud=OTHER_TEAMS_APP),
          created(person="of another team", account={"team_id": OTHER_TEAM}))
 .notification(HOUR, payload(HOUR, "jti-per-app-0000000001"),
               ok(receipt="applied", events=["credential_revoked"]))
 .credential(HOUR, revoked(HOUR - 10))
 .credential(HOUR, revoked(HOUR - 10), client_id=WEB)
 .credential(HOUR, authorized(120), client_id=SECOND_APP)
 .credential(HOUR, authorized(120), client_id=OTHER_TEAMS_APP))

for spelling in ("account-delete", "account-deleted"):
    (scenario(f"{spelling}-revokes-every-app",
              "An Apple Account that is gone is gone for every app of the team.")
     .sign_in(0, token(0), created())
     .sign_in(MINUTE, token(60, aud=SECOND_APP), ok())
     .sign_in(MINUTE, token(60, aud=OTHER_TEAMS_APP), created())
     .notification(HOUR, payload(HOUR, "jti-deleted-0000000001", type=spelling), ok(receipt="applied"))
     .credential(HOUR, revoked(HOUR - 10, "apple_account_deleted"))
     .credential(HOUR, revoked(HOUR - 10, "apple_account_deleted"), client_id=SECOND_APP)
     .credential(HOUR, authorized(60), client_id=OTHER_TEAMS_APP)
     .sign_in(2 * HOUR, token(60, aud=SECOND_APP), REVOKED))

# Notifications that come twice or late, for unknown people, or not from Apple.
FIRST = payload(HOUR, "jti-duplicate-00000001")
(scenario("notification-delivered-again-and-again",
          "Apple has sent the same event every five minutes although 200 was answered.")
 .sign_in(0, token(0), created())
 .notification(HOUR, FIRST, ok(receipt="applied", events=["credential_revoked"]))
 .notification(HOUR + 5 * MINUTE, FIRST, ok(receipt="duplicate", events=[]))
 .notification(HOUR + 10 * MINUTE, payload(HOUR + 600, "jti-duplicate-00000002", event_after=HOUR - 10),
               ok(receipt="duplicate", events=[]), note="the same event under a new jti")
 .sign_in(2 * HOUR, token(2 * HOUR), ok())
 .notification(2 * HOUR + 5 * MINUTE, FIRST, ok(receipt="duplicate", events=[]),
               note="after consent was given again")
 .credential(2 * HOUR + 5 * MINUTE, authorized(2 * HOUR))
 .restart(3 * HOUR)
 .notification(3 * HOUR, FIRST, ok(receipt="duplicate", events=[]), note="what was seen is remembered")
 .credential(3 * HOUR, authorized(2 * HOUR)))

(scenario("notifications-out-of-order",
          "No order is promised: the latest event counts, not the latest delivery.")
 .sign_in(0, token(0), created())
 .notification(3 * HOUR, payload(3 * HOUR, "jti-order-000000000003", event_after=3 * HOUR - 10),
               ok(receipt="applied"))
 .notification(3 * HOUR, payload(3 * HOUR, "jti-order-000000000001", event_after=HOUR),
               ok(receipt="applied", events=[]))
 .credential(3 * HOUR, revoked(3 * HOUR - 10))
 .sign_in(3 * HOUR, token(2 * HOUR), REVOKED))

(scenario("relay-forwarding-switched", "The switch of the relay address follows Apple's own order.")
 .sign_in(0, token(0), created())
 .notification(HOUR,
               payload(HOUR, "jti-relay-000000000001", type="email-disabled", email=RELAY,
                       is_private_email="true"),
               ok(receipt="applied", events=["email_forwarding_changed"]))
 .account(HOUR, ok(account={"email": RELAY, "is_private_email": True, "email_forwarding": "disabled"}))
 .notification(3 * HOUR,
               payload(3 * HOUR, "jti-relay-000000000003", type="email-enabled", email=RELAY,
                       is_private_email="true"),
               ok(receipt="applied", events=["email_forwarding_changed"]))
 .notification(3 * HOUR,
               payload(3 * HOUR, "jti-relay-000000000002", event_after=2 * HOUR, type="email-disabled",
                       email=RELAY, is_private_email="true"),
               ok(receipt="applied", events=[]), note="older, delivered later")
 .account(3 * HOUR, ok(account={"email_forwarding": "enabled"}))
 .credential(3 * HOUR, authorized(0), note="forwarding is no consent"))

(scenario("relay-forwarding-of-a-user-not-yet-known", "The switch is remembered until the user comes.")
 .notification(HOUR,
               payload(HOUR, "jti-relay-000000000004", type="email-disabled", email=RELAY,
                       is_private_email="true"),
               ok(receipt="applied"))
 .sign_in(2 * HOUR, token(2 * HOUR), created(account={"email": RELAY, "email_forwarding": "disabled"})))

(scenario("unknown-event-types-and-users",
          "Everything that Apple signed for us is acknowledged, or Apple retries.")
 .sign_in(0, token(0), created())
 .notification(HOUR, payload(HOUR, "jti-unknown-0000000001", type="passkey-added"),
               ok(receipt="unknown_type", events=[]))
 .notification(HOUR, payload(HOUR, "jti-unknown-0000000002", type="passkey-added", sub=OTHER_SUB),
               ok(receipt="unknown_type"))
 .notification(HOUR, payload(HOUR, "jti-unknown-0000000003", sub=OTHER_SUB), ok(receipt="applied"))
 .notification(HOUR, payload(HOUR, "jti-unknown-0000000001", type="passkey-added"), ok(receipt="duplicate"))
 .credential(HOUR, authorized(0))
 .credential(HOUR, NOT_FOUND, sub="000000.nobody.0000"))

(scenario("notifications-that-apple-did-not-sign",
          "Services that do not check the signature let an attacker revoke every consent.")
 .sign_in(0, token(0), created())
 .notification(HOUR, payload(HOUR, "jti-forged-00000000001", key="stranger"), refused(401, "signature_invalid"),
               note="under a key ID of Apple's")
 .notification(HOUR, signed(notice(event()), key="stranger", head=header(kid="fxStranger")),
               refused(401, "unknown_key"), note="under a key ID of the attacker's own")
 .notification(HOUR, payload(HOUR, "jti-forged-00000000002", aud=STRANGER_APP),
               refused(401, "audience_mismatch"),
               note="of another app, really signed by Apple")
 .credential(HOUR, authorized(0)))

(scenario("one-kind-for-the-other", "An identity token is no revocation, and a notification is no sign-in.")
 .sign_in(0, token(0), created())
 .notification(MINUTE, token(60), refused(401, "not_a_notification"))
 .sign_in(MINUTE, payload(60, "jti-kind-0000000000001"), refused(401, "not_an_identity_token"))
 .verify(MINUTE, payload(60, "jti-kind-0000000000001"), refused(401, "not_an_identity_token"))
 .credential(MINUTE, authorized(0)))

# What is stored, and what is not.
(scenario("refused-sign-ins-leave-nothing", "Nothing that fails to verify leaves a row behind.")
 .sign_in(0, signed(claims(), key="stranger", head=header()), refused(401, "signature_invalid"), user=NAME)
 .sign_in(0, token(0, aud=STRANGER_APP), refused(401, "audience_mismatch"), client_id=STRANGER_APP)
 .sign_in(0, token(0), refused(401, "nonce_missing"), nonce="a nonce of the app")
 .sign_in(0, token(0), refused(401, "code_hash_missing"), authorization_code="c5f1e8a7d9b24c3f")
 .sign_in(2 * DAY, token(0), refused(401, "token_expired"))
 .account(2 * DAY, NO_ACCOUNT)
 .credential(2 * DAY, NOT_FOUND))

(scenario("verifying-stores-nothing", "Verification answers and forgets.")
 .verify(0, token(0),
         ok(identity={"sub": SUB, "client_id": APP, "email": RELAY, "email_verified": True, "team_id": TEAM}))
 .account(0, NO_ACCOUNT)
 .credential(0, NOT_FOUND))

(scenario("sign-in-of-known-users-only", "With create false a stranger stays one.")
 .sign_in(0, token(0), NO_ACCOUNT, create=False, user=NAME)
 .account(0, NO_ACCOUNT)
 .credential(0, NOT_FOUND)
 .sign_in(MINUTE, token(60), created(person="first"))
 .sign_in(HOUR, token(HOUR), ok(person="first", is_new_account=False), create=False))

(scenario("restart-keeps-everything", "What was acknowledged is there after a restart.")
 .sign_in(0, token(0), created(person="first"), user=NAME)
 .notification(HOUR, payload(HOUR, "jti-restart-0000000001"), ok(receipt="applied"))
 .restart(2 * HOUR)
 .account(2 * HOUR, ok(person="first", account={"first_name": "Ana", "email": RELAY}))
 .credential(2 * HOUR, revoked(HOUR - 10))
 .sign_in(2 * HOUR, token(MINUTE), REVOKED)
 .sign_in(2 * HOUR, token(2 * HOUR), ok(person="first", is_new_account=False, account={"first_name": "Ana"})))

# Nonces of the service's own.
NONCE = minted_nonce(0)
HASHED = sha256_hex(NONCE)
INVENTED = "siwa-nonce-frozen-for-the-fixtures-0123456789abcdef"
FORGED = NONCE[:-1] + ("A" if NONCE[-1] != "A" else "B")
(scenario("nonce-is-used-once", "A token that is replayed with its nonce must not sign in twice.")
 .mint_nonce(0, NONCE)
 .sign_in(MINUTE, token(60, nonce=HASHED), created(), nonce=NONCE)
 .sign_in(MINUTE, token(60, nonce=HASHED), refused(401, "nonce_used"), nonce=NONCE,
          note="the very same request again")
 .sign_in(2 * MINUTE, token(120, nonce=HASHED, sub=OTHER_SUB), refused(401, "nonce_used"), nonce=NONCE)
 .account(2 * MINUTE, NO_ACCOUNT, sub=OTHER_SUB)
 .restart(3 * MINUTE)
 .sign_in(3 * MINUTE, token(180, nonce=HASHED), refused(401, "nonce_used"), nonce=NONCE))

(scenario("nonce-of-ours-is-used-up-unasked", "A thief who posts a stolen token without its nonce must not get a second sign-in.")
 .mint_nonce(0, NONCE)
 .sign_in(MINUTE, token(60, nonce=HASHED), created(), nonce=NONCE)
 .sign_in(MINUTE, token(60, nonce=HASHED), refused(401, "nonce_used"), note="the same token, and no nonce posted")
 .sign_in(MINUTE, token(60, nonce=HASHED), refused(401, "nonce_used"), nonce=HASHED,
          note="the token's own claim posted as if it were a raw nonce")
 .restart(20 * HOUR)
 .sign_in(20 * HOUR, token(60, nonce=HASHED), refused(401, "nonce_used"),
          note="long after the nonce, while the token still lives"))

(scenario("nonce-survives-a-refused-sign-in", "A nonce is used up by a sign-in, not by an attempt.")
 .mint_nonce(0, NONCE)
 .verify(MINUTE, token(60, nonce=HASHED), ok(), nonce=NONCE, note="verifying uses nothing up")
 .sign_in(MINUTE, token(60, nonce=HASHED), refused(401, "audience_mismatch"), nonce=NONCE, client_id=WEB)
 .sign_in(MINUTE, token(60, nonce=sha256_hex("another")), refused(401, "nonce_mismatch"), nonce=NONCE)
 .sign_in(MINUTE, token(60, nonce=HASHED), NO_ACCOUNT, nonce=NONCE, create=False)
 .sign_in(2 * MINUTE, token(60, nonce=HASHED), created(), nonce=NONCE))

(scenario("nonce-expires", "A nonce is good for ten minutes.")
 .mint_nonce(0, NONCE)
 .sign_in(10 * MINUTE, token(60, nonce=HASHED), refused(401, "nonce_expired"), nonce=NONCE)
 .account(10 * MINUTE, NO_ACCOUNT))

(scenario("nonce-of-ours-that-was-never-minted", "What looks like a nonce of the service has to be one.")
 .sign_in(0, token(0, nonce=sha256_hex(INVENTED)), refused(401, "nonce_expired"), nonce=INVENTED)
 .sign_in(0, token(0, nonce=sha256_hex(FORGED)), refused(401, "nonce_expired"), nonce=FORGED,
          note="a genuine one, of which one bit was changed")
 .account(0, NO_ACCOUNT)
 .sign_in(0, token(0, nonce=sha256_hex("made by the caller")), created(), nonce="made by the caller",
          note="the caller looks after its own nonces"))
