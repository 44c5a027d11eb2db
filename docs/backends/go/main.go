// The backend's part of Sign in with Apple, with the standard library of Go 1.19 or later.
//
// Environment: SIWA_URL, SIWA_KEY (the API key), CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at,
// 127.0.0.1 and 8000 by default. With WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed: one secret,
// or two with a space between them during a rotation. The tables are kept in memory; put them into your database.
package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// user has formerID, the account ID before the last change of it, or "".
type user struct{ accountID, teamID, sub, formerID string }

type session struct {
	userID, since string // since is "" for a session that began with a password
	createdAt     time.Time
}

// Backend has the tables. The mutex stands for the transactions of a database.
type Backend struct {
	mutex        sync.Mutex
	users        map[string]user    // by user ID
	sessions     map[string]session // by the SHA-256 of the token that the app has
	revocations  map[string]string  // the latest occurred_at by account ID
	disabled     map[string]bool    // by account ID
	cursor       string
	feedHasBegun bool
	webhookKeys  [][]byte             // none without webhooks
	handled      map[string]time.Time // by event ID
	passwords    *Passwords
}

func random() string {
	data := make([]byte, 32)
	if _, err := rand.Read(data); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func hashed(token string) string {
	hash := sha256.Sum256([]byte(token))
	return string(hash[:])
}

// makeSession, and the methods up to forget, are called with the mutex held.
func (b *Backend) makeSession(userID, since string) any {
	token := random()
	b.sessions[hashed(token)] = session{userID, since, time.Now()}
	return map[string]string{"session": token, "user_id": userID}
}

// sessionUser returns the user of a session, also of a disabled account.
func (b *Backend) sessionUser(token string) (string, error) {
	row, isThere := b.sessions[hashed(token)]
	if !isThere {
		return "", Refused{401, "session_ended"}
	}
	return row.userID, nil
}

func (b *Backend) userOf(token string) (string, error) {
	userID, err := b.sessionUser(token)
	if err == nil && b.disabled[b.users[userID].accountID] {
		return "", Refused{403, "account_disabled"} // until it is enabled, when the session is good again
	}
	return userID, err
}

func (b *Backend) userWhere(condition func(user) bool) string {
	for userID, user := range b.users {
		if condition(user) {
			return userID
		}
	}
	return ""
}

func (b *Backend) userWithAccount(accountID string) string {
	return b.userWhere(func(user user) bool { return accountID != "" && user.accountID == accountID })
}

func (b *Backend) userWithSub(teamID, sub string) string {
	return b.userWhere(func(user user) bool { return sub != "" && user.sub == sub && user.teamID == teamID })
}

// endSessions ends those sessions of a user that began with Apple and are not later than the moment.
func (b *Backend) endSessions(userID, moment string) {
	for hash, row := range b.sessions {
		if row.userID == userID && row.since != "" && row.since <= moment {
			delete(b.sessions, hash)
		}
	}
}

func (b *Backend) endPasswordSessions(userID string) {
	for hash, row := range b.sessions {
		if row.userID == userID && row.since == "" {
			delete(b.sessions, hash)
		}
	}
}

// forget deletes a user. One who has a password stays, without the Apple Account.
func (b *Backend) forget(userID string) {
	keepsPassword := b.passwords.exists(userID)
	for hash, row := range b.sessions {
		if row.userID == userID && (row.since != "" || !keepsPassword) {
			delete(b.sessions, hash)
		}
	}
	delete(b.users, userID)
	if keepsPassword {
		b.users[userID] = user{}
	}
}

type appRequest struct {
	IdentityToken     string          `json:"identity_token"`
	AuthorizationCode string          `json:"authorization_code,omitempty"`
	Nonce             string          `json:"nonce"`
	User              json.RawMessage `json:"user,omitempty"`
	Attestation       json.RawMessage `json:"attestation,omitempty"` // the proof, as the app made it
	AppVersion        string          `json:"app_version,omitempty"`
	ClientID          string          `json:"client_id"`
	Name              string          `json:"name,omitempty"`
	Password          string          `json:"password,omitempty"`
	content           []byte          // the whole body
	link              string          // the ID in the path
}

// SignIn attaches the Apple Account to the user of the session, if there is a session.
func (b *Backend) SignIn(request appRequest, token string) (any, error) {
	b.mutex.Lock()
	feedHasBegun := b.feedHasBegun
	b.mutex.Unlock()
	if !feedHasBegun {
		return nil, Refused{503, "try_again"} // the revocation of this sign-in could be missed
	}
	sessionUser := ""
	if token != "" {
		b.mutex.Lock()
		userID, err := b.userOf(token)
		b.mutex.Unlock()
		if err != nil {
			return nil, err
		}
		sessionUser = userID
	}
	// Only a nonce of siwa's is good for one sign-in. The digest that a stolen token contains would pass as
	// a nonce of your own.
	if !strings.HasPrefix(request.Nonce, "siwa-nonce-") {
		return nil, Refused{400, "nonce_missing"}
	}
	request.ClientID, request.Name, request.Password = clientID, "", ""
	var outcome struct {
		Account struct {
			ID, Sub string
			TeamID  string `json:"team_id"`
		}
		Credential struct{ Since string }
	}
	if err := siwa("POST", "/v1/sign-ins", request, &outcome, 12*time.Second); err != nil {
		return nil, err
	}
	account, since := outcome.Account, outcome.Credential.Since
	b.mutex.Lock()
	defer b.mutex.Unlock()
	// The event of a revocation can arrive before the response of the sign-in that it revokes.
	if since <= b.revocations[account.ID] {
		return nil, Refused{401, "credential_revoked"}
	}
	owner, userID := b.userWithAccount(account.ID), sessionUser
	if owner == "" {
		// After a restore of siwa's database the same user can have another account ID, with the same sub.
		owner = b.userWithSub(account.TeamID, account.Sub)
	}
	if userID == "" {
		userID = owner
	}
	if userID == "" {
		userID = "usr_" + random()
	}
	known := b.users[userID]
	// It belongs to another user, or this user has another one.
	if (owner != "" && owner != userID) || (owner == "" && known.accountID != "") {
		return nil, Refused{409, "other_apple_account"}
	}
	formerID := known.accountID
	if formerID == account.ID {
		formerID = known.formerID
	}
	b.users[userID] = user{account.ID, account.TeamID, account.Sub, formerID}
	return b.makeSession(userID, since), nil
}

func (b *Backend) SignInWithPassword(request appRequest, _ string) (any, error) {
	userID := b.passwords.check(request.Name, request.Password)
	if userID == "" {
		return nil, Refused{401, "password_wrong"}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if _, isThere := b.users[userID]; !isThere {
		b.users[userID] = user{}
	}
	return b.makeSession(userID, ""), nil
}

func (b *Backend) Nonce(appRequest, string) (any, error) {
	var nonce any
	return &nonce, siwa("POST", "/v1/nonces", nil, &nonce, 12*time.Second)
}

// Challenge returns a challenge, which the app needs before it attests a key, and before each proof.
func (b *Backend) Challenge(request appRequest, _ string) (any, error) {
	var call struct {
		Purpose  string `json:"purpose"`
		ClientID string `json:"client_id"`
	}
	return appAttest(request, "challenges", &call, &call.ClientID)
}

func (b *Backend) RegisterKey(request appRequest, _ string) (any, error) {
	var call struct {
		KeyID       string `json:"key_id"`
		Attestation string `json:"attestation"`
		Challenge   string `json:"challenge"`
		ClientID    string `json:"client_id"`
	}
	return appAttest(request, "keys", &call, &call.ClientID)
}

func appAttest(request appRequest, path string, call any, id *string) (any, error) {
	if err := json.Unmarshal(request.content, call); err != nil {
		return nil, Refused{400, "body_not_json"}
	}
	*id = clientID // never one that the app names
	var response any
	err := siwa("POST", "/v1/app-attest/"+path, call, &response, 12*time.Second)
	return response, err
}

type appUser struct {
	UserID    string `json:"user_id"`
	AccountID string `json:"account_id,omitempty"`
}

func (b *Backend) ShowUser(_ appRequest, token string) (any, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	userID, err := b.userOf(token)
	return appUser{userID, b.users[userID].accountID}, err
}

// SignOut ends this session only: the account, the user's consent and other devices stay as they are.
func (b *Backend) SignOut(_ appRequest, token string) (any, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.sessions, hashed(token))
	return struct{}{}, nil
}

func (b *Backend) DeleteUser(_ appRequest, token string) (any, error) {
	b.mutex.Lock()
	userID, err := b.userOf(token)
	accountID := b.users[userID].accountID
	b.mutex.Unlock()
	if err != nil {
		return nil, err
	}
	erasure, err := erase(accountID)
	if err != nil {
		return nil, err
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.passwords.remove(userID)
	b.forget(userID)
	return erasure, nil
}

// Erasure is what the app has to know of siwa's report.
type Erasure struct {
	UserMustRevoke bool   `json:"user_must_revoke"`
	Instructions   string `json:"instructions,omitempty"`
}

func erase(accountID string) (Erasure, error) {
	var response struct{ Erasure Erasure }
	if accountID == "" {
		return response.Erasure, nil
	}
	err := siwa("DELETE", "/v1/accounts/"+accountID, nil, &response, 12*time.Second)
	if is(err, "account_not_found") {
		err = nil
	}
	return response.Erasure, err
}

func (b *Backend) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	var body appRequest
	path := request.URL.Path
	if strings.HasPrefix(path, "/links/") {
		path, body.link = "/links/", strings.TrimPrefix(path, "/links/")
	}
	route, isThere := map[string]func(appRequest, string) (any, error){
		"POST /nonce":                 b.Nonce,
		"POST /app-attest/challenges": b.Challenge,
		"POST /app-attest/keys":       b.RegisterKey,
		"POST /signin":                b.SignIn,
		"POST /password":              b.SignInWithPassword,
		"POST /signout":               b.SignOut,
		"GET /me":                     b.ShowUser,
		"DELETE /account":             b.DeleteUser,
		"POST /google-link":           b.GoogleLink,
		"GET /links":                  b.Links,
		"DELETE /links/":              b.Unlink,
	}[request.Method+" "+path]
	isWebhook := len(b.webhookKeys) > 0 && request.Method+" "+path == "POST /siwa"
	content, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, 65_536))
	if len(content) > 0 && err == nil && !isWebhook {
		err = json.Unmarshal(content, &body)
	}
	body.content = content
	var result any
	if isWebhook && err == nil {
		result, err = b.takeWebhook(request.Header, content)
	} else if !isThere && !isWebhook {
		err = Refused{404, "not_found"}
	} else if err != nil {
		err = Refused{400, "body_not_json"}
	} else {
		result, err = route(body, strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer "))
	}
	status := 200
	if err != nil {
		refused := Refused{500, "internal_error"}
		var webhook WebhookRefused
		if errors.As(err, &webhook) {
			refused = Refused(webhook)
		} else if !errors.As(err, &refused) {
			log.Print(request.Method, " ", request.URL.Path, ": ", err)
		}
		status, result = refused.status, map[string]any{"error": refused.code}
		var proof RefusedProof
		if errors.As(err, &proof) {
			result = map[string]any{"error": refused.code, "cause": proof.cause, "re_attest": proof.reAttest}
		}
	}
	writer.Header().Set("Content-Type", "application/json")
	writer.Header().Set("Cache-Control", "no-store")
	writer.WriteHeader(status)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false) // URLs stay as they are
	_ = encoder.Encode(result)
}

