package entity

import (
	"context"
	"strconv"

	"svc/store"
)

// pollHead and pollBody are the members of a poll that everybody sees alike, before and after "expired", which depends on the time.
type pollHead struct {
	ID        string      `json:"id"`
	ExpiresAt *store.Time `json:"expires_at"`
}

type pollBody struct {
	Multiple    bool         `json:"multiple"`
	VotesCount  int          `json:"votes_count"`
	VotersCount *int         `json:"voters_count"`
	Options     []pollOption `json:"options"`
	Emojis      []Emoji      `json:"emojis"`
}

type pollOption struct {
	Title      string `json:"title"`
	VotesCount *int   `json:"votes_count"` // nil: not shown yet
}

// renderedPoll is a poll as everybody sees it.
type renderedPoll struct {
	id        store.PollID
	expiresAt *store.Time
	head      []byte // members
	body      []byte // members
	open      []byte // body while the poll is open
	titles    []string
}

func (p *renderedPoll) size() int {
	if p == nil {
		return 0
	}
	return 100 + len(p.head) + len(p.body) + len(p.open)
}

// loadPolls renders the polls of statuses.
func (b *Builder) loadPolls(ctx context.Context, rows []*store.Status) (map[store.StatusID]*renderedPoll, error) {
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
	rendered := make(map[store.StatusID]*renderedPoll, len(polls))
	rowOf := byID(rows, func(s *store.Status) store.StatusID { return s.ID })
	for _, p := range polls {
		if rendered[p.StatusID], err = b.renderPoll(p, rowOf[p.StatusID]); err != nil {
			return nil, err
		}
	}
	return rendered, err
}

// renderPoll renders the poll of a status. One without an id is that of a status that is only shown to its author.
func (b *Builder) renderPoll(p *store.Poll, of *store.Status) (*renderedPoll, error) {
	r := &renderedPoll{id: p.ID, expiresAt: p.ExpiresAt, titles: p.Titles()}
	head := pollHead{ID: p.ID.String(), ExpiresAt: p.ExpiresAt}
	if p.ID == 0 {
		head.ID = b.Name + ":fakeid"
	}
	var err error
	if r.head, err = marshalMembers(head); err != nil {
		return nil, err
	}
	body := pollBody{Multiple: p.Multiple, VotesCount: p.VotesCount(), VotersCount: p.VotersCount, Emojis: b.emojisFor(of.Local(), of.Emojis.V, p.Titles()...)}
	for _, o := range p.Options.V {
		body.Options = append(body.Options, pollOption{o.Title, &o.Votes})
	}
	if r.body, err = marshalMembers(body); err != nil || !p.HideTotals {
		r.open = r.body
		return r, err
	}
	for i := range body.Options {
		body.Options[i].VotesCount = nil
	}
	r.open, err = marshalMembers(body)
	return r, err
}

// addOwnVotes sets what the viewer voted in the polls of statuses.
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
			s.forViewer.ownVotes = choices[s.poll.id]
		}
	}
	return nil
}

// appendPoll renders the poll of the status for its viewer. Whether it has ended is found out now: nothing changes at its end, and
// what is kept rendered stays. The author counts as having voted (extension API 14). Who voted what is told nobody.
func (s *Status) appendPoll(dst []byte) []byte {
	p := s.poll
	if p == nil {
		return append(dst, "null"...)
	}
	ended := p.expiresAt != nil && !p.expiresAt.Time().After(s.builder.db.Now())
	body := p.open
	if ended {
		body = p.body
	}
	dst = append(append(dst, '{'), p.head...)
	dst = appendBool(dst, `,"expired":`, ended)
	dst = append(append(dst, ','), body...)
	if s.hasViewer {
		dst = appendBool(dst, `,"voted":`, s.byViewer || len(s.forViewer.ownVotes) > 0)
		dst = append(dst, `,"own_votes":[`...)
		for i, choice := range s.forViewer.ownVotes {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, int64(choice), 10)
		}
		dst = append(dst, ']')
	}
	dst = s.builder.appendName(append(dst, ','))
	return append(dst, `{"non_anonymous":false}}`...)
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
		return Poll{}, notFound // taken away in between
	}
	return Poll{st}, nil
}
