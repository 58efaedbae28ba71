package entity

import (
	"context"

	"svc/store"
)

// quoteApproval is who may quote a status. Only local authors set it.
type quoteApproval struct {
	Automatic   []string `json:"automatic"`
	Manual      []string `json:"manual"` // always empty
	CurrentUser slot     `json:"current_user"`
}

// Values of current_user.
const (
	quoteAllowed = "automatic"
	quoteDenied  = "denied"
)

func newQuoteApproval(row *store.Status) quoteApproval {
	a := quoteApproval{Automatic: []string{}, Manual: []string{}}
	if row.Visibility.Unrestricted() && row.QuotePolicy != store.QuotableByNobody {
		a.Automatic = append(a.Automatic, row.QuotePolicy.String())
	}
	return a
}

// quotable returns true if the viewer may quote the status, as social.Publish decides.
func (s *Status) quotable() bool {
	switch {
	case !s.hasViewer:
		return false
	case s.byViewer:
		return s.visibility <= store.Private
	case !s.visibility.Unrestricted():
		return false
	}
	return s.quotePolicy == store.QuotableByAll || s.quotePolicy == store.QuotableByFollowers && s.followsAuthor
}

func (s *Status) appendQuoteDenied(dst []byte) []byte { return appendQuoted(dst, quoteDenied) }

// appendQuote appends the state of the quote with the quoted status, or with its id inside of another quote.
func (s *Status) appendQuote(dst []byte) []byte {
	s = s.original()
	dst = appendQuoted(append(dst, `{"state":`...), s.quoteShown)
	if !s.shallowQuote {
		dst = append(dst, `,"quoted_status":`...)
		if s.quote == nil {
			return append(dst, "null}"...)
		}
		return append(s.quote.AppendJSON(dst), '}')
	}
	dst = append(dst, `,"quoted_status_id":`...)
	if s.quoteShown != store.QuoteShown {
		return append(dst, "null}"...)
	}
	return append(appendQuoted(dst, s.quoteOfID.String()), '}')
}

// quote is the quote of a status inside of another entity.
type quote struct{ of *Status }

// quoteEntity returns the quote of the status, nil if it quotes nothing.
func (s *Status) quoteEntity() *quote {
	if s.quoteShown == "" {
		return nil
	}
	return &quote{s}
}

// MarshalJSON renders the quote.
func (q *quote) MarshalJSON() ([]byte, error) { return q.of.appendQuote(nil), nil }

// addQuotes sets the quoted statuses, and the states of their own quotes, which are not shown.
func (b *Builder) addQuotes(ctx context.Context, viewer *store.Account, statuses List[*Status]) error {
	originals := make(List[*Status], 0, len(statuses))
	for _, s := range statuses {
		originals = append(originals, s.original())
	}
	shown, err := b.addQuoteStates(ctx, viewer, originals)
	if err != nil || len(shown) == 0 {
		return err
	}
	quoted, err := b.statusesWithoutQuotes(ctx, viewer, shown)
	if err != nil {
		return err
	}
	for _, q := range quoted {
		q.shallowQuote = true
	}
	if _, err := b.addQuoteStates(ctx, viewer, quoted); err != nil {
		return err
	}
	of := byID(quoted, (*Status).ID)
	for _, s := range originals {
		if s.quoteShown == store.QuoteShown {
			s.quote = of[*s.quoteOfID]
		}
	}
	return nil
}

// addQuoteStates sets the states of the quotes of statuses, and returns the quoted statuses that the viewer sees.
func (b *Builder) addQuoteStates(ctx context.Context, viewer *store.Account, statuses List[*Status]) ([]store.StatusID, error) {
	var ids, shown []store.StatusID
	for _, s := range statuses {
		if s.quoteOfID != nil {
			ids = append(ids, *s.quoteOfID)
		}
	}
	var states map[store.StatusID]string
	if ids = unique(ids); len(ids) > 0 {
		var err error
		if states, err = b.db.QuotesShown(ctx, idOf(viewer), ids); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		if states[id] == store.QuoteShown {
			shown = append(shown, id)
		}
	}
	for _, s := range statuses {
		s.quoteShown = s.cachedStatus.quoteStateIn(states)
	}
	return shown, nil
}

// quoteStateIn returns the state of the quote of a status, "" if it quotes nothing. states are those of the quoted statuses that exist.
func (s *cachedStatus) quoteStateIn(states map[store.StatusID]string) string {
	switch {
	case s.quoteState == store.QuoteStateRevoked:
		return "revoked"
	case s.quoteState == store.QuoteStateRejected:
		return "rejected"
	case s.quoteOfID != nil && states[*s.quoteOfID] != "":
		return states[*s.quoteOfID]
	case s.quoteOfID != nil, s.quoteState == store.QuoteStateAccepted:
		return "deleted"
	}
	return ""
}

// addFollowedAuthors sets whether the viewer follows authors who let followers quote their statuses.
func (b *Builder) addFollowedAuthors(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	if viewer == nil {
		return nil
	}
	var authors []store.AccountID
	for _, s := range originals {
		if s.quotePolicy == store.QuotableByFollowers && !s.byViewer {
			authors = append(authors, s.accountID)
		}
	}
	if len(authors) == 0 {
		return nil
	}
	followed, err := b.db.FollowedAmong(ctx, viewer.ID, unique(authors))
	if err != nil {
		return err
	}
	for _, s := range originals {
		s.followsAuthor = followed[s.accountID]
	}
	return nil
}