func setting(name, standard string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return standard
}

func main() {
	var missing []string
	for _, name := range []string{"SIWA_URL", "SIWA_KEY", "CLIENT_ID"} {
		if os.Getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		log.Fatal("missing environment variables: ", strings.Join(missing, ", "))
	}
	webhookKeys, err := webhookKeys(os.Getenv("WEBHOOK_SECRETS"))
	if err != nil {
		log.Fatal("WEBHOOK_SECRETS: ", err)
	}
	backend := &Backend{
		users: map[string]user{}, sessions: map[string]session{}, revocations: map[string]string{},
		disabled: map[string]bool{}, webhookKeys: webhookKeys, handled: map[string]time.Time{},
		passwords: readPasswords(),
	}
	// A backend that starts while siwa does not answer begins the feed later, and then takes sign-ins.
	if err := backend.beginFeed(); err != nil && !is(err, "try_again") {
		log.Fatal("cannot start: ", err)
	}
	go backend.followEvents()
	go backend.removeHandled()
	listener, err := net.Listen("tcp", net.JoinHostPort(setting("HOST", "127.0.0.1"), setting("PORT", "8000")))
	if err != nil {
		log.Fatal("cannot start: ", err)
	}
	fmt.Println("listening on", listener.Addr())
	server := http.Server{Handler: backend, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * time.Minute}
	log.Fatal(server.Serve(listener))
}
