package server

import (
	"strconv"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
)

// tagRoutes are hashtags, and following them.
var tagRoutes = routes{
	"GET /api/v1/followed_tags":        {user("read:follows"), (*Server).followedTags},
	"GET /api/v1/tags/:name":           {content("read:follows"), (*Server).showTag},
	"POST /api/v1/tags/:name/follow":   {user("write:follows"), (*Server).followTag},
	"POST /api/v1/tags/:name/unfollow": {user("write:follows"), (*Server).unfollowTag},
}

// followedTags returns the hashtags that the viewer follows, paged by the follows' own ids.
func (s *Server) followedTags(r *Request) (any, error) {
	page := r.Page(100, 200)
	rows, err := s.db.FollowedTags(r.Context(), r.Viewer.ID, page.Page)
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return strconv.FormatInt(int64(rows[i].Cursor), 10) })
	names := make([]string, 0, len(rows))
	for _, row := range rows {
		names = append(names, row.Name)
	}
	return s.entities.Tags(r.Context(), r.Viewer, names)
}

// showTag returns a hashtag, used or not.
func (s *Server) showTag(r *Request) (any, error) {
	name, err := tagParam(r)
	return s.renderTag(r, name, err)
}

// followTag has public posts with a hashtag in the viewer's home.
func (s *Server) followTag(r *Request) (any, error) {
	name, err := tagParam(r)
	if err == nil {
		err = s.social.FollowTag(r.Context(), r.Viewer, name)
	}
	return s.renderTag(r, name, err)
}

// unfollowTag ends that.
func (s *Server) unfollowTag(r *Request) (any, error) {
	name, err := tagParam(r)
	if err == nil {
		err = s.social.UnfollowTag(r.Context(), r.Viewer, name)
	}
	return s.renderTag(r, name, err)
}

// tagParam returns the hashtag of the path.
func tagParam(r *Request) (string, error) {
	name := text.TagName(r.Param("name"))
	if name == "" {
		return "", errs.ErrRecordNotFound
	}
	return name, nil
}

func (s *Server) renderTag(r *Request, name string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var tags entity.List[entity.FoundTag]
	if tags, err = s.entities.Tags(r.Context(), r.Viewer, []string{name}); err != nil {
		return nil, err
	}
	return tags[0], nil
}
