package store

import (
	"fmt"

	"svc/internal/enum"
)

// QuotePolicy is who may quote a public or unlisted status, besides its author.
type QuotePolicy int

const (
	QuotableByAll       QuotePolicy = iota // who sees it
	QuotableByFollowers                    // of the author
	QuotableByNobody
)

var quotePolicyNames = []string{"public", "followers", "nobody"}

// String returns the client API's name.
func (p QuotePolicy) String() string {
	if p < 0 || int(p) >= len(quotePolicyNames) {
		return fmt.Sprintf("quotepolicy(%d)", int(p))
	}
	return quotePolicyNames[p]
}

// MarshalText is String for JSON.
func (p QuotePolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *QuotePolicy) UnmarshalText(b []byte) error {
	i, err := enum.Index(b, quotePolicyNames)
	if err == nil {
		*p = QuotePolicy(i)
	}
	return err
}

// QuoteState is the consent of the quoted author to a quote.
type QuoteState int

const (
	QuoteStateNone     QuoteState = iota // the status quotes nothing
	QuoteStateAccepted                   // or not needed; the quoted status is deleted if QuoteOfID is nil
	QuoteStateRevoked                    // QuoteOfID is nil
	QuoteStateRejected                   // QuoteOfID is nil
)
