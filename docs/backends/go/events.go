package main

import (
	"log"
	"net/url"
	"time"
)

type event struct {
	Type       string
	AccountID  string `json:"account_id"`
	Sub        string
	ClientID   string `json:"client_id"`
	OccurredAt string `json:"occurred_at"`
}

// handle handles one event. After a crash the same event can come again.
func (b *Backend) handle(event event) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	userID := b.userWithAccount(event.AccountID)
	switch {
	case event.Type == "credential_revoked" && event.AccountID != "" && event.ClientID == clientID:
		// The person may have signed in again, so only sessions that are not later than the event end. Both
		// times are Apple's, and all times have one format, so that they compare as text.
		if event.OccurredAt > b.revocations[event.AccountID] {
			b.revocations[event.AccountID] = event.OccurredAt
		}
		b.endSessions(userID, event.OccurredAt)
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
	case event.Type == "account_erased" && userID != "":
		b.forget(userID)
	case event.Type == "account_transferred" && userID != "":
		// The app is another team's now, where the person has another sub.
		b.users[userID] = user{event.AccountID, event.Sub}
	}
	return nil
}

// eraseIfGone asks what is true now: the person may have kept the Apple Account and signed in again.
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

// readEvents reads one page. The first call, before the first sign-in, keeps where the feed ends now.
func (b *Backend) readEvents() error {
	var page struct {
		Events []event
		Cursor string
	}
	if b.cursor != "" {
		err := siwa("GET", "/v1/events?wait=30&after="+b.cursor, nil, &page, 45*time.Second)
		if err == nil {
			for _, event := range page.Events {
				if err := b.handle(event); err != nil {
					return err
				}
			}
			b.cursor = page.Cursor
			return nil
		}
		if !is(err, "cursor_ahead") {
			return err
		}
	}
	// For a new backend, and when siwa's database was restored from a backup. The cursor comes before the
	// states, so that no change is missed.
	if err := siwa("GET", "/v1/events?after=latest", nil, &page, 12*time.Second); err != nil {
		return err
	}
	if err := b.checkStates(); err != nil {
		return err
	}
	b.cursor = page.Cursor
	return nil
}

func (b *Backend) checkStates() error {
	var subs []string
	known := map[string]string{}
	b.mutex.Lock()
	for userID, user := range b.users {
		if user.sub != "" {
			subs, known[user.sub] = append(subs, user.sub), userID
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
		var result struct{ Credentials []struct{ Sub, State string } }
		if err := siwa("POST", "/v1/credentials/query", query, &result, 12*time.Second); err != nil {
			return err
		}
		b.mutex.Lock()
		for _, credential := range result.Credentials {
			if credential.State != "authorized" {
				b.endSessions(known[credential.Sub], "9999")
			}
		}
		b.mutex.Unlock()
	}
	return nil
}

func (b *Backend) followEvents() {
	for {
		if err := b.readEvents(); err != nil {
			log.Print("reading events failed; the next attempt has the same cursor: ", err)
			time.Sleep(2 * time.Second)
		}
	}
}
