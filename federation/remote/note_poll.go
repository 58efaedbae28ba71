package remote

import (
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/store"
)

// readPoll parses the poll of a Question.
func readPoll(o activity.Object, now time.Time) (*store.Poll, error) {
	options := o.Objects("oneOf", maxPollOptions)
	p := new(store.Poll)
	if any := o.Objects("anyOf", maxPollOptions); len(options) == 0 && len(any) > 0 {
		options, p.Multiple = any, true
	}
	if len(options) == 0 {
		return nil, Refuse("it asks nothing")
	}
	votes := 0
	for _, option := range options {
		title, _ := option.TextAndLanguage("name")
		if title == "" {
			title, _ = option.TextAndLanguage("content")
		}
		title = text.Shorten(printable(truncateBytes(title, 8*maxOptionLength)), maxOptionLength) // votes must name it exactly
		n := 0
		if replies := option.Object("replies"); replies != nil {
			n = replies.Count("totalItems")
		}
		votes += n
		same := func(known store.PollOption) bool { return known.Title == title }
		if i := slices.IndexFunc(p.Options.V, same); i >= 0 {
			p.Options.V[i].Votes += n
			continue
		}
		p.Options.V = append(p.Options.V, store.PollOption{Title: title, Votes: n})
	}
	if o["votersCount"] != nil {
		voters := o.Count("votersCount")
		p.VotersCount = &voters
	} else if !p.Multiple {
		p.VotersCount = &votes
	}
	end := o.Time("endTime")
	if closed, _ := o.Bool("closed"); closed {
		if end.IsZero() || end.After(now) {
			end = now
		}
	} else if at := o.Time("closed"); !at.IsZero() {
		end = at
	}
	if !end.IsZero() {
		at := store.At(end)
		p.ExpiresAt = &at
	}
	at := store.At(now)
	p.FetchedAt = &at
	return p, nil
}
