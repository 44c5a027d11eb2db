// Package siwa signs users in with Apple: it is the client of a siwa service. README.md begins with an example.
package siwa

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
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
	transport   *transport
	clientID    string
	webhookKeys [][]byte
	tokens      *accessTokens
}

// NewClient makes a client. It returns an error for a missing or malformed option.
func NewClient(options Options) (*Client, error) {
	for _, option := range []struct {
		value *string
		name  string
	}{
		{&options.URL, "SIWA_URL"}, {&options.APIKey, "SIWA_API_KEY"}, {&options.ClientID, "SIWA_CLIENT_ID"},
		{&options.Issuer, "SIWA_ISSUER"}, {&options.WebhookSecrets, "SIWA_WEBHOOK_SECRETS"},
	} {
		if *option.value == "" {
			*option.value = os.Getenv(option.name)
		}
	}
	if options.Issuer == "" {
		options.Issuer = strings.TrimRight(options.URL, "/")
	}
	if options.Timeout == 0 {
		options.Timeout = 12 * time.Second
	}
	if options.Attempts == 0 {
		options.Attempts = 3
	}
	if options.Clock == nil {
		options.Clock = systemClock{}
	}
	if options.Warn == nil {
		options.Warn = func(message string) { log.Print(message) }
	}
	transport, err := newTransport(options.URL, options.APIKey, options)
	if err != nil {
		return nil, err
	}
	keys, err := webhookKeys(options.WebhookSecrets)
	if err != nil {
		return nil, err
	}
	return &Client{transport, options.ClientID, keys, newAccessTokens(transport, options.Issuer)}, nil
}

// ForApp returns the same client for another app, by its bundle ID.
func (c *Client) ForApp(clientID string) *Client {
	other := *c
	other.clientID = clientID
	return &other
}

// MakeNonce makes a nonce for one sign-in within ten minutes. The app gives NonceSHA256 to Apple, and posts Nonce to
// the backend together with the token.
func (c *Client) MakeNonce(ctx context.Context) (*Nonce, error) {
	return read[Nonce](ctx, c, post("/v1/nonces", members{}))
}

// SignInOption changes SignIn and Verify.
type SignInOption int

const (
	// KnownUsersOnly signs in only users who have an account.
	KnownUsersOnly SignInOption = iota
	// OwnNonces is for a backend that makes its own nonces, and accepts each only once.
	OwnNonces
)

// SignIn verifies the identity token in the app's form, and returns the user's account.
//
// form is the app's JSON, in siwa's names or in those of a library (README.md). Errors without a request:
// member_missing, nonce_missing. From siwa: the codes of a refused token (401), credential_revoked and account_disabled
// (403), account_not_found (404).
//
// A sign-in is repeated like any other call. After a lost response the repetition can get nonce_used; the app then
// starts again with a new nonce.
func (c *Client) SignIn(ctx context.Context, form []byte, options ...SignInOption) (*SignInOutcome, error) {
	found := flattened(membersOf(form))
	more := userMembers(found)
	if has(options, KnownUsersOnly) {
		more.set("create", false)
	}
	return read[SignInOutcome](ctx, c, c.signIn("/v1/sign-ins", found, options, more))
}

// Verify verifies the identity token in the app's form, and stores nothing. The errors are those of SignIn.
func (c *Client) Verify(ctx context.Context, form []byte, options ...SignInOption) (*VerifiedIdentity, error) {
	found := flattened(membersOf(form))
	return read[VerifiedIdentity](ctx, c, c.signIn("/v1/identity-tokens/verify", found, options, nil))
}

func (c *Client) signIn(target string, form members, options []SignInOption, more members) request {
	identity, err := signInMembers(form, has(options, OwnNonces))
	if err != nil {
		return request{err: err}
	}
	return c.postOfApp(target, identity.add(more))
}

func has(options []SignInOption, wanted SignInOption) bool {
	for _, option := range options {
		if option == wanted {
			return true
		}
	}
	return false
}

// WebResult redeems the one-time code of a sign-in on the web, within two minutes. Error: web_code_invalid.
func (c *Client) WebResult(ctx context.Context, code string) (*SignInOutcome, error) {
	return read[SignInOutcome](ctx, c, post("/v1/web/results", members{}.set("code", code)))
}

// Account returns an account. Error: account_not_found (404).
func (c *Client) Account(ctx context.Context, accountID string) (*Account, error) {
	return read[Account](ctx, c, ofAccount(http.MethodGet, accountID, ""))
}

// AccountOf returns the account of Apple's user ID. Error: account_not_found (404).
func (c *Client) AccountOf(ctx context.Context, sub string) (*Account, error) {
	return read[Account](ctx, c, c.getOfApp("/v1/accounts", url.Values{"sub": {sub}}))
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
	found, _ := object(data)
	parameters := url.Values{}
	for name, value := range found {
		parameters.Set(name, fmt.Sprint(value))
	}
	return read[AccountPage](ctx, c, get("/v1/accounts", parameters))
}

