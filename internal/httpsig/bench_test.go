package httpsig_test

import (
	"strings"
	"testing"

	"svc/internal/httpsig"
)

// BenchmarkSign and BenchmarkVerify show that the key operation dominates.
func BenchmarkSign(b *testing.B) {
	body := []byte(strings.Repeat(like, 100))
	for _, scheme := range []httpsig.Scheme{httpsig.Cavage, httpsig.RFC9421} {
		b.Run(string(scheme), func(b *testing.B) {
			b.ReportAllocs()
			r := newRequest(b, "POST", "https://social.example/inbox")
			signer := httpsig.Signer{KeyID: keyID, Key: rsaKey()}
			for b.Loop() {
				if err := signer.Sign(r, body, httpsig.Options{Scheme: scheme, Now: now}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	body := strings.Repeat(like, 100)
	for _, scheme := range []httpsig.Scheme{httpsig.Cavage, httpsig.RFC9421} {
		r := newRequest(b, "POST", "https://social.example/inbox")
		signer := httpsig.Signer{KeyID: keyID, Key: rsaKey()}
		if err := signer.Sign(r, []byte(body), httpsig.Options{Scheme: scheme, Now: now}); err != nil {
			b.Fatal(err)
		}
		got, p := send(b, r, body), policy(body)
		b.Run(string(scheme), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := check(got, p, rsaKey().Public()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(string(scheme)+" without the key", func(b *testing.B) {
			for b.Loop() {
				if _, err := httpsig.Read(got, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
