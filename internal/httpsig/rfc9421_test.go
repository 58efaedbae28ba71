package httpsig_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/internal/httpsig"
)

// TestRFC9421 has a case for each rule of federation 2.5. Each changes a valid request.
func TestRFC9421(t *testing.T) {
	const params = `("@method" "@target-uri" "content-digest");created=1724148000;keyid="k";alg="rsa-v1_5-sha256"`
	right := manualRequest{
		method: "POST", target: "/inbox", body: like,
		text: "\"@method\": POST\n\"@target-uri\": https://social.example/inbox\n\"content-digest\": sha-256=:" + likeDigest +
			":\n\"@signature-params\": " + params,
		headers: "Content-Digest: sha-256=:" + likeDigest + ":\nSignature-Input: sig1=" + params + "\nSignature: sig1=:SIGNATURE:",
	}
	run(t, "right", right, nil)
	with := func(pairs ...string) manualRequest {
		h := right
		r := strings.NewReplacer(pairs...)
		h.headers, h.text = r.Replace(h.headers), r.Replace(h.text)
		return h
	}
	headers := func(pairs ...string) manualRequest {
		h := right
		h.headers = strings.NewReplacer(pairs...).Replace(h.headers)
		return h
	}
	// covering changes the covered components and their lines.
	covering := func(list, lines string) manualRequest {
		h := with(`("@method" "@target-uri" "content-digest")`, list)
		h.text = lines + h.text[strings.Index(h.text, "\n\"@signature-params\""):]
		return h
	}
	const digestLine = "\n\"content-digest\": sha-256=:" + likeDigest + ":"

	// Syntax.
	run(t, "another label", headers("sig1", "a-b_c.d*1"), nil)
	run(t, "spaces inside", with(`("@method" "@target-uri" "content-digest")`, `( "@method"  "@target-uri" "content-digest" )`), nil)
	run(t, "spaces after semicolons", with(";created", "; created", ";keyid", ";  keyid"), nil)
	run(t, "other parameters", with(";created", `;nonce="a\"\\b";tag="x";foo;n=-1.5;t=to/ken:*;b=?0;y=:AAAA:;created`), nil)
	run(t, "an escaped key id", with(`keyid="k"`, `keyid="\"k\\"`), nil)
	run(t, "a Signature that has more", headers("Signature: ", "Signature: other=:AAAA:, "), nil)
	run(t, "on two lines", headers("Signature: ", "Signature: other=:AAAA:\nSignature: "), nil)
	run(t, "cavage beside it", headers("Signature: ", "Signature: keyId=\"k\"\nSignature: "), httpsig.ErrMalformed)
	for _, tt := range []struct {
		name string
		h    manualRequest
		want error
	}{
		{"no signature", headers("Signature: sig1", "Signature: sig2"), httpsig.ErrMalformed},
		{"no Signature at all", headers("\nSignature: ", "\nX-Signature: "), httpsig.ErrMalformed},
		{"an empty input", headers("Signature-Input: sig1="+params, "Signature-Input:"), httpsig.ErrUnsigned},
		{"an empty signature", headers(":SIGNATURE:", "::"), httpsig.ErrMalformed},
		{"a signature that is a text", headers(":SIGNATURE:", `"SIGNATURE"`), httpsig.ErrMalformed},
		{"a signature that is not base64", headers(":SIGNATURE:", ":A:"), httpsig.ErrMalformed},
		{"an input that is no list", headers(params, "1"), httpsig.ErrMalformed},
		{"an input without value", headers("="+params, ""), httpsig.ErrMalformed},
		{"a label twice", headers("Signature-Input: ", "Signature-Input: sig1=(), "), httpsig.ErrMalformed},
		{"a label in capitals", headers("sig1", "Sig1"), httpsig.ErrMalformed},
		{"a parameter twice", with(";created", ";created=1;created"), httpsig.ErrMalformed},
		{"an unknown parameter twice", with(";created", ";x;x;created"), httpsig.ErrMalformed},
		{"too many parameters", with(";created", ";"+strings.ReplaceAll(strings.TrimSuffix(manyParams(30), ","), ",", ";")+";created"), httpsig.ErrMalformed},
		{"too many components", with(`("@method"`, `("@method"`+manyComponents(70)), httpsig.ErrMalformed},
		{"too many labels", headers("Signature-Input: ", "Signature-Input: "+manyParams(9)), httpsig.ErrMalformed},
		{"too long", with(`keyid="k"`, `keyid="`+strings.Repeat("k", 20_000)+`"`), httpsig.ErrMalformed},
		{"a key id too long", with(`keyid="k"`, `keyid="`+strings.Repeat("k", 3000)+`"`), httpsig.ErrMalformed},
		{"an open list", headers(`"content-digest")`, `"content-digest"`), httpsig.ErrMalformed},
		{"an open quote", headers(`sha256"`, `sha256`), httpsig.ErrMalformed},
		{"no space between components", with(`"@method" `, `"@method"`), httpsig.ErrMalformed},
		{"a comma at the end", headers(`sha256"`, `sha256",`), httpsig.ErrMalformed},
		{"a space after =", headers("created=", "created= "), httpsig.ErrMalformed},
		{"a bad escape", with(`keyid="k"`, `keyid="\k"`), httpsig.ErrMalformed},
		{"no key id", with(`;keyid="k"`, ""), httpsig.ErrMalformed},
		{"an empty key id", with(`keyid="k"`, `keyid=""`), httpsig.ErrMalformed},
		{"a key id that is a token", with(`keyid="k"`, `keyid=k`), httpsig.ErrMalformed},
		{"no created", with(";created=1724148000", ""), httpsig.ErrMalformed},
		{"a created that is a text", with("created=1724148000", `created="1724148000"`), httpsig.ErrMalformed},
		{"a created that is decimal", with("created=1724148000", "created=1724148000.0"), httpsig.ErrMalformed},
		{"a created without value", with("created=1724148000", "created"), httpsig.ErrMalformed},
		{"a created with too many digits", with("created=1724148000", "created=1724148000000000"), httpsig.ErrMalformed},
		{"an expires that is a text", with(";keyid", `;expires="1";keyid`), httpsig.ErrMalformed},
		{"an algorithm that is a token", with(`"rsa-v1_5-sha256"`, "rsa-v1_5-sha256"), httpsig.ErrMalformed},
		{"a component that is a token", with(`"@method"`, `method`), httpsig.ErrMalformed},
		{"a component in capitals", with(`"content-digest"`, `"Content-Digest"`), httpsig.ErrMalformed},
		{"an empty component", with(`"@method" `, `"@method" "" `), httpsig.ErrMalformed},
		{"a component twice", with(`"@method" `, `"@method" "@method" `), httpsig.ErrMalformed},
		{"a component that is not there", with(`"@method" `, `"@method" "x-none" `), httpsig.ErrMalformed},
	} {
		run(t, tt.name, tt.h, tt.want)
	}

	// Components with parameters, and unsupported ones.
	for _, c := range []string{`"content-digest";sf`, `"content-digest";bs`, `"content-digest";key="sha-256"`, `"content-digest";req`,
		`"content-digest";tr`, `"@query-param";name="x"`, `"@method";req`, `"@status"`, `"@signature-params"`, `"@nothing"`} {
		run(t, c, with(`"@method" `, `"@method" `+c+" "), httpsig.ErrUnsupported)
	}

	// Covered components.
	run(t, "without @method", covering(`("@target-uri" "content-digest")`, `"@target-uri": https://social.example/inbox`+digestLine), httpsig.ErrUncovered)
	run(t, "without target", covering(`("@method" "content-digest")`, `"@method": POST`+digestLine), httpsig.ErrUncovered)
	run(t, "without content-digest", covering(`("@method" "@target-uri")`, "\"@method\": POST\n\"@target-uri\": https://social.example/inbox"), httpsig.ErrUncovered)
	run(t, "nothing", covering(`()`, ""), httpsig.ErrUncovered)
	run(t, "@authority and @path", covering(`("@method" "@authority" "@path" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox"+digestLine), nil)
	run(t, "@authority and @request-target", covering(`("@method" "@authority" "@request-target" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@request-target\": /inbox"+digestLine), nil)
	run(t, "host and @path", covering(`("@method" "host" "@path" "content-digest")`,
		"\"@method\": POST\n\"host\": social.example\n\"@path\": /inbox"+digestLine), nil)
	run(t, "@request-target alone", covering(`("@method" "@request-target" "content-digest")`,
		"\"@method\": POST\n\"@request-target\": /inbox"+digestLine), httpsig.ErrUncovered)
	run(t, "@authority alone", covering(`("@method" "@authority" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example"+digestLine), httpsig.ErrUncovered)
	run(t, "@scheme as well", covering(`("@method" "@target-uri" "@scheme" "content-digest")`,
		"\"@method\": POST\n\"@target-uri\": https://social.example/inbox\n\"@scheme\": https"+digestLine), nil)
	h := covering(`("@method" "@authority" "@path" "content-digest")`, "\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox"+digestLine)
	h.target = "/inbox?x=1"
	run(t, "a query that is not covered", h, httpsig.ErrUncovered)
	h = covering(`("@method" "@authority" "@path" "@query" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox\n\"@query\": ?x=1"+digestLine)
	h.target = "/inbox?x=1"
	run(t, "@query", h, nil)
	h.target = "/inbox?x=2"
	run(t, "another query", h, httpsig.ErrSignature)
	h = covering(`("@method" "@authority" "@path" "@query" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox\n\"@query\": ?"+digestLine)
	run(t, "@query of nothing", h, nil)
	h = right
	h.target = "/inbox?x=1"
	run(t, "a query that was not signed", h, httpsig.ErrSignature)

	// Method and host.
	h = right
	h.method = "PUT"
	run(t, "another method", h, httpsig.ErrSignature)
	h = right
	h.host = "127.0.0.1:4000"
	run(t, "through a proxy that rewrites Host", h, nil)
	h.host = "Social.Example:443"
	run(t, "Host with its port", h, nil)
	h = with("https://social.example/inbox", "https://other.example/inbox")
	run(t, "for another host", h, httpsig.ErrSignature)
	h.host = "other.example"
	run(t, "for another host and sent to it", h, httpsig.ErrHost)
	run(t, "for another scheme", with("https://social", "http://social"), httpsig.ErrSignature)

	// The body.
	h = right
	h.body += " "
	run(t, "another body", h, httpsig.ErrDigest)
	run(t, "sha-512", with("sha-256=:"+likeDigest, "sha-512=:"+like512), nil)
	run(t, "both", with("sha-256=:", "sha-512=:"+like512+":, sha-256=:"), nil)
	run(t, "one of them wrong", with("sha-256=:", "sha-512=:"+likeDigest+":, sha-256=:"), httpsig.ErrDigest)
	run(t, "neither", with("sha-256=:", "md5=:"), httpsig.ErrDigest)
	run(t, "a digest in the old form", with("sha-256=:"+likeDigest+":", "SHA-256="+likeDigest), httpsig.ErrMalformed)
	run(t, "a digest that is a text", with(":"+likeDigest+":", `"`+likeDigest+`"`), httpsig.ErrDigest)
	run(t, "no digest", headers("Content-Digest: ", "X-Digest: "), httpsig.ErrMalformed)

	// Time.
	run(t, "11 hours old", with("created=1724148000", "created=1724108400"), nil)
	run(t, "13 hours old", with("created=1724148000", "created=1724101200"), httpsig.ErrTime)
	run(t, "two hours ahead", with("created=1724148000", "created=1724155200"), httpsig.ErrTime)
	run(t, "before all time", with("created=1724148000", "created=-1"), httpsig.ErrTime)
	run(t, "not expired", with(";keyid", ";expires=1724148060;keyid"), nil)
	run(t, "expired", with("created=1724148000", "created=1724140000;expires=1724144399"), httpsig.ErrTime)

	// Algorithms.
	const alg = `;alg="rsa-v1_5-sha256"`
	run(t, "no algorithm", with(alg, ""), nil)
	h = with("rsa-v1_5-sha256", "rsa-pss-sha512")
	h.pss = true
	run(t, "RSA-PSS", h, nil)
	h = with(alg, "")
	h.pss = true
	run(t, "RSA-PSS without algorithm", h, nil)
	h = right
	h.pss = true
	run(t, "RSA-PSS as rsa-v1_5-sha256", h, httpsig.ErrSignature)
	run(t, "rsa-v1_5-sha256 as RSA-PSS", with("rsa-v1_5-sha256", "rsa-pss-sha512"), httpsig.ErrSignature)
	h = with("rsa-v1_5-sha256", "ed25519")
	h.ed = true
	run(t, "Ed25519", h, nil)
	h = with(alg, "")
	h.ed = true
	run(t, "Ed25519 without algorithm", h, nil)
	h = right
	h.ed = true
	run(t, "Ed25519 as RSA", h, httpsig.ErrKey)
	run(t, "RSA as Ed25519", with("rsa-v1_5-sha256", "ed25519"), httpsig.ErrKey)
	for _, a := range []string{"hmac-sha256", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-sha256", "hs2019", "none"} {
		run(t, a, with("rsa-v1_5-sha256", a), httpsig.ErrUnsupported)
	}
}

func manyComponents(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ` "x-%d"`, i)
	}
	return b.String()
}
