package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// The tabs of a profile, by what their paths add to that of the profile.
const (
	postsTab   = ""
	repliesTab = "/with_replies"
	mediaTab   = "/media"
)

// account fetches the account of the path with its relationship to the viewer. answer is not nil if the account has another address, or is
// not shown to visitors.
func (p *page) account(suffix string) (a *web.Account, answer any, err error) {
	a = new(web.Account)
	if err := p.get("/api/v1/accounts/lookup", url.Values{"acct": {p.Param("nickname")}, "with_relationships": {p.signedIn()}}, a); err != nil {
		return nil, nil, err
	}
	switch {
	case p.Viewer == nil && !a.Local():
		answer, err = p.remotePage(cmp.Or(a.URL, a.URI))
	case strings.Contains(p.Param("nickname"), "@") && a.Local():
		answer = rest.Redirect(p.frame.Base + "/@" + a.Username + suffix)
	}
	return a, answer, err
}

// signedIn returns the parameter by which an endpoint adds the relationships of a user. Visitors have none.
func (p *page) signedIn() string { return strconv.FormatBool(p.Viewer != nil) }

// handle returns the handle of an account with its host.
func (p *page) handle(a *web.Account) string {
	if a.Local() {
		return "@" + a.Username + "@" + p.Settings.Host
	}
	return "@" + a.Acct
}

// profileTab shows an account with a part of its posts. Visitors are not shown what it boosted, which is often from other servers.
func profileTab(tab string) func(*page) (any, error) {
	return func(p *page) (any, error) {
		a, answer, err := p.account(tab)
		if answer != nil || err != nil {
			return answer, err
		}
		path := "/api/v1/accounts/" + a.ID
		query := p.cursors(postsPerPage)
		switch tab {
		case postsTab:
			query.Set("exclude_replies", "true")
		case mediaTab:
			query.Set("only_media", "true")
		}
		if p.Viewer == nil {
			query.Set("exclude_reblogs", "true")
		}
		posts, err := p.fetch(path+"/statuses", query)
		if err != nil {
			return nil, err
		}
		var pinned entity.List[*entity.Status]
		var tags []web.FeaturedTag
		var made web.OwnCollections
		if tab == postsTab && !query.Has("max_id") && !query.Has("min_id") && !query.Has("since_id") {
			answer, err := p.fetch(path+"/statuses", url.Values{"pinned": {"true"}, "limit": {postsPerPage}})
			if err != nil {
				return nil, err
			}
			pinned, _ = answer.Value.(entity.List[*entity.Status])
			if err := p.get(path+"/featured_tags", nil, &tags); err != nil {
				return nil, err
			}
			if made, err = p.collectionsOf(a); err != nil {
				return nil, err
			}
		}
		return p.keep(func() (web.Content, error) {
			c, err := p.profile(a, tab, posts, pinned, tags)
			c.Collections = made.Collections
			return c, err
		})
	}
}

// profile returns the page of an account.
func (p *page) profile(a *web.Account, tab string, posts *rest.Answer, pinned entity.List[*entity.Status], tags []web.FeaturedTag) (c web.Profile, err error) {
	handle := p.handle(a)
	c = web.Profile{Account: a, Handle: handle, Tags: tags, Self: p.Viewer != nil && a.Local() && strings.EqualFold(a.Username, p.Viewer.Nickname)}
	c.Meta = web.Meta{
		Title: cmp.Or(a.DisplayName, a.Username) + " (" + handle + ")", Description: excerpt(text.HTMLToText(a.Note), 200), Canonical: a.URL, Type: "profile",
		Image: a.AvatarStatic, Handle: handle, ActivityURL: a.URI, Index: a.Indexable && tab == postsTab,
	}
	profile := p.frame.Base + "/@" + a.Acct
	for _, t := range []string{postsTab, repliesTab, mediaTab} {
		c.Tabs = append(c.Tabs, web.Tab{Title: "profile.tab" + strings.ReplaceAll(t, "/", "_"), URL: profile + t, Current: t == tab})
	}
	if a.Local() {
		c.Meta.Feeds = feedsOf(p.Settings.BaseURL+"/@"+a.Username, handle)
	}
	c.Remote = p.remoteForm(a.Local(), web.Field{Name: "nickname", Value: a.Username})
	if c.Pinned, err = p.posts(pinned); err != nil {
		return c, err
	}
	c.Posts, err = p.posts(without(posts.Value, pinned))
	c.Newer, c.Older = p.links(posts)
	return c, err
}

