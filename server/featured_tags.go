package server

import (
	"slices"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// featuredTags serves the hashtags on profiles.
type featuredTags struct{ *parts }

func (h *featuredTags) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/featured_tags":              {rest.User("read:accounts").Optional(config.OptionalFeaturedTags).Answers("[]FeaturedTag"), h.listOwn},
		"POST /api/v1/featured_tags":             {rest.User("write:accounts").Written().Answers("FeaturedTag"), h.feature},
		"DELETE /api/v1/featured_tags/:id":       {rest.User("write:accounts").Answers("empty"), operation(h.Social.UnfeatureTag)},
		"GET /api/v1/featured_tags/suggestions":  {rest.User("read:accounts").Answers("[]FoundTag"), h.suggestions},
		"GET /api/v1/accounts/:id/featured_tags": {rest.Content("read:accounts").Answers("[]FeaturedTag"), h.listOfAccount},
	}
}

// listOwn lists the featured hashtags of the viewer.
func (h *featuredTags) listOwn(r *rest.Request) (any, error) { return h.list(r, r.Viewer.ID) }

// listOfAccount lists the featured hashtags of an account. Those of remote accounts are unknown, so that their list is empty.
func (h *featuredTags) listOfAccount(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	return h.list(r, a.ID)
}

func (h *featuredTags) list(r *rest.Request, id store.AccountID) (any, error) {
	rows, err := h.DB.FeaturedTags(r.Context(), id, social.MaxFeaturedTags)
	if err != nil {
		return nil, err
	}
	return h.Entities.FeaturedTags(rows), nil
}

// feature features a hashtag of the viewer.
func (h *featuredTags) feature(r *rest.Request) (any, error) {
	var p struct {
		Name string `param:"name"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	name := text.TagName(p.Name)
	if name == "" {
		return nil, errs.Invalid("Validation failed: Name is invalid")
	}
	id, err := h.Social.FeatureTag(r.Context(), r.Viewer, name)
	if err != nil {
		return nil, err
	}
	rows, err := h.DB.FeaturedTags(r.Context(), r.Viewer.ID, social.MaxFeaturedTags)
	i := slices.IndexFunc(rows, func(row store.FeaturedTagUse) bool { return row.ID == id })
	if err == nil && i < 0 { // it was removed meanwhile
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	return h.Entities.FeaturedTag(rows[i]), nil
}

// suggestions lists the hashtags that the viewer uses most and does not feature.
func (h *featuredTags) suggestions(r *rest.Request) (any, error) {
	names, err := h.DB.FrequentTags(r.Context(), r.Viewer.ID, social.MaxFeaturedTags)
	if err != nil {
		return nil, err
	}
	return h.Entities.Tags(r.Context(), r.Viewer, names)
}
