package siwa

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	// Version is the version of this package.
	Version = "0.1.0"
	// APIVersion is the version of siwa's interface that this package was written for.
	APIVersion = 1

	// siwa's longest response, a page of 1,000 events, has about 1 MB.
	longestResponse = 4 << 20
	// A call waits no longer for a repetition: the caller gets the error with RetryAfter in its place.
	longestPause = 5 * time.Second
)

// Clock has the time and the pauses of a client. Tests replace it.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after the duration, and the error of the context when that ends first.
	Sleep(context.Context, time.Duration) error
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transport follows no redirects and uses no proxies, so the key reaches only siwa.
type transport struct {
	base, apiKey   string
	timeout        time.Duration
	attempts       int
	http           http.Transport
	clock          Clock
	warn           func(string)
	isVersionKnown atomic.Bool
}

// The messages do not repeat the key.
var visibleASCII = regexp.MustCompile("^[!-~]+$")

func newTransport(base, apiKey string, options Options) (*transport, error) {
	parts, err := url.Parse(base)
	if err != nil || (parts.Scheme != "http" && parts.Scheme != "https") || parts.Hostname() == "" || parts.User != nil ||
		strings.ContainsAny(base, "?#") {
		return nil, fmt.Errorf("siwa: the URL of siwa must be like https://siwa.internal, not %q", base)
	}
	if !visibleASCII.MatchString(apiKey) {
		return nil, errors.New("siwa: the API key must be visible ASCII characters: set SIWA_API_KEY")
	}
	t := &transport{
		base: strings.TrimRight(base, "/"), apiKey: apiKey, timeout: options.Timeout, attempts: options.Attempts,
		clock: options.Clock, warn: options.Warn,
	}
	// On a connection of an earlier call, net/http repeats requests by itself, also requests that siwa has executed.
	t.http.DisableKeepAlives = true
	t.http.DisableCompression = true
	t.http.TLSClientConfig = options.TLSConfig
	t.http.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	t.http.MaxResponseHeaderBytes = 1 << 16
	return t, nil
}

// request is one call of siwa.
type request struct {
	method, target string
	body           []byte
	contentType    string // by default application/json
	isOnce         bool   // a second execution would change something
	hasNoKey       bool
	timeout        time.Duration // by default the client's
	attempts       int           // by default the client's
	err            error         // refuses the request before it is made
}

// call returns the JSON of a successful response, nil without a body.
func (t *transport) call(ctx context.Context, r request) (map[string]any, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.timeout == 0 {
		r.timeout = t.timeout
	}
	if r.attempts == 0 {
		r.attempts = t.attempts
	}
	for attempt := 1; ; attempt++ {
		value, wasSent, failure := t.once(ctx, r)
		if failure == nil {
			return value, nil
		}
		pause := failure.RetryAfter
		if pause == 0 {
			pause = time.Duration(attempt) * time.Second
		}
		wasRefused := !wasSent || failure.Code == "overloaded" || failure.Status == http.StatusTooManyRequests
		if attempt >= r.attempts || !failure.Temporary() || pause > longestPause || (r.isOnce && !wasRefused) ||
			ctx.Err() != nil || t.clock.Sleep(ctx, pause) != nil {
			return nil, failure
		}
	}
}

func (t *transport) once(ctx context.Context, r request) (value map[string]any, wasSent bool, failure *Error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	// Nothing is sent before there is a connection.
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { wasSent = true }})
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	message, err := http.NewRequestWithContext(ctx, r.method, t.base+r.target, body)
	if err != nil {
		return nil, false, &Error{Code: "unexpected_response", Detail: "the target is not one of a URL", wrapped: err}
	}
	message.Header.Set("User-Agent", "siwa-client-go/"+Version)
	message.Header.Set("Accept", "application/json")
	if !r.hasNoKey {
		message.Header.Set("Authorization", "Bearer "+t.apiKey)
	}
	if r.contentType != "" {
		message.Header.Set("Content-Type", r.contentType)
	} else if r.body != nil {
		message.Header.Set("Content-Type", "application/json")
	}
	response, err := t.http.RoundTrip(message)
	if err != nil {
		return nil, wasSent, unreachable(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, longestResponse+1))
	if err != nil {
		return nil, wasSent, unreachable(err)
	}
	value, failure = t.result(response, data)
	return value, wasSent, failure
}

func unreachable(err error) *Error {
	root := err
	for next := errors.Unwrap(root); next != nil; next = errors.Unwrap(root) {
		root = next
	}
	return &Error{Code: "unreachable", Detail: fmt.Sprintf("no complete response (%v)", root), wrapped: err}
}

func (t *transport) result(response *http.Response, data []byte) (map[string]any, *Error) {
	status := response.StatusCode
	t.checkVersion(response.Header.Get("Siwa-API-Version"))
	if status == http.StatusNoContent {
		return nil, nil
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var value map[string]any
	if len(data) <= longestResponse && (kind == "application/json" || kind == "application/problem+json") {
		value, _ = object(data)
	}
	if status >= 200 && status < 300 && len(value) > 0 {
		return value, nil
	}
	failure := &Error{Status: status, RequestID: response.Header.Get("X-Request-ID")}
	failure.Code, _ = value["code"].(string)
	failure.Detail, _ = value["detail"].(string)
	if failure.Code == "" {
		failure.Code, _ = value["error"].(string) // the form of OAuth (RFC 6749 §5.2)
	}
	if status < 400 || failure.Code == "" {
		failure.Code, failure.Detail = "unexpected_response", ""
		if status >= 500 || status == http.StatusTooManyRequests {
			failure.Code = "unavailable"
		}
	}
	if failure.Detail == "" {
		failure.Detail = fmt.Sprintf("the response is not siwa's (%s)", kind)
	}
	failure.Cause, _ = value["cause"].(string)
	if reAttest, isBool := value["re_attest"].(bool); isBool {
		failure.ReAttest = &reAttest
	}
	// Nine digits are 31 years, and fit into a Duration.
	if after := response.Header.Get("Retry-After"); len(after) <= 9 && isDigits(after) {
		seconds, _ := strconv.Atoi(after)
		failure.RetryAfter = time.Duration(seconds) * time.Second
	}
	return nil, failure
}

func (t *transport) checkVersion(version string) {
	if !isDigits(version) || !t.isVersionKnown.CompareAndSwap(false, true) || version == strconv.Itoa(APIVersion) {
		return
	}
	older := "siwa-client"
	if number, err := strconv.Atoi(version); err == nil && number < APIVersion {
		older = "siwa"
	}
	t.warn(fmt.Sprintf("siwa's interface has version %s, and siwa-client %s needs %d: upgrade %s", version, Version,
		APIVersion, older))
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// object reads one JSON object. Numbers stay texts, so that 1.0 is no integer and nothing is rounded.
func object(data []byte) (map[string]any, error) {
	var value map[string]any
	// Go would replace invalid UTF-8.
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, errors.New("not JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil || value == nil {
		return nil, errors.New("not a JSON object")
	}
	return value, nil
}
