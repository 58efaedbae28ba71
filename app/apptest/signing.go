package apptest

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Signing describes a draft-cavage signature, valid or not. Empty members have the values that most servers use.
type Signing struct {
	KeyID     string
	Key       crypto.Signer
	Algorithm string // "": rsa-sha256; "none": it is not named
	Headers   string // that are covered
	Params    string // more of them, as in ,created=1
	Created   string // values of these
	Expires   string
	Date      time.Time
	Digest    string // "none": there is no such header
	Host      string // the signed one
	Target    string // likewise
	Hash      crypto.Hash
}

// Sign signs a request with a body, nil for none.
func (s Signing) Sign(req *http.Request, body []byte) error {
	if s.Date.IsZero() {
		s.Date = time.Now()
	}
	sum := sha256.Sum256(body)
	values := map[string]string{
		"(request-target)": strings.ToLower(req.Method) + " " + cmp.Or(s.Target, req.URL.RequestURI()),
		"host":             cmp.Or(s.Host, req.URL.Host),
		"date":             s.Date.UTC().Format(http.TimeFormat),
		"digest":           cmp.Or(s.Digest, "SHA-256="+base64.StdEncoding.EncodeToString(sum[:])),
		"content-type":     "application/activity+json",
		"content-length":   strconv.Itoa(len(body)),
		"accept":           req.Header.Get("Accept"),
		"(created)":        s.Created,
		"(expires)":        s.Expires,
	}
	if body == nil {
		delete(values, "digest")
		delete(values, "content-type")
	}
	for name, value := range values {
		if !strings.HasPrefix(name, "(") && name != "host" && name != "content-length" && value != "none" && value != "" {
			req.Header.Set(name, value)
		}
	}
	headers := cmp.Or(s.Headers, "(request-target) host date digest content-type")
	var lines []string
	for _, name := range strings.Fields(headers) {
		value, ok := values[name]
		if !ok {
			value = req.Header.Get(name)
		}
		lines = append(lines, name+": "+value)
	}
	text := []byte(strings.Join(lines, "\n"))
	var signature []byte
	var err error
	if s.Hash == crypto.SHA512 {
		sum := sha512.Sum512(text)
		signature, err = s.Key.Sign(rand.Reader, sum[:], crypto.SHA512)
	} else {
		sum := sha256.Sum256(text)
		signature, err = s.Key.Sign(rand.Reader, sum[:], crypto.SHA256)
	}
	algorithm := `algorithm="` + cmp.Or(s.Algorithm, "rsa-sha256") + `",`
	if s.Algorithm == "none" {
		algorithm = ""
	}
	req.Header.Set("Signature", fmt.Sprintf(`keyId="%s",%sheaders="%s"%s,signature="%s"`, s.KeyID, algorithm, headers, s.Params,
		base64.StdEncoding.EncodeToString(signature)))
	return err
}
