package main

import (
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"time"
)

type event struct {
	Type       string
	AccountID  string `json:"account_id"`
	TeamID     string `json:"team_id"`
	Sub        string
	ClientID   string `json:"client_id"`
	OccurredAt string `json:"occurred_at"`
}

// handle handles one event. After a crash the same event can come again.
func (b *Backend) handle(event event) error {
	if event.AccountID == "" { // about a user who has never signed in
		return nil
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	userID := b.userWithAccount(event.AccountID)
	switch {
	case event.Type == "credential_revoked" && event.ClientID == clientID, event.Type == "sessions_ended":
		// The user may have signed in again, so only sessions that are not later than the event end. The
		// times can be compared, and all have one format, so that they compare as text.
		if event.OccurredAt > b.revocations[event.AccountID] {
			b.revocations[event.AccountID] = event.OccurredAt
		}
		b.endSessions(userID, event.OccurredAt)
		if event.Type == "sessions_ended" { // signed out everywhere, also where the session began with a password
			b.endPasswordSessions(userID)
		}
	case event.Type == "account_disabled":
		b.disabled[event.AccountID] = true
	case event.Type == "account_enabled":
		delete(b.disabled, event.AccountID)
	case event.Type == "account_deleted" && userID != "":
		sub := b.users[userID].sub
		b.mutex.Unlock()
		isGone, err := eraseIfGone(event.AccountID, sub)
		b.mutex.Lock()
		if err != nil {
			return err
		}
		if isGone {
			b.forget(userID)
		}
	case event.Type == "account_erased":
		delete(b.disabled, event.AccountID)
		if userID == "" {
			// A user who has signed in again since the erasure was found by sub, and is deleted here as well.
			userID = b.userWhere(func(user user) bool { return user.formerID == event.AccountID })
		}
		if userID != "" {
			b.forget(userID)
		}
	case event.Type == "account_transferred" && userID != "":
		// The app belongs to another team, where the user has another sub.
		b.users[userID] = user{event.AccountID, event.TeamID, event.Sub, b.users[userID].formerID}
	}
	return nil
}

// eraseIfGone reads the state first: the user may have kept the Apple Account and signed in again.
func eraseIfGone(accountID, sub string) (bool, error) {
	var credential struct{ State string }
	path := "/v1/credentials/" + url.PathEscape(sub) + "?client_id=" + clientID
	err := siwa("GET", path, nil, &credential, 12*time.Second)
	if err != nil || credential.State == "authorized" {
		return false, err
	}
	_, err = erase(accountID)
	return err == nil, err
}

const timeOfHandled = 8 * 24 * time.Hour // siwa sends an event again for seven days

// takeWebhook handles the event of a webhook. siwa gets 2xx when everything is stored, and sends the event again
// otherwise.
func (b *Backend) takeWebhook(header http.Header, content []byte) (any, error) {
	now := time.Now()
	id, err := verifyWebhook(header, content, b.webhookKeys, now)
	if err != nil {
		return nil, err
	}
	b.mutex.Lock()
	_, isHandled := b.handled[id]
	feedHasBegun := b.feedHasBegun
	b.mutex.Unlock()
	if !feedHasBegun {
		return nil, Refused{503, "try_again"} // the states that beginFeed is reading can be older than the event
	}
	// An event that comes again is not handled again: later events may have come in between.
	if isHandled {
		return struct{}{}, nil
	}
	var event event
	if err := json.Unmarshal(content, &event); err != nil {
		return nil, err
	}
	if err := b.handle(event); err != nil {
		return nil, err
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.handled[id] = now
	return struct{}{}, nil
}

// removeHandled removes what siwa does not send again, once an hour.
func (b *Backend) removeHandled() {
	for now := range time.Tick(time.Hour) {
		b.mutex.Lock()
		for id, moment := range b.handled {
			if moment.Before(now.Add(-timeOfHandled)) {
				delete(b.handled, id)
			}
		}
		b.mutex.Unlock()
	}
}

type eventPage struct {
	Events []event
	Cursor string
}

// readEvents reads one page.
func (b *Backend) readEvents() error {
	if b.cursor == "" {
		return b.beginFeed()
	}
	var page eventPage
	err := siwa("GET", "/v1/events?wait=30&after="+b.cursor, nil, &page, 45*time.Second)
	if is(err, "cursor_ahead") { // siwa's database was restored from a backup
		return b.beginFeed()
	}
	if err != nil {
		return err
	}
	for _, event := range page.Events {
		if err := b.handle(event); err != nil {
			return err
		}
	}
	b.cursor = page.Cursor
	return nil
}

var eventOfReason = map[string]string{"apple_account_deleted": "account_deleted", "erased": "account_erased"}

// beginFeed begins where the feed ends now, when there is no usable cursor. The states stand for earlier events.
func (b *Backend) beginFeed() error {
	var page eventPage
	// Before the states, so that no change is missed.
	if err := siwa("GET", "/v1/events?after=latest", nil, &page, 12*time.Second); err != nil {
		return err
	}
	var subs []string
	accounts, latest := map[string]string{}, map[string]string{}
	b.mutex.Lock()
	for _, user := range b.users {
		if user.sub != "" {
			subs, accounts[user.sub] = append(subs, user.sub), user.accountID
		}
	}
	for _, row := range b.sessions {
		if sub := b.users[row.userID].sub; row.since > latest[sub] {
			latest[sub] = row.since
		}
	}
	b.mutex.Unlock()
	for len(subs) > 0 {
		count := len(subs)
		if count > 1000 {
			count = 1000
		}
		query := map[string]any{"client_id": clientID, "subs": subs[:count]}
		subs = subs[count:]
		var result struct {
			Credentials []struct {
				Sub, State, Reason, Since string
				IsDisabled                bool `json:"account_disabled"`
			}
		}
		if err := siwa("POST", "/v1/credentials/query", query, &result, 12*time.Second); err != nil {
			return err
		}
		for _, credential := range result.Credentials {
			account := event{Type: "account_enabled", AccountID: accounts[credential.Sub]}
			if credential.IsDisabled {
				account.Type = "account_disabled"
			}
			if err := b.handle(account); err != nil {
				return err
			}
			if credential.State == "authorized" {
				continue
			}
			change := event{Type: "credential_revoked", AccountID: accounts[credential.Sub], ClientID: clientID}
			if name := eventOfReason[credential.Reason]; name != "" {
				change.Type = name
			}
			change.OccurredAt = credential.Since
			if change.OccurredAt == "" {
				// If siwa does not know the user, the sessions from before the query end.
				change.OccurredAt = latest[credential.Sub]
			}
			if err := b.handle(change); err != nil {
				return err
			}
		}
	}
	b.cursor = page.Cursor
	b.mutex.Lock()
	b.feedHasBegun = true
	b.mutex.Unlock()
	return nil
}

// followEvents reads the feed. With webhooks, it does so only until the feed has begun.
func (b *Backend) followEvents() {
	for len(b.webhookKeys) == 0 || b.cursor == "" {
		if err := b.readEvents(); err != nil {
			log.Print("reading events failed; the next attempt has the same cursor: ", err)
			time.Sleep(2 * time.Second)
		}
	}
}
