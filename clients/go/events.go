package siwa

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// While siwa does not respond, attempts to read events have at most this pause between them, unless siwa names more.
const longestEventPause = time.Minute

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
	return string(cursor), err
}

// Save implements CursorStore. After a crash the file has the old cursor or the new one.
func (f FileCursor) Save(_ context.Context, cursor string) error {
	file, err := os.OpenFile(string(f)+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(cursor)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), string(f))
	}
	return err
}

// Events reads all events in their order. Run begins, Position says how far it is.
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
	mutex    sync.Mutex
	position Position
}

// Position is a place in the feed of events.
type Position struct {
	// Cursor is the last saved cursor: all events before it are handled.
	Cursor string
	// IsCaughtUp is true if the last page was the end of the feed.
	IsCaughtUp bool
	// LastResponseAt is the time of siwa's last response. There is one after each Wait.
	LastResponseAt time.Time
}

// Events returns the feed of events from the cursor that the store has.
func (c *Client) Events(store CursorStore) *Events {
	return &Events{client: c, store: store, Wait: 30 * time.Second}
}

// Position returns the current position, for the health check of a backend.
func (e *Events) Position() Position {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.position
}

// Run calls handle with each event, waits for new ones, and returns only with an error: that of handle, of Resync, of
// the store or of the context, or an *Error that needs a person, such as caller_unauthenticated.
//
// It saves the cursor of a page after the page's last event is handled. So an event can come again after a crash, and
// none is lost: handle each event so that a second time changes nothing. While siwa does not respond, it waits and asks
// again with the same cursor.
func (e *Events) Run(ctx context.Context, handle func(context.Context, Event) error) error {
	clock := e.client.transport.clock
	cursor, err := e.store.Load(ctx)
	if err != nil {
		return err
	}
	e.move(func(position *Position) { position.Cursor = cursor })
	for failures := 0; ; {
		began := clock.Now()
		page, err := e.next(ctx, cursor)
		var failure *Error
		if errors.As(err, &failure) && ctx.Err() == nil {
			if failure.Code == "cursor_ahead" && e.Resync != nil && cursor != "" {
				e.client.transport.warn("siwa's feed ends before the saved cursor; all states are read again")
				cursor = ""
				continue
			}
			if !failure.Temporary() {
				return err
			}
			pause := failure.RetryAfter
			if pause == 0 {
				pause = longestEventPause
				if failures < 6 {
					pause = time.Second << failures
				}
			}
			if failures == 0 {
				e.client.transport.warn("reading events failed; the next attempts have the same cursor: " + err.Error())
			}
			failures++
			if err := clock.Sleep(ctx, pause); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		failures = 0
		e.move(func(position *Position) { position.LastResponseAt = clock.Now() })
		for _, event := range page.Events {
			if err := handle(ctx, event); err != nil {
				return err
			}
		}
		if page.Cursor != cursor {
			if err := e.store.Save(ctx, page.Cursor); err != nil {
				return err
			}
			cursor = page.Cursor
		} else if clock.Now().Sub(began) < time.Second {
			// A service that does not wait would be asked without a pause.
			if err := clock.Sleep(ctx, time.Second); err != nil {
				return err
			}
		}
		e.move(func(position *Position) { position.Cursor, position.IsCaughtUp = cursor, !page.HasMore })
	}
}

func (e *Events) move(change func(*Position)) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	change(&e.position)
}

func (e *Events) next(ctx context.Context, cursor string) (*EventPage, error) {
	if cursor != "" {
		return e.page(ctx, "after="+encoded(cursor)+"&wait="+strconv.Itoa(int(e.Wait/time.Second)))
	}
	// The end comes before the states, so that no change between the two is missed.
	end, err := e.page(ctx, "after=latest")
	if err == nil && e.Resync != nil {
		err = e.Resync(ctx)
	}
	return end, err
}

func (e *Events) page(ctx context.Context, query string) (*EventPage, error) {
	return read[EventPage](ctx, e.client, request{
		method: http.MethodGet, target: "/v1/events?" + query, timeout: e.Wait + 15*time.Second, attempts: 1,
	})
}