// State returns the state of the user's credential. For an unknown user it is notFound, and no error.
func (c *Client) State(ctx context.Context, sub string) (*Credential, error) {
	return read[Credential](ctx, c, c.getOfApp("/v1/credentials/"+encoded(sub), url.Values{}))
}

// States returns the states of any number of users, in the order of subs. One request asks for 1,000 of them.
func (c *Client) States(ctx context.Context, subs []string) ([]CredentialOfSubject, error) {
	states := make([]CredentialOfSubject, 0, len(subs))
	for len(subs) > 0 {
		count := len(subs)
		if count > 1000 {
			count = 1000
		}
		list, err := read[CredentialList](ctx, c, c.postOfApp("/v1/credentials/query", members{}.set("subs", subs[:count])))
		if err != nil {
			return nil, err
		}
		states, subs = append(states, list.Credentials...), subs[count:]
	}
	return states, nil
}

// Disable disables an account in siwa. reason is a DisablingReason. until is the time from which the account is enabled
// again; the zero time means never. Errors: account_not_found (404), disabling_over (409).
func (c *Client) Disable(ctx context.Context, accountID, reason string, until time.Time) (*Account, error) {
	return c.change(ctx, accountID, "/disable", members{}.set("reason", reason).setTime("until", until))
}

// Enable enables a disabled account. Error: account_not_found (404).
func (c *Client) Enable(ctx context.Context, accountID string) (*Account, error) {
	return c.change(ctx, accountID, "/enable", members{})
}

// SignOut signs a user out everywhere: all receivers of events end the user's sessions. Error: account_not_found (404).
func (c *Client) SignOut(ctx context.Context, accountID string) (*Account, error) {
	// A repetition would also end the sessions that began in between.
	return c.change(ctx, accountID, "/sign-out", members{})
}

// SignOutWithGoogle is SignOut, and ends the links with Google.
func (c *Client) SignOutWithGoogle(ctx context.Context, accountID string) (*Account, error) {
	return c.change(ctx, accountID, "/sign-out", members{}.set("google", true))
}

// Delete erases an account, and revokes its tokens at Apple. A repetition returns the same report. If the report has
// UserMustRevoke, show its Instructions to the user. Error: account_not_found (404).
func (c *Client) Delete(ctx context.Context, accountID string) (*Erasure, error) {
	r := ofAccount(http.MethodDelete, accountID, "")
	r.timeout = 30 * time.Second
	return erasureIn(read[ErasureResponse](ctx, c, r))
}

// Erasure returns the report of an erasure as it is now. Error: erasure_not_found (404).
func (c *Client) Erasure(ctx context.Context, erasureID string) (*Erasure, error) {
	return erasureIn(read[ErasureResponse](ctx, c, get("/v1/erasures/"+encoded(erasureID), nil)))
}

func erasureIn(response *ErasureResponse, err error) (*Erasure, error) {
	if err != nil {
		return nil, err
	}
	return &response.Erasure, nil
}

// Grants returns the OAuth clients that have access to the account, such as Google. Error: account_not_found (404).
func (c *Client) Grants(ctx context.Context, accountID string) ([]Grant, error) {
	response, err := read[Grants](ctx, c, ofAccount(http.MethodGet, accountID, "/grants"))
	if err != nil {
		return nil, err
	}
	return response.Grants, nil
}

// EndGrant ends one grant with all its tokens. Errors: account_not_found, grant_not_found (404).
func (c *Client) EndGrant(ctx context.Context, accountID, grantID string) error {
	r := ofAccount(http.MethodDelete, accountID, "/grants/"+encoded(grantID))
	if r.err == nil && isDots(grantID) {
		r.err = refused("grant_not_found", http.StatusNotFound, "The ID would change the path of the request.")
	}
	_, err := c.transport.call(ctx, r)
	return err
}

// MakeChallenge makes a challenge for App Attest, valid for five minutes. purpose is attestation or assertion.
func (c *Client) MakeChallenge(ctx context.Context, purpose string) (*Challenge, error) {
	return read[Challenge](ctx, c, c.postOfApp("/v1/app-attest/challenges", members{}.set("purpose", purpose)))
}

// RegisterKey registers a key of the app. form is the app's JSON with key_id, attestation and challenge. Error:
// attestation_invalid (401) with Cause and ReAttest, both for the app.
func (c *Client) RegisterKey(ctx context.Context, form []byte) (*KeyRegistration, error) {
	body := membersOf(form).given("key_id", "attestation", "challenge")
	return read[KeyRegistration](ctx, c, c.postOfApp("/v1/app-attest/keys", body))
}

// Session is the session for which a user links an account: its account and the time of its sign-in, never the app's.
type Session struct {
	AccountID       string
	AuthenticatedAt time.Time
}

func (s Session) members() members {
	found := members{}.setTime("authenticated_at", s.AuthenticatedAt)
	if s.AccountID != "" {
		found.set("account_id", s.AccountID)
	}
	return found
}

