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

// Introspect asks siwa whether an access token is valid now. Arguments and errors are those of VerifyToken, and
// token_inactive (401). It knows at once of a withdrawn consent.
func (c *Client) Introspect(ctx context.Context, bearer, audience string, scopes ...string) (*IntrospectionResponse, error) {
	text, err := bearerToken(bearer)
	if err != nil {
		return nil, err
	}
	r := post("/oauth/introspect", members{"token": text})
	r.isForm = true
	token, err := read[IntrospectionResponse](ctx, c, r)
	// A refresh token has no token_type. No API accepts refresh tokens.
	if err == nil && (!token.Active || token.TokenType != "Bearer") {
		err = tokenRefused("token_inactive", "The token has ended, or is not an access token.")
	}
	if err != nil {
		return nil, err
	}
	return checkAudienceAndScopes(token, audience, scopes)
}

// VerifyToken verifies an access token by siwa's public keys, without a request for each token (RFC 9068). A token that
// has ended is accepted until it expires, at most access_token_lifetime later: see Introspect.
//
// bearer is the header Authorization. audience is the API's own name, compared with aud. All of the scopes are needed.
// Errors: token_missing and the codes of a refused token (401), scope_missing (403), keys_unavailable (503).
func (c *Client) VerifyToken(ctx context.Context, bearer, audience string, scopes ...string) (*IntrospectionResponse, error) {
	text, err := bearerToken(bearer)
	if err != nil {
		return nil, err
	}
	if len(text) > longestToken {
		return nil, tokenRefused("token_too_large", "A token has at most 16384 characters.")
	}
	segments := strings.Split(text, ".")
	if len(segments) != 3 {
		return nil, malformed
	}
	header, signature := object(segmentBytes(segments[0])), segmentBytes(segments[2])
	if header == nil || signature == nil {
		return nil, malformed
	}
	algorithm, _ := header["alg"].(string)
	kind, _ := header["typ"].(string)
	kid, _ := header["kid"].(string)
	if err := firstOf(
		// These change what is signed, or where the key comes from.
		check{count(header, "crit", "b64", "jwk", "jku", "x5u", "x5c") > 0, "header_not_allowed", "siwa writes no such one"},
		check{algorithm != "ES256" && algorithm != "RS256", "algorithm_not_allowed", "the alg is not ES256 or RS256"},
		// An ID token of the same issuer is no access token.
		check{!strings.EqualFold(kind, "at+jwt") && !strings.EqualFold(kind, "application/at+jwt"), "not_an_access_token",
			"the typ is not at+jwt"},
		check{kid == "" || utf8.RuneCountInString(kid) > 64, "key_id_invalid", "the kid is not a text of 1 to 64 characters"},
	); err != nil {
		return nil, err
	}
	key, err := c.key(ctx, kid)
	if err != nil {
		return nil, err
	}
	digest, claims := sha256.Sum256([]byte(segments[0]+"."+segments[1])), object(segmentBytes(segments[1]))
	if err := firstOf(
		check{key.algorithm != algorithm, "algorithm_not_allowed", "the key is for the other algorithm"},
		check{!key.verify(digest[:], signature), "signature_invalid", "the signature is not by the key of the kid"},
		check{claims == nil, malformed.Code, malformed.Detail},
		check{count(claims, "iss", "aud", "sub", "client_id", "iat", "exp", "jti") < 7, "claim_missing",
			"a claim of RFC 9068 is missing"},
	); err != nil {
		return nil, err
	}
	token := &IntrospectionResponse{}
	expires, isExpiry := seconds(claims["exp"])
	issued, isIssue := seconds(claims["iat"])
	begins, isBegin := seconds(claims["nbf"])
	isTyped := isExpiry && isIssue && (isBegin || count(claims, "nbf") == 0) && claims["sub"] != ""
	now := c.options.Clock.Now().Unix()
	claims["active"], claims["token_type"] = true, "Bearer"
	data, _ := json.Marshal(claims)
	if err := firstOf(
		check{claims["iss"] != c.options.Issuer, "issuer_mismatch", "the token is of another issuer: check SIWA_ISSUER"},
		// The only audience is a text. An array is not siwa's.
		check{claims["aud"] != audience, "audience_mismatch", "the token is for another API: check the audience"},
		check{!isTyped, "claim_malformed", "a claim has another type, or is out of range"},
		check{now >= expires+leeway, "token_expired", "the token has expired"},
		check{begins > now+leeway, "token_not_yet_valid", "the token is not valid yet"},
		check{issued > now+leeway, "issued_in_future", "the token is of the future: check the clock"},
		check{!decode(data, claims, token), "claim_malformed", "a claim has another type"},
	); err != nil {
		return nil, err
	}
	return checkAudienceAndScopes(token, audience, scopes)
}

