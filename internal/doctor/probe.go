package doctor

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// ProbePath is where the server answers to the probe, with a Seen.
const ProbePath = "/internal/probe"

// TokenHeader has the token that proves that a probe comes from this server. Others get a 404.
const TokenHeader = "X-Svc-Probe"

// Seen is what the server saw of a probe.
type Seen struct {
	Proof         string   `json:"proof"` // that this server answers
	Peer          string   `json:"peer"`  // address of the other end of the connection, "": a Unix socket
	PeerTrusted   bool     `json:"peer_trusted"`
	ClientIP      string   `json:"client_ip"`
	Host          string   `json:"host"`
	ForwardedFor  []string `json:"forwarded_for"`
	ForwardedHost string   `json:"forwarded_host"`
	Proto         string   `json:"forwarded_proto"`
	Signature     string   `json:"signature"` // "": valid; else the error
}

const tokenWindow = 5 * time.Minute

func sealed(secret []byte, purpose string, window int64) string {
	mac := hmac.New(sha256.New, secret)
	io.WriteString(mac, purpose)
	binary.Write(mac, binary.BigEndian, window)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Token returns a token for a probe, which is valid for some minutes.
func Token(secret []byte, now time.Time) string {
	return sealed(secret, "probe", now.Unix()/int64(tokenWindow.Seconds()))
}

// Proof returns what proves that the server knows the secret. It returns false if the token is not valid.
func Proof(secret []byte, now time.Time, token string) (string, bool) {
	window := now.Unix() / int64(tokenWindow.Seconds())
	for _, w := range []int64{window, window - 1, window + 1} {
		if hmac.Equal([]byte(token), []byte(sealed(secret, "probe", w))) {
			return sealed(secret, "answer", w), true
		}
	}
	return "", false
}

// probed is the answer to a probe.
type probed struct {
	Seen
	foreign bool   // another server answered
	answer  string // in words
	date    time.Time
	sentAt  time.Time
}

const probeBody = `{"type":"Probe"}`

// sendProbe sends a signed request to the public address.
func (d *doctor) sendProbe(ctx context.Context) (*probed, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url.String()+ProbePath, bytes.NewReader([]byte(probeBody)))
	if err != nil {
		return nil, err
	}
	token := Token(d.Secret, d.Now())
	r.Header.Set("Content-Type", "application/activity+json")
	r.Header.Set(TokenHeader, token)
	if d.Sign != nil {
		if err := d.Sign(ctx, r, []byte(probeBody)); err != nil {
			return nil, fmt.Errorf("the request could not be signed: %w", err)
		}
	}
	p := &probed{sentAt: d.Now()}
	resp, err := d.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return nil, err
	}
	p.date, _ = http.ParseTime(resp.Header.Get("Date"))
	proof, _ := Proof(d.Secret, d.Now(), token)
	p.answer = fmt.Sprintf("%s, Server: %q", resp.Status, resp.Header.Get("Server"))
	p.foreign = json.Unmarshal(body, &p.Seen) != nil || resp.StatusCode != http.StatusOK || p.Proof != proof
	return p, nil
}

// ours returns the answer to the probe, and false with a result if this server did not answer.
func (d *doctor) ours() (*probed, Result, bool) {
	p, err := d.probe()
	switch {
	case err != nil:
		return nil, notChecked("the public address does not answer"), false
	case p.foreign:
		return nil, notChecked("another server answers at the public address"), false
	}
	return p, Result{}, true
}

func checkAddress(_ context.Context, d *doctor) Result {
	p, err := d.probe()
	switch {
	case err != nil:
		return failure("Start the server, and see the checks above.", "%s does not answer: %v", d.url, err)
	case p.foreign:
		return failure("Check DNS and the reverse proxy: it must pass all paths and methods to this server, at "+d.Settings.Server.Listen+".",
			"a request to %s was answered by another server, or refused before it: %s", d.url, p.answer)
	}
	return ok("%s answers from this server", d.url)
}

func checkProxy(_ context.Context, d *doctor) Result {
	p, not, found := d.ours()
	if !found {
		return not
	}
	forwarded := strings.Join(p.ForwardedFor, ", ")
	const headers = "Let the reverse proxy pass Host and set X-Forwarded-For; README.md has an example."
	behindProxy := d.url.Scheme == "https" && !d.Settings.Server.TLS.Enabled
	switch {
	case behindProxy && forwarded == "":
		return failure(headers, "the proxy at %s does not set X-Forwarded-For: all clients share its address and its rate limits", p.Peer)
	case forwarded != "" && !p.PeerTrusted:
		return failure("Add the address of the proxy to server.trusted_proxies, if it is yours.",
			"requests come from the proxy at %s, which is not in server.trusted_proxies: all clients share its address and its rate limits", p.Peer)
	case p.Host != d.url.Host && p.ForwardedHost != d.url.Host:
		return warning(headers, "the proxy changes Host to %s", p.Host)
	case behindProxy && p.Proto != "" && p.Proto != "https":
		return warning(headers, "the proxy sets X-Forwarded-Proto to %s", p.Proto)
	case forwarded == "":
		return ok("no proxy; the client address is %s", p.ClientIP)
	}
	return ok("the proxy at %s passes Host and the client address %s", p.Peer, p.ClientIP)
}

func checkFederation(_ context.Context, d *doctor) Result {
	if d.Sign == nil {
		return ok("federation is off")
	}
	p, not, found := d.ours()
	if !found {
		return not
	}
	if p.Signature != "" {
		return failure("Let the reverse proxy pass path, body and the headers Date, Digest and Signature unchanged, and check clock and keys.",
			"a signed request to the public address could not be verified: %s", p.Signature)
	}
	return ok("a signed request to the public address was verified")
}

// Bounds of the difference between clocks. Signatures are refused by many servers beyond some minutes, one-time codes beyond half a minute.
const (
	clockWarning = 15 * time.Second
	clockFailure = 60 * time.Second
)

func checkClock(ctx context.Context, d *doctor) Result {
	var date, now time.Time
	source := d.ClockURL
	if source == "" {
		p, err := d.probe()
		if err != nil || p.date.IsZero() {
			return notChecked("the public address does not answer with a date")
		}
		source, date, now = "the public address", p.date, p.sentAt
	} else {
		r, err := http.NewRequestWithContext(ctx, http.MethodHead, source, nil)
		if err != nil {
			return failure("Give the URL of a web page.", "%s is not a URL", source)
		}
		now = d.Now()
		resp, err := d.client.Do(r)
		if err != nil {
			return warning("Give the URL of another server.", "not checked: %s does not answer: %v", source, err)
		}
		resp.Body.Close()
		if date, err = http.ParseTime(resp.Header.Get("Date")); err != nil {
			return warning("Give the URL of another server.", "not checked: %s answers without a date", source)
		}
	}
	apart := now.Sub(date).Abs().Round(time.Second)
	const advice = "Set the clock, and keep it right by NTP (timedatectl set-ntp true)."
	switch {
	case apart > clockFailure:
		return failure(advice, "the clock and that of %s are %s apart", source, apart)
	case apart > clockWarning:
		return warning(advice, "the clock and that of %s are %s apart", source, apart)
	}
	return ok("the clock agrees with that of %s", source)
}
