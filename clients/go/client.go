// Package siwa signs users in with Apple: it is the client of a siwa service. README.md begins with an example.
package siwa

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Options are the options of a client. Each has a default.
type Options struct {
	// URL is siwa's, by default SIWA_URL of the environment.
	URL string
	// APIKey is by default SIWA_API_KEY.
	APIKey string
	// ClientID is the app's bundle ID, by default SIWA_CLIENT_ID.
	ClientID string
	// Issuer is the iss of access tokens, by default SIWA_ISSUER or else the URL.
	Issuer string
	// WebhookSecrets are by default SIWA_WEBHOOK_SECRETS: one secret, or several with spaces between them during a
	// rotation.
	WebhookSecrets string
	// OwnNonces is for a backend that makes its own nonces, and accepts each only once. SignIn and Verify then accept
	// any nonce.
	OwnNonces bool
	// Timeout is the time limit of one attempt, whole; by default 12 seconds.
	Timeout time.Duration
	// Attempts is how often a call is made at most, by default 3.
	Attempts int
	// TLSConfig is for a private certificate authority.
	TLSConfig *tls.Config
	// Clock is by default the system's.
	Clock Clock
	// Warn gets a sentence for the log when siwa has another version, and when reading events begins to fail. By
	// default log.Print.
	Warn func(message string)
}

// Client is a client of one siwa service, for one app. Goroutines may share it. It keeps no connection open.
//
// The errors of all methods are *Error; only a client without the app's ID returns another one. The time limit of a
// context ends a call with the code unreachable.
//
// Methods repeat a call after a lost response, a 429 or a 5xx: after Retry-After, or else after 1 and 2 seconds. If
// siwa asks for more than 5 seconds, the error has RetryAfter. Calls whose second execution would change something
// (Disable, Enable, SignOut, AppFlip) are only repeated if siwa certainly did not execute them.
type Client struct {
	options     Options
	webhookKeys [][]byte
	shared      *shared
}

// NewClient makes a client. It returns an error for a missing or malformed option.
func NewClient(options Options) (*Client, error) {
	for name, value := range map[string]*string{
		"SIWA_URL": &options.URL, "SIWA_API_KEY": &options.APIKey, "SIWA_CLIENT_ID": &options.ClientID,
		"SIWA_ISSUER": &options.Issuer, "SIWA_WEBHOOK_SECRETS": &options.WebhookSecrets,
	} {
		*value = or(*value, os.Getenv(name))
	}
	// The messages do not repeat the key.
	base, err := url.Parse(options.URL)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Hostname() == "" || base.User != nil ||
		strings.ContainsAny(options.URL, "?#") {
		return nil, errors.New("siwa: the URL of siwa must be like https://siwa.internal: set SIWA_URL")
	}
	if options.APIKey == "" {
		return nil, errors.New("siwa: SIWA_API_KEY is missing")
	}
	if !visibleASCII.MatchString(options.APIKey) {
		return nil, errors.New("siwa: the API key must be visible ASCII characters: set SIWA_API_KEY")
	}
	keys, err := webhookKeys(options.WebhookSecrets)
	if err != nil {
		return nil, err
	}
	options.URL = strings.TrimRight(options.URL, "/")
	options.Issuer, options.Timeout = or(options.Issuer, options.URL), or(options.Timeout, 12*time.Second)
	options.Attempts = or(options.Attempts, 3)
	if options.Clock == nil {
		options.Clock = systemClock{}
	}
	if options.Warn == nil {
		options.Warn = func(message string) { log.Print(message) }
	}
	return &Client{options, keys, &shared{
		http: http.Transport{
			// On a connection of an earlier call, net/http repeats requests by itself, also requests that siwa has executed.
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 1 << 16, TLSClientConfig: options.TLSConfig,
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
		},
		keys: keyCache{fetching: make(chan struct{}, 1)},
	}}, nil
}

// ForApp returns the same client for another app, by its bundle ID.
func (c *Client) ForApp(clientID string) *Client {
	other := *c
	other.options.ClientID = clientID
	return &other
}

// String returns the URL of siwa, because a log of the fields would have the API key.
func (c *Client) String() string { return c.options.URL }

// Check is for the start of a backend: an error if siwa refuses the API key or the client ID, or if the URL is not siwa's. If
// siwa does not respond, Check warns and returns nil, so that the backend can start.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.State(ctx, "check") // unknown to Apple, which is no error
	if failure := (&Error{}); ctx.Err() == nil && errors.As(err, &failure) && failure.Temporary() {
		c.options.Warn("the backend starts without siwa: " + failure.Error())
		return nil
	}
	return err
}

// MakeNonce makes a nonce for one sign-in within ten minutes. The app gives NonceSHA256 to Apple, and posts Nonce to
// the backend together with the token.
func (c *Client) MakeNonce(ctx context.Context) (*Nonce, error) {
	return read[Nonce](ctx, c, post("/v1/nonces", members{}))
}

