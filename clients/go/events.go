package siwa

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// CursorStore keeps the position in the feed, best in the same database as the sessions.
type CursorStore interface {
	// Load returns the saved cursor, or "" for a new backend.
	Load(context.Context) (string, error)
	// Save stores the cursor. An error ends Run, and the events come again.
	Save(ctx context.Context, cursor string) error
}

// FileCursor keeps the cursor in the file with this path, for one process.
type FileCursor string

// Load implements CursorStore.
func (f FileCursor) Load(context.Context) (string, error) {
	cursor, err := os.ReadFile(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(cursor)), err
}

// Save implements CursorStore. After a crash the file has the old cursor or the new one.
func (f FileCursor) Save(_ context.Context, cursor string) error {
	file, err := os.OpenFile(string(f)+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_SYNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = file.WriteString(cursor); err != nil {
		return err
	}
	return os.Rename(file.Name(), string(f))
}

// Events reads all events in their order. Run begins, Check says whether it has begun, Position says how far it is.
//
// Without a saved cursor, and after cursor_ahead (siwa's database was restored from a backup), it begins at the end of
// the feed. Earlier events are missed, so it first calls Resync.
type Events struct {
	// Resync must read the states of all users with Client.States, and end sessions whose state is not authorized.
	// Without it, cursor_ahead ends Run.
	Resync func(context.Context) error
	// Wait is how long siwa keeps a request open when there are no events, by default 30 seconds.
	Wait time.Duration

	client   *Client
	store    CursorStore
	position atomic.Pointer[Position]
}

// Position is a place in the feed of events.
type Position struct {
	// Cursor is the last saved cursor: all events before it are handled. It is "" until a new backend has begun to read the
	// feed (Check).
	Cursor string
	// IsCaughtUp is true if the last page was the end of the feed.
	IsCaughtUp bool
	// LastResponseAt is the time of the last response whose events are handled. There is one after each Wait.
	LastResponseAt time.Time
}

// Pauses of attempts to read events while siwa does not respond.
var pauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second,
	32 * time.Second, time.Minute}

// Events returns the feed of events from the cursor that the store has.
func (c *Client) Events(store CursorStore) *Events {
	return &Events{client: c, store: store, Wait: 30 * time.Second}
}

// Check returns the error feed_not_begun (503) until the feed has begun. Call it before each sign-in.
func (e *Events) Check() error {
	if e.Position().Cursor == "" {
		return refused("feed_not_begun", http.StatusServiceUnavailable, "The revocation of a sign-in could be missed.")
	}
	return nil
}

// Position returns the current position, for the health check of a backend.
func (e *Events) Position() Position { return *or(e.position.Load(), &Position{}) }

// Run calls handle with each event, waits for new ones, and returns only with an error: that of handle, of Resync, of
// the store or of the context, or an *Error that needs a person, such as caller_unauthenticated.
//
// It saves the cursor of a page after the page's last event is handled. So an event can come again after a crash, and
// none is lost: handle each event so that a second time changes nothing. While siwa does not respond, it waits and asks
// again with the same cursor.
func (e *Events) Run(ctx context.Context, handle func(context.Context, Event) error) error {
	clock, warn := e.client.options.Clock, e.client.options.Warn
	cursor, err := e.store.Load(ctx)
	e.position.Store(&Position{Cursor: cursor})
	for failures := 0; err == nil; {
		began := clock.Now()
		page, failed := e.next(ctx, cursor)
		var failure *Error
		switch {
		case failed == nil:
			failures = 0
			err = e.take(ctx, page, cursor, began, handle)
			cursor = page.Cursor
		case !errors.As(failed, &failure) || ctx.Err() != nil:
			err = failed
		case failure.Code == "cursor_ahead" && e.Resync != nil && cursor != "":
			warn("siwa's feed ends before the saved cursor; all states are read again")
			cursor = ""
		case !failure.Temporary():
			err = failed
		default:
			if failures == 0 {
				warn("reading events failed; the next attempts have the same cursor: " + failed.Error())
			}
			err = clock.Sleep(ctx, or(failure.RetryAfter, pauses[failures]))
			if failures < len(pauses)-1 {
				failures++
			}
		}
	}
	return err
}

