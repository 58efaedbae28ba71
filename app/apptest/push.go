package apptest

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// PushService is a Web Push service that records the messages to its devices.
type PushService struct {
	*httptest.Server
	t       testing.TB
	mu      sync.Mutex
	devices []*Device
	respond func(http.ResponseWriter, *http.Request) // nil: 201
}

func StartPushService(t testing.TB) *PushService {
	p := &PushService{t: t}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *PushService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || r.Method != "POST" {
		p.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	for _, d := range p.devices {
		if r.URL.Path == d.Path {
			d.tries++
			if p.respond != nil {
				p.respond(w, r)
				return
			}
			d.sent = append(d.sent, PushMessage{r.Header.Clone(), body})
			w.WriteHeader(http.StatusCreated)
			return
		}
	}
	w.WriteHeader(http.StatusGone)
}

// Fail sets the status and headers (in pairs) of all responses; 0: accept messages again.
func (p *PushService) Fail(status int, headers ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.respond = nil
	if status != 0 {
		p.respond = func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
		}
	}
}

// Device is a push subscription of a browser.
type Device struct {
	Service *PushService
	Path    string
	Key     *ecdh.PrivateKey
	Auth    []byte
	sent    []PushMessage
	tries   int
}

type PushMessage struct {
	Header http.Header
	Body   []byte
}

func (p *PushService) NewDevice() *Device {
	p.t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	d := &Device{Service: p, Key: key, Auth: make([]byte, 16)}
	rand.Read(d.Auth)
	p.mu.Lock()
	defer p.mu.Unlock()
	d.Path = fmt.Sprintf("/device/%d", len(p.devices))
	p.devices = append(p.devices, d)
	return d
}

// PushAlerts returns the names of the types of notifications that can be push messages.
func PushAlerts() (names []string) {
	for _, t := range store.NotificationTypesWhere(func(k *store.NotificationKind) bool { return k.Alert }) {
		names = append(names, cmp.Or(t.Kind().AlertName, notificationName(t)))
	}
	return names
}

// SubscribeParams returns the request body that subscribes the device to these alerts, or to all if none is given.
func (d *Device) SubscribeParams(alerts ...string) map[string]any {
	if len(alerts) == 0 {
		alerts = PushAlerts()
	}
	set := map[string]any{}
	for _, a := range alerts {
		set[a] = true
	}
	b64 := base64.RawURLEncoding
	return map[string]any{
		"subscription": map[string]any{
			"endpoint": d.Service.URL + d.Path, "standard": true,
			"keys": map[string]any{"p256dh": b64.EncodeToString(d.Key.PublicKey().Bytes()), "auth": b64.EncodeToString(d.Auth)},
		},
		"data": map[string]any{"alerts": set},
	}
}

// SubscribePush subscribes a new device with the client's token.
func (c *Client) SubscribePush(p *PushService, alerts ...string) *Device {
	c.Server.T.Helper()
	d := p.NewDevice()
	c.SendJSON("POST", "/api/v1/push/subscription", d.SubscribeParams(alerts...)).Want(200)
	return d
}

// Messages returns the decrypted messages to the device since its last call.
func (d *Device) Messages() []*Object {
	t := d.Service.t
	t.Helper()
	d.Service.mu.Lock()
	defer d.Service.mu.Unlock()
	list := []*Object{}
	for _, s := range d.sent {
		text, err := d.decrypt(s)
		if err != nil {
			t.Fatalf("cannot decrypt a message: %v", err)
		}
		o := &Object{T: t}
		if err := json.Unmarshal([]byte(fromTestName(string(text))), &o.Fields); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		list = append(list, o)
	}
	d.sent = nil
	return list
}

func (d *Device) Tries() int {
	d.Service.mu.Lock()
	defer d.Service.mu.Unlock()
	return d.tries
}

// decrypt decrypts a message as a browser does.
func (d *Device) decrypt(s PushMessage) ([]byte, error) {
	switch encoding := s.Header.Get("Content-Encoding"); encoding {
	case "aes128gcm":
		return d.decryptStandard(s)
	case "aesgcm":
		return d.decryptDraft(s)
	default:
		return nil, fmt.Errorf("encoding %q", encoding)
	}
}