// SignIn verifies the identity token in the app's form, and returns the user's account.
//
// form is the app's JSON, in siwa's names or in those of a library (README.md). Errors without a request:
// member_missing, nonce_missing. From siwa: the codes of a refused token (401), credential_revoked and account_disabled
// (403).
//
// A sign-in is repeated like any other call. After a lost response the repetition can get nonce_used; the app then
// starts again with a new nonce.
func (c *Client) SignIn(ctx context.Context, form []byte) (*SignInOutcome, error) {
	return readIdentity[SignInOutcome](ctx, c, "/v1/sign-ins", form, userMembers(object(form)))
}

// SignInKnownUser is SignIn only for users who have an account. Error: account_not_found (404).
func (c *Client) SignInKnownUser(ctx context.Context, form []byte) (*SignInOutcome, error) {
	more := merged(userMembers(object(form)), members{"create": false})
	return readIdentity[SignInOutcome](ctx, c, "/v1/sign-ins", form, more)
}

// Verify verifies the identity token in the app's form, and stores nothing. The errors are those of SignIn.
func (c *Client) Verify(ctx context.Context, form []byte) (*VerifiedIdentity, error) {
	return readIdentity[VerifiedIdentity](ctx, c, "/v1/identity-tokens/verify", form, nil)
}

func readIdentity[Model any](ctx context.Context, c *Client, path string, form []byte, more members) (*Model, error) {
	identity, err := signInMembers(object(form), c.options.OwnNonces)
	if err != nil {
		return nil, err
	}
	return read[Model](ctx, c, post(path, merged(identity, more, c.app())))
}

// app is the member of the calls for which the client needs the app's ID.
func (c *Client) app() members { return members{"client_id": c.options.ClientID} }

// WebResult redeems the one-time code of a sign-in on the web, within two minutes. Error: web_code_invalid.
func (c *Client) WebResult(ctx context.Context, code string) (*SignInOutcome, error) {
	return read[SignInOutcome](ctx, c, post("/v1/web/results", members{"code": code}))
}

// Account returns an account. Error: account_not_found (404).
func (c *Client) Account(ctx context.Context, accountID string) (*Account, error) {
	return read[Account](ctx, c, get("/v1/accounts/{account}", nil, accountID))
}

// AccountOf returns the account of Apple's user ID. Error: account_not_found (404).
func (c *Client) AccountOf(ctx context.Context, sub string) (*Account, error) {
	return read[Account](ctx, c, get("/v1/accounts", merged(c.app(), members{"sub": sub})))
}

