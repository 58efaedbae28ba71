package httpsig

import (
	"bufio"
	"crypto"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// The keys of draft-cavage-12, appendix C, and of RFC 9421, appendix B.1.
const (
	cavageKey = `-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C3
6rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6
Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJw
oYi+1hqp1fIekaxsyQIDAQAB
-----END PUBLIC KEY-----
`
	testKeyRSA = `-----BEGIN RSA PUBLIC KEY-----
MIIBCgKCAQEAhAKYdtoeoy8zcAcR874L8cnZxKzAGwd7v36APp7Pv6Q2jdsPBRrw
WEBnez6d0UDKDwGbc6nxfEXAy5mbhgajzrw3MOEt8uA5txSKobBpKDeBLOsdJKFq
MGmXCQvEG7YemcxDTRPxAleIAgYYRjTSd/QBwVW9OwNFhekro3RtlinV0a75jfZg
kne/YiktSvLG34lw2zqXBDTC5NHROUqGTlML4PlNZS5Ri2U4aCNx2rUPRcKIlE0P
uKxI4T+HIaFpv8+rdV6eUgOrB2xeI1dSFFn/nnv5OoZJEIB+VmuKn3DCUcCZSFlQ
PSXSfBDiUGhwOw76WuSSsf1D4b/vLoJ10wIDAQAB
-----END RSA PUBLIC KEY-----
`
	testKeyRSAPSS = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
+QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
2wIDAQAB
-----END PUBLIC KEY-----
`
	testKeyEd25519 = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----
`
)

// vectorBody is the body of all requests of both documents.
const vectorBody = `{"hello": "world"}`

// receive parses a raw request, as the server does.
func receive(t testing.TB, head string) *http.Request {
	t.Helper()
	text := strings.ReplaceAll(strings.TrimSpace(head), "\n", "\r\n") + "\r\n\r\n" + vectorBody
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustParseKey(t testing.TB, pem string) crypto.PublicKey {
	t.Helper()
	key, err := ParsePublicKey(pem)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func vectorPolicy(base string, now time.Time) Policy {
	u, err := url.Parse(base)
	if err != nil {
		panic(err)
	}
	return Policy{Base: u, Now: now, MaxAge: time.Minute, MaxAhead: time.Minute, Body: []byte(vectorBody)}
}

const cavageRequest = `
POST /foo?param=value&pet=dog HTTP/1.1
Host: example.com
Date: Sun, 05 Jan 2014 21:31:40 GMT
Content-Type: application/json
Digest: SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=
Content-Length: 18
Signature: `

// TestCavageVectors verifies the signatures of draft-cavage-12, appendix C. The first two cover too little to be accepted. The third is
// printed there with (created) and (expires) in its list, which its signature does not cover.
func TestCavageVectors(t *testing.T) {
	for _, tt := range []struct {
		name, params, signature string
		covered                 []string
		want                    error
	}{
		{"C.1", `keyId="Test",algorithm="rsa-sha256",signature="`,
			"SjWJWbWN7i0wzBvtPl8rbASWz5xQW6mcJmn+ibttBqtifLN7Sazz6m79cNfwwb8DMJ5cou1s7uEGKKCs+FLEEaDV5lp7q25WqS+lavg7T8hc0GppauB6hbg" +
				"EKTwblDHYGEtbGmtdHgVCk9SuS13F0hZ8FD0k/5OxEPXe5WozsbM=",
			[]string{"date"}, ErrUncovered},
		{"C.2", `keyId="Test",algorithm="rsa-sha256",headers="(request-target) host date",signature="`,
			"qdx+H7PHHDZgy4y/Ahn9Tny9V3GP6YgBPyUXMmoxWtLbHpUnXS2mg2+SbrQDMCJypxBLSPQR2aAjn7ndmw2iicw3HMbe8VfEdKFYRqzic+efkb3nndiv/x1" +
				"xSHDJWeSWkx3ButlYSuBskLu6kd9Fswtemr3lgdDEmn04swr2Os0=",
			[]string{"(request-target)", "host", "date"}, ErrUncovered},
		{"C.3", `keyId="Test",algorithm="rsa-sha256",headers="(request-target) host date content-type digest content-length",signature="`,
			"vSdrb+dS3EceC9bcwHSo4MlyKS59iFIrhgYkz8+oVLEEzmYZZvRs8rgOp+63LEM3v+MFHB32NfpB2bEKBIvB1q52LaEUHFv120V01IL+TAD48XaERZFukWg" +
				"HoBTLMhYS2Gb51gWxpeIq8knRmPnYePbF5MOkR0Zkly4zKH7s1dE=",
			[]string{"(request-target)", "host", "date", "content-type", "digest", "content-length"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := receive(t, cavageRequest+tt.params+tt.signature+`"`)
			p := vectorPolicy("https://example.com", time.Date(2014, 1, 5, 21, 31, 40, 0, time.UTC))
			claims, err := Read(r, p)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Read: %v, want %v", err, tt.want)
			}
			var c *Claim
			if err == nil {
				c = claims[0]
				if c.KeyID != "Test" || c.Algorithm != "rsa-sha256" || !c.Created.Equal(p.Now) || !c.Expires.IsZero() {
					t.Errorf("got %+v", c)
				}
			} else { // verify it all the same
				c = unchecked(t, newMessage(r, p), tt.covered, tt.params+tt.signature+`"`)
			}
			if err := c.Verify(mustParseKey(t, cavageKey)); err != nil {
				t.Error(err)
			}
			if err := c.Verify(mustParseKey(t, testKeyRSA)); !errors.Is(err, ErrSignature) {
				t.Errorf("with another key: %v", err)
			}
			if err := c.Verify(mustParseKey(t, testKeyEd25519)); !errors.Is(err, ErrKey) {
				t.Errorf("with a key of another kind: %v", err)
			}
		})
	}
}

// unchecked returns the claim of a signature that covers too little.
func unchecked(t *testing.T, m *message, covered []string, text string) *Claim {
	t.Helper()
	params, err := parseCavage(text)
	if err != nil {
		t.Fatal(err)
	}
	c := &Claim{Scheme: Cavage, Algorithm: params.algorithm, message: m, signature: decode64(t, params.signature)}
	for _, name := range covered {
		value, _ := m.field(name)
		c.components = append(c.components, component{name, value})
	}
	return c
}

const rfcRequest = `
POST /foo?param=Value&Pet=dog HTTP/1.1
Host: example.com
Date: Tue, 20 Apr 2021 02:07:55 GMT
Content-Type: application/json
Content-Digest: sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
Content-Length: 18
`

// TestRFC9421Vectors verifies the signatures of RFC 9421 with supported algorithms: appendix B.2 and section 4.3. Some cover too little
// or have components with parameters, so Read refuses them; their signatures are verified nevertheless.
func TestRFC9421Vectors(t *testing.T) {
	b2 := time.Unix(1618884473, 0)
	for _, tt := range []struct {
		name, head, key string
		now             time.Time
		base            string
		want            error // of Read
	}{
		{"B.2.1", rfcRequest + `Signature-Input: sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"
Signature: sig-b21=:d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==:`,
			testKeyRSAPSS, b2, "https://example.com", ErrUncovered},
		{"B.2.2", rfcRequest + `Signature-Input: sig-b22=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"
Signature: sig-b22=:LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==:`,
			"", b2, "https://example.com", ErrUnsupported},
		{"B.2.3", rfcRequest + `Signature-Input: sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"
Signature: sig-b23=:bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==:`,
			testKeyRSAPSS, b2, "https://example.com", nil},
		{"B.2.5", rfcRequest + `Signature-Input: sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret";alg="hmac-sha256"
Signature: sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:`,
			"", b2, "https://example.com", ErrUnsupported},
		{"B.2.6", rfcRequest + `Signature-Input: sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"
Signature: sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:`,
			testKeyEd25519, b2, "https://example.com", ErrUncovered},
		// The first of these two is ecdsa-p256-sha256 without an alg parameter.
		{"4.3", strings.NewReplacer("Host: example.com", "Host: origin.host.internal.example", ":55 GMT", ":56 GMT").Replace(rfcRequest) +
			`Forwarded: for=192.0.2.123;host=example.com;proto=https
Signature-Input: sig1=("@method" "@authority" "@path" "content-digest" "content-type" "content-length");created=1618884475;keyid="test-key-ecc-p256", proxy_sig=("@method" "@authority" "@path" "content-digest" "content-type" "content-length" "forwarded");created=1618884480;keyid="test-key-rsa";alg="rsa-v1_5-sha256";expires=1618884540
Signature: sig1=:X5spyd6CFnAG5QnDyHfqoSNICd+BUP4LYMz2Q0JXlb//4Ijpzp+kve2w4NIyqeAuM7jTDX+sNalzA8ESSaHD3A==:, proxy_sig=:S6ZzPXSdAMOPjN/6KXfXWNO/f7V6cHm7BXYUh3YD/fRad4BCaRZxP+JH+8XY1I6+8Cy+CM5g92iHgxtRPz+MjniOaYmdkDcnL9cCpXJleXsOckpURl49GwiyUpZ10KHgOEe11sx3G2gxI8S0jnxQB+Pu68U9vVcasqOWAEObtNKKZd8tSFu7LB5YAv0RAGhB8tmpv7sFnIm9y+7X5kXQfi8NMaZaA8i2ZHwpBdg7a6CMfwnnrtflzvZdXAsD3LH2TwevU+/PBPv0B6NMNk93wUs/vfJvye+YuI87HU38lZHowtznbLVdp770I6VHR6WfgS9ddzirrswsE1w5o0LV/g==:`,
			testKeyRSA, time.Unix(1618884480, 0), "https://origin.host.internal.example", ErrUncovered},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := receive(t, tt.head)
			p := vectorPolicy(tt.base, tt.now)
			claims, err := Read(r, p)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Read: %v, want %v", err, tt.want)
			}
			if tt.key == "" {
				return
			}
			if err != nil {
				claims = uncheckedMembers(t, r, p)
			}
			c := claims[len(claims)-1]
			if err := c.Verify(mustParseKey(t, tt.key)); err != nil {
				t.Error(err)
			}
			if err := c.Verify(mustParseKey(t, cavageKey)); !errors.Is(err, ErrSignature) && !errors.Is(err, ErrKey) {
				t.Errorf("with another key: %v", err)
			}
		})
	}
}

