package siwa

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	// Characters. siwa's access tokens have about 700.
	longestToken = 16_384
	// Seconds by which the clocks may differ.
	leeway = 60

	// A key set is used for so long, and for so long while siwa does not respond.
	freshTime, staleTime = time.Hour, 24 * time.Hour
	// Between two requests for keys: anybody can invent key IDs.
	keyCoolDown, pauseAfterFailure = time.Minute, 5 * time.Second
)

var bearer = regexp.MustCompile("^(?i:bearer) +([A-Za-z0-9._~+/-]+=*)$")

// bearerToken returns the token in the header Authorization (RFC 6750 §2.1).
func bearerToken(header string) (string, error) {
	match := bearer.FindStringSubmatch(header)
	if match == nil {
		return "", tokenRefused("token_missing", "The request needs the header Authorization: Bearer TOKEN.")
	}
	return match[1], nil
}

func checkAudienceAndScopes(token *IntrospectionResponse, audience string, scopes []string) (*IntrospectionResponse, error) {
	if token.Aud != audience {
		return nil, tokenRefused("audience_mismatch", "The token is for another API.")
	}
	granted := map[string]bool{}
	for _, scope := range strings.Split(token.Scope, " ") {
		granted[scope] = true
	}
	for _, scope := range scopes {
		if !granted[scope] {
			return nil, refused("scope_missing", http.StatusForbidden, "The token lacks the scope "+scope+".")
		}
	}
	return token, nil
}

func tokenRefused(code, detail string) *Error {
	return refused(code, http.StatusUnauthorized, detail)
}

// publicKey is a key for signatures of one algorithm, which the token cannot choose.
type publicKey struct {
	algorithm string
	verify    func(digest, signature []byte) bool
}

type keySet struct {
	keys      map[string]publicKey
	fetchedAt time.Time
}

// accessTokens verifies OAuth access tokens (RFC 9068) of one issuer, and keeps its keys.
type accessTokens struct {
	transport *transport
	issuer    string
	current   atomic.Pointer[keySet]
	fetching  chan struct{} // holds one value while keys are fetched, and guards the members below
	triedAt   time.Time
	hasFailed bool
}

func newAccessTokens(transport *transport, issuer string) *accessTokens {
	tokens := &accessTokens{transport: transport, issuer: issuer, fetching: make(chan struct{}, 1)}
	tokens.current.Store(&keySet{})
	return tokens
}

func (a *accessTokens) verify(ctx context.Context, token, audience string, scopes []string) (*IntrospectionResponse, error) {
	if len(token) > longestToken {
		return nil, tokenRefused("token_too_large", "A token has at most 16384 characters.")
	}
	segments := strings.Split(token, ".")
	if len(segments) != 3 {
		return nil, malformed("a token has three segments")
	}
	header, err := segmentObject(segments[0])
	if err != nil {
		return nil, err
	}
	signature, err := segmentBytes(segments[2])
	if err != nil {
		return nil, err
	}
	algorithm, _ := header["alg"].(string)
	kind, _ := header["typ"].(string)
	kind = strings.ToLower(kind)
	kid, _ := header["kid"].(string)
	switch {
	// These change what is signed, or where the key comes from.
	case hasAny(header, "crit", "b64", "jwk", "jku", "x5u", "x5c"):
		return nil, tokenRefused("header_not_allowed", "The header has a parameter that siwa never writes.")
	case algorithm != "ES256" && algorithm != "RS256":
		return nil, tokenRefused("algorithm_not_allowed", "The algorithm must be ES256 or RS256.")
	// An ID token of the same issuer is no access token.
	case kind != "at+jwt" && kind != "application/at+jwt":
		return nil, tokenRefused("not_an_access_token", "The typ of an access token is at+jwt.")
	case kid == "" || utf8.RuneCountInString(kid) > 64:
		return nil, tokenRefused("key_id_invalid", "The kid must be a text of 1 to 64 characters.")
	}
	key, err := a.key(ctx, kid)
	if err != nil {
		return nil, err
	}
	if key.algorithm != algorithm {
		return nil, tokenRefused("algorithm_not_allowed", "The key is for "+key.algorithm+".")
	}
	digest := sha256.Sum256([]byte(segments[0] + "." + segments[1]))
	if !key.verify(digest[:], signature) {
		return nil, tokenRefused("signature_invalid", "The signature is not by the key that the kid names.")
	}
	claims, err := segmentObject(segments[1])
	if err != nil {
		return nil, err
	}
	return a.checked(claims, audience, scopes)
}

func hasAny(object map[string]any, names ...string) bool {
	for _, name := range names {
		if _, isThere := object[name]; isThere {
			return true
		}
	}
	return false
}

func (a *accessTokens) checked(claims map[string]any, audience string, scopes []string) (*IntrospectionResponse, error) {
	for _, name := range []string{"iss", "aud", "sub", "client_id", "iat", "exp", "jti"} {
		if !hasAny(claims, name) {
			return nil, tokenRefused("claim_missing", "The token lacks "+name+".")
		}
	}
	expires, isExpiry := seconds(claims["exp"])
	issued, isIssue := seconds(claims["iat"])
	begins, isBegin := seconds(claims["nbf"])
	now := a.transport.clock.Now().Unix()
	switch {
	case claims["iss"] != a.issuer:
		return nil, tokenRefused("issuer_mismatch", "The token is of another issuer: check SIWA_ISSUER.")
	// The only audience is a text. An array is not siwa's.
	case claims["aud"] != audience:
		return nil, tokenRefused("audience_mismatch", "The token is for another API.")
	case !isExpiry || !isIssue || (!isBegin && hasAny(claims, "nbf")) || claims["sub"] == "":
		return nil, tokenRefused("claim_malformed", "A claim has another type, or is out of range.")
	case now >= expires+leeway:
		return nil, tokenRefused("token_expired", "The token has expired.")
	case begins > now+leeway:
		return nil, tokenRefused("token_not_yet_valid", "The token is not valid yet.")
	case issued > now+leeway:
		return nil, tokenRefused("issued_in_future", "The token is of the future: check the clock.")
	}
	claims["active"], claims["token_type"] = true, "Bearer"
	token, err := decoded[IntrospectionResponse](claims)
	if err != nil {
		return nil, tokenRefused("claim_malformed", err.(*Error).Detail)
	}
	return checkAudienceAndScopes(token, audience, scopes)
}

