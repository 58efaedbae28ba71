package server_test

import (
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"fmt"
	"sync"
	"sync/atomic"
)

// testKeyText are keys that were made before, because making one takes longer than most tests.
//
//go:embed testdata/keys.pem
var testKeyText []byte

var (
	testKeys = sync.OnceValues(func() ([]*rsa.PrivateKey, error) {
		var keys []*rsa.PrivateKey
		for block, rest := pem.Decode(testKeyText); block != nil; block, rest = pem.Decode(rest) {
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("testdata/keys.pem: %w", err)
			}
			keys = append(keys, key.(*rsa.PrivateKey))
		}
		return keys, nil
	})
	usedKeys atomic.Int64
)

// testKey returns a key that is another than the last ones.
func testKey() (*rsa.PrivateKey, error) {
	keys, err := testKeys()
	if err != nil {
		return nil, err
	}
	return keys[int(usedKeys.Add(1))%len(keys)], nil
}
