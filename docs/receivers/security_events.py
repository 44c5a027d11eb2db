"""Verifies security event tokens of siwa (RFC 8417, RFC 8935): pip install 'pyjwt[crypto]>=2.15'."""
import jwt

LONGEST = 65_536  # characters in a token. A token from siwa has about a thousand
TYPES = ("secevent+jwt", "application/secevent+jwt")


class Refused(Exception):
    """A token that is not from siwa, or not for this receiver. The text is a code of RFC 8935, section 2.4."""


class Unavailable(Exception):
    """The keys could not be fetched. Respond with 503: siwa sends the event again."""


class SecurityEvents:
    """issuer and audience: the iss and aud of the tokens. keys_url: where siwa publishes its keys."""

    def __init__(self, issuer, audience, keys_url):
        self.issuer, self.audience = issuer, audience
        # An unknown key ID causes a fetch at most once in 30 seconds: anybody can invent key IDs.
        self.keys = jwt.PyJWKClient(keys_url, timeout=5, lifespan=300, cooldown_duration=30)

    def verify(self, token):
        """Returns the claims. The claim jti is the same for each delivery of the event."""
        try:
            header = jwt.get_unverified_header(token) if len(token) <= LONGEST else {}
        except jwt.InvalidTokenError:
            header = {}
        # Otherwise an ID token or an access token of the same issuer would pass for an event.
        if str(header.get("typ")).lower() not in TYPES:
            raise Refused("invalid_request")
        try:
            key = self.keys.get_signing_key(header.get("kid"))
            claims = jwt.decode(
                token, key, algorithms=["ES256"], issuer=self.issuer, audience=self.audience, leeway=60,
                options={"require": ["iss", "aud", "iat", "jti", "sub_id", "events"]})
        except jwt.PyJWKClientConnectionError:
            raise Unavailable from None
        except (jwt.PyJWKClientError, jwt.InvalidSignatureError, jwt.InvalidAlgorithmError, jwt.InvalidKeyError):
            raise Refused("invalid_key") from None
        except jwt.InvalidIssuerError:
            raise Refused("invalid_issuer") from None
        except jwt.InvalidAudienceError:
            raise Refused("invalid_audience") from None
        except jwt.InvalidTokenError:
            raise Refused("invalid_request") from None
        if not isinstance(claims["events"], dict) or len(claims["events"]) != 1:
            raise Refused("invalid_request")
        return claims