// decryptStandard implements RFC 8291 section 3.4 and RFC 8188 section 2.
func (d *Device) decryptStandard(s PushMessage) ([]byte, error) {
	if len(s.Body) < 86 || len(s.Body) > 4096 || s.Body[20] != 65 || int(binary.BigEndian.Uint32(s.Body[16:])) < len(s.Body)-86 {
		return nil, fmt.Errorf("a malformed header in %d bytes", len(s.Body))
	}
	salt, theirs, sealed := s.Body[:16], s.Body[21:86], s.Body[86:]
	public, err := ecdh.P256().NewPublicKey(theirs)
	if err != nil {
		return nil, err
	}
	shared, err := d.Key.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(d.Key.PublicKey().Bytes()) + string(theirs)
	secret := derive(shared, d.Auth, info, 32)
	text, err := open(derive(secret, salt, "Content-Encoding: aes128gcm\x00", 16), derive(secret, salt, "Content-Encoding: nonce\x00", 12), sealed)
	if err != nil {
		return nil, err
	}
	text = []byte(strings.TrimRight(string(text), "\x00"))
	if len(text) == 0 || text[len(text)-1] != 2 {
		return nil, fmt.Errorf("the last record has no delimiter")
	}
	return text[:len(text)-1], nil
}

// decryptDraft implements draft-ietf-webpush-encryption-04 section 4.
func (d *Device) decryptDraft(s PushMessage) ([]byte, error) {
	b64 := base64.RawURLEncoding
	salt, err := b64.DecodeString(strings.TrimPrefix(s.Header.Get("Encryption"), "salt="))
	if err != nil || len(salt) != 16 {
		return nil, fmt.Errorf("header Encryption %q: %v", s.Header.Get("Encryption"), err)
	}
	dh, _, _ := strings.Cut(strings.TrimPrefix(s.Header.Get("Crypto-Key"), "dh="), ";")
	theirs, err := b64.DecodeString(dh)
	if err != nil {
		return nil, err
	}
	public, err := ecdh.P256().NewPublicKey(theirs)
	if err != nil {
		return nil, err
	}
	shared, err := d.Key.ECDH(public)
	if err != nil {
		return nil, err
	}
	secret := derive(shared, d.Auth, "Content-Encoding: auth\x00", 32)
	parties := "P-256\x00\x00\x41" + string(d.Key.PublicKey().Bytes()) + "\x00\x41" + string(theirs)
	text, err := open(derive(secret, salt, "Content-Encoding: aesgcm\x00"+parties, 16), derive(secret, salt, "Content-Encoding: nonce\x00"+parties, 12), s.Body)
	if err != nil {
		return nil, err
	}
	return text[2+binary.BigEndian.Uint16(text):], nil
}

func derive(secret, salt []byte, info string, length int) []byte {
	key, err := hkdf.Key(sha256.New, secret, salt, info, length)
	if err != nil {
		panic(err)
	}
	return key
}

func open(key, nonce, sealed []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return gcm.Open(nil, nonce, sealed, nil)
}

// WantVAPID checks the VAPID token of a message (RFC 8292).
func WantVAPID(t *testing.T, header http.Header, service *PushService, serverKey string) {
	t.Helper()
	token, key, ok := strings.Cut(strings.TrimPrefix(header.Get("Authorization"), "vapid t="), ", k=")
	if header.Get("Content-Encoding") == "aesgcm" { // draft-ietf-webpush-vapid-01
		token, ok = strings.CutPrefix(header.Get("Authorization"), "WebPush ")
		_, key, _ = strings.Cut(header.Get("Crypto-Key"), ";p256ecdsa=")
	}
	if !ok || key != serverKey {
		t.Fatalf("Authorization is %q, want the key %s", header.Get("Authorization"), serverKey)
	}
	b64 := base64.RawURLEncoding
	parts := strings.Split(token, ".")
	point, err := b64.DecodeString(key)
	if err != nil || len(parts) != 3 {
		t.Fatalf("a malformed token %q, %v", token, err)
	}
	signature, err := b64.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		t.Fatalf("a malformed signature in %q, %v", token, err)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, hash[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature is wrong")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	text, _ := b64.DecodeString(parts[1])
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if claims.Aud != service.URL {
		t.Errorf("aud is %q, want %q", claims.Aud, service.URL)
	}
	if left := time.Until(time.Unix(claims.Exp, 0)); left <= 0 || left > 24*time.Hour {
		t.Errorf("it expires in %v", left)
	}
	if sub, err := url.Parse(claims.Sub); err != nil || sub.Scheme != "mailto" && sub.Scheme != "https" {
		t.Errorf("sub is %q", claims.Sub)
	}
}

// MessageBodies returns the bodies of messages.
func MessageBodies(messages []*Object) []string {
	list := []string{}
	for _, m := range messages {
		list = append(list, m.Str("body"))
	}
	return list
}

// RespondFunc sets the handler of all messages.
func (p *PushService) RespondFunc(f http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.respond = f
}

// SentHeader returns the header of the only message that was sent to the device.
func (d *Device) SentHeader() http.Header {
	d.Service.t.Helper()
	d.Service.mu.Lock()
	defer d.Service.mu.Unlock()
	if len(d.sent) != 1 {
		d.Service.t.Fatalf("%d messages were sent, want 1", len(d.sent))
	}
	return d.sent[0].Header
}
