package siwa

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// Bytes of the body of a webhook. An event has some hundreds.
	longestWebhook = 65_536
	// The clocks may differ by so much. An older message is a replay.
	webhookTolerance = 300 * time.Second
)

// webhookKeys returns the keys of secrets with spaces between them, none without a secret.
func webhookKeys(secrets string) ([][]byte, error) {
	var keys [][]byte
	for _, secret := range strings.Fields(secrets) {
		text := strings.TrimPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(text)
		// Anybody can sign with an empty key. The bounds are those of Standard Webhooks.
		if err != nil || text == secret || len(key) < 24 || len(key) > 64 {
			return nil, errors.New("siwa: a webhook secret must be whsec_ and 24 to 64 bytes in base64")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

var (
	webhookID        = regexp.MustCompile("^[A-Za-z0-9_-]{1,64}$")
	webhookTimestamp = regexp.MustCompile("^[0-9]{1,12}$")
)

func verifiedEvent(headers http.Header, rawBody []byte, keys [][]byte, now time.Time) (*Event, error) {
	if len(rawBody) > longestWebhook {
		return nil, refused("body_too_large", http.StatusRequestEntityTooLarge,
			fmt.Sprintf("A webhook has at most %d bytes.", longestWebhook))
	}
	id, timestamp, signatures := headers.Get("Webhook-Id"), headers.Get("Webhook-Timestamp"), headers.Get("Webhook-Signature")
	if !webhookID.MatchString(id) || !webhookTimestamp.MatchString(timestamp) || signatures == "" {
		return nil, refused("webhook_headers_invalid", http.StatusBadRequest,
			"The headers webhook-id, -timestamp and -signature are needed.")
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)); age > webhookTolerance || age < -webhookTolerance {
		return nil, refused("webhook_time_invalid", http.StatusBadRequest,
			fmt.Sprintf("The message is more than %v from now: check the clock.", webhookTolerance))
	}
	isSigned := false
	for _, key := range keys {
		hash := hmac.New(sha256.New, key)
		hash.Write([]byte(id + "." + timestamp + "."))
		hash.Write(rawBody)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(hash.Sum(nil)))
		for _, signature := range strings.Split(signatures, " ") {
			// In constant time, so that the time of a refusal reveals nothing about the signature.
			if hmac.Equal(expected, []byte(signature)) {
				isSigned = true
			}
		}
	}
	if !isSigned {
		return nil, refused("webhook_signature_invalid", http.StatusUnauthorized,
			"No signature is by a secret of this receiver.")
	}
	value, err := object(rawBody)
	if err == nil {
		var event *Event
		if event, err = decoded[Event](value); err == nil {
			return event, nil
		}
	}
	return nil, refused("event_malformed", http.StatusBadRequest, "The body is not an event.")
}
