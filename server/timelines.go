package server

import (
	"slices"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// timelines serves the timelines.
type timelines struct{ *parts }

func (h *timelines) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/timelines/home":          {rest.User("read:statuses").Limit("timeline", "home").Answers("[]Status"), h.homeTimeline},
		"GET /api/v1/timelines/public":        {rest.Content("read:statuses").Limit("timeline", "public").Answers("[]Status"), h.publicTimeline},
		"GET /api/v1/timelines/bubble":        {rest.Content("read:statuses").Limit("timeline", "bubble").Answers("[]Status"), h.bubbleTimeline},
		"GET /api/v1/timelines/link":          {rest.Content("read:statuses").Limit("timeline", "link").Answers("[]Status"), h.linkTimeline},
		"GET /api/v1/timelines/tag/:hashtag":  {rest.Content("read:statuses").Limit("timeline", "tag").Answers("[]Status"), h.tagTimeline},
		"GET /api/v1/timelines/list/:list_id": {rest.User("read:lists").Limit("timeline", "list").Answers("[]Status"), h.listTimeline},
		"GET /api/v1/timelines/direct":        {rest.User("read:statuses").Limit("timeline", "direct").Answers("[]Status"), h.directTimeline},
		"GET /api/v1/accounts/:id/statuses":   {rest.Content("read:statuses").Answers("[]Status"), h.accountStatuses},
	}
}

// homeTimeline returns the statuses of the viewer's home timeline.
func (h *timelines) homeTimeline(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	read := func(p store.Page) (store.Part[store.StatusID], error) {
		return h.DB.HomeTimeline(r.Context(), r.Viewer.ID, f, p)
	}
	show := func(ids []store.StatusID) (entity.List[*entity.Status], error) {
		return h.Entities.Statuses(r.Context(), r.Viewer, ids)
	}
	found, err := filteredPage(r, page.Page, store.FilterHome, read, show)
	if err != nil {
		return nil, err
	}
	r.LinkPart(page, len(found.scanned), func(i int) string { return found.scanned[i].String() }, flakeCursor(found.next))
	return found.shown, nil
}

// publicTimeline returns public statuses: of all known servers, of this one (local), of the others (remote), or of one (instance).
func (h *timelines) publicTimeline(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	instance := text.NormalizeDomain(r.Query("instance"))
	switch {
	case instance == "" && r.Query("instance") != "": // no host, so no status is from there
		return entity.List[*entity.Status]{}, nil
	case h.Settings.IsOwnHost(instance):
		instance, f.Local = "", true
	}
	page := r.Page(20, 40)
	part, err := h.DB.PublicTimeline(r.Context(), viewerID(r), instance, f, page.Page)
	return h.render.statusPage(r, page, part, err)
}

// bubbleTimeline returns public statuses of this server and of the hosts in timelines.bubble.
func (h *timelines) bubbleTimeline(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, host := range h.Settings.Load().Timelines.Bubble {
		if host = text.NormalizeDomain(host); !h.Settings.IsOwnHost(host) && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	page := r.Page(20, 40)
	part, err := h.DB.BubbleTimeline(r.Context(), viewerID(r), hosts, f, page.Page)
	return h.render.statusPage(r, page, part, err)
}

// linkTimeline returns public statuses whose card leads to a page. The reference has it for trending links only, this server for all that it
// knows.
func (h *timelines) linkTimeline(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	var p struct {
		URL string `param:"url,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	card, err := h.DB.CardByURL(r.Context(), p.URL)
	if err == nil && (card == nil || card.Card.Empty()) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	part, err := h.DB.LinkTimeline(r.Context(), viewerID(r), card.ID, f, page.Page)
	if err == nil && len(part.Rows) == 0 {
		err = h.checkPublicLink(r, card.ID)
	}
	return h.render.statusPage(r, page, part, err)
}

// checkPublicLink returns an error if no public status has a card, so that nobody learns of others that have it.
func (h *timelines) checkPublicLink(r *rest.Request, card store.CardID) error {
	public, err := h.DB.LinkTimeline(r.Context(), 0, card, store.Filter{}, store.Page{Limit: 1})
	if err == nil && len(public.Rows) == 0 {
		err = errs.ErrRecordNotFound
	}
	return err
}

// maxTagsCombined is how many further hashtags one request may combine.
const maxTagsCombined = 8

// tagTimeline returns public statuses with a hashtag. any, all and none combine it with others.
func (h *timelines) tagTimeline(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	var p struct {
		Any  []string `param:"any"`
		All  []string `param:"all"`
		None []string `param:"none"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if len(p.Any)+len(p.All)+len(p.None) > maxTagsCombined {
		return nil, errs.Invalid("Validation failed: too many hashtags")
	}
	q := store.TagQuery{Tag: text.TagName(r.Param("hashtag")), Any: entity.Map(p.Any, text.TagName), All: entity.Map(p.All, text.TagName), None: entity.Map(p.None, text.TagName)}
	page := r.Page(20, 40)
	part, err := h.DB.TagTimeline(r.Context(), viewerID(r), q, f, page.Page)
	return h.render.statusPage(r, page, part, err)
}

// listTimeline returns the statuses of the members of one of the viewer's lists.
func (h *timelines) listTimeline(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	l, err := h.DB.OwnList(r.Context(), r.Viewer.ID, store.ParseID[store.ListID](r.Param("list_id")))
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	part, err := h.DB.ListTimeline(r.Context(), r.Viewer.ID, l.ID, f, page.Page)
	return h.render.statusPage(r, page, part, err)
}

// directTimeline returns the direct statuses from and to the viewer.
func (h *timelines) directTimeline(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	part, err := h.DB.DirectTimeline(r.Context(), r.Viewer.ID, f, page.Page)
	return h.render.statusPage(r, page, part, err)
}

// accountStatuses returns the statuses of an account, named by id or nickname, or with pinned the pinned ones.
func (h *timelines) accountStatuses(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	var p struct {
		Pinned         bool   `param:"pinned"`
		Tagged         string `param:"tagged"`
		ExcludeReplies bool   `param:"exclude_replies"`
		ExcludeReblogs bool   `param:"exclude_reblogs"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	f.ExcludeReplies, f.ExcludeReblogs = p.ExcludeReplies, p.ExcludeReblogs
	author, remote, err := h.lookup.accountIDOrNickname(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	if remote && r.Viewer != nil && !p.Pinned && page.MaxID == 0 { // apps that know the account open its profile by this request alone
		h.lookup.fillProfile(r, author)
	}
	var part store.Part[store.StatusID]
	if p.Pinned {
		part, err = h.DB.PinnedStatuses(r.Context(), viewerID(r), author, page.Page)
	} else {
		part, err = h.DB.AccountTimeline(r.Context(), viewerID(r), author, text.TagName(p.Tagged), f, page.Page)
	}
	return h.render.statusPage(r, page, part, err)
}

// bindFilter binds the parameters that all timelines have in common (spec 4.6).
func bindFilter(r *rest.Request) (store.Filter, error) {
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
	f.ExcludeVisibility = parseVisibilities(p.ExcludeVisibility)
	switch p.ReplyVisibility {
	case "following":
		f.ReplyVisibility = store.RepliesFollowing
	case "self":
		f.ReplyVisibility = store.RepliesSelf
	}
	return f, nil
}

// parseVisibilities reads visibilities and ignores unknown ones.
func parseVisibilities(names []string) []store.Visibility {
	var list []store.Visibility
	for _, name := range names {
		if v, ok := store.ParseVisibility(name); ok {
			list = append(list, v)
		}
	}
	return list
}
