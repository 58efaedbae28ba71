package store

import "context"

var quoteTimeline = newTimeline(`statuses s INDEXED BY statuses_quotes`, `s.id`, `s.quote_of_id = ?9`)

// Quotes returns ids of the posts that quote a status.
func (r reader) Quotes(ctx context.Context, viewer AccountID, id StatusID, p Page) ([]StatusID, error) {
	return quoteTimeline.read(ctx, r, viewer, Filter{}, p, id)
}

// VisibleQuotes returns those of the statuses that viewer is shown where others quote them: what the viewer may see, and not by somebody
// whom the viewer blocks or mutes.
func (r reader) VisibleQuotes(ctx context.Context, viewer AccountID, of []StatusID) ([]StatusID, error) {
	h, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return ids[StatusID](ctx, r, "shown quotes", `
		SELECT s.id
		FROM json_each(?3) j
		CROSS JOIN statuses s ON s.id = j.value
		WHERE `+visible("s")+`
			AND `+notBlocked("s.account_id")+`
			AND `+notMuted("s.account_id"), viewer, h, jsonArray(of))
}
