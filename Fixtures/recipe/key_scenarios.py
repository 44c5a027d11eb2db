"""Scenarios about Apple's key endpoint: keys come and go, and the endpoint fails in every way that was seen."""

from cases import DAY, claims, header, signed
from steps import HOUR, MINUTE, Scenario, authorized, created, ok, payload, refused, revoked, token

UNKNOWN_KEY = refused(401, "unknown_key")
NO_KEYS = refused(503, "keys_unavailable")


def fetches(at_most, at_least=0):
    return {"upstream_fetches": {"at_least": at_least, "at_most": at_most}}


(Scenario("keys-rotate-after-boot",
          "Services that load the key set once at boot refuse all tokens of a key that Apple adds.")
 .apple_keys(0, "current.json")
 .verify(0, token(0), ok())
 .apple_keys(10 * MINUTE, "rotated.json")
 .verify(10 * MINUTE, token(600, key="signer-4"), ok(), note="signed by a key that came after boot")
 .verify(10 * MINUTE, token(600, key="signer-3"), ok(), note="a key that stayed")
 .verify(10 * MINUTE, token(600), UNKNOWN_KEY,
         note="the key that left is gone, although it was good a moment ago"))

(Scenario("invented-key-ids-flood",
          "Services that refetch on every unknown key ID take Apple and themselves down.")
 .apple_keys(0, "current.json")
 .verify(0, token(0), ok(**fetches(1, at_least=1)))
 .flood(MINUTE, 10000, token(60), {**UNKNOWN_KEY, **fetches(2)},
        note="ten thousand invented key IDs within a second")
 .verify(MINUTE, token(60, key="signer-2"), ok(**fetches(2)), note="good tokens keep verifying")
 .flood(MINUTE + 29, 100, token(60), {**UNKNOWN_KEY, **fetches(2)}, note="within 30 s of the last fetch")
 .flood(MINUTE + 31, 1000, token(60), {**UNKNOWN_KEY, **fetches(3)},
        note="30 s later one more is due, for all together")
 .verify(MINUTE + 31, token(60), ok(**fetches(3))))

(Scenario("garbage-causes-no-fetch", "What can be refused without a key never makes us ask Apple for keys.")
 .apple_keys(0, "current.json")
 .verify(0, token(0), ok(**fetches(1, at_least=1)))
 .verify(MINUTE, token(60)[:-1], {**refused(401, "token_malformed"), **fetches(1)})
 .verify(2 * MINUTE, "a.b.c", {**refused(401, "token_malformed"), **fetches(1)})
 .verify(3 * MINUTE, signed(claims(), head=header(kid="invented01", alg="none")),
         {**refused(401, "algorithm_not_allowed"), **fetches(1)})
 .verify(4 * MINUTE, signed(claims(), head=header(kid="invented01", crit=["exp"])),
         {**refused(401, "header_not_allowed"), **fetches(1)})
 .verify(5 * MINUTE, signed(claims(), head=header(kid="")), {**refused(401, "key_id_invalid"), **fetches(1)}))

for name, summary, answer in [
    ("html-page", "HTML instead of JSON has been seen; services that store it refuse all tokens.",
     {"headers": {"content-type": "text/html"}, "body": "<!DOCTYPE html><html><body>Apple</body></html>"}),
    ("html-page-labelled-json", "The label says nothing about the content.", {"body": "<html></html>"}),
    ("empty-body", "200 with nothing in it.", {"body": ""}),
    ("empty-set", "A key set without keys.", {"body": '{"keys":[]}'}),
    ("unusable-keys-only", "A key set of which nothing can be used.", {"body_file": "exponent-1-only.json"}),
    ("oversized-set", "More than 64 KiB of white space around a good set.",
     {"body": "{", "body_padding": {"text": " ", "times": 65536}, "body_end": '"keys":[]}'}),
    ("set-with-trailing-comma", "JSON is read strictly here too.", {"body": '{"keys":[{"kty":"RSA"},]}'}),
    ("set-with-two-lists", "Which of two lists counts?", {"body": '{"keys":[],"keys":[]}'}),
    ("error-500", "A server error, with a body that would be a key set.",
     {"status": 500, "body_file": "rotated.json"}),
    ("error-404", "The page moved.", {"status": 404, "body": "not found"}),
    ("redirect", "Keys are taken from one place only.",
     {"status": 302, "headers": {"location": "https://keys.attacker.example/"}, "body_file": "rotated.json"}),
]:
    (Scenario(f"good-keys-survive-{name}", summary)
     .apple_keys(0, "current.json")
     .verify(0, token(0), ok())
     .apple_keys(MINUTE, **answer)
     .verify(MINUTE, token(60, key="signer-4"), NO_KEYS, note="an unknown key ID makes us ask again")
     .verify(MINUTE, token(60), ok(), note="what was good is good")
     .verify(5 * HOUR, token(5 * HOUR), ok(), note="also when it should have been refreshed long ago")
     .verify(5 * HOUR, token(5 * HOUR, key="signer-4"), NO_KEYS)
     .apple_keys(5 * HOUR + MINUTE, "rotated.json", note="Apple is well again")
     .verify(5 * HOUR + MINUTE, token(5 * HOUR, key="signer-4"), ok()))

