package apptest

import (
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"fmt"
	"sync"
	"sync/atomic"
)

// keyFile contains generated keys, because generating one takes longer than most tests.
//
//go:embed testdata/keys.pem
var keyFile []byte

var (
	loadKeys = sync.OnceValues(func() ([]*rsa.PrivateKey, error) {
		var keys []*rsa.PrivateKey
		for block, rest := pem.Decode(keyFile); block != nil; block, rest = pem.Decode(rest) {
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("testdata/keys.pem: %w", err)
			}
			keys = append(keys, key.(*rsa.PrivateKey))
		}
		return keys, nil
	})
	nextKey atomic.Int64
)

// reservedKeys are not returned by Key, so that they differ from all that it returns.
const reservedKeys = 2

// Key returns a different key for each call, until the file is used up.
func Key() (*rsa.PrivateKey, error) {
	keys, err := loadKeys()
	if err != nil {
		return nil, err
	}
	keys = keys[reservedKeys:]
	return keys[int(nextKey.Add(1))%len(keys)], nil
}

// SharedKey returns the default key of all actors of fake servers.
func SharedKey() *rsa.PrivateKey { return reservedKey(0) }

// ForeignKey returns a key that no actor has.
func ForeignKey() *rsa.PrivateKey { return reservedKey(1) }

func reservedKey(i int) *rsa.PrivateKey {
	keys, err := loadKeys()
	if err != nil {
		panic(err)
	}
	return keys[i]
}