var bearerHeader = regexp.MustCompile("^(?i:bearer) +([A-Za-z0-9._~+/-]+=*)$")

// bearerToken returns the token in the header Authorization (RFC 6750 §2.1).
func bearerToken(header string) (string, error) {
	match := bearerHeader.FindStringSubmatch(header)
	if match == nil {
		return "", tokenRefused("token_missing", "The request needs the header Authorization: Bearer TOKEN.")
	}
	return match[1], nil
}

func checkAudienceAndScopes(token *IntrospectionResponse, audience string, scopes []string) (*IntrospectionResponse, error) {
	if token.Aud != audience {
		return nil, tokenRefused("audience_mismatch", "The token is for another API: check the audience.")
	}
	for _, scope := range scopes {
		if !strings.Contains(" "+token.Scope+" ", " "+scope+" ") {
			return nil, refused("scope_missing", http.StatusForbidden, "The token lacks the scope "+scope+".")
		}
	}
	return token, nil
}

func tokenRefused(code, detail string) *Error { return refused(code, http.StatusUnauthorized, detail) }

var malformed = tokenRefused("token_malformed", "A token has three segments in base64url, two of them with JSON.")

type check struct {
	isRefused    bool
	code, detail string
}

func firstOf(checks ...check) error {
	for _, check := range checks {
		if check.isRefused {
			return tokenRefused(check.code, check.detail)
		}
	}
	return nil
}

func count(object members, names ...string) (count int) {
	for _, name := range names {
		if _, isThere := object[name]; isThere {
			count++
		}
	}
	return count
}

// seconds reads a time since 1970 that is no fraction.
func seconds(claim any) (int64, bool) {
	number, _ := claim.(json.Number)
	value, err := number.Int64()
	return value, err == nil && value >= 0 && value < 1<<53
}

