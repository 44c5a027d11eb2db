package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"
)

// EventRefused is a token that is not from siwa, or not for this receiver: a code of RFC 8935, section 2.4.
type EventRefused string

func (r EventRefused) Error() string { return string(r) }

// errKeysUnavailable says that the keys could not be fetched. Respond with 503: siwa sends the event again.
var errKeysUnavailable = errors.New("the keys of siwa are not available")

const (
	longestToken = 65_536           // bytes. The tokens of siwa have about a thousand
	timeOfKeys   = 5 * time.Minute  // for which a key set is kept
	pauseOfKeys  = 30 * time.Second // between two fetches: anybody can invent key IDs
)

// SecurityEvents verifies security event tokens (RFC 8417, RFC 8935) of this issuer for this audience. KeysURL is
// where siwa publishes its keys.
type SecurityEvents struct {
	Issuer, Audience, KeysURL string

	mutex            sync.Mutex
	keys             map[string]*ecdsa.PublicKey // by key ID
	fetched, attempt time.Time
}

// SecurityEvent has the claims of a token. ID is the same for each delivery of the event.
type SecurityEvent struct {
	Issuer   string                     `json:"iss"`
	Audience string                     `json:"aud"`
	IssuedAt int64                      `json:"iat"`
	ID       string                     `json:"jti"`
	Subject  json.RawMessage            `json:"sub_id"`
	Events   map[string]json.RawMessage `json:"events"`
}

// Verify returns the claims.
func (s *SecurityEvents) Verify(token string) (SecurityEvent, error) {
	var event SecurityEvent
	var header struct {
		Type      string `json:"typ"`
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
		Critical  any    `json:"crit"`
	}
	parts := strings.Split(token, ".")
	if len(token) > longestToken || len(parts) != 3 || decode(parts[0], &header) != nil || header.Critical != nil {
		return event, EventRefused("invalid_request")
	}
	// Otherwise an ID token or an access token of the same issuer would pass for an event.
	if kind := strings.ToLower(header.Type); kind != "secevent+jwt" && kind != "application/secevent+jwt" {
		return event, EventRefused("invalid_request")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	// The algorithm is never what the token says.
	if err != nil || header.Algorithm != "ES256" || len(signature) != 64 {
		return event, EventRefused("invalid_key")
	}
	key, err := s.key(header.KeyID, time.Now())
	if err != nil {
		return event, err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, t := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(key, digest[:], r, t) {
		return event, EventRefused("invalid_key")
	}
	if decode(parts[1], &event) != nil {
		return event, EventRefused("invalid_request")
	}
	if event.Issuer != s.Issuer {
		return event, EventRefused("invalid_issuer")
	}
	if event.Audience != s.Audience {
		return event, EventRefused("invalid_audience")
	}
	isOfNow := event.IssuedAt > 0 && event.IssuedAt <= time.Now().Unix()+60
	if !isOfNow || event.ID == "" || len(event.Subject) == 0 || len(event.Events) != 1 {
		return event, EventRefused("invalid_request")
	}
	return event, nil
}

func decode(part string, value any) error {
	content, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

// key returns the key of this ID, and fetches the keys when they are old or do not have it.
func (s *SecurityEvents) key(id string, now time.Time) (*ecdsa.PublicKey, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	isFresh := now.Sub(s.fetched) < timeOfKeys
	if key := s.keys[id]; key != nil && isFresh {
		return key, nil
	}
	if now.Sub(s.attempt) >= pauseOfKeys {
		s.attempt = now
		if keys, err := fetchKeys(s.KeysURL); err == nil {
			s.keys, s.fetched, isFresh = keys, now, true
		}
	}
	if !isFresh {
		return nil, errKeysUnavailable
	}
	if key := s.keys[id]; key != nil {
		return key, nil
	}
	return nil, EventRefused("invalid_key")
}

func fetchKeys(url string) (map[string]*ecdsa.PublicKey, error) {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var set struct {
		Keys []struct{ Kty, Crv, Kid, X, Y string }
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 65_536)).Decode(&set); err != nil {
		return nil, err
	}
	keys := map[string]*ecdsa.PublicKey{}
	for _, entry := range set.Keys {
		x, errX := base64.RawURLEncoding.DecodeString(entry.X)
		y, errY := base64.RawURLEncoding.DecodeString(entry.Y)
		key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
		if entry.Kty == "EC" && entry.Crv == "P-256" && errX == nil && errY == nil && key.IsOnCurve(key.X, key.Y) {
			keys[entry.Kid] = key
		}
	}
	if response.StatusCode != 200 || len(keys) == 0 {
		return nil, errKeysUnavailable
	}
	return keys, nil
}
