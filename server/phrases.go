package server

import (
	"time"

	"svc/social"
)

// phraseRoutes are the viewer's filters as version 1 of the API has them: each keyword of a filter is one.
var phraseRoutes = routes{
	"GET /api/v1/filters":        {user("read:filters"), (*Server).listPhrases},
	"POST /api/v1/filters":       {user("write:filters"), (*Server).createPhrase},
	"GET /api/v1/filters/:id":    {user("read:filters"), (*Server).showPhrase},
	"PUT /api/v1/filters/:id":    {user("write:filters"), (*Server).replacePhrase},
	"DELETE /api/v1/filters/:id": {user("write:filters"), (*Server).deletePhrase},
}

// listPhrases returns the viewer's phrases, the expired ones too.
func (s *Server) listPhrases(r *Request) (any, error) {
	rows, err := s.db.UserFilters(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	return s.entities.Phrases(rows), nil
}

// bindPhrase binds the parameters of a phrase. What is not sent is the usual: it warns, is found within words too, and never expires.
func bindPhrase(r *Request) (social.Phrase, error) {
	var p struct {
		Phrase       string   `param:"phrase"`
		Context      []string `param:"context"`
		Irreversible bool     `param:"irreversible"`
		WholeWord    bool     `param:"whole_word"`
	}
	if err := r.Bind(&p); err != nil {
		return social.Phrase{}, err
	}
	in, err := filterExpiry(r)
	if in == nil {
		in = new(time.Duration)
	}
	return social.Phrase{
		Phrase: p.Phrase, Context: filterContexts(p.Context), Irreversible: p.Irreversible, WholeWord: p.WholeWord, ExpiresIn: *in,
	}, err
}

// createPhrase makes a filter of one phrase.
func (s *Server) createPhrase(r *Request) (any, error) {
	p, err := bindPhrase(r)
	if err != nil {
		return nil, err
	}
	f, err := s.social.CreatePhrase(r.Context(), r.Viewer, p)
	if err != nil {
		return nil, err
	}
	return s.entities.Phrase(f, f.Keywords[0]), nil
}

// showPhrase returns one phrase.
func (s *Server) showPhrase(r *Request) (any, error) {
	f, k, err := s.ownKeyword(r)
	if err != nil {
		return nil, err
	}
	return s.entities.Phrase(f, k), nil
}

// replacePhrase puts a phrase in the place of another.
func (s *Server) replacePhrase(r *Request) (any, error) {
	p, err := bindPhrase(r)
	if err != nil {
		return nil, err
	}
	f, k, err := s.social.ReplacePhrase(r.Context(), r.Viewer, keywordParam(r), p)
	if err != nil {
		return nil, err
	}
	return s.entities.Phrase(f, k), nil
}

// deletePhrase removes a phrase.
func (s *Server) deletePhrase(r *Request) (any, error) {
	return nil, s.social.DeletePhrase(r.Context(), r.Viewer, keywordParam(r))
}
