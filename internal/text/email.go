package text

import "strings"

// maxEmail and maxLocalPart are the longest address and the longest part before the @ (RFC 5321 4.5.3.1).
const (
	maxEmail     = 254
	maxLocalPart = 64
)

// ValidEmail tells whether an address is plain enough that all mailers read it alike: no quotes, no comments, none of the
// characters that once meant a route, and a host name after the @.
func ValidEmail(address string) bool {
	at := strings.LastIndexByte(address, '@')
	if at < 1 || at > maxLocalPart || len(address) > maxEmail {
		return false
	}
	local, domain := address[:at], address[at+1:]
	if local[0] == '.' || local[at-1] == '.' || strings.Contains(local, "..") {
		return false
	}
	for i := range len(local) {
		if b := local[i]; !isLetter(b) && !isDigit(b) && strings.IndexByte("._+-=&'~#", b) < 0 {
			return false
		}
	}
	return !strings.ContainsAny(domain, ":[]") && !strings.HasSuffix(domain, ".") && NormalizeDomain(domain) != ""
}
