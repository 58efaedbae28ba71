package entity

import (
	"context"
	"strconv"

	"svc/store"
)

// pollMembers are the members of a poll.
type pollMembers struct {
	ID          string      `json:"id"`
	ExpiresAt   *store.Time `json:"expires_at"`
	Expired     slot        `json:"expired"`
	Multiple    bool        `json:"multiple"`
	VotesCount  int         `json:"votes_count"`
	VotersCount *int        `json:"voters_count"`
	Options     slot        `json:"options"`
	Emojis      []Emoji     `json:"emojis"`
	Voted       slot        `json:"voted"`     // only for a viewer
	OwnVotes    slot        `json:"own_votes"` // only for a viewer
}

// pollExtension is the svc object of a poll. Votes are never shown with their accounts.
type pollExtension struct {
	NonAnonymous bool `json:"non_anonymous"`
}

type pollOption struct {
	Title      string `json:"title"`
	VotesCount *int   `json:"votes_count"` // nil: hidden until the poll ends
}

// pollSlots are the slots of the poll of a status that is no boost. The author counts as a voter (extension API 14).
var pollSlots = newSlots(pollMembers{}, pollExtension{}, map[string]slotOf[*Status]{
	"expired": flagSlot((*Status).pollEnded), // no event invalidates the document when the poll ends
	"options": {"[]", always[*Status], func(s *Status, dst []byte) []byte {
		if s.pollEnded() {
			return append(dst, s.poll.options...)
		}
		return append(dst, s.poll.openOptions...)
	}},
	"voted": {"", func(s *Status) bool { return s.hasViewer }, func(s *Status, dst []byte) []byte {
		return strconv.AppendBool(dst, s.byViewer || len(s.ownVotes) > 0)
	}},
	"own_votes": {"", func(s *Status) bool { return s.hasViewer }, func(s *Status, dst []byte) []byte { return appendValue(dst, orEmpty(s.ownVotes)) }},
})

// cachedPoll is what of a poll is the same for every viewer.
type cachedPoll struct {
	document
	id          store.PollID
	expiresAt   *store.Time
	options     []byte // JSON
	openOptions []byte // JSON while the poll is open
	titles      []string
}

func (p *cachedPoll) size() int {
	if p == nil {
		return 0
	}
	return 100 + p.document.size() + len(p.options) + len(p.openOptions)
}

// loadPolls renders the polls of statuses.
func (b *Builder) loadPolls(ctx context.Context, rows []*store.Status) (map[store.StatusID]*cachedPoll, error) {
	var ids []store.StatusID
	for _, row := range rows {
		if row.HasPoll {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	polls, err := b.db.PollsOf(ctx, ids)
	rendered := make(map[store.StatusID]*cachedPoll, len(polls))
	rowOf := byID(rows, func(s *store.Status) store.StatusID { return s.ID })
	for _, p := range polls {
		if rendered[p.StatusID], err = b.renderPoll(p, rowOf[p.StatusID]); err != nil {
			return nil, err
		}
	}
	return rendered, err
}

// renderPoll renders the poll of a status. A poll without an id belongs to a preview.
func (r *renderer) renderPoll(p *store.Poll, of *store.Status) (*cachedPoll, error) {
	if !of.Local() {
		p.CutRemote()
	}
	members := pollMembers{
		ID: p.ID.String(), ExpiresAt: p.ExpiresAt, Multiple: p.Multiple, VotesCount: p.VotesCount(), VotersCount: p.VotersCount,
		Emojis: r.emojisFor(of.Local(), of.Emojis.V, p.Titles()...),
	}
	if !of.Local() {
		members.Emojis = maxEmojis(members.Emojis, maxPollEmojis)
	}
	if p.ID == 0 {
		members.ID = r.Settings.Load().API.Name + ":fakeid"
	}
	json, err := r.extended(members, pollExtension{})
	if err != nil {
		return nil, err
	}
	c := &cachedPoll{id: p.ID, expiresAt: p.ExpiresAt, titles: p.Titles()}
	if c.document, err = newDocument(json, pollSlots, nil); err != nil {
		return nil, err
	}
	var options []pollOption
	for _, o := range p.Options.V {
		options = append(options, pollOption{o.Title, &o.Votes})
	}
	if c.options, err = marshal(options); err != nil || !p.HideTotals {
		c.openOptions = c.options
		return c, err
	}
	for i := range options {
		options[i].VotesCount = nil
	}
	c.openOptions, err = marshal(options)
	return c, err
}

// addOwnVotes sets the viewer's votes in the polls of statuses.
func (b *Builder) addOwnVotes(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	if viewer == nil {
		return nil
	}
	var polls []store.PollID
	for _, s := range originals {
		if s.poll != nil && !s.byViewer {
			polls = append(polls, s.poll.id)
		}
	}
	if len(polls) == 0 {
		return nil
	}
	votes, err := b.db.VotesBy(ctx, viewer.ID, unique(polls))
	if err != nil {
		return err
	}
	choices := make(map[store.PollID][]int)
	for _, v := range votes {
		choices[v.PollID] = append(choices[v.PollID], v.Choice)
	}
	for _, s := range originals {
		if s.poll != nil {
			s.ownVotes = choices[s.poll.id]
		}
	}
	return nil
}

// pollEnded returns true if the poll of the status has ended.
func (s *Status) pollEnded() bool {
	return s.poll.expiresAt != nil && !s.poll.expiresAt.Time().After(s.builder.db.Now())
}

// appendPoll appends the poll of the status for its viewer.
func (s *Status) appendPoll(dst []byte) []byte {
	s = s.original()
	return appendDocument(dst, s.poll.head(), &s.poll.document, pollSlots, s)
}

// Poll is a poll for one viewer.
type Poll struct{ of *Status }

// AppendJSON renders the poll.
func (p Poll) AppendJSON(dst []byte) []byte { return p.of.appendPoll(dst) }

// MarshalJSON is AppendJSON for polls inside of other entities.
func (p Poll) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// Poll returns the poll of a status for the viewer (nil: anonymous).
func (b *Builder) Poll(ctx context.Context, viewer *store.Account, id store.StatusID) (Poll, error) {
	st, err := b.Status(ctx, viewer, id)
	if err != nil {
		return Poll{}, err
	}
	if st.poll == nil {
		return Poll{}, notFound // deleted meanwhile
	}
	return Poll{st}, nil
}
