package server

import (
	"svc/social"
	"svc/store"
)

// pollRoutes are what statuses ask. A poll is made, changed and removed with its status.
var pollRoutes = routes{
	"GET /api/v1/polls/:id":        {content("read:statuses"), (*Server).showPoll},
	"POST /api/v1/polls/:id/votes": {user("write:statuses"), (*Server).vote},
}

// pollForm is the poll of a status that is posted or edited.
type pollForm struct {
	Options    []string `param:"options"`
	ExpiresIn  *int64   `param:"expires_in"` // seconds
	Multiple   bool     `param:"multiple"`
	HideTotals bool     `param:"hide_totals"`
}

// draft returns the poll to make, nil for none: some clients always send one, with nothing in it.
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

func pollParam(r *Request) store.PollID {
	var id store.PollID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// showPoll returns a poll, if the viewer may see its status.
func (s *Server) showPoll(r *Request) (any, error) {
	p, err := s.db.Poll(r.Context(), pollParam(r))
	if err != nil {
		return nil, err
	}
	if _, err := s.db.VisibleStatus(r.Context(), viewerID(r), p.StatusID); err != nil {
		return nil, err
	}
	s.refreshPoll(r, p.StatusID)
	return s.entities.Poll(r.Context(), r.Viewer, p.StatusID)
}

// vote has the viewer choose options of a poll, by their places from 0 on.
func (s *Server) vote(r *Request) (any, error) {
	var p struct {
		Choices []int `param:"choices,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	poll, err := s.social.Vote(r.Context(), r.Viewer, pollParam(r), p.Choices)
	if err != nil {
		return nil, err
	}
	return s.entities.Poll(r.Context(), r.Viewer, poll.StatusID)
}
