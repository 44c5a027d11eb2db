package siwa

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// longestForm bounds the body of an app's request, in bytes. siwa accepts no longer one.
const longestForm = 65_536

// ReadForm returns the body of an app's request, for SignIn and the other methods that take a form. Error:
// body_too_large (413).
func ReadForm(r *http.Request) ([]byte, error) {
	form, err := io.ReadAll(io.LimitReader(r.Body, longestForm+1))
	if err == nil && len(form) > longestForm {
		err = refused("body_too_large", http.StatusRequestEntityTooLarge, "A form has at most 65536 bytes.")
	}
	return form, err
}

// WriteError sends the status and the JSON of Error.ForApp. An error of any other type becomes 500 internal_error.
func WriteError(w http.ResponseWriter, err error) {
	status, members := http.StatusInternalServerError, map[string]any{"error": "internal_error"}
	var failure *Error
	if errors.As(err, &failure) {
		status, members = failure.ForApp()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An app that has gone gets no response.
	_ = json.NewEncoder(w).Encode(members)
}

// WebhookHandler verifies webhooks as VerifyWebhook does, and calls handle with each event. It responds with 204 when
// handle returns nil. Otherwise siwa sends the event again.
func (c *Client) WebhookHandler(handle func(context.Context, Event) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, longestWebhook+1))
		var event *Event
		if err == nil {
			event, err = c.VerifyWebhook(r.Header, body)
		}
		if err == nil {
			err = handle(r.Context(), *event)
		}
		if err != nil {
			WriteError(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

type tokenKey struct{}

// RequireToken calls next only for requests with an access token that VerifyToken accepts. TokenOf returns the token.
// All other requests get the status of the error, and the challenge of RFC 6750 §3.
func (c *Client) RequireToken(next http.Handler, audience string, scopes ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := c.VerifyToken(r.Context(), r.Header.Get("Authorization"), audience, scopes...)
		if err == nil {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
			return
		}
		switch code := CodeOf(err); code {
		case "keys_unavailable", "unreachable":
		case "token_missing":
			w.Header().Set("WWW-Authenticate", "Bearer")
		case "scope_missing":
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+strings.Join(scopes, " ")+`"`)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		}
		WriteError(w, err)
	})
}

// TokenOf returns the access token of a request behind RequireToken, nil for any other context. Its Sub is the account
// ID.
func TokenOf(ctx context.Context) *IntrospectionResponse {
	token, _ := ctx.Value(tokenKey{}).(*IntrospectionResponse)
	return token
}
