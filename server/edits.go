package server

import (
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// editRoutes are about the versions of a status.
func (h *statuses) editRoutes() rest.Routes {
	return rest.Routes{
		"PUT /api/v1/statuses/:id":         {rest.User("write:statuses").Limit("status_actions"), h.editStatus},
		"GET /api/v1/statuses/:id/source":  {rest.User("read:statuses"), h.showSource},
		"GET /api/v1/statuses/:id/history": {rest.Content("read:statuses"), h.listVersions},
	}
}

// editStatus gives a status a new version. All that is not sent is not in it, its poll neither, apart from the language and the
// content type.
// Whom it is for and what it replies to cannot be changed: such parameters are ignored.
func (h *statuses) editStatus(r *rest.Request) (any, error) {
	var p struct {
		Status          string          `param:"status"`
		SpoilerText     string          `param:"spoiler_text"`
		ContentType     string          `param:"content_type"`
		MediaIDs        []store.MediaID `param:"media_ids"`
		MediaAttributes []struct {
			ID          store.MediaID `param:"id"`
			Description *string       `param:"description"`
		} `param:"media_attributes"`
		Poll      *pollForm `param:"poll"`
		Sensitive bool      `param:"sensitive"`
		Language  string    `param:"language"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	e := social.Edit{
		Text:         p.Status,
		SpoilerText:  p.SpoilerText,
		ContentType:  p.ContentType,
		MediaIDs:     p.MediaIDs,
		Descriptions: make(map[store.MediaID]string),
		Poll:         p.Poll.draft(),
		Sensitive:    p.Sensitive,
		Language:     p.Language,
	}
	for _, m := range p.MediaAttributes {
		if m.Description != nil {
			e.Descriptions[m.ID] = *m.Description
		}
	}
	h.lookup.resolveMentions(r, e.Text, e.ContentType, nil)
	st, err := h.social.EditStatus(r.Context(), r.Viewer, statusParam(r), e)
	return h.render.status(r, st, err)
}

// showSource returns what a status was written from.
func (h *statuses) showSource(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	return h.entities.StatusSource(st), nil
}

// maxVersions is how many earlier versions of a status are shown.
const maxVersions = 200

// listVersions returns the versions of a status, oldest first; the last is the one that counts.
func (h *statuses) listVersions(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	versions, err := h.db.StatusEdits(r.Context(), st.ID, maxVersions)
	if err != nil {
		return nil, err
	}
	media, err := h.db.MediaOf(r.Context(), []store.StatusID{st.ID})
	if err != nil {
		return nil, err
	}
	poll, err := h.db.PollOf(r.Context(), st.ID)
	if err != nil {
		return nil, err
	}
	return h.entities.StatusEdits(r.Context(), r.Viewer, st, append(versions, st.AsEdit(media, poll)))
}
