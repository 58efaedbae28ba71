package emoji

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/internal/errs"
)

// Limits of metadata.
const (
	maxMetadataKeys  = 50
	maxMetadataBytes = 64 << 10
	maxMetadataText  = 5000 // characters of a text
)

// Metadata is what a pack says about itself (spec 2.2). Unknown keys are kept.
type Metadata map[string]json.RawMessage

// Keys of Metadata.
const (
	KeyLicense        = "license"
	KeyHomepage       = "homepage"
	KeyDescription    = "description"
	KeyFallback       = "fallback-src"
	KeyFallbackSHA256 = "fallback-src-sha256"
	KeyShareFiles     = "share-files"

	keyCanDownload    = "can-download"    // computed, never stored
	keyDownloadSHA256 = "download-sha256" // computed, never stored
)

// Text returns a member that is a text, "" if there is none.
func (m Metadata) Text(key string) string {
	var s string
	if json.Unmarshal(m[key], &s) != nil {
		return ""
	}
	return s
}

// SetText sets a member to a text.
func (m Metadata) SetText(key, value string) {
	m[key], _ = json.Marshal(value) // cannot fail
}

// ShareFiles returns whether other servers may download the pack.
func (m Metadata) ShareFiles() bool {
	var share bool
	return json.Unmarshal(m[KeyShareFiles], &share) == nil && share
}

// stored returns a copy without the computed members.
func (m Metadata) stored() Metadata {
	c := make(Metadata, len(m))
	maps.Copy(c, m)
	delete(c, keyCanDownload)
	delete(c, keyDownloadSHA256)
	return c
}

// valid returns the members that can be stored.
func (m Metadata) valid() Metadata {
	valid := make(Metadata, len(m))
	for key, value := range m {
		if len(valid) == maxMetadataKeys {
			break
		}
		if member, err := (Metadata{key: value}).Clean(); err == nil {
			maps.Copy(valid, member)
		}
	}
	return valid
}

// Clean returns metadata that a client sent, as they are stored: null removes a member, the computed members are left out, texts of a form
// become booleans where necessary. The error is a 400.
func (m Metadata) Clean() (Metadata, error) {
	clean, size := m.stored(), 0
	for _, key := range slices.Sorted(maps.Keys(clean)) {
		value := clean[key]
		if string(value) == "null" {
			delete(clean, key)
			continue
		}
		size += len(key) + len(value)
		var err error
		if clean[key], err = cleanMember(key, value); err != nil {
			return nil, err
		}
	}
	if len(clean) > maxMetadataKeys || size > maxMetadataBytes {
		return nil, errs.BadRequest("The metadata are too large: at most %d members and %d bytes", maxMetadataKeys, maxMetadataBytes)
	}
	return clean, nil
}

func cleanMember(key string, value json.RawMessage) (json.RawMessage, error) {
	if key == KeyShareFiles {
		switch strings.Trim(string(value), `"`) {
		case "true", "1":
			return json.RawMessage("true"), nil
		case "false", "0", "":
			return json.RawMessage("false"), nil
		}
		return nil, errs.BadRequest("share-files must be true or false")
	}
	if !slices.Contains([]string{KeyLicense, KeyHomepage, KeyDescription, KeyFallback, KeyFallbackSHA256}, key) {
		return value, nil
	}
	var text string
	switch err := json.Unmarshal(value, &text); {
	case err != nil:
		return nil, errs.BadRequest("%s must be a text", key)
	case utf8.RuneCountInString(text) > maxMetadataText:
		return nil, errs.BadRequest("%s is longer than %d characters", key, maxMetadataText)
	case text == "":
	case (key == KeyHomepage || key == KeyFallback) && !isWebURL(text):
		return nil, errs.BadRequest("%s is not a URL", key)
	case key == KeyFallbackSHA256 && !isSHA256(text):
		return nil, errs.BadRequest("%s is not a SHA-256 in hexadecimal", key)
	}
	return value, nil
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

func isSHA256(s string) bool {
	sum, err := hex.DecodeString(s)
	return err == nil && len(sum) == 32
}
