package siwa

import (
	"bytes"
	"context"
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
	pause, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	<-pause.Done()
	return ctx.Err()
}

// Time is a time of siwa. Its JSON is RFC 3339 in UTC with exactly three digits of a second, as siwa writes it: apps
// with a formatter for such fractions cannot read the shorter forms that time.Time writes.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// members are those of a JSON object.
type members = map[string]any

// request is one call of siwa.
type request struct {
	method  string
	path    string  // with names in braces for the ids
	members members // of the query, or of the body of a POST
	ids     []string

	isForm   bool // the body is a form
	isOnce   bool // a second execution would change something
	hasNoKey bool
	timeout  time.Duration // by default the client's
	attempts int           // by default the client's
}

func get(path string, query members, ids ...string) request {
	return request{method: http.MethodGet, path: path, members: query, ids: ids}
}

func post(path string, body members, ids ...string) request {
	return request{method: http.MethodPost, path: path, members: body, ids: ids}
}

// read makes a call, and returns the model of its response.
func read[Model any](ctx context.Context, c *Client, r request) (*Model, error) {
	model := new(Model)
	if err := c.call(ctx, r, model); err != nil {
		return nil, err
	}
	return model, nil
}

// call makes a call, and sets the model, or none for a response without a body.
func (c *Client) call(ctx context.Context, r request, model any) error {
	if clientID, isNeeded := r.members["client_id"]; isNeeded && clientID == "" {
		return errors.New("siwa: the client needs the app's client_id: set SIWA_CLIENT_ID")
	}
	target := r.path
	for _, id := range r.ids {
		before, after, _ := strings.Cut(target, "{")
		name, after, _ := strings.Cut(after, "}")
		// A proxy would remove these segments, and the request would have another path.
		if id == "" || id == "." || id == ".." {
			return refused(name+"_not_found", http.StatusNotFound, "The ID would change the path of the request.")
		}
		target = before + encoded(id) + after
	}
	header, body := http.Header{"Accept": {"application/json"}, "User-Agent": {"siwa-client-go/" + Version}}, []byte(nil)
	switch {
	case r.isForm:
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		body = []byte(query(r.members))
	case r.method == http.MethodPost:
		header.Set("Content-Type", "application/json")
		body, _ = json.Marshal(r.members)
	case len(r.members) > 0:
		target += "?" + query(r.members)
	}
	if !r.hasNoKey {
		header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
	for attempt := 1; ; attempt++ {
		wasSent, failure := c.once(ctx, or(r.timeout, c.options.Timeout), r.method, target, header, body, model)
		if failure == nil {
			return nil
		}
		pause := or(failure.RetryAfter, time.Duration(attempt)*time.Second)
		wasRefused := !wasSent || failure.Code == "overloaded" || failure.Status == http.StatusTooManyRequests
		if attempt >= or(r.attempts, c.options.Attempts) || !failure.Temporary() || pause > longestPause ||
			(r.isOnce && !wasRefused) || ctx.Err() != nil || c.options.Clock.Sleep(ctx, pause) != nil {
			return failure
		}
	}
}

// encoded escapes all but unreserved characters, as a segment of a path or a value of a query.
func encoded(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

func query(parameters members) string {
	values := url.Values{}
	for name, value := range parameters {
		values.Set(name, fmt.Sprint(value))
	}
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}

func or[Value comparable](value, otherwise Value) Value {
	var absent Value
	if value == absent {
		return otherwise
	}
	return value
}

func (c *Client) once(ctx context.Context, timeout time.Duration, method, target string, header http.Header, body []byte,
	model any) (wasSent bool, failure *Error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// Nothing is sent before there is a connection.
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { wasSent = true }})
	message, err := http.NewRequestWithContext(ctx, method, c.options.URL+target, bytes.NewReader(body))
	if err != nil {
		return false, unreachable(err)
	}
	message.Header = header
	response, err := c.shared.http.RoundTrip(message)
	if err != nil {
		return wasSent, unreachable(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, longestResponse+1))
	if err != nil {
		return wasSent, unreachable(err)
	}
	return wasSent, c.result(response, data, model)
}

func unreachable(err error) *Error {
	return &Error{Code: "unreachable", Detail: fmt.Sprintf("no complete response (%v)", err), wrapped: err}
}

// result sets the model of a successful response, and returns the error of any other.
func (c *Client) result(response *http.Response, data []byte, model any) *Error {
	status := response.StatusCode
	c.checkVersion(response.Header.Get("Siwa-API-Version"))
	if status == http.StatusNoContent && model == nil {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var value members
	if len(data) <= longestResponse && (kind == "application/json" || kind == "application/problem+json") {
		value = object(data)
	}
	if status >= 200 && status < 300 && len(value) > 0 {
		if model != nil && !decode(data, value, model) {
			return &Error{Code: "unexpected_response", Detail: fmt.Sprintf("the response is no %T", model)}
		}
		return nil
	}
	text := func(name string) string {
		text, _ := value[name].(string)
		return text
	}
	failure := &Error{Code: or(text("code"), text("error")), // the second is the form of OAuth (RFC 6749 §5.2)
		Status: status, Detail: text("detail"), RequestID: response.Header.Get("X-Request-ID"), Cause: text("cause")}
	if status < 400 || failure.Code == "" {
		failure.Code, failure.Detail = "unexpected_response", fmt.Sprintf("the response is not siwa's (%s)", kind)
		if status >= 500 || status == http.StatusTooManyRequests {
			failure.Code = "unavailable"
		}
	}
	if reAttest, isBool := value["re_attest"].(bool); isBool {
		failure.ReAttest = &reAttest
	}
	if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 30); err == nil {
		failure.RetryAfter = time.Duration(seconds) * time.Second
	}
	return failure
}

// checkVersion logs another version of siwa's interface, once.
func (c *Client) checkVersion(text string) {
	version, err := strconv.ParseUint(text, 10, 30)
	if err == nil && c.shared.isVersionKnown.CompareAndSwap(false, true) && version != APIVersion {
		c.options.Warn(fmt.Sprintf("siwa's interface has version %d, and siwa-client %s needs %d: upgrade the older of them",
			version, Version, APIVersion))
	}
}

// object reads one JSON object, nil for anything else. Numbers stay texts, so that nothing is rounded.
func object(data []byte) (value members) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	// Go would replace invalid UTF-8, and ignore what follows the object.
	if !utf8.Valid(data) || !json.Valid(data) || decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// decode sets the model from an object and its JSON, and skips unknown members.
//
// encoding/json leaves a missing member empty, and accepts names in any case and times in other forms. So the JSON of the
// model must be a part of the object.
func decode(data []byte, value members, model any) bool {
	if json.Unmarshal(data, model) != nil {
		return false
	}
	own, _ := json.Marshal(model)
	return isPart(object(own), value)
}

func isPart(part, whole any) bool {
	switch part := part.(type) {
	case members:
		whole, isRight := whole.(members)
		for name, member := range part {
			isRight = isRight && isPart(member, whole[name])
		}
		return isRight
	case []any:
		whole, isRight := whole.([]any)
		isRight = isRight && len(part) == len(whole)
		for index := 0; isRight && index < len(part); index++ {
			isRight = isPart(part[index], whole[index])
		}
		return isRight
	}
	return part != nil && part == whole
}

// visibleASCII are the characters of an API key, and of what base64 hides in a form.
var visibleASCII = regexp.MustCompile("^[!-~]+$")

// shared is the part of a client that all copies of it use. It follows no redirects and uses no proxies, so the key
// reaches only siwa.
type shared struct {
	http           http.Transport
	isVersionKnown atomic.Bool
	keys           keyCache
}