// uncheckedMembers returns the signatures of a request without checks of their covered components.
func uncheckedMembers(t *testing.T, r *http.Request, p Policy) (claims []*Claim) {
	t.Helper()
	inputs, err := parseDictionary(r.Header.Get("Signature-Input"))
	if err != nil {
		t.Fatal(err)
	}
	signatures, err := parseDictionary(r.Header.Get("Signature"))
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		c, err := newMessage(r, p).parseMember(in, signatures)
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, c)
	}
	return claims
}

func decode64(t *testing.T, text string) []byte {
	t.Helper()
	members, err := parseDictionary("a=:" + text + ":")
	if err != nil {
		t.Fatal(err)
	}
	return members[0].value.([]byte)
}

// TestBase compares the signature base with the one printed in RFC 9421, B.2.3, and the signing string with that of
// draft-cavage-12, C.3.
func TestBase(t *testing.T) {
	r := receive(t, rfcRequest+`Signature-Input: s=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"
Signature: s=:AAAA:`)
	claims, err := Read(r, vectorPolicy("https://example.com", time.Unix(1618884473, 0)))
	if err != nil {
		t.Fatal(err)
	}
	want := `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@query": ?param=Value&Pet=dog
"@authority": example.com
"content-type": application/json
"content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
"content-length": 18
"@signature-params": ("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"`
	if got := string(claims[0].base(nil, claims[0].message.ownHosts[0], claims[0].message.target)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	r = receive(t, cavageRequest+`keyId="Test",headers="(request-target) host date content-type digest content-length",signature="AAAA"`)
	claims, err = Read(r, vectorPolicy("https://example.com", time.Date(2014, 1, 5, 21, 31, 40, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	want = `(request-target): post /foo?param=value&pet=dog
host: example.com
date: Sun, 05 Jan 2014 21:31:40 GMT
content-type: application/json
digest: SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=
content-length: 18`
	if got := string(claims[0].base(nil, claims[0].message.ownHosts[0], claims[0].message.target)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := claims[0].targets(); !slices.Equal(got, []string{"/foo?param=value&pet=dog", "/foo"}) {
		t.Errorf("targets: %q", got)
	}
}
