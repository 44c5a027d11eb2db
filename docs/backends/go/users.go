// The tables and the routing of a backend, which yours has in its own way. The tables are kept in memory; put them into
// your database, whose transactions the mutex stands for.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	siwa "example.com/siwa"
)

// user has formerID, the account ID before the last change of it, or "".
type user struct{ id, accountID, teamID, sub, formerID string }

type session struct {
	userID string
	since  time.Time // zero for a session that began with a password
}

type password struct {
	userID     string
	iterations int
	salt, hash []byte
}

type tables struct {
	mutex        sync.Mutex
	users        map[string]user               // by user ID
	sessions     map[[sha256.Size]byte]session // by the hash of the token that the app has
	passwords    map[string]password           // by name
	revocations  map[string]time.Time          // the latest one, by account ID
	disabled     map[string]bool               // by account ID
	handled      map[string]bool               // by event ID
	cursor       string
	isReady      bool // the feed has begun
	usesWebhooks bool
}

func refused(status int, code string) error { return &siwa.Error{Status: status, Code: code} }

// newTables reads the users with a password from PASSWORD_USERS, as user_id:name:iterations:salt:hash with salt and hash
// in hexadecimal, separated by commas (PBKDF2 with HMAC-SHA-256).
func newTables(usesWebhooks bool) *tables {
	t := &tables{
		users: map[string]user{}, sessions: map[[sha256.Size]byte]session{}, passwords: map[string]password{},
		revocations: map[string]time.Time{}, disabled: map[string]bool{}, handled: map[string]bool{}, usesWebhooks: usesWebhooks,
	}
	for _, entry := range strings.Split(os.Getenv("PASSWORD_USERS"), ",") {
		if part := strings.Split(entry, ":"); len(part) == 5 {
			iterations, _ := strconv.Atoi(part[2])
			salt, _ := hex.DecodeString(part[3])
			hash, _ := hex.DecodeString(part[4])
			t.passwords[part[1]] = password{part[0], iterations, salt, hash}
		}
	}
	return t
}

// lock is for the whole of a method: defer t.lock()().
func (t *tables) lock() func() {
	t.mutex.Lock()
	return t.mutex.Unlock
}

