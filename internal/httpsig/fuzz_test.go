package httpsig_test

import (
	"crypto"
	"net/http"
	"net/url"
	"testing"

	"svc/internal/httpsig"
)

// readAndVerify checks that no made-up request causes a panic or is valid.
func readAndVerify(t *testing.T, r *http.Request, body string) {
	claims, err := httpsig.Read(r, policy(body))
	if err != nil {
		return
	}
	for _, c := range claims {
		if c.KeyID == "" || c.Created.IsZero() {
			t.Errorf("accepted %+v", c)
		}
		for _, key := range []crypto.PublicKey{otherKey().Public(), edKey.Public()} {
			if c.Verify(key) == nil {
				t.Errorf("a made-up signature is valid: %v", r.Header)
			}
		}
	}
}

func FuzzReadCavage(f *testing.F) {
	f.Add(`keyId="k",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="AAAA"`, "/inbox?x=1", "SHA-256="+likeDigest)
	f.Add(`Signature keyId="a\"b",created=1724148000,expires="1724148060.5",headers="(request-target) host (created) (expires) digest",signature="AAAA"`,
		"https://social.example/inbox", "md5=x,sha-256="+likeDigest)
	f.Fuzz(func(t *testing.T, signature, target, digest string) {
		r := &http.Request{Method: "POST", Host: "social.example", RequestURI: target, URL: new(url.URL), Header: http.Header{
			"Date": {"Tue, 20 Aug 2024 10:00:00 GMT"}, "Digest": {digest}, "Signature": {signature}}}
		readAndVerify(t, r, like)
	})
}

func FuzzReadRFC9421(f *testing.F) {
	f.Add(`sig1=("@method" "@target-uri" "content-digest");created=1724148000;keyid="k";alg="rsa-v1_5-sha256"`, "sig1=:AAAA:", "sha-256=:"+likeDigest+":")
	f.Add(`a=("@method" "@authority" "@path" "@query" "content-digest");created=1724148000;keyid="\"k\\";n=-1.5;t=*a/b;b=?1;y=:AA==:, b=();created=1;keyid="x"`,
		"b=:AAAA:, a=:AAAA:", "sha-512=:"+like512+":, x=1")
	f.Fuzz(func(t *testing.T, input, signature, digest string) {
		r := &http.Request{Method: "POST", Host: "social.example", RequestURI: "/inbox?x=1", URL: new(url.URL), Header: http.Header{
			"Content-Digest": {digest}, "Signature-Input": {input}, "Signature": {signature}}}
		readAndVerify(t, r, like)
	})
}

// FuzzParseKey parses keys in both forms. A valid key is formatted and parsed again to the same key.
func FuzzParseKey(f *testing.F) {
	f.Add(block("PUBLIC KEY", pkix(f, rsaKey().Public())))
	f.Add(block("PUBLIC KEY", pkix(f, edKey.Public())))
	f.Add("z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2")
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := httpsig.ParsePublicKey(text); err == nil {
			written, err := httpsig.FormatPublicKey(key)
			if err != nil {
				t.Fatal(err)
			}
			again, err := httpsig.ParsePublicKey(written)
			if err != nil || !key.(interface{ Equal(crypto.PublicKey) bool }).Equal(again) {
				t.Errorf("%s became %s: %v", text, written, err)
			}
		}
		if key, err := httpsig.ParseMultikey(text); err == nil && httpsig.FormatMultikey(key) != text {
			t.Errorf("%s became %s", text, httpsig.FormatMultikey(key))
		}
	})
}