(Scenario("outage-of-eight-days", "The last good set serves for seven days, and then no longer.")
 .apple_keys(0, "current.json")
 .verify(0, token(0), ok())
 .apple_unreachable(MINUTE)
 .verify(6 * DAY, token(6 * DAY), ok())
 .verify(8 * DAY + 2 * HOUR, token(8 * DAY + 2 * HOUR), NO_KEYS)
 .apple_keys(8 * DAY + 3 * HOUR, "current.json")
 .verify(8 * DAY + 3 * HOUR, token(8 * DAY + 3 * HOUR), ok()))

(Scenario("restart-during-outage", "The last good set is stored, so a restart while Apple is down works.")
 .apple_keys(0, "current.json")
 .sign_in(0, token(0), created())
 .apple_unreachable(HOUR)
 .restart(2 * HOUR)
 .sign_in(2 * HOUR, token(2 * HOUR, key="signer-2"), ok(is_new_account=False))
 .restart(6 * DAY)
 .verify(6 * DAY, token(6 * DAY), ok())
 .restart(8 * DAY + 2 * HOUR)
 .verify(8 * DAY + 2 * HOUR, token(8 * DAY + 2 * HOUR), NO_KEYS,
         note="a restart does not make old keys young"))

(Scenario("no-keys-since-boot", "Without keys the answer is to come back later, and nothing is decided.")
 .apple_unreachable(0)
 .sign_in(0, token(0), NO_KEYS)
 .notification(10, payload(10, "jti-no-keys-0000000001"), NO_KEYS, note="so that Apple sends it again")
 .account(20, refused(404, "account_not_found"))
 .credential(20, {"state": "notFound"})
 .apple_keys(5 * MINUTE, "current.json")
 .notification(5 * MINUTE, payload(10, "jti-no-keys-0000000001"), ok(receipt="applied"), note="Apple's retry")
 .sign_in(5 * MINUTE, token(290), created(credential=authorized(290)),
          note="after the revocation that was remembered")
 .credential(5 * MINUTE, authorized(290)))

(Scenario("notification-while-apple-rotates", "A revocation signed with a brand-new key is not lost.")
 .apple_keys(0, "current.json")
 .sign_in(0, token(0), created())
 .apple_keys(HOUR, "rotated.json")
 .notification(HOUR, payload(HOUR, "jti-rotates-0000000001", key="signer-4"), ok(receipt="applied"))
 .credential(HOUR, revoked(HOUR - 10)))

(Scenario("unchanged-keys-answered-304", "Not modified means that the set at hand is as good as new.")
 .apple_keys(0, "current.json", headers={"etag": '"fx-1"', "cache-control": "max-age=86400"})
 .verify(0, token(0), ok())
 .apple_keys(HOUR, status=304, headers={"etag": '"fx-1"'})
 .verify(HOUR, token(HOUR), ok())
 .verify(DAY, token(DAY), ok())
 .verify(9 * DAY, token(9 * DAY), ok(), note="nine days of 304 are no outage"))

for name, field, summary, early, late in [
    ("for-a-second", "max-age=1", "A set is held for five minutes at least, or Apple is asked all the time.", 220, 275),
    ("forbidden", "no-cache, no-store, must-revalidate", "Apple is said to forbid it: a set is held for an hour.",
     44 * MINUTE, 55 * MINUTE),
    ("for-ten-years", "public, max-age=315360000", "A set is held for a day at most, or a key lives on for years.",
     64000, 78000),
]:
    (Scenario(f"caching-{name}", summary)
     .apple_keys(0, "current.json", headers={"cache-control": field})
     .verify(0, token(0), ok(**fetches(1, at_least=1)))
     .verify(early, token(0), ok(**fetches(1)), note="too early to ask again")
     .verify(late, token(0), ok(**fetches(2, at_least=2)), note="asked again ahead of expiry"))
