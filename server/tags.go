package server

import (
	"strconv"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
)

// tagRoutes are hashtags, and following them.
func (s *Server) tagRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/followed_tags":        {rest.User("read:follows"), s.followedTags},
		"GET /api/v1/tags/:name":           {rest.Content("read:follows"), s.showTag},
		"POST /api/v1/tags/:name/follow":   {rest.User("write:follows"), s.followTag},
		"POST /api/v1/tags/:name/unfollow": {rest.User("write:follows"), s.unfollowTag},
	}
}

// followedTags returns the hashtags that the viewer follows, paged by the follows' own ids.
func (s *Server) followedTags(r *rest.Request) (any, error) {
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
func (s *Server) showTag(r *rest.Request) (any, error) {
	name, err := tagParam(r)
	return s.renderTag(r, name, err)
}

// followTag has public posts with a hashtag in the viewer's home.
func (s *Server) followTag(r *rest.Request) (any, error) {
	name, err := tagParam(r)
	if err == nil {
		err = s.social.FollowTag(r.Context(), r.Viewer, name)
	}
	return s.renderTag(r, name, err)
}

// unfollowTag ends that.
func (s *Server) unfollowTag(r *rest.Request) (any, error) {
	name, err := tagParam(r)
	if err == nil {
		err = s.social.UnfollowTag(r.Context(), r.Viewer, name)
	}
	return s.renderTag(r, name, err)
}

// tagParam returns the hashtag of the path.
func tagParam(r *rest.Request) (string, error) {
	name := text.TagName(r.Param("name"))
	if name == "" {
		return "", errs.ErrRecordNotFound
	}
	return name, nil
}

func (s *Server) renderTag(r *rest.Request, name string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var tags entity.List[entity.Tag]
	if tags, err = s.entities.Tags(r.Context(), r.Viewer, []string{name}); err != nil {
		return nil, err
	}
	return tags[0], nil
}