func (e *Events) next(ctx context.Context, cursor string) (*EventPage, error) {
	r := get("/v1/events", members{"after": "latest"})
	r.timeout, r.attempts = e.Wait+15*time.Second, 1
	if cursor != "" {
		r.members = members{"after": cursor, "wait": int(e.Wait / time.Second)}
	}
	page, err := read[EventPage](ctx, e.client, r)
	// The end comes before the states, so that no change between the two is missed.
	if err == nil && cursor == "" && e.Resync != nil {
		err = e.Resync(ctx)
	}
	return page, err
}

// take handles the events of a page, and saves its cursor.
func (e *Events) take(ctx context.Context, page *EventPage, cursor string, began time.Time,
	handle func(context.Context, Event) error) error {
	clock := e.client.options.Clock
	respondedAt := clock.Now()
	for _, event := range page.Events {
		if err := handle(ctx, event); err != nil {
			return err
		}
	}
	if page.Cursor != cursor {
		if err := e.store.Save(ctx, page.Cursor); err != nil {
			return err
		}
	}
	e.position.Store(&Position{page.Cursor, !page.HasMore, respondedAt})
	// A service that does not wait would be asked without a pause.
	if page.Cursor == cursor && clock.Now().Sub(began) < time.Second {
		return clock.Sleep(ctx, time.Second)
	}
	return nil
}

// webhookTolerance is the difference that the clocks may have. An older message is a replay.
const webhookTolerance = 300 * time.Second

var (
	webhookID        = regexp.MustCompile("^[A-Za-z0-9_-]{1,64}$")
	webhookTimestamp = regexp.MustCompile("^[0-9]{1,12}$")
)

// webhookKeys returns the keys of secrets with spaces between them, none without a secret.
func webhookKeys(secrets string) (keys [][]byte, err error) {
	for _, secret := range strings.Fields(secrets) {
		text := strings.TrimPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(text)
		// Anybody can sign with an empty key. The bounds are those of Standard Webhooks.
		if err != nil || text == secret || len(key) < 24 || len(key) > 64 {
			return nil, errors.New("SIWA_WEBHOOK_SECRETS: a secret must be whsec_ and 24 to 64 bytes in base64")
		}
		keys = append(keys, key)
	}
	return keys, nil
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
	if len(rawBody) > longestBody {
		return nil, refused("body_too_large", http.StatusRequestEntityTooLarge, "A webhook has at most 65536 bytes.")
	}
	id, timestamp, signatures := headers.Get("Webhook-Id"), headers.Get("Webhook-Timestamp"), headers.Get("Webhook-Signature")
	if !webhookID.MatchString(id) || !webhookTimestamp.MatchString(timestamp) || signatures == "" {
		return nil, refused("webhook_headers_invalid", http.StatusBadRequest,
			"The headers webhook-id, -timestamp and -signature are needed.")
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if age := c.options.Clock.Now().Sub(time.Unix(seconds, 0)); age.Abs() > webhookTolerance {
		return nil, refused("webhook_time_invalid", http.StatusBadRequest,
			"The message is more than 300 s from now: check the clock.")
	}
	isSigned := false
	for _, key := range c.webhookKeys {
		hash := hmac.New(sha256.New, key)
		hash.Write([]byte(id + "." + timestamp + "."))
		hash.Write(rawBody)
		expected := "v1," + base64.StdEncoding.EncodeToString(hash.Sum(nil))
		for _, signature := range strings.Split(signatures, " ") {
			// In constant time, so that the time of a refusal reveals nothing about the signature.
			isSigned = hmac.Equal([]byte(expected), []byte(signature)) || isSigned
		}
	}
	if !isSigned {
		return nil, refused("webhook_signature_invalid", http.StatusUnauthorized, "No signature is by a secret of this receiver.")
	}
	event := &Event{}
	if !decode(rawBody, object(rawBody), event) {
		return nil, refused("event_malformed", http.StatusBadRequest, "The body is not an event.")
	}
	return event, nil
}

// WebhookHandler verifies webhooks as VerifyWebhook does, and calls handle with each event. It responds with 200 when
// handle returns nil. Otherwise siwa sends the event again.
func (c *Client) WebhookHandler(handle func(context.Context, Event) error) http.Handler {
	return Handler(func(r *http.Request, body []byte) (any, error) {
		event, err := c.VerifyWebhook(r.Header, body)
		if err == nil {
			err = handle(r.Context(), *event)
		}
		return struct{}{}, err
	})
}
