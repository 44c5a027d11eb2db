// Sign in with Apple in a backend, with the package siwa-client. users.go has the tables and the routing.
//
// Environment: SIWA_URL, SIWA_API_KEY, SIWA_CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at, 127.0.0.1 and
// 8000 by default. With SIWA_WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	siwa "example.com/siwa"
)

type backend struct {
	*siwa.Client
	*tables
}

func main() {
	checkSettings("SIWA_URL", "SIWA_API_KEY", "SIWA_CLIENT_ID")
	client, err := siwa.NewClient(siwa.Options{})
	if err == nil {
		err = client.Check(context.Background())
	}
	if err != nil {
		log.Fatal("cannot start: ", err)
	}
	b := backend{client, newTables(os.Getenv("SIWA_WEBHOOK_SECRETS") != "")}
	go b.followEvents()
	handlers := routes{
		"POST /nonce": func(r *http.Request, _ []byte) (any, error) { return b.MakeNonce(r.Context()) },
		"POST /app-attest/challenges": func(r *http.Request, form []byte) (any, error) {
			return b.MakeChallenge(r.Context(), member(form, "purpose"))
		},
		"POST /app-attest/keys": func(r *http.Request, form []byte) (any, error) { return b.RegisterKey(r.Context(), form) },
		"POST /signin":          b.signInWithApple,
		"POST /password":        b.signInWithPassword,
		"POST /signout":         b.signOut,
		"GET /me":               b.showUser,
		"DELETE /account":       b.deleteAccount,
		"POST /google-link":     b.link,
		"GET /links":            b.links,
		"DELETE /links/":        b.unlink,
	}
	if b.usesWebhooks {
		handlers["POST /siwa"] = b.takeWebhook
	}
	serve(handlers)
}

// signInWithApple attaches the Apple Account to the user of the session, if there is a session.
func (b backend) signInWithApple(r *http.Request, form []byte) (any, error) {
	var known user
	err := b.checkReady()
	if err == nil && tokenOf(r) != "" {
		known, err = b.userOf(r)
	}
	if err != nil {
		return nil, err
	}
	outcome, err := b.SignIn(r.Context(), form)
	if err != nil {
		return nil, err
	}
	return b.startSession(known.id, outcome.Account, outcome.Credential.Since.Time)
}

func (b backend) deleteAccount(r *http.Request, _ []byte) (any, error) {
	known, err := b.userOf(r)
	erasure := &siwa.Erasure{}
	if err == nil && known.accountID != "" {
		erasure, err = b.erase(r.Context(), known.accountID)
	}
	if err != nil {
		return nil, err
	}
	b.deleteUser(known.id)
	return struct {
		UserMustRevoke bool   `json:"user_must_revoke"`
		Instructions   string `json:"instructions,omitempty"`
	}{erasure.UserMustRevoke, erasure.Instructions}, nil
}

// erase is done, too, when an earlier attempt has erased the account.
func (b backend) erase(ctx context.Context, accountID string) (*siwa.Erasure, error) {
	erasure, err := b.Delete(ctx, accountID)
	if siwa.CodeOf(err) == "account_not_found" {
		return &siwa.Erasure{}, nil
	}
	return erasure, err
}

// link returns what the app asks the user when there is no decision, and otherwise the URL to open.
func (b backend) link(r *http.Request, form []byte) (any, error) {
	var session siwa.Session
	decision := member(form, "decision")
	// The account is that of the session, never one that the app names. A user who refuses need not be known. About a
	// disabled account siwa decides, which has the URL with which Google ends linking.
	if decision == "granted" || (decision == "" && tokenOf(r) != "") {
		known, since, err := b.sessionOf(r)
		if err == nil && known.accountID == "" {
			err = refused(http.StatusConflict, "apple_account_missing")
		}
		if err != nil {
			return nil, err
		}
		session = siwa.Session{AccountID: known.accountID, AuthenticatedAt: since}
	}
	if decision == "" {
		return b.AppFlipPrompt(r.Context(), form, session)
	}
	return b.AppFlip(r.Context(), form, session)
}

// links returns the clients that have access to the account, such as Google.
func (b backend) links(r *http.Request, _ []byte) (any, error) {
	links := []siwa.Grant{}
	known, err := b.userOf(r)
	if err == nil && known.accountID != "" {
		links, err = b.Grants(r.Context(), known.accountID)
	}
	if siwa.CodeOf(err) == "account_not_found" { // erased elsewhere
		links, err = []siwa.Grant{}, nil
	}
	return map[string]any{"links": links}, err
}

var linkID = regexp.MustCompile("^grt_[0-9a-f-]{1,64}$")

// unlink is done, too, when an earlier attempt has ended the link.
func (b backend) unlink(r *http.Request, _ []byte) (any, error) {
	known, err := b.userOf(r)
	id := strings.TrimPrefix(r.URL.Path, "/links/")
	if err == nil && !linkID.MatchString(id) {
		err = refused(http.StatusNotFound, "not_found")
	}
	if err == nil && known.accountID != "" {
		err = b.EndGrant(r.Context(), known.accountID, id)
	}
	if code := siwa.CodeOf(err); code == "grant_not_found" || code == "account_not_found" {
		err = nil
	}
	return struct{}{}, err
}

// followEvents reads the feed. With webhooks, it does so only until the feed has begun.
func (b backend) followEvents() {
	feed := b.Events(b.tables)
	feed.Resync = b.resync
	for {
		err := feed.Run(context.Background(), b.handle)
		if err == errWebhooks {
			return
		}
		log.Print("reading events failed; the next attempt has the same cursor: ", err)
		time.Sleep(2 * time.Second)
	}
}

// handle handles one event. After a crash the same event can come again.
func (b backend) handle(ctx context.Context, event siwa.Event) error {
	if sub := b.subOf(event.AccountID); event.Type == siwa.EventTypeAccountDeleted && sub != "" {
		// The user may have kept the Apple Account and signed in again.
		credential, err := b.State(ctx, sub)
		if err != nil || credential.State == siwa.CredentialStateAuthorized {
			return err
		}
		if _, err = b.erase(ctx, event.AccountID); err != nil {
			return err
		}
		event.Type = siwa.EventTypeAccountErased
	}
	b.apply(event)
	return nil
}

// resync reads the states, which stand for the events that were missed.
func (b backend) resync(ctx context.Context) error {
	subs, events := b.missed()
	states, err := b.States(ctx, subs)
	for _, state := range states {
		event := events[state.Sub]
		b.setDisabled(event.AccountID, state.AccountDisabled != nil && *state.AccountDisabled)
		if event.ClientID = state.ClientID; state.Since != nil { // siwa may not know the user
			event.OccurredAt = *state.Since
		}
		switch state.Reason {
		case siwa.CredentialReasonAppleAccountDeleted:
			event.Type = siwa.EventTypeAccountDeleted
		case siwa.CredentialReasonErased:
			event.Type = siwa.EventTypeAccountErased
		}
		if err == nil && state.State != siwa.CredentialStateAuthorized {
			err = b.handle(ctx, event)
		}
	}
	return err
}

// takeWebhook handles the event of a webhook. siwa gets 2xx when everything is stored, and sends the event again otherwise.
func (b backend) takeWebhook(r *http.Request, body []byte) (any, error) {
	event, err := b.VerifyWebhook(r.Header, body)
	if err == nil {
		err = b.checkReady()
	}
	// An event that comes again is not handled again: later events may have come in between.
	if err == nil && !b.isHandled(event.ID) {
		if err = b.handle(r.Context(), *event); err == nil {
			b.setHandled(event.ID)
		}
	}
	return struct{}{}, err
}