// AppFlipPrompt returns the texts of the app's sheet, or the URL to open for a link that cannot succeed. form has the
// parameters of Google's universal link. Without a session only the link is checked.
func (c *Client) AppFlipPrompt(ctx context.Context, form []byte, session Session) (*AppFlipPromptResponse, error) {
	body := membersOf(form).given(link...).add(session.members())
	return read[AppFlipPromptResponse](ctx, c, post("/v1/oauth/app-flip/prompt", body))
}

// AppFlip answers Google with the user's decision, and returns the URL that the app opens.
//
// form has the parameters of the link, decision (granted, denied or cancelled), and optionally granted_scopes and a
// proof of App Attest. Without a session, granted needs a fresh identity_token with its nonce from MakeNonce.
func (c *Client) AppFlip(ctx context.Context, form []byte, session Session) (*AppFlipResponse, error) {
	found := membersOf(form)
	body := found.given(append([]string{"decision", "granted_scopes", "attestation", "app_version"}, link...)...)
	// An empty text grants no scope, and an absent one grants all.
	if string(found["granted_scopes"]) == `""` {
		body.set("granted_scopes", "")
	}
	var identity members
	var err error
	if session.AccountID == "" && len(found.given("identity_token")) > 0 {
		identity, err = signInMembers(flattened(found), false)
		delete(identity, "authorization_code")
	}
	r := post("/v1/oauth/app-flip", body.add(identity).add(session.members()))
	r.isOnce, r.err = true, err
	return read[AppFlipResponse](ctx, c, r)
}

// VerifyWebhook verifies a webhook, and returns its event. An event can come twice: keep its ID for 8 days.
//
// rawBody has the bytes as they arrived. Respond with 2xx when the event is stored, otherwise siwa sends it again;
// WebhookHandler does so. Errors: body_too_large (413), webhook_headers_invalid, webhook_time_invalid, event_malformed
// (400), webhook_signature_invalid (401), and an error without a code if the client has no secret.
func (c *Client) VerifyWebhook(headers http.Header, rawBody []byte) (*Event, error) {
	if len(c.webhookKeys) == 0 {
		return nil, errors.New("siwa: the client has no webhook secret: set SIWA_WEBHOOK_SECRETS")
	}
	return verifiedEvent(headers, rawBody, c.webhookKeys, c.transport.clock.Now())
}

// Introspect asks siwa whether an access token is valid now. Arguments and errors are those of VerifyToken, and
// token_inactive (401). It knows at once of a withdrawn consent.
func (c *Client) Introspect(ctx context.Context, bearer, audience string, scopes ...string) (*IntrospectionResponse, error) {
	text, err := bearerToken(bearer)
	if err != nil {
		return nil, err
	}
	token, err := read[IntrospectionResponse](ctx, c, request{
		method: http.MethodPost, target: "/oauth/introspect", body: []byte(url.Values{"token": {text}}.Encode()),
		contentType: "application/x-www-form-urlencoded",
	})
	if err != nil {
		return nil, err
	}
	// A refresh token has no token_type. No API accepts refresh tokens.
	if !token.Active || token.TokenType != "Bearer" {
		return nil, refused("token_inactive", http.StatusUnauthorized, "The token has ended, or is not an access token.")
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
	return c.tokens.verify(ctx, text, audience, scopes)
}

// postOfApp and getOfApp make requests that name the client's app.
func (c *Client) postOfApp(target string, body members) request {
	return c.ofApp(post(target, body.set("client_id", c.clientID)))
}

func (c *Client) getOfApp(path string, parameters url.Values) request {
	parameters.Set("client_id", c.clientID)
	return c.ofApp(get(path, parameters))
}

func (c *Client) ofApp(r request) request {
	if c.clientID == "" {
		r.err = errors.New("siwa: the client needs the app's client_id: set SIWA_CLIENT_ID")
	}
	return r
}

// change changes an account. A second execution would change it again.
func (c *Client) change(ctx context.Context, accountID, target string, body members) (*Account, error) {
	r := ofAccount(http.MethodPost, accountID, target)
	r.body, r.isOnce = body.json(), true
	return read[Account](ctx, c, r)
}

func read[Model any](ctx context.Context, c *Client, r request) (*Model, error) {
	value, err := c.transport.call(ctx, r)
	if err != nil {
		return nil, err
	}
	return decoded[Model](value)
}

func get(path string, parameters url.Values) request {
	if len(parameters) > 0 {
		path += "?" + strings.ReplaceAll(parameters.Encode(), "+", "%20")
	}
	return request{method: http.MethodGet, target: path}
}

func post(target string, body members) request {
	return request{method: http.MethodPost, target: target, body: body.json()}
}

// ofAccount makes a request whose target follows the path of the account.
func ofAccount(method, accountID, target string) request {
	r := request{method: method, target: "/v1/accounts/" + encoded(accountID) + target}
	// A proxy would remove these segments, and the request would have another path.
	if isDots(accountID) {
		r.err = refused("account_not_found", http.StatusNotFound, "The ID would change the path of the request.")
	}
	return r
}

func isDots(id string) bool { return id == "" || id == "." || id == ".." }

// encoded escapes all but unreserved characters, as a segment of a path or a value of a query.
func encoded(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