func random() string {
	data := make([]byte, 32)
	if _, err := rand.Read(data); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// makeSession, userWhere and remove are called with the mutex held.
func (t *tables) makeSession(userID string, since time.Time) any {
	token := random()
	t.sessions[sha256.Sum256([]byte(token))] = session{userID, since}
	return map[string]string{"session": token, "user_id": userID}
}

func (t *tables) userWhere(condition func(user) bool) user {
	for _, user := range t.users {
		if condition(user) {
			return user
		}
	}
	return user{}
}

func (t *tables) userWithAccount(accountID string) user {
	return t.userWhere(func(user user) bool { return accountID != "" && user.accountID == accountID })
}

// remove deletes a user. One who has a password stays, without the Apple Account.
func (t *tables) remove(userID string) {
	keepsPassword := false
	for _, password := range t.passwords {
		keepsPassword = keepsPassword || password.userID == userID
	}
	for hash, row := range t.sessions {
		if row.userID == userID && (!row.since.IsZero() || !keepsPassword) {
			delete(t.sessions, hash)
		}
	}
	delete(t.users, userID)
	if keepsPassword {
		t.users[userID] = user{id: userID}
	}
}

// userOf returns the user of a session.
func (t *tables) userOf(r *http.Request) (user, error) {
	found, _, err := t.sessionOf(r)
	defer t.lock()()
	if err == nil && t.disabled[found.accountID] {
		err = refused(http.StatusForbidden, "account_disabled") // until it is enabled, when the session is good again
	}
	return found, err
}

// sessionOf returns the user of a session, also of a disabled account, and since when the user is signed in with Apple.
func (t *tables) sessionOf(r *http.Request) (user, time.Time, error) {
	defer t.lock()()
	row, isThere := t.sessions[sha256.Sum256([]byte(tokenOf(r)))]
	if !isThere {
		return user{}, time.Time{}, refused(http.StatusUnauthorized, "session_ended")
	}
	return t.users[row.userID], row.since, nil
}

// startSession attaches the account to the user of the session, if there is a session.
func (t *tables) startSession(userID string, account siwa.Account, since time.Time) (any, error) {
	defer t.lock()()
	// The event of a revocation can arrive before the response of the sign-in that it revokes.
	if !since.After(t.revocations[account.ID]) {
		return nil, refused(http.StatusUnauthorized, "credential_revoked")
	}
	owner := t.userWithAccount(account.ID)
	if owner.id == "" {
		// After a restore of siwa's database the same user can have another account ID, with the same sub.
		owner = t.userWhere(func(user user) bool { return user.sub == account.Sub && user.teamID == account.TeamID })
	}
	if userID == "" {
		userID = owner.id
	}
	if userID == "" {
		userID = "usr_" + random()
	}
	known := t.users[userID]
	// It belongs to another user, or this user has another one.
	if (owner.id != "" && owner.id != userID) || (owner.id == "" && known.accountID != "") {
		return nil, refused(http.StatusConflict, "other_apple_account")
	}
	if known.accountID != account.ID {
		known.formerID = known.accountID
	}
	t.users[userID] = user{userID, account.ID, account.TeamID, account.Sub, known.formerID}
	return t.makeSession(userID, since), nil
}

func (t *tables) signInWithPassword(_ *http.Request, form []byte) (any, error) {
	t.mutex.Lock()
	known, isKnown := t.passwords[member(form, "name")]
	t.mutex.Unlock()
	if !isKnown {
		known.iterations = 600_000
	}
	if !hmac.Equal(pbkdf2(member(form, "password"), known.salt, known.iterations), known.hash) {
		return nil, refused(http.StatusUnauthorized, "password_wrong")
	}
	defer t.lock()()
	if _, isThere := t.users[known.userID]; !isThere {
		t.users[known.userID] = user{id: known.userID}
	}
	return t.makeSession(known.userID, time.Time{}), nil
}

// pbkdf2 is RFC 8018 §5.2 for one block. From Go 1.24 on it is in crypto/pbkdf2.
func pbkdf2(password string, salt []byte, iterations int) []byte {
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write(append(append([]byte{}, salt...), 0, 0, 0, 1))
	block := mac.Sum(nil)
	result := append([]byte{}, block...)
	for i := 1; i < iterations; i++ {
		mac.Reset()
		mac.Write(block)
		block = mac.Sum(block[:0])
		for j := range result {
			result[j] ^= block[j]
		}
	}
	return result
}

func (t *tables) showUser(r *http.Request, _ []byte) (any, error) {
	found, err := t.userOf(r)
	return struct {
		UserID    string `json:"user_id"`
		AccountID string `json:"account_id,omitempty"`
	}{found.id, found.accountID}, err
}

// signOut ends this session only: the account, the user's consent and other devices stay as they are.
func (t *tables) signOut(r *http.Request, _ []byte) (any, error) {
	defer t.lock()()
	delete(t.sessions, sha256.Sum256([]byte(tokenOf(r))))
	return struct{}{}, nil
}

// deleteUser deletes a user with the password.
func (t *tables) deleteUser(userID string) {
	defer t.lock()()
	for name, password := range t.passwords {
		if password.userID == userID {
			delete(t.passwords, name)
		}
	}
	t.remove(userID)
}

func (t *tables) setDisabled(accountID string, isDisabled bool) {
	defer t.lock()()
	t.disabled[accountID] = isDisabled
}

func (t *tables) subOf(accountID string) string {
	defer t.lock()()
	return t.userWithAccount(accountID).sub
}

// apply changes the tables for an event.
func (t *tables) apply(event siwa.Event) {
	if event.AccountID == "" { // about a user who has never signed in
		return
	}
	defer t.lock()()
	at, owner := event.OccurredAt.Time, t.userWithAccount(event.AccountID)
	switch event.Type {
	case siwa.EventTypeCredentialRevoked, siwa.EventTypeSessionsEnded:
		isEverywhere := event.Type == siwa.EventTypeSessionsEnded // also where the session began with a password
		if !isEverywhere && event.ClientID != os.Getenv("SIWA_CLIENT_ID") {
			return
		}
		if at.After(t.revocations[event.AccountID]) {
			t.revocations[event.AccountID] = at
		}
		for hash, row := range t.sessions {
			// The user may have signed in again, so only sessions that are not later than the event end.
			if row.userID == owner.id && !row.since.After(at) && (isEverywhere || !row.since.IsZero()) {
				delete(t.sessions, hash)
			}
		}
	case siwa.EventTypeAccountDisabled, siwa.EventTypeAccountEnabled:
		t.disabled[event.AccountID] = event.Type == siwa.EventTypeAccountDisabled
	case siwa.EventTypeAccountErased:
		delete(t.disabled, event.AccountID)
		if owner.id == "" {
			// A user who has signed in again since the erasure was found by sub, and is deleted here as well.
			owner = t.userWhere(func(user user) bool { return user.formerID == event.AccountID })
		}
		t.remove(owner.id)
	case siwa.EventTypeAccountTransferred:
		// The app belongs to another team, where the user has another sub.
		if owner.id != "" {
			t.users[owner.id] = user{owner.id, event.AccountID, event.TeamID, event.Sub, owner.formerID}
		}
	}
}

// missed returns an event for each sub, which ends the sessions until now.
func (t *tables) missed() (subs []string, events map[string]siwa.Event) {
	defer t.lock()()
	events = map[string]siwa.Event{}
	for _, user := range t.users {
		if user.sub == "" {
			continue
		}
		event := siwa.Event{Type: siwa.EventTypeCredentialRevoked, AccountID: user.accountID}
		for _, row := range t.sessions {
			if row.userID == user.id && row.since.After(event.OccurredAt.Time) {
				event.OccurredAt.Time = row.since
			}
		}
		subs, events[user.sub] = append(subs, user.sub), event
	}
	return subs, events
}

var errWebhooks = errors.New("from here on, the events come as webhooks")

// Load and Save keep the cursor of the feed.
func (t *tables) Load(context.Context) (string, error) {
	defer t.lock()()
	return t.cursor, nil
}

func (t *tables) Save(_ context.Context, cursor string) error {
	defer t.lock()()
	t.cursor, t.isReady = cursor, true
	if t.usesWebhooks {
		return errWebhooks
	}
	return nil
}

// checkReady returns an error until the feed has begun: the revocation of a sign-in could be missed, and the states that
// are being read can be older than the event of a webhook.
func (t *tables) checkReady() error {
	defer t.lock()()
	if !t.isReady {
		return refused(http.StatusServiceUnavailable, "try_again")
	}
	return nil
}

func (t *tables) isHandled(eventID string) bool {
	defer t.lock()()
	return t.handled[eventID]
}

// setHandled notes an event for 8 days: siwa sends it again for seven.
func (t *tables) setHandled(eventID string) {
	defer t.lock()()
	t.handled[eventID] = true
	time.AfterFunc(8*24*time.Hour, func() {
		defer t.lock()()
		delete(t.handled, eventID)
	})
}

func tokenOf(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// routes maps a method and a path to the function that makes the response. After a slash at the end comes an ID.
type routes map[string]func(*http.Request, []byte) (any, error)

func (routes routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if end := strings.LastIndex(path, "/"); end > 0 && routes[r.Method+" "+path] == nil {
		path = path[:end+1]
	}
	route := routes[r.Method+" "+path]
	if route == nil {
		route = func(*http.Request, []byte) (any, error) { return nil, refused(http.StatusNotFound, "not_found") }
	}
	siwa.Handler(route).ServeHTTP(w, r)
}

// member returns a text of the app's JSON, "" without it.
func member(form []byte, name string) string {
	var members map[string]any
	_ = json.Unmarshal(form, &members)
	text, _ := members[name].(string)
	return text
}

// checkSettings ends the program if variables of the environment are missing.
func checkSettings(names ...string) {
	var missing []string
	for _, name := range names {
		if os.Getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		log.Fatal("missing environment variables: ", strings.Join(missing, ", "))
	}
}

func serve(handler http.Handler) {
	host, port := os.Getenv("HOST"), os.Getenv("PORT")
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "8000"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		log.Fatal("cannot start: ", err)
	}
	fmt.Println("listening on", listener.Addr())
	server := http.Server{Handler: handler, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * time.Minute}
	log.Fatal(server.Serve(listener))
}
