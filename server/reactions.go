package server

import (
	"strings"

	"svc/emoji"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
)

// reactionRoutes are about emoji that people react to statuses with.
func (s *Server) reactionRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/statuses/:id/reactions":           {rest.Content("read:statuses"), s.listReactions},
		"GET /api/v1/svc/statuses/:id/reactions/:emoji":    {rest.Content("read:statuses"), s.showReaction},
		"PUT /api/v1/svc/statuses/:id/reactions/:emoji":    {reacting, s.addReaction},
		"DELETE /api/v1/svc/statuses/:id/reactions/:emoji": {reacting, s.removeReaction},
	}
}

var reacting = rest.User("write:statuses").Limit("status_actions")

// addReaction reacts to a status with an emoji.
func (s *Server) addReaction(r *rest.Request) (any, error) {
	st, err := s.social.React(r.Context(), r.Viewer, statusParam(r), s.emojiParam(r), "")
	return s.renderStatus(r, st, err)
}

// removeReaction takes a reaction back.
func (s *Server) removeReaction(r *rest.Request) (any, error) {
	st, err := s.social.Unreact(r.Context(), r.Viewer, statusParam(r), s.emojiParam(r))
	return s.renderStatus(r, st, err)
}

// emojiParam returns the emoji of the path: a unicode one, or the name of a custom one with or without colons.
func (s *Server) emojiParam(r *rest.Request) social.Emoji {
	name := r.Param("emoji")
	if code, ok := strings.CutPrefix(name, ":"); ok {
		name = strings.TrimSuffix(code, ":")
	}
	e := social.Emoji{Name: name}
	if custom := s.emojis.Find(name); custom != nil {
		e.URL = s.settings.URL().String() + custom.Path
	}
	return e
}

// listReactions returns who reacts to a status with what.
func (s *Server) listReactions(r *rest.Request) (any, error) { return s.reactions(r, "") }

// showReaction returns who reacts to a status with one emoji.
func (s *Server) showReaction(r *rest.Request) (any, error) {
	name := s.emojiParam(r).Name
	if full, ok := emoji.Canonical(name); ok {
		name = full
	}
	return s.reactions(r, name)
}

// reactions returns the reactions to a status with an emoji, or with any. There are none to one that the viewer cannot see
// (extension API 18).
func (s *Server) reactions(r *rest.Request, name string) (any, error) {
	var p struct {
		WithMuted bool `param:"with_muted"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	st, err := s.visibleOriginal(r)
	if errs.IsNotFound(err) {
		return []entity.Reaction{}, nil
	}
	if err != nil {
		return nil, err
	}
	return s.entities.Reactions(r.Context(), r.Viewer, st.ID, name, p.WithMuted)
}
