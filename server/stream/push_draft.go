package stream

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"

	"svc/store"
)

// draftPushClient sends push messages as in the drafts before RFC 8291, for subscriptions that do not ask for the standard: some
// apps read nothing else, and browsers read both. It replaces body and headers of requests in the standard form.
type draftPushClient struct {
	Outbound
	subscription *store.PushSubscription
	message      []byte
}

// Do sends the message as the body of the request.
func (o draftPushClient) Do(req *http.Request) (*http.Response, error) {
	sealed, salt, public, err := sealDraft(o.subscription, o.message)
	if err != nil {
		return nil, err
	}
	b64 := base64.RawURLEncoding
	token, key, _ := strings.Cut(strings.TrimPrefix(req.Header.Get("Authorization"), "vapid t="), ", k=")
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(sealed)), int64(len(sealed))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sealed)), nil }
	req.Header.Set("Content-Encoding", "aesgcm")
	req.Header.Set("Encryption", "salt="+b64.EncodeToString(salt))
	req.Header.Set("Crypto-Key", "dh="+b64.EncodeToString(public)+";p256ecdsa="+key)
	req.Header.Set("Authorization", "WebPush "+token)
	return o.Outbound.Do(req)
}

// sealDraft encrypts a message (draft-ietf-webpush-encryption-04 4, draft-ietf-httpbis-encryption-encoding-03 3 and 4). public is
// the key made for the message. It adds no padding, which some apps do not expect.
func sealDraft(to *store.PushSubscription, message []byte) (sealed, salt, public []byte, err error) {
	theirs, err := ecdh.P256().NewPublicKey(to.P256dh)
	if err != nil {
		return nil, nil, nil, err
	}
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	shared, err := private.ECDH(theirs)
	if err != nil {
		return nil, nil, nil, err
	}
	public = private.PublicKey().Bytes()
	salt = make([]byte, 16)
	rand.Read(salt)
	secret, err := hkdf.Key(sha256.New, shared, to.Auth, "Content-Encoding: auth\x00", 32)
	if err != nil {
		return nil, nil, nil, err
	}
	parties := fmt.Sprintf("P-256\x00%s%s", lengthPrefixed(to.P256dh), lengthPrefixed(public))
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aesgcm\x00"+parties, 16)
	if err != nil {
		return nil, nil, nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00"+parties, 12)
	if err != nil {
		return nil, nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, nil, nil, err
	}
	const noPadding = "\x00\x00"
	return gcm.Seal(nil, nonce, append([]byte(noPadding), message...), nil), salt, public, nil
}

// lengthPrefixed returns a key after its length.
func lengthPrefixed(key []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(key))), key...)
}
