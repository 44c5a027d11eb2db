package siwa

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Error is a refusal, or the lack of a usable response. Branch on Code, which never changes its meaning.
//
// Codes with a RequestID come from siwa; docs/api.md lists them. The package makes these codes itself: unreachable (no
// complete response in time; siwa may have executed the call), unavailable (a 5xx or 429 of a proxy),
// unexpected_response (not siwa's response), and the codes that the methods name.
type Error struct {
	Code string
	// Status is the HTTP status, 0 without a response.
	Status int
	// Detail is a sentence for the log. It contains no token and no key.
	Detail string
	// RequestID is the ID of the request in siwa's log.
	RequestID string
	// RetryAfter is the time to wait before the same call can succeed, or 0.
	RetryAfter time.Duration
	// Cause is the reason, with attestation_required and attestation_invalid.
	Cause string
	// ReAttest comes with Cause: true if the app can continue with a new key that it attests.
	ReAttest *bool

	wrapped error
}

func refused(code string, status int, detail string) *Error {
	return &Error{Code: code, Status: status, Detail: detail}
}

// Error returns a line for the log.
func (e *Error) Error() string {
	text := fmt.Sprintf("siwa: %s (status %d, request %q): %s", e.Code, e.Status, e.RequestID, e.Detail)
	if status, _ := e.ForApp(); status == http.StatusInternalServerError {
		text += ": check SIWA_URL and SIWA_API_KEY"
	}
	return text
}

// Unwrap returns the error of the connection or the context behind unreachable, or nil.
func (e *Error) Unwrap() error { return e.wrapped }

// Temporary is true if the same call can succeed later.
func (e *Error) Temporary() bool {
	return e.Code == "unreachable" || e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// ForApp returns the status and the JSON for the app, if a call for one of the app's requests returned this error.
//
// A refusal keeps its status and code. 503 try_again means that the app tries again later. 500 is a mistake of the
// backend, such as a wrong API key: log it. WriteError sends both.
func (e *Error) ForApp() (int, map[string]any) {
	if e.Temporary() {
		return http.StatusServiceUnavailable, members{"error": "try_again"}
	}
	if e.Status == 0 || e.Code == "unexpected_response" || strings.HasPrefix(e.Code, "caller_") {
		return http.StatusInternalServerError, members{"error": "internal_error"}
	}
	body := members{"error": e.Code}
	if e.Cause != "" {
		body["cause"] = e.Cause
	}
	if e.ReAttest != nil {
		body["re_attest"] = *e.ReAttest
	}
	return e.Status, body
}

// CodeOf returns the code of the *Error in err, or "" for any other error and for nil.
func CodeOf(err error) string {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

// WriteError sends the status and the JSON of Error.ForApp. An error of any other type becomes 500 internal_error.
func WriteError(w http.ResponseWriter, err error) {
	failure := &Error{}
	errors.As(err, &failure)
	status, body := failure.ForApp()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// An app that has gone gets no response.
	_ = json.NewEncoder(w).Encode(body)
}

// longestBody bounds the body of an app's request and of a webhook, in bytes. siwa accepts no longer form, and an event
// has some hundreds.
const longestBody = 65_536

// ReadForm returns the body of an app's request, for SignIn and the other methods that take a form. Error:
// body_too_large (413).
func ReadForm(r *http.Request) ([]byte, error) {
	form, err := io.ReadAll(io.LimitReader(r.Body, longestBody+1))
	if err == nil && len(form) > longestBody {
		err = refused("body_too_large", http.StatusRequestEntityTooLarge, "A body has at most 65536 bytes.")
	}
	return form, err
}
