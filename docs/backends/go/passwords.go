package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Passwords is the password sign-in that your backend may have already; keep yours. This one reads its users
// from PASSWORD_USERS, as user_id:name:iterations:salt:hash with salt and hash in hexadecimal, separated by
// commas (PBKDF2 with HMAC-SHA-256).
type Passwords struct {
	mutex sync.Mutex
	users map[string]passwordUser
}

type passwordUser struct {
	id         string
	iterations int
	salt, hash []byte
}

func readPasswords() *Passwords {
	users := map[string]passwordUser{}
	for _, entry := range strings.Split(os.Getenv("PASSWORD_USERS"), ",") {
		if part := strings.Split(entry, ":"); len(part) == 5 {
			iterations, _ := strconv.Atoi(part[2])
			salt, _ := hex.DecodeString(part[3])
			hash, _ := hex.DecodeString(part[4])
			users[part[1]] = passwordUser{part[0], iterations, salt, hash}
		}
	}
	return &Passwords{users: users}
}

// check returns the user's ID, or "" when the name is unknown or the password is wrong.
func (p *Passwords) check(name, password string) string {
	p.mutex.Lock()
	user, isKnown := p.users[name]
	p.mutex.Unlock()
	if !isKnown {
		user.iterations = 600_000
	}
	if !hmac.Equal(pbkdf2(password, user.salt, user.iterations), user.hash) {
		return ""
	}
	return user.id
}

// pbkdf2 is RFC 8018 §5.2 for one block. From Go 1.24 on it is in crypto/pbkdf2.
func pbkdf2(password string, salt []byte, iterations int) []byte {
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write(append(append([]byte{}, salt...), 0, 0, 0, 1))
	block := mac.Sum(nil)
	result := append([]byte{}, block...)
	for i := 1; i < iterations; i++ {
		mac.Reset()
		mac.Write(block)
		block = mac.Sum(block[:0])
		for j := range result {
			result[j] ^= block[j]
		}
	}
	return result
}

func (p *Passwords) exists(userID string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, user := range p.users {
		if user.id == userID {
			return true
		}
	}
	return false
}

func (p *Passwords) remove(userID string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for name, user := range p.users {
		if user.id == userID {
			delete(p.users, name)
		}
	}
}