// segmentBytes reads strict base64url (RFC 7515 §2): no padding, no other alphabet, no stray bits, no line breaks. It
// returns nil for anything else.
func segmentBytes(segment string) []byte {
	data, err := base64.RawURLEncoding.DecodeString(segment)
	if err != nil || segment == "" || base64.RawURLEncoding.EncodeToString(data) != segment {
		return nil
	}
	return data
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

type keyCache struct {
	current   atomic.Pointer[keySet]
	fetching  chan struct{} // holds one value while keys are fetched, and guards the members below
	triedAt   time.Time
	hasFailed bool
}

// key returns the key with the ID.
func (c *Client) key(ctx context.Context, kid string) (key publicKey, err error) {
	cache, isUsable := &c.shared.keys, false
	look := func() (isFresh bool) {
		if set := cache.current.Load(); set != nil {
			age, isKnown := c.options.Clock.Now().Sub(set.fetchedAt), false
			key, isKnown = set.keys[kid]
			isFresh, isUsable = isKnown && isWithin(age, freshTime), isKnown && isWithin(age, staleTime)
		}
		return isFresh
	}
	if look() {
		return key, nil
	}
	// One request at a time. A caller with a known key does not wait for it.
	select {
	case cache.fetching <- struct{}{}:
	default:
		if isUsable {
			return key, nil
		}
		select {
		case cache.fetching <- struct{}{}:
		case <-ctx.Done():
			return key, unreachable(ctx.Err())
		}
	}
	defer func() { <-cache.fetching }()
	now, pause := c.options.Clock.Now(), keyCoolDown
	if cache.hasFailed {
		pause = pauseAfterFailure
	}
	if !look() && (cache.triedAt.IsZero() || !isWithin(now.Sub(cache.triedAt), pause)) {
		cache.triedAt = now
		keys, err := c.fetchKeys()
		if cache.hasFailed = err != nil; err == nil { // otherwise the old keys stay
			cache.current.Store(&keySet{keys, now})
		}
		look()
	}
	if isUsable {
		return key, nil
	}
	if !cache.hasFailed {
		return key, tokenRefused("unknown_key", "siwa has no key with this kid.")
	}
	failure := refused("keys_unavailable", http.StatusServiceUnavailable, "siwa's keys could not be fetched.")
	if failure.RetryAfter = (pauseAfterFailure - now.Sub(cache.triedAt)).Round(time.Second); failure.RetryAfter < time.Second {
		failure.RetryAfter = time.Second
	}
	return key, failure
}

func isWithin(age, limit time.Duration) bool { return 0 <= age && age < limit }

func (c *Client) fetchKeys() (map[string]publicKey, error) {
	var set members
	// Not the context of the caller, because other callers wait for the same keys.
	err := c.call(context.Background(), request{method: http.MethodGet, path: "/oauth/jwks.json", hasNoKey: true,
		timeout: 5 * time.Second, attempts: 1}, &set)
	keys := map[string]publicKey{}
	entries, _ := set["keys"].([]any)
	for _, entry := range entries {
		entry, _ := entry.(members)
		// Keys of other kinds are skipped.
		if kid, _ := entry["kid"].(string); kid != "" && entry["use"] == "sig" {
			if key := usable(entry); key.verify != nil {
				keys[kid] = key
			}
		}
	}
	if err == nil && len(keys) == 0 {
		err = refused("unexpected_response", http.StatusOK, "The key set has no usable key.")
	}
	return keys, err
}

// usable returns a key for signatures, without verify for a key of another kind.
func usable(entry members) (key publicKey) {
	number := func(name string) *big.Int {
		text, _ := entry[name].(string)
		return new(big.Int).SetBytes(segmentBytes(text))
	}
	point := &ecdsa.PublicKey{Curve: elliptic.P256(), X: number("x"), Y: number("y")}
	public := &rsa.PublicKey{N: number("n"), E: 65_537}
	switch {
	case entry["kty"] == "EC" && entry["alg"] == "ES256" && entry["crv"] == "P-256" && point.IsOnCurve(point.X, point.Y):
		key = publicKey{"ES256", func(digest, signature []byte) bool {
			return len(signature) == 64 && ecdsa.Verify(point, digest,
				new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
		}}
	case entry["kty"] == "RSA" && entry["alg"] == "RS256" && public.N.BitLen() >= 2048 && entry["e"] == "AQAB":
		key = publicKey{"RS256", func(digest, signature []byte) bool {
			return rsa.VerifyPKCS1v15(public, crypto.SHA256, digest, signature) == nil
		}}
	}
	return key
}

type tokenKey struct{}

// RequireToken calls next only for requests with an access token that VerifyToken accepts. TokenOf returns the token.
// All other requests get the status of the error, and the challenge of RFC 6750 §3.
func (c *Client) RequireToken(next http.Handler, audience string, scopes ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := c.VerifyToken(r.Context(), r.Header.Get("Authorization"), audience, scopes...)
		if err == nil {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
			return
		}
		switch CodeOf(err) {
		case "keys_unavailable", "unreachable":
		case "token_missing":
			w.Header().Set("WWW-Authenticate", "Bearer")
		case "scope_missing":
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+strings.Join(scopes, " ")+`"`)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		}
		write(w, r, nil, err)
	})
}

// TokenOf returns the access token of a request behind RequireToken, nil for any other context. Its Sub is the account
// ID.
func TokenOf(ctx context.Context) *IntrospectionResponse {
	token, _ := ctx.Value(tokenKey{}).(*IntrospectionResponse)
	return token
}
