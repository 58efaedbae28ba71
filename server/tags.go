package server

import (
	"context"
	"strconv"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// tags serves hashtags.
type tags struct{ *parts }

func (h *tags) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/followed_tags":         {rest.User("read:follows").Answers("[]FoundTag"), h.followedTags},
		"GET /api/v1/tags/:name":            {rest.Content("read:follows").Answers("FoundTag"), h.showTag},
		"POST /api/v1/tags/:name/follow":    {rest.User("write:follows").Written().Answers("FoundTag"), h.tagAction(h.Social.FollowTag)},
		"POST /api/v1/tags/:name/unfollow":  {rest.User("write:follows").Deletes().Written().Answers("FoundTag"), h.tagAction(h.Social.UnfollowTag)},
		"POST /api/v1/tags/:name/feature":   {rest.User("write:accounts").Written().Answers("FoundTag"), h.tagAction(h.featureTag)},
		"POST /api/v1/tags/:name/unfeature": {rest.User("write:accounts").Deletes().Written().Answers("FoundTag"), h.tagAction(h.Social.UnfeatureTagByName)},
	}
}

// followedTags lists the hashtags that the viewer follows, with the ids of the follows as cursors.
func (h *tags) followedTags(r *rest.Request) (any, error) {
	page := r.Page(100, 200)
	rows, err := h.DB.FollowedTags(r.Context(), r.Viewer.ID, page.Page)
	if err != nil {
		return nil, err
	}
	names := entity.Map(rows, func(row store.FollowedTag) string { return row.Name })
	show := func(names []string) (entity.List[entity.Tag], error) {
		return h.Entities.Tags(r.Context(), r.Viewer, names)
	}
	return rest.List(r, page, names, func(i int) string { return strconv.FormatInt(int64(rows[i].Cursor), 10) }, "", show)
}

// showTag returns a hashtag, used or not.
func (h *tags) showTag(r *rest.Request) (any, error) {
	name, err := tagParam(r)
	return h.renderTag(r, name, err)
}

// tagAction returns a handler that runs an operation on the hashtag of the path, and answers with the hashtag.
func (h *tags) tagAction(run func(context.Context, *store.Account, string) error) rest.Handler {
	return func(r *rest.Request) (any, error) {
		name, err := tagParam(r)
		if err == nil {
			err = run(r.Context(), r.Viewer, name)
		}
		return h.renderTag(r, name, err)
	}
}

// featureTag features a hashtag on the viewer's profile, and returns it without the id of the featured one.
func (h *tags) featureTag(ctx context.Context, viewer *store.Account, name string) error {
	_, err := h.Social.FeatureTag(ctx, viewer, name)
	return err
}

// tagParam returns the hashtag of the path.
func tagParam(r *rest.Request) (string, error) {
	name := text.TagName(r.Param("name"))
	if name == "" {
		return "", errs.ErrRecordNotFound
	}
	return name, nil
}

func (h *tags) renderTag(r *rest.Request, name string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return only(h.Entities.Tags(r.Context(), r.Viewer, []string{name}))
}
