package server

import (
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// polls serves polls. They are created, changed and removed with their statuses.
type polls struct{ *parts }

func (h *polls) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/polls/:id":        {rest.Content("read:statuses").Answers("Poll"), h.showPoll},
		"POST /api/v1/polls/:id/votes": {rest.User("write:statuses").Answers("Poll"), h.vote},
	}
}

// pollForm are the parameters of the poll of a status.
type pollForm struct {
	Options    []string `param:"options"`
	ExpiresIn  *int64   `param:"expires_in"` // seconds
	Multiple   bool     `param:"multiple"`
	HideTotals bool     `param:"hide_totals"`
}

// draft returns the poll, nil if there is none. Some clients always send an empty poll.
func (f *pollForm) draft() *social.PollDraft {
	if f == nil || f.Options == nil && f.ExpiresIn == nil {
		return nil
	}
	d := &social.PollDraft{Options: f.Options, Multiple: f.Multiple, HideTotals: f.HideTotals}
	if f.ExpiresIn != nil {
		in := seconds(*f.ExpiresIn)
		d.ExpiresIn = &in
	}
	return d
}

func pollParam(r *rest.Request) store.PollID { return store.ParseID[store.PollID](r.Param("id")) }

// showPoll returns a poll if the viewer may see its status.
func (h *polls) showPoll(r *rest.Request) (any, error) {
	p, err := h.DB.Poll(r.Context(), pollParam(r))
	if err != nil {
		return nil, err
	}
	if _, err := h.DB.VisibleStatus(r.Context(), viewerID(r), p.StatusID); err != nil {
		return nil, err
	}
	h.lookup.refreshPoll(r, p.StatusID)
	return h.Entities.Poll(r.Context(), r.Viewer, p.StatusID)
}

// vote votes for options of a poll by their indices.
func (h *polls) vote(r *rest.Request) (any, error) {
	var p struct {
		Choices []int `param:"choices,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	poll, err := h.Social.Vote(r.Context(), r.Viewer, pollParam(r), p.Choices)
	if err != nil {
		return nil, err
	}
	return h.Entities.Poll(r.Context(), r.Viewer, poll.StatusID)
}
