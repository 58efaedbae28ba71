package server

import (
	"svc/server/entity"
	"svc/store"
)

// timelineRoutes are the timelines.
var timelineRoutes = routes{
	"GET /api/v1/timelines/home": {user("read:statuses"), (*Server).homeTimeline},
}

// homeTimeline returns what those whom the viewer follows posted.
func (s *Server) homeTimeline(r *Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	ids, err := s.db.HomeTimeline(r.Context(), r.Viewer.ID, f, page.Page)
	return s.statusPage(r, page, ids, err)
}

// bindFilter reads the parameters that all timelines have (spec 4.6).
func bindFilter(r *Request) (store.Filter, error) {
	var p struct {
		WithMuted         bool     `param:"with_muted"`
		OnlyMedia         bool     `param:"only_media"`
		Local             bool     `param:"local"`
		Remote            bool     `param:"remote"`
		ExcludeVisibility []string `param:"exclude_visibilities"`
		ReplyVisibility   string   `param:"reply_visibility"`
	}
	if err := r.Bind(&p); err != nil {
		return store.Filter{}, err
	}
	f := store.Filter{WithMuted: p.WithMuted, OnlyMedia: p.OnlyMedia, Local: p.Local, Remote: p.Remote}
	for _, name := range p.ExcludeVisibility {
		if v, ok := store.ParseVisibility(name); ok {
			f.ExcludeVisibility = append(f.ExcludeVisibility, v)
		}
	}
	switch p.ReplyVisibility {
	case "following":
		f.ReplyVisibility = store.RepliesFollowing
	case "self":
		f.ReplyVisibility = store.RepliesSelf
	}
	return f, nil
}

// statusPage renders a page of a timeline, whose cursors are the ids of its statuses.
func (s *Server) statusPage(r *Request, page Page, ids []store.StatusID, err error) (entity.List[*entity.Status], error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(ids), func(i int) string { return ids[i].String() })
	return s.entities.Statuses(r.Context(), r.Viewer, ids)
}
