package httpsig_test

import (
	"crypto"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/internal/httpsig"
)

// TestCavage has a case for each rule of federation 2.1 and 2.2. Each changes a valid request.
func TestCavage(t *testing.T) {
	const date = "Date: Tue, 20 Aug 2024 10:00:00 GMT\n"
	right := manualRequest{
		method: "POST", target: "/inbox", body: like,
		text: "(request-target): post /inbox\nhost: social.example\ndate: Tue, 20 Aug 2024 10:00:00 GMT\ndigest: SHA-256=" + likeDigest,
		headers: date + "Digest: SHA-256=" + likeDigest + "\n" +
			`Signature: keyId="k",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="SIGNATURE"`,
	}
	run(t, "right", right, nil)

	// with replaces pairs in headers and signed text.
	with := func(pairs ...string) manualRequest {
		h := right
		r := strings.NewReplacer(pairs...)
		h.headers, h.text = r.Replace(h.headers), r.Replace(h.text)
		return h
	}
	// headers replaces pairs in the headers only, after signing.
	headers := func(pairs ...string) manualRequest {
		h := right
		h.headers = strings.NewReplacer(pairs...).Replace(h.headers)
		return h
	}
	const label = `algorithm="rsa-sha256",`

	// Syntax.
	run(t, "in Authorization", headers("Signature: ", "Authorization: Signature "), nil)
	run(t, "in Authorization, in lower case", headers("Signature: ", "Authorization: signature "), nil)
	run(t, "with the scheme before it", headers("Signature: ", "Signature: Signature "), nil)
	run(t, "another scheme in Authorization", headers("Signature: ", "Authorization: Bearer "), httpsig.ErrUnsigned)
	run(t, "not signed", headers("Signature: ", "X-Signature: "), httpsig.ErrUnsigned)
	run(t, "both headers", headers("Signature: ", "Authorization: Signature x\nSignature: "), nil)
	run(t, "spaces and another order", headers(`keyId="k",`, "", `="SIGNATURE"`, `= "SIGNATURE" ,  keyId = "k" `), nil)
	run(t, "commas and = in values", headers(`"k"`, `"https://x.example/?a=b,c=\"d\",signature=e"`), nil)
	run(t, "unknown parameters", headers(`keyId=`, `opaque="x",n=1,keyId=`), nil)
	run(t, "names in another letter case", headers(`keyId=`, `KEYID=`), nil)
	run(t, "names of headers in capitals", headers(`headers="(request-target) host date digest"`, `headers="(Request-Target) Host Date Digest"`), nil)
	run(t, "a parameter twice", headers(`keyId="k",`, `keyId="k",keyId="k",`), httpsig.ErrMalformed)
	run(t, "a parameter twice in another letter case", headers(`keyId="k",`, `keyId="k",keyid="j",`), httpsig.ErrMalformed)
	run(t, "an unknown parameter twice", headers(`keyId="k",`, `keyId="k",x="1",x="1",`), httpsig.ErrMalformed)
	run(t, "two signatures", headers("Signature: ", "Signature: keyId=\"j\"\nSignature: "), httpsig.ErrMalformed)
	run(t, "too many parameters", headers(`keyId="k",`, `keyId="k",`+manyParams(30)), httpsig.ErrMalformed)
	run(t, "too long", headers(`"k"`, `"`+strings.Repeat("k", 20_000)+`"`), httpsig.ErrMalformed)
	run(t, "a key id too long", headers(`"k"`, `"`+strings.Repeat("k", 3000)+`"`), httpsig.ErrMalformed)
	run(t, "no key id", headers(`keyId="k",`, ""), httpsig.ErrMalformed)
	run(t, "an empty key id", headers(`"k"`, `""`), httpsig.ErrMalformed)
	run(t, "no signature", headers(`,signature="SIGNATURE"`, ""), httpsig.ErrMalformed)
	run(t, "a signature that is not base64", headers("SIGNATURE", "***"), httpsig.ErrMalformed)
	run(t, "an open quote", headers(`"SIGNATURE"`, `"SIGNATURE`), httpsig.ErrMalformed)
	run(t, "a backslash at the end", headers(`"SIGNATURE"`, `"SIGNATURE\`), httpsig.ErrMalformed)
	run(t, "a comma at the end", headers(`"SIGNATURE"`, `"SIGNATURE",`), httpsig.ErrMalformed)
	run(t, "no comma", headers(`"k",`, `"k" `), httpsig.ErrMalformed)
	run(t, "a signature by RFC 9421 without its input", headers(`keyId="k"`, `sig1=:AAAA:`), httpsig.ErrMalformed)
	run(t, "nothing", headers(right.headers[strings.Index(right.headers, "keyId"):], ""), httpsig.ErrMalformed)

	// Algorithms.
	run(t, "hs2019", headers("rsa-sha256", "hs2019"), nil)
	run(t, "no algorithm", headers(label, ""), nil)
	h := headers("rsa-sha256", "hs2019")
	h.hash = crypto.SHA512
	run(t, "hs2019 with SHA-512", h, nil)
	h = right
	h.hash = crypto.SHA512
	run(t, "rsa-sha256 with SHA-512", h, httpsig.ErrSignature)
	h = headers("rsa-sha256", "hs2019")
	h.ed = true
	run(t, "hs2019 with Ed25519", h, nil)
	h.headers = strings.Replace(right.headers, label, "", 1)
	run(t, "Ed25519 without algorithm", h, nil)
	h.headers = right.headers
	run(t, "Ed25519 as rsa-sha256", h, httpsig.ErrKey)
	run(t, "an empty algorithm", headers("rsa-sha256", ""), nil)
	for _, a := range []string{"rsa-sha512", "rsa-sha1", "hmac-sha256", "ecdsa-sha256", "none"} {
		run(t, "algorithm "+a, headers("rsa-sha256", a), httpsig.ErrUnsupported)
	}

	// Covered components.
	run(t, "no list", headers(`headers="(request-target) host date digest",`, ""), httpsig.ErrUncovered)
	for _, name := range []string{"(request-target)", "host", "date", "digest"} {
		h := right
		h.headers = strings.NewReplacer(`"`+name+` `, `"`, ` `+name, "").Replace(h.headers)
		var lines []string
		for l := range strings.SplitSeq(h.text, "\n") {
			if !strings.HasPrefix(l, name+": ") {
				lines = append(lines, l)
			}
		}
		h.text = strings.Join(lines, "\n")
		run(t, "without "+name, h, httpsig.ErrUncovered)
	}
	run(t, "a header that is not there", headers(`date digest"`, `date digest x-none"`), httpsig.ErrMalformed)
	run(t, "an unknown special name", headers(`date digest"`, `date digest (key-id)"`), httpsig.ErrMalformed)
	run(t, "too many headers", headers(`date digest"`, `date digest`+strings.Repeat(" date", 70)+`"`), httpsig.ErrMalformed)
	run(t, "a header more than was signed", headers(`date digest"`, `date digest content-length"`), httpsig.ErrSignature)
	h = right
	h.headers = strings.Replace(h.headers, `date digest"`, `date digest content-length"`, 1)
	h.text += "\ncontent-length: 18"
	run(t, "content-length as Pleroma signs it", h, nil)
	h = right
	h.headers = "Accept: a\nAccept:   b  \nX-Empty:\n" + strings.Replace(h.headers, `date digest"`, `date digest accept x-empty"`, 1)
	h.text += "\naccept: a, b\nx-empty: "
	run(t, "several of one header, and an empty one", h, nil)

	// Method, target, host.
	h = right
	h.method = "PUT"
	run(t, "another method", h, httpsig.ErrSignature)
	h = right
	h.target = "/users/alice/inbox"
	run(t, "another target", h, httpsig.ErrSignature)
	h.target = "https://social.example/inbox"
	run(t, "the whole URL as target", h, nil)
	h.target = "https://other.example/inbox"
	run(t, "the whole URL of another server", h, nil) // the signed host is this server
	h = right
	h.target = "/inbox?x=1"
	run(t, "signed without the query", h, nil)
	h.text = strings.Replace(h.text, "/inbox", "/inbox?x=1", 1)
	run(t, "signed with the query", h, nil)
	h.text = strings.Replace(h.text, "/inbox?x=1", "/inbox?x=2", 1)
	run(t, "signed with another query", h, httpsig.ErrSignature)
	h = right
	h.host = "127.0.0.1:4000"
	run(t, "through a proxy that rewrites Host", h, nil)
	h = with("host: social.example", "host: other.example")
	run(t, "signed for another host", h, httpsig.ErrSignature)
	h.host = "other.example"
	run(t, "signed for another host and sent to it", h, httpsig.ErrHost)
	h = with("host: social.example", "host: social.example:443")
	h.host = "social.example:443"
	run(t, "the default port", h, nil)
	h = with("host: social.example", "host: Social.Example")
	h.host = "Social.Example"
	run(t, "another letter case", h, nil)
	h = with("host: social.example", "host: social.example:8443")
	h.host = "social.example:8443"
	run(t, "another port", h, httpsig.ErrHost)
	h = right
	h.headers = "X-Forwarded-Host: social.example\nForwarded: host=social.example\n" +
		strings.Replace(h.headers, "host: social", "host: other", 1)
	h.text = strings.Replace(h.text, "host: social", "host: other", 1)
	run(t, "forwarded headers that say it is ours", h, httpsig.ErrSignature)

	// The body.
	run(t, "another body", manualRequest{method: right.method, target: right.target, text: right.text, headers: right.headers, body: like + " "}, httpsig.ErrDigest)
	run(t, "no digest", headers("Digest: SHA-256="+likeDigest+"\n", ""), httpsig.ErrMalformed)
	run(t, "a digest changed after signing", headers("Digest: ", "Digest: SHA-256="+likeDigest+","), httpsig.ErrSignature)
	run(t, "the name in lower case", with("SHA-256", "sha-256"), nil)
	run(t, "several digests", with("SHA-256", "SHA-512="+like512+", SHA-256"), nil)
	run(t, "several digests without space", with("SHA-256", "md5=x,Sha-256"), nil)
	run(t, "SHA-512 only", with("SHA-256="+likeDigest, "SHA-512="+like512), httpsig.ErrDigest)
	run(t, "two that differ", with("SHA-256="+likeDigest, "SHA-256="+likeDigest+",SHA-256=AAAA"), httpsig.ErrDigest)
	run(t, "a digest that is not base64", with(likeDigest, "***"), httpsig.ErrDigest)
	run(t, "a digest too long", with(likeDigest, likeDigest+strings.Repeat(",a=b", 5000)), httpsig.ErrMalformed)
	get := manualRequest{
		method: "GET", target: "/users/alice", text: "(request-target): get /users/alice\nhost: social.example\ndate: Tue, 20 Aug 2024 10:00:00 GMT",
		headers: date + `Signature: keyId="k",headers="(request-target) host date",signature="SIGNATURE"`,
	}
	run(t, "GET", get, nil)
	h = get
	h.body = like
	run(t, "GET with a body that is not signed", h, httpsig.ErrUncovered)
	h = get
	h.method, h.text = "DELETE", strings.Replace(h.text, "get", "delete", 1)
	run(t, "DELETE without digest", h, httpsig.ErrUncovered)
	h = get
	h.headers = "Digest: SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n" + strings.Replace(h.headers, "host date", "host date digest", 1)
	h.text += "\ndigest: SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	run(t, "GET with the digest of nothing, as WriteFreely", h, nil)

	// Time.
	at := func(d time.Duration) manualRequest {
		return with("Tue, 20 Aug 2024 10:00:00 GMT", now.Add(d).Format(http.TimeFormat))
	}
	run(t, "11 hours old", at(-11*time.Hour), nil)
	run(t, "12 hours old", at(-12*time.Hour), nil)
	run(t, "a second more", at(-12*time.Hour-time.Second), httpsig.ErrTime)
	run(t, "13 hours old", at(-13*time.Hour), httpsig.ErrTime)
	run(t, "an hour ahead", at(time.Hour), nil)
	run(t, "two hours ahead", at(2*time.Hour), httpsig.ErrTime)
	run(t, "RFC 850", with("Tue, 20 Aug 2024 10:00:00 GMT", "Tuesday, 20-Aug-24 10:00:00 GMT"), nil)
	run(t, "asctime", with("Tue, 20 Aug 2024 10:00:00 GMT", "Tue Aug 20 10:00:00 2024"), nil)
	run(t, "a date in UTC", with("10:00:00 GMT", "10:00:00 UTC"), nil)
	run(t, "a date with an offset of 0", with("10:00:00 GMT", "10:00:00 +0000"), nil)
	run(t, "a date with another offset", with("10:00:00 GMT", "12:00:00 +0200"), httpsig.ErrMalformed)
	run(t, "no date", with("Tue, 20 Aug 2024 10:00:00 GMT", "today"), httpsig.ErrMalformed)
	run(t, "two dates", headers(date, date+date), httpsig.ErrMalformed)

	// (created) and (expires).
	created := func(params, text string) manualRequest {
		return manualRequest{
			method: "GET", target: "/users/alice", text: "(request-target): get /users/alice\nhost: social.example\n" + text,
			headers: date + `Signature: keyId="k",` + params + `,signature="SIGNATURE"`,
		}
	}
	const list = `headers="(request-target) host (created) (expires)"`
	run(t, "(created) and (expires)", created(`algorithm="hs2019",created=1724148000,expires=1724148060,`+list, "(created): 1724148000\n(expires): 1724148060"), nil)
	run(t, "quoted", created(`algorithm="hs2019",created="1724148000",expires="1724148060",`+list, "(created): 1724148000\n(expires): 1724148060"), nil)
	run(t, "decimal", created(`created=1724148000.25,expires=1724148060.0,`+list, "(created): 1724148000.25\n(expires): 1724148060.0"), nil)
	run(t, "with rsa-sha256", created(`algorithm="rsa-sha256",created=1724148000,expires=1724148060,`+list, "(created): 1724148000\n(expires): 1724148060"), httpsig.ErrMalformed)
	run(t, "created too long ago", created(`created=1724100000,expires=1724148060,`+list, "(created): 1724100000\n(expires): 1724148060"), httpsig.ErrTime)
	run(t, "created in the future", created(`created=1724158000,expires=1724158060,`+list, "(created): 1724158000\n(expires): 1724158060"), httpsig.ErrTime)
	run(t, "expired", created(`created=1724140000,expires=1724144399,`+list, "(created): 1724140000\n(expires): 1724144399"), httpsig.ErrTime)
	run(t, "expired within the skew of clocks", created(`created=1724140000,expires=1724144400,`+list, "(created): 1724140000\n(expires): 1724144400"), nil)
	run(t, "an end that is not covered", created(`created=1724140000,expires=1724144399,headers="(request-target) host (created)"`, "(created): 1724140000"), httpsig.ErrTime)
	run(t, "no created", created(`expires=1724148060,`+list, "(created): \n(expires): 1724148060"), httpsig.ErrMalformed)
	run(t, "no expires", created(`created=1724148000,`+list, "(created): 1724148000\n(expires): "), httpsig.ErrMalformed)
	run(t, "a created that is no number", created(`created=now,`+`headers="(request-target) host (created)"`, "(created): now"), httpsig.ErrMalformed)
	run(t, "a created far away", created(`created=99999999999999999999,`+`headers="(request-target) host (created)"`, "(created): 99999999999999999999"), httpsig.ErrMalformed)
	run(t, "both, and the date is old", func() manualRequest {
		h := created(`created=1724148000,headers="(request-target) host (created) date"`, "(created): 1724148000\ndate: Mon, 19 Aug 2024 10:00:00 GMT")
		h.headers = strings.Replace(h.headers, date, "Date: Mon, 19 Aug 2024 10:00:00 GMT\n", 1)
		return h
	}(), httpsig.ErrTime)
}

func manyParams(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "p%d=1,", i)
	}
	return b.String()
}
