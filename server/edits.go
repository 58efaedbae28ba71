package server

import (
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// editRoutes are the edits of a status and its earlier versions.
func (h *statuses) editRoutes() rest.Routes {
	return rest.Routes{
		"PUT /api/v1/statuses/:id":                    {rest.User("write:statuses").Limit("status_actions").Answers("Status"), h.editStatus},
		"PUT /api/v1/statuses/:id/interaction_policy": {rest.User("write:statuses").Limit("status_actions").Answers("Status"), h.setInteractionPolicy},
		"GET /api/v1/statuses/:id/source":             {rest.User("read:statuses").Answers("StatusSource"), h.showSource},
		"GET /api/v1/statuses/:id/history":            {rest.Content("read:statuses").Answers("[]StatusEdit"), h.listVersions},
	}
}

// editStatus replaces the content of a status. Absent parameters remove their content, also the poll, except for the language and the content
// type. Visibility and parent cannot be changed, and such parameters are ignored.
func (h *statuses) editStatus(r *rest.Request) (any, error) {
	var p struct {
		contentForm
		MediaIDs        []store.MediaID `param:"media_ids"`
		MediaAttributes []struct {
			ID          store.MediaID `param:"id"`
			Description *string       `param:"description"`
			Focus       *string       `param:"focus"`
		} `param:"media_attributes"`
		Poll         *pollForm              `param:"poll"`
		Sensitive    bool                   `param:"sensitive"`
		QuotePolicy  *store.QuotePolicy     `param:"quote_approval_policy"`
		Interactions *interactionPolicyForm `param:"interaction_policy,closed"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	e := social.Edit{
		Interactions: p.Interactions.policy(),
		Content:      p.content(),
		MediaIDs:     p.MediaIDs,
		Descriptions: make(map[store.MediaID]string),
		Focuses:      make(map[store.MediaID]social.Focus),
		Poll:         p.Poll.draft(),
		Sensitive:    p.Sensitive,
		QuotePolicy:  p.QuotePolicy,
	}
	for _, m := range p.MediaAttributes {
		if m.Description != nil {
			e.Descriptions[m.ID] = *m.Description
		}
		focus, err := parseFocus(m.Focus)
		if err != nil {
			return nil, err
		}
		if focus != nil {
			e.Focuses[m.ID] = *focus
		}
	}
	h.lookup.resolveMentions(r, e.Text, e.ContentType, nil)
	st, err := h.Social.EditStatus(r.Context(), r.Viewer, statusParam(r), e)
	return h.render.status(r, st, err)
}

// setInteractionPolicy changes who may quote a status.
func (h *statuses) setInteractionPolicy(r *rest.Request) (any, error) {
	var p struct {
		Sent        string             `param:"quote_approval_policy,required"`
		QuotePolicy *store.QuotePolicy `param:"quote_approval_policy"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.QuotePolicy == nil { // an empty text, which has no default here
		return nil, errs.Invalid("Validation failed: quote_approval_policy must be public, followers or nobody")
	}
	st, err := h.Social.SetQuotePolicy(r.Context(), r.Viewer, statusParam(r), *p.QuotePolicy)
	return h.render.status(r, st, err)
}

// showSource returns the source text of a status.
func (h *statuses) showSource(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	return answer(st, err, entity.NewStatusSource)
}

// maxVersions is how many earlier versions of a status are returned: the latest ones, fewer if they are large.
const maxVersions = 200

// listVersions returns the versions of a status, the oldest first and the current one last.
func (h *statuses) listVersions(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	media, err := h.DB.MediaOf(r.Context(), []store.StatusID{st.ID})
	if err != nil {
		return nil, err
	}
	poll, err := h.DB.PollOf(r.Context(), st.ID)
	if err != nil {
		return nil, err
	}
	return rest.Halved(r, maxVersions, func(n int) ([]entity.StatusEdit, error) {
		versions, err := h.DB.StatusEdits(r.Context(), st.ID, n)
		if err != nil {
			return nil, err
		}
		return h.Entities.StatusEdits(r.Context(), r.Viewer, st, append(versions, st.AsEdit(media, poll)))
	})
}