// without leaves the posts of one list out of another, because a page shows each once.
func without(value any, others entity.List[*entity.Status]) any {
	list, ok := value.(entity.List[*entity.Status])
	if !ok || len(others) == 0 {
		return value
	}
	shown := make(map[store.StatusID]bool, len(others))
	for _, s := range others {
		shown[s.ID()] = true
	}
	var rest entity.List[*entity.Status]
	for _, s := range list {
		if !shown[s.ID()] {
			rest = append(rest, s)
		}
	}
	return rest
}

func (p *page) followers() (any, error) { return p.follows("/followers") }
func (p *page) following() (any, error) { return p.follows("/following") }

// follows shows the followers of an account, or whom it follows.
func (p *page) follows(list string) (any, error) {
	a, answer, err := p.account(list)
	if answer != nil || err != nil {
		return answer, err
	}
	own := p.Viewer != nil && a.ID == p.Viewer.ID.String()
	c := web.AccountsOf{
		Title: "profile" + strings.ReplaceAll(list, "/", "."), Subject: p.handle(a), SubjectURL: p.frame.Base + "/@" + a.Acct,
		Hidden: !own && (list == "/followers" && a.Svc.HideFollowers || list == "/following" && a.Svc.HideFollows),
	}
	return p.accounts("/api/v1/accounts/"+a.ID+list, c)
}

func (p *page) favouriters() (any, error) { return p.whoDid("favourited_by", "post.favourited_by") }
func (p *page) boosters() (any, error)    { return p.whoDid("reblogged_by", "post.boosted_by_all") }

// whoDid shows the accounts that favourited or boosted a status.
func (p *page) whoDid(list, title string) (any, error) {
	_, st, answer, err := p.status()
	if answer != nil || err != nil {
		return answer, err
	}
	return p.accounts(statusPath(st.ID)+"/"+list, web.AccountsOf{Title: title, Subject: p.statusMeta(st).Title, SubjectURL: p.permalink(st)})
}

// accounts shows the accounts that an endpoint lists.
func (p *page) accounts(path string, c web.AccountsOf) (any, error) {
	query := p.cursors(accountsPerPage)
	query.Set("with_relationships", p.signedIn())
	a, err := p.list(path, query, &c.Accounts)
	if err != nil {
		return nil, err
	}
	c.Newer, c.Older = p.links(a)
	return p.keep(func() (web.Content, error) { return c, nil })
}

// history shows the versions of a status.
func (p *page) history() (any, error) {
	_, st, answer, err := p.status()
	if answer != nil || err != nil {
		return answer, err
	}
	c := web.History{Title: p.statusMeta(st).Title, URL: p.permalink(st)}
	if err := p.get(statusPath(st.ID)+"/history", nil, &c.Versions); err != nil {
		return nil, err
	}
	slices.Reverse(c.Versions)
	return p.keep(func() (web.Content, error) {
		var media []*web.Media
		for i := range c.Versions {
			media = append(media, web.Pointers(c.Versions[i].MediaAttachments)...)
		}
		return c, p.measure(media)
	})
}

// tag shows the posts with a hashtag: visitors those of this server, users all known ones.
func (p *page) tag() (any, error) {
	var c web.Tagged
	if err := p.get("/api/v1/tags/"+url.PathEscape(p.Param("name")), nil, &c.Tag); err != nil {
		return nil, err
	}
	name := c.Tag.Name
	query := p.cursors(postsPerPage)
	if p.Viewer == nil {
		query.Set("local", "true")
	}
	a, err := p.fetch("/api/v1/timelines/tag/"+url.PathEscape(name), query)
	if err != nil {
		return nil, err
	}
	return p.keep(func() (web.Content, error) {
		canonical := p.Settings.BaseURL + "/tags/" + url.PathEscape(name)
		c.Meta = web.Meta{Title: "#" + name, Description: p.text("tag.description", "#"+name, p.Settings.Load().Instance.Name), Canonical: canonical, Type: "website", Feeds: feedsOf(canonical, "#"+name)}
		c.Newer, c.Older = p.links(a)
		c.Posts, err = p.posts(a.Value)
		return c, err
	})
}

// publicTimeline shows visitors the public posts of this server.
func (p *page) publicTimeline() (any, error) {
	switch {
	case p.Viewer != nil:
		return rest.Redirect(homePath + "/local"), nil
	case !p.Settings.Load().Web.PublicTimeline:
		return nil, errNoPage
	}
	query := p.cursors(postsPerPage)
	query.Set("local", "true")
	a, err := p.fetch("/api/v1/timelines/public", query)
	if err != nil {
		return nil, err
	}
	return p.keep(func() (web.Content, error) {
		c := web.Timeline{Title: "local.title"}
		c.Newer, c.Older = p.links(a)
		c.Posts, err = p.posts(a.Value)
		return c, err
	})
}
