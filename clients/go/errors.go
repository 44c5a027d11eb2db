package siwa

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
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
	text := "siwa: " + e.Code
	if e.Status != 0 {
		text += fmt.Sprintf(", status %d", e.Status)
	}
	if e.RequestID != "" {
		text += fmt.Sprintf(", request %q", e.RequestID)
	}
	text += ": " + strings.TrimSuffix(e.Detail, ".")
	var connection *net.OpError
	if errors.As(e.wrapped, &connection) {
		text += "; check SIWA_URL, or start siwa"
	} else if status, _ := e.ForApp(); status == http.StatusInternalServerError || e.Code == "not_found" {
		text += "; check SIWA_URL and SIWA_API_KEY"
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
// backend, such as a wrong API key: log it. Handler does all this.
func (e *Error) ForApp() (int, map[string]any) {
	if e.Temporary() {
		return http.StatusServiceUnavailable, members{"error": "try_again"}
	}
	if e.Status == 0 || e.Code == "unexpected_response" || strings.HasPrefix(e.Code, "caller_") {
		return http.StatusInternalServerError, members{"error": "internal_error"}
	}
	body := given(members{"error": e.Code, "cause": e.Cause}, "error", "cause")
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

// Handler responds with the JSON that respond returns for the body of an app's request, or with the status and the JSON of
// its error (Error.ForApp). An error of any other type becomes 500 internal_error, and a longer body than siwa accepts 413
// body_too_large. Errors with 5xx are logged. It accepts any method.
func Handler(respond func(r *http.Request, body []byte) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var result any
		body, err := io.ReadAll(io.LimitReader(r.Body, longestBody+1))
		if err == nil && len(body) > longestBody {
			err = refused("body_too_large", http.StatusRequestEntityTooLarge, "A body has at most 65536 bytes.")
		}
		if err == nil {
			result, err = respond(r, body)
		}
		write(w, r, result, err)
	})
}

func write(w http.ResponseWriter, r *http.Request, result any, err error) {
	status := http.StatusOK
	if err != nil {
		failure := &Error{}
		errors.As(err, &failure)
		if status, result = failure.ForApp(); status >= 500 {
			log.Printf("%s %q: %v", r.Method, r.URL.Path, err)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // URLs stay as they are
	// An app that has gone gets no response.
	_ = encoder.Encode(result)
}

// longestBody bounds the body of an app's request and of a webhook, in bytes. siwa accepts no longer form, and an event
// has some hundreds.
const longestBody = 65_536
