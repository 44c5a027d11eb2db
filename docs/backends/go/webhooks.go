package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	longestWebhook   = 65_536          // bytes in a body. An event from siwa has a few hundred
	webhookTolerance = 5 * time.Minute // by which the clocks may differ. An older message is a replay
)

// WebhookRefused is a message that is not from siwa, or not recent. It repeats nothing from the message.
type WebhookRefused struct {
	status int
	code   string
}

func (r WebhookRefused) Error() string { return r.code }

// webhookKeys returns the keys of one secret, or of two with a space between them during a rotation.
func webhookKeys(secrets string) ([][]byte, error) {
	var keys [][]byte
	for _, secret := range strings.Fields(secrets) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		// Anybody can sign with an empty key.
		if err != nil || !strings.HasPrefix(secret, "whsec_") || len(key) < 24 {
			return nil, errors.New("a secret must be whsec_ and at least 24 bytes in base64")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

var (
	webhookID        = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,64}\z`)
	webhookTimestamp = regexp.MustCompile(`\A[0-9]{1,12}\z`)
)

// verifyWebhook returns the ID of the message, which is the same for each delivery. The body has the bytes
// as they arrived.
func verifyWebhook(header http.Header, body []byte, keys [][]byte, now time.Time) (string, error) {
	if len(body) > longestWebhook {
		return "", WebhookRefused{413, "body_too_large"}
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	if !webhookID.MatchString(id) || !webhookTimestamp.MatchString(timestamp) || signatures == "" {
		return "", WebhookRefused{400, "webhook_headers_invalid"}
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Unix() - seconds; age > int64(webhookTolerance.Seconds()) || -age > int64(webhookTolerance.Seconds()) {
		return "", WebhookRefused{400, "webhook_time_invalid"}
	}
	for _, key := range keys {
		code := hmac.New(sha256.New, key)
		code.Write([]byte(id + "." + timestamp + "."))
		code.Write(body)
		right := []byte("v1," + base64.StdEncoding.EncodeToString(code.Sum(nil)))
		for _, signature := range strings.Split(signatures, " ") {
			// Compares in constant time, so that timing reveals nothing about the signature.
			if hmac.Equal(right, []byte(signature)) {
				return id, nil
			}
		}
	}
	return "", WebhookRefused{401, "webhook_signature_invalid"}
}
