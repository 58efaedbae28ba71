package server

import (
	"strings"

	"svc/emoji"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
)

// reactions serves emoji reactions.
type reactions struct{ *parts }

func (h *reactions) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/statuses/:id/reactions":           {rest.Content("read:statuses").Answers("[]Reaction"), h.listReactions},
		"GET /api/v1/svc/statuses/:id/reactions/:emoji":    {rest.Content("read:statuses").Answers("[]Reaction"), h.showReaction},
		"PUT /api/v1/svc/statuses/:id/reactions/:emoji":    {reacting.Answers("Status"), h.addReaction},
		"DELETE /api/v1/svc/statuses/:id/reactions/:emoji": {reacting.Answers("Status"), h.removeReaction},
		// The same in the API of Fedibird.
		"PUT /api/v1/statuses/:id/emoji_reactions/:emoji":    {reacting.Answers("Status"), h.addReaction},
		"DELETE /api/v1/statuses/:id/emoji_reactions/:emoji": {reacting.Answers("Status"), h.removeReaction},
	}
}

var reacting = rest.User("write:statuses").Limit("status_actions")

// addReaction adds the viewer's reaction with an emoji to a status.
func (h *reactions) addReaction(r *rest.Request) (any, error) {
	st, err := h.Social.React(r.Context(), r.Viewer, statusParam(r), h.emojiParam(r), "")
	return h.render.status(r, st, err)
}

// removeReaction removes the viewer's reaction with an emoji from a status.
func (h *reactions) removeReaction(r *rest.Request) (any, error) {
	st, err := h.Social.Unreact(r.Context(), r.Viewer, statusParam(r), h.emojiParam(r))
	return h.render.status(r, st, err)
}

func (h *reactions) emojiParam(r *rest.Request) social.Emoji { return h.emojiNamed(r.Param("emoji")) }

// emojiNamed returns the emoji with a name: a unicode one, or a custom one with or without colons.
func (h *parts) emojiNamed(name string) social.Emoji {
	if code, ok := strings.CutPrefix(name, ":"); ok {
		name = strings.TrimSuffix(code, ":")
	}
	e := social.Emoji{Name: name}
	if custom := h.Emojis.Find(name); custom != nil {
		e.URL = h.Settings.BaseURL + custom.Path
	}
	return e
}

// listReactions returns the reactions to a status with their accounts.
func (h *reactions) listReactions(r *rest.Request) (any, error) { return h.reactions(r, "") }

// showReaction returns the reactions with one emoji.
func (h *reactions) showReaction(r *rest.Request) (any, error) {
	name := h.emojiParam(r).Name
	if full, ok := emoji.Canonical(name); ok {
		name = full
	}
	return h.reactions(r, name)
}

// reactions returns the reactions to a status, with one emoji or with any. The list is empty if the viewer may not see the status
// (extension API 18).
func (h *reactions) reactions(r *rest.Request, name string) (any, error) {
	var p struct {
		WithMuted bool `param:"with_muted"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	st, err := h.lookup.visibleOriginal(r)
	if errs.IsNotFound(err) {
		return []entity.Reaction{}, nil
	}
	if err != nil {
		return nil, err
	}
	return rest.Halved(r, entity.MaxReactors, func(n int) ([]entity.Reaction, error) {
		return h.Entities.Reactions(r.Context(), r.Viewer, st.ID, name, p.WithMuted, n)
	})
}