// Search has the parameters of a search, all of which an account must match. docs/api.md explains them.
type Search struct {
	Email        string `json:"email,omitempty"`
	Name         string `json:"name,omitempty"`
	GrantID      string `json:"grant_id,omitempty"`
	ClientID     string `json:"client_id,omitempty"`
	State        string `json:"state,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Disabled     *bool  `json:"disabled,omitempty"`
	Linked       *bool  `json:"linked,omitempty"`
	AppleToken   *bool  `json:"apple_token,omitempty"`
	CreatedAfter *Time  `json:"created_after,omitempty"`
	// After is the Cursor of the page before.
	After string `json:"after,omitempty"`
	// Limit is the number of accounts of a page, at most 100.
	Limit int `json:"limit,omitempty"`
}

// FindAccounts searches accounts, newest first.
func (c *Client) FindAccounts(ctx context.Context, search Search) (*AccountPage, error) {
	data, _ := json.Marshal(search)
	return read[AccountPage](ctx, c, get("/v1/accounts", object(data)))
}

// State returns the state of the user's credential. For an unknown user it is notFound, and no error.
func (c *Client) State(ctx context.Context, sub string) (*Credential, error) {
	return read[Credential](ctx, c, get("/v1/credentials/{credential}", c.app(), sub))
}

// States returns the states of any number of users, in the order of subs. One request asks for 1,000 of them.
func (c *Client) States(ctx context.Context, subs []string) ([]CredentialOfSubject, error) {
	states := make([]CredentialOfSubject, 0, len(subs))
	for first := 0; first < len(subs); first += 1000 {
		part := subs[first:]
		if len(part) > 1000 {
			part = part[:1000]
		}
		list, err := read[CredentialList](ctx, c, post("/v1/credentials/query", merged(c.app(), members{"subs": part})))
		if err != nil {
			return nil, err
		}
		states = append(states, list.Credentials...)
	}
	return states, nil
}

// Disable disables an account in siwa. reason is a DisablingReason. until is the time from which the account is enabled
// again; the zero time means never. Errors: account_not_found (404), disabling_over (409).
func (c *Client) Disable(ctx context.Context, accountID, reason string, until time.Time) (*Account, error) {
	body := members{"reason": reason}
	if !until.IsZero() {
		body["until"] = Time{until}
	}
	return c.change(ctx, "disable", body, accountID)
}

// Enable enables a disabled account. Error: account_not_found (404).
func (c *Client) Enable(ctx context.Context, accountID string) (*Account, error) {
	return c.change(ctx, "enable", members{}, accountID)
}

// SignOut signs a user out everywhere: all receivers of events end the user's sessions. Error: account_not_found (404).
func (c *Client) SignOut(ctx context.Context, accountID string) (*Account, error) {
	// A repetition would also end the sessions that began in between.
	return c.change(ctx, "sign-out", members{}, accountID)
}

// SignOutWithGoogle is SignOut, and ends the links with Google.
func (c *Client) SignOutWithGoogle(ctx context.Context, accountID string) (*Account, error) {
	return c.change(ctx, "sign-out", members{"google": true}, accountID)
}

// change changes an account. A second execution would change it again.
func (c *Client) change(ctx context.Context, how string, body members, accountID string) (*Account, error) {
	r := post("/v1/accounts/{account}/"+how, body, accountID)
	r.isOnce = true
	return read[Account](ctx, c, r)
}

// Delete erases an account, and revokes its tokens at Apple. A repetition returns the same report. If the report has
// UserMustRevoke, show its Instructions to the user. Error: account_not_found (404).
func (c *Client) Delete(ctx context.Context, accountID string) (*Erasure, error) {
	return erasureIn(read[ErasureResponse](ctx, c, request{method: http.MethodDelete, path: "/v1/accounts/{account}",
		ids: []string{accountID}, timeout: 30 * time.Second}))
}

// Erasure returns the report of an erasure as it is now. Error: erasure_not_found (404).
func (c *Client) Erasure(ctx context.Context, erasureID string) (*Erasure, error) {
	return erasureIn(read[ErasureResponse](ctx, c, get("/v1/erasures/{erasure}", nil, erasureID)))
}

func erasureIn(response *ErasureResponse, err error) (*Erasure, error) {
	if err != nil {
		return nil, err
	}
	return &response.Erasure, nil
}

// Grants returns the OAuth clients that have access to the account, such as Google. Error: account_not_found (404).
func (c *Client) Grants(ctx context.Context, accountID string) ([]Grant, error) {
	var response Grants
	err := c.call(ctx, get("/v1/accounts/{account}/grants", nil, accountID), &response)
	return response.Grants, err
}

// EndGrant ends one grant with all its tokens. Errors: account_not_found, grant_not_found (404). After a lost response,
// the repetition returns grant_not_found: the grant has ended.
func (c *Client) EndGrant(ctx context.Context, accountID, grantID string) error {
	return c.call(ctx, request{method: http.MethodDelete, path: "/v1/accounts/{account}/grants/{grant}",
		ids: []string{accountID, grantID}}, nil)
}

// MakeChallenge makes a challenge for App Attest, valid for five minutes. purpose is attestation or assertion.
func (c *Client) MakeChallenge(ctx context.Context, purpose string) (*Challenge, error) {
	return read[Challenge](ctx, c, post("/v1/app-attest/challenges", merged(c.app(), members{"purpose": purpose})))
}

// RegisterKey registers a key of the app. form is the app's JSON with key_id, attestation and challenge. Error:
// attestation_invalid (401) with Cause and ReAttest, both for the app.
func (c *Client) RegisterKey(ctx context.Context, form []byte) (*KeyRegistration, error) {
	found := given(object(form), "key_id", "attestation", "challenge")
	return read[KeyRegistration](ctx, c, post("/v1/app-attest/keys", merged(found, c.app())))
}

// Session is the session for which a user links an account: its account and the time of its sign-in, never the app's.
type Session struct {
	AccountID       string
	AuthenticatedAt time.Time
}

func (s Session) members() members {
	found := given(members{"account_id": s.AccountID}, "account_id")
	if !s.AuthenticatedAt.IsZero() {
		found["authenticated_at"] = Time{s.AuthenticatedAt}
	}
	return found
}

// AppFlipPrompt returns the texts of the app's sheet, or the URL to open for a link that cannot succeed. form has the
// parameters of Google's universal link. Without a session only the link is checked.
func (c *Client) AppFlipPrompt(ctx context.Context, form []byte, session Session) (*AppFlipPromptResponse, error) {
	body := merged(given(object(form), link...), session.members())
	return read[AppFlipPromptResponse](ctx, c, post("/v1/oauth/app-flip/prompt", body))
}

// AppFlip answers Google with the user's decision, and returns the URL that the app opens.
//
// form has the parameters of the link, decision (granted, denied or cancelled), and optionally granted_scopes and a
// proof of App Attest. Without a session, granted needs a fresh identity_token with its nonce from MakeNonce.
func (c *Client) AppFlip(ctx context.Context, form []byte, session Session) (*AppFlipResponse, error) {
	found := object(form)
	body := merged(given(found, link...), given(found, "decision", "granted_scopes", "attestation", "app_version"),
		session.members())
	// An empty text grants no scope, and an absent one grants all.
	if found["granted_scopes"] == "" {
		body["granted_scopes"] = ""
	}
	if session.AccountID == "" && len(given(found, "identity_token")) > 0 {
		identity, err := signInMembers(found, false)
		if err != nil {
			return nil, err
		}
		delete(identity, "authorization_code")
		body = merged(body, identity)
	}
	r := post("/v1/oauth/app-flip", body)
	r.isOnce = true
	return read[AppFlipResponse](ctx, c, r)
}
