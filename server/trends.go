package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// trends serves what local accounts use most in their public posts. Clients get empty lists unless api.optional has
// "trends" (spec 4.6).
type trends struct {
	*parts
	computed cache.Value[*trending]
}

// Bounds of trends.
const (
	trendsTTL         = 5 * time.Minute
	trendPeriod       = entity.TrendDays * 24 * time.Hour
	maxTrends         = 100 // of each kind
	minTrendAccounts  = 2   // that use a hashtag or link, so that no account makes one alone
	minTrendReactions = 2   // favourites and boosts of a post
)

func (h *trends) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/trends":          {rest.AnyoneWith("read:statuses").Answers("[]TrendingTag"), h.listTags},
		"GET /api/v1/trends/tags":     {rest.AnyoneWith("read:statuses").Answers("[]TrendingTag"), h.listTags},
		"GET /api/v1/trends/statuses": {rest.AnyoneWith("read:statuses").Answers("[]Status"), h.listStatuses},
		"GET /api/v1/trends/links":    {rest.AnyoneWith("read:statuses").Answers("[]TrendingLink"), h.listLinks},
	}
}

// trending has the trends of each kind, those of most accounts first.
type trending struct {
	tags     []*trend[store.TagID]
	links    []*trend[store.CardID]
	statuses []store.StatusID
}

// trend is a hashtag or link with its uses.
type trend[ID comparable] struct {
	id       ID
	name     string
	uses     int
	accounts map[store.AccountID]bool
	days     [entity.TrendDays]struct { // today first
		uses     int
		accounts map[store.AccountID]bool
	}
}

// add counts a use in a post.
func (t *trend[ID]) add(p *store.TrendPost, today time.Time) {
	day := &t.days[min(max(int(today.Sub(p.ID.Time().Truncate(24*time.Hour))/(24*time.Hour)), 0), entity.TrendDays-1)]
	if day.accounts == nil {
		day.accounts = make(map[store.AccountID]bool)
	}
	day.accounts[p.AccountID], t.accounts[p.AccountID] = true, true
	day.uses++
	t.uses++
}

// history returns the days, today first.
func (t *trend[ID]) history(today time.Time) []entity.TrendDay {
	days := make([]entity.TrendDay, 0, entity.TrendDays)
	for i, d := range t.days {
		days = append(days, entity.NewTrendDay(today.AddDate(0, 0, -i), d.uses, len(d.accounts)))
	}
	return days
}

// counter collects trends of a kind.
type counter[ID comparable] map[ID]*trend[ID]

func (c counter[ID]) of(id ID, name string) *trend[ID] {
	if c[id] == nil {
		c[id] = &trend[ID]{id: id, name: name, accounts: make(map[store.AccountID]bool)}
	}
	return c[id]
}

// ranked returns those that enough accounts use, in order.
func ranked[ID cmp.Ordered](c counter[ID]) []*trend[ID] {
	var list []*trend[ID]
	for _, t := range c {
		if len(t.accounts) >= minTrendAccounts {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *trend[ID]) int {
		return cmp.Or(cmp.Compare(len(b.accounts), len(a.accounts)), cmp.Compare(b.uses, a.uses), cmp.Compare(a.id, b.id))
	})
	return list[:min(len(list), maxTrends)]
}

func (h *trends) today() time.Time { return h.Now().UTC().Truncate(24 * time.Hour) }

// load returns the trends, which are computed anew every few minutes. If they are off, only pages of this server get them. Anonymous clients of a
// private instance get none.
func (h *trends) load(r *rest.Request) (*trending, error) {
	c := h.Settings.Load()
	if !c.API.Offers(config.OptionalTrends) && !r.Internal() || !c.Instance.Public && r.Viewer == nil {
		return new(trending), nil
	}
	return h.computed.Load(h.Now(), trendsTTL, func() (*trending, error) { return h.compute(r.Context()) })
}

// compute counts what posts of the period use.
func (h *trends) compute(ctx context.Context) (*trending, error) {
	posts, err := h.DB.TrendPosts(ctx, h.Now().Add(-trendPeriod))
	if err != nil {
		return nil, err
	}
	today, byID := h.today(), make(map[store.StatusID]*store.TrendPost, len(posts))
	tags, links, statuses := make(counter[store.TagID]), make(counter[store.CardID]), []store.TrendPost{}
	ids := make([]store.StatusID, 0, len(posts))
	for i := range posts {
		p := &posts[i]
		byID[p.ID] = p
		ids = append(ids, p.ID)
		if p.CardID != nil {
			links.of(*p.CardID, "").add(p, today)
		}
		if p.Discoverable && p.Interactions >= minTrendReactions {
			statuses = append(statuses, *p)
		}
	}
	uses, err := h.DB.TrendTags(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, u := range uses {
		tags.of(u.TagID, u.Name).add(byID[u.StatusID], today)
	}
	slices.SortFunc(statuses, func(a, b store.TrendPost) int {
		return cmp.Or(cmp.Compare(b.Interactions, a.Interactions), cmp.Compare(b.ID, a.ID))
	})
	t := &trending{tags: ranked(tags), links: ranked(links)}
	for _, s := range statuses[:min(len(statuses), maxTrends)] {
		t.statuses = append(t.statuses, s.ID)
	}
	return t, nil
}

// piece returns a part of a list by the parameters limit and offset.
func piece[T any](r *rest.Request, list []T, standard, most int) ([]T, error) {
	var p struct {
		Offset *int `param:"offset"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Offset != nil {
		list = list[min(max(*p.Offset, 0), len(list)):]
	}
	return list[:min(len(list), r.Page(standard, most).Limit)], nil
}

// listTags lists trending hashtags.
func (h *trends) listTags(r *rest.Request) (any, error) {
	t, err := h.load(r)
	if err != nil {
		return nil, err
	}
	some, err := piece(r, t.tags, 10, 20)
	if err != nil {
		return nil, err
	}
	names, today := entity.Map(some, func(t *trend[store.TagID]) string { return t.name }), h.today()
	return h.Entities.TrendingTags(r.Context(), r.Viewer, names, func(i int) []entity.TrendDay { return some[i].history(today) })
}

// listStatuses lists posts with most favourites and boosts, of accounts that want to be found.
func (h *trends) listStatuses(r *rest.Request) (any, error) {
	t, err := h.load(r)
	if err != nil {
		return nil, err
	}
	listed, err := h.DB.ListedIDs(r.Context(), viewerID(r), t.statuses)
	if err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(slices.Clone(t.statuses), func(id store.StatusID) bool { return !slices.Contains(listed, id) })
	if ids, err = piece(r, ids, 20, 40); err != nil {
		return nil, err
	}
	return h.render.firstStatuses(r, ids)
}

// listLinks lists pages to which most accounts link.
func (h *trends) listLinks(r *rest.Request) (any, error) {
	t, err := h.load(r)
	if err != nil {
		return nil, err
	}
	some, err := piece(r, t.links, 10, 20)
	if err != nil {
		return nil, err
	}
	ids, today := entity.Map(some, func(t *trend[store.CardID]) store.CardID { return t.id }), h.today()
	return h.Entities.TrendingLinks(r.Context(), ids, func(i int) []entity.TrendDay { return some[i].history(today) })
}