// seconds reads a time since 1970 that is no fraction.
func seconds(claim any) (int64, bool) {
	number, _ := claim.(json.Number)
	value, err := number.Int64()
	return value, err == nil && value >= 0 && value < 1<<53
}

func (a *accessTokens) key(ctx context.Context, kid string) (publicKey, error) {
	key, isFresh, isUsable := a.known(kid)
	if isFresh {
		return key, nil
	}
	// One request at a time. A caller with a known key does not wait for it.
	select {
	case a.fetching <- struct{}{}:
	default:
		if isUsable {
			return key, nil
		}
		select {
		case a.fetching <- struct{}{}:
		case <-ctx.Done():
			return key, unreachable(ctx.Err())
		}
	}
	defer func() { <-a.fetching }()
	now := a.transport.clock.Now()
	pause := keyCoolDown
	if a.hasFailed {
		pause = pauseAfterFailure
	}
	if _, isFresh, _ := a.known(kid); !isFresh && (a.triedAt.IsZero() || !isWithin(now.Sub(a.triedAt), pause)) {
		a.triedAt = now
		keys, err := a.fetch()
		if a.hasFailed = err != nil; !a.hasFailed { // otherwise the old keys stay
			a.current.Store(&keySet{keys, now})
		}
	}
	if key, _, isUsable = a.known(kid); isUsable {
		return key, nil
	}
	if a.hasFailed {
		failure := refused("keys_unavailable", http.StatusServiceUnavailable, "siwa's keys could not be fetched.")
		failure.RetryAfter = (pauseAfterFailure - now.Sub(a.triedAt)).Round(time.Second)
		if failure.RetryAfter < time.Second {
			failure.RetryAfter = time.Second
		}
		return key, failure
	}
	return key, tokenRefused("unknown_key", "siwa has no key with this kid.")
}

func (a *accessTokens) known(kid string) (key publicKey, isFresh, isUsable bool) {
	set := a.current.Load()
	key, isKnown := set.keys[kid]
	age := a.transport.clock.Now().Sub(set.fetchedAt)
	return key, isKnown && isWithin(age, freshTime), isKnown && isWithin(age, staleTime)
}

func isWithin(age, limit time.Duration) bool { return 0 <= age && age < limit }

func (a *accessTokens) fetch() (map[string]publicKey, error) {
	// Not the context of the caller, because other callers wait for the same keys.
	value, err := a.transport.call(context.Background(), request{
		method: http.MethodGet, target: "/oauth/jwks.json", hasNoKey: true, timeout: 5 * time.Second, attempts: 1,
	})
	if err != nil {
		return nil, err
	}
	entries, _ := value["keys"].([]any)
	keys := map[string]publicKey{}
	for _, entry := range entries {
		entry, _ := entry.(map[string]any)
		kid, _ := entry["kid"].(string)
		// Keys of other kinds are skipped.
		if key, isUsable := usable(entry); isUsable && kid != "" {
			keys[kid] = key
		}
	}
	if len(keys) == 0 {
		return nil, refused("unexpected_response", http.StatusOK, "The key set has no usable key.")
	}
	return keys, nil
}

func usable(entry map[string]any) (publicKey, bool) {
	number := func(name string) *big.Int {
		text, _ := entry[name].(string)
		data, _ := segmentBytes(text)
		return new(big.Int).SetBytes(data)
	}
	if entry["use"] != "sig" {
		return publicKey{}, false
	}
	switch {
	case entry["kty"] == "EC" && entry["alg"] == "ES256" && entry["crv"] == "P-256":
		key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: number("x"), Y: number("y")}
		return publicKey{"ES256", func(digest, signature []byte) bool {
			return len(signature) == 64 && ecdsa.Verify(key, digest,
				new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
		}}, key.Curve.IsOnCurve(key.X, key.Y)
	case entry["kty"] == "RSA" && entry["alg"] == "RS256":
		key := &rsa.PublicKey{N: number("n"), E: 65_537}
		return publicKey{"RS256", func(digest, signature []byte) bool {
			return rsa.VerifyPKCS1v15(key, crypto.SHA256, digest, signature) == nil
		}}, key.N.BitLen() >= 2048 && number("e").Cmp(big.NewInt(65_537)) == 0
	}
	return publicKey{}, false
}

// segmentBytes reads strict base64url (RFC 7515 §2): no padding, no other alphabet, no stray bits, no line breaks.
func segmentBytes(segment string) ([]byte, error) {
	data, err := base64.RawURLEncoding.DecodeString(segment)
	if err != nil || segment == "" || base64.RawURLEncoding.EncodeToString(data) != segment {
		return nil, malformed("a segment is not base64url")
	}
	return data, nil
}

func segmentObject(segment string) (map[string]any, error) {
	data, err := segmentBytes(segment)
	if err != nil {
		return nil, err
	}
	value, err := object(data)
	if err != nil {
		return nil, malformed("a segment is not a JSON object")
	}
	return value, nil
}

func malformed(detail string) *Error {
	return tokenRefused("token_malformed", "Not a signed token: "+detail+".")
}
