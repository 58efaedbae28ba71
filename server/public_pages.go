package server

import (
	"html/template"
	"net/url"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// publicRoutes are the pages that a post's and a profile's address lead to. They show what everybody may see, to everybody alike.
func (s *Server) publicRoutes() rest.Routes {
	return rest.Routes{
		"GET /@:nickname":     {rest.Anonymous.HTML().Limit(rest.ApiBucket), s.pageOrDocument(s.actorAddress, s.profilePage)},
		"GET /@:nickname/:id": {rest.Anonymous.HTML().Limit(rest.ApiBucket), s.pageOrDocument(s.objectAddress, s.threadPage)},
	}
}

var errNoPage = errs.NotFound("There is no page at this address.")

const postsOfPage = 20

// publicAccount returns the local account of the path, if it may be seen here.
func (s *Server) publicAccount(r *rest.Request) (*store.Account, error) {
	if !s.settings.Instance.Public {
		return nil, errs.Forbidden("This server shows what its people write to those who are signed in only. Use your app.")
	}
	a, err := s.db.AccountByName(r.Context(), r.Param("nickname"), "")
	if errs.IsNotFound(err) || err == nil && a.Unavailable {
		return nil, errNoPage
	}
	return a, err
}

// profilePage shows an account and what it posted, without boosts and answers to others.
func (s *Server) profilePage(r *rest.Request) (any, error) {
	a, err := s.publicAccount(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(postsOfPage, postsOfPage)
	ids, err := s.db.AccountTimeline(r.Context(), 0, a.ID, "", store.Filter{ExcludeReblogs: true, ExcludeReplies: true}, page.Page)
	if err != nil {
		return nil, err
	}
	posts, err := s.webPosts(r, ids)
	if err != nil {
		return nil, err
	}
	p := web.Profile{
		Name: a.DisplayName, Handle: "@" + a.Nickname + "@" + s.settings.Host(), Avatar: s.entities.Avatar(a),
		Note: sanitized(a.Note), Posts: posts,
	}
	if s.settings.Federation.Enabled {
		p.Remote = &web.Remote{Hidden: []web.Field{{Name: "nickname", Value: a.Nickname}}}
	}
	for _, f := range a.Fields.V {
		p.Fields = append(p.Fields, web.ProfileField{Name: f.Name, Value: sanitized(f.Value)})
	}
	if len(ids) == page.Limit {
		p.Older = a.URL + "?max_id=" + url.QueryEscape(ids[len(ids)-1].String())
	}
	return s.pages.Page(200, p)
}

// threadPage shows a post with what is around it.
func (s *Server) threadPage(r *rest.Request) (any, error) {
	a, err := s.publicAccount(r)
	if err != nil {
		return nil, err
	}
	st, err := s.db.VisibleStatus(r.Context(), 0, statusParam(r))
	if errs.IsNotFound(err) || err == nil && (st.AccountID != a.ID || st.ReblogOfID != nil) {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	above, below, err := s.db.Thread(r.Context(), 0, st, anonymousThreadLimits)
	if err != nil {
		return nil, err
	}
	all := append(append(append([]store.StatusID{}, above...), st.ID), below...)
	posts, err := s.webPosts(r, all)
	if err != nil {
		return nil, err
	}
	if len(posts) != len(all) {
		return nil, errNoPage // something was deleted in between
	}
	n := len(above)
	p := web.Thread{
		Above: posts[:n], Post: posts[n], Below: posts[n+1:], OEmbed: s.baseURL + "/api/oembed?url=" + url.QueryEscape(st.URL),
	}
	if s.settings.Federation.Enabled && st.Visibility.Federated() {
		p.Remote = &web.Remote{Hidden: []web.Field{{Name: "status_id", Value: st.ID.String()}}}
	}
	return s.pages.Page(200, p)
}

// webPosts prepares posts for a page, in the order of ids.
func (s *Server) webPosts(r *rest.Request, ids []store.StatusID) ([]web.Post, error) {
	rows, err := s.db.VisibleStatuses(r.Context(), 0, ids)
	if err != nil {
		return nil, err
	}
	media, err := s.db.MediaOf(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	var authors []store.AccountID
	byID := make(map[store.StatusID]*store.Status, len(rows))
	for _, st := range rows {
		byID[st.ID] = st
		authors = append(authors, st.AccountID)
	}
	accounts, err := s.db.Accounts(r.Context(), authors)
	if err != nil {
		return nil, err
	}
	who := make(map[store.AccountID]*store.Account, len(accounts))
	for _, a := range accounts {
		who[a.ID] = a
	}
	attached := make(map[store.StatusID][]web.Attachment)
	for _, m := range media {
		attached[*m.StatusID] = append(attached[*m.StatusID], s.webAttachment(m))
	}
	posts := make([]web.Post, 0, len(ids))
	for _, id := range ids {
		st := byID[id]
		if st == nil || who[st.AccountID] == nil {
			continue
		}
		a := who[st.AccountID]
		posts = append(posts, web.Post{
			Name: a.DisplayName, Handle: "@" + a.Acct(), Profile: a.URL, Avatar: s.entities.Avatar(a), URL: st.URL,
			At: st.CreatedAt.String(), Day: st.CreatedAt.Time().Format("2 January 2006"),
			Subject: st.SpoilerText, Content: sanitized(st.Content), Media: attached[id], Hidden: st.Sensitive,
		})
	}
	return posts, nil
}

func (s *Server) webAttachment(m *store.Media) web.Attachment {
	file, preview := s.entities.MediaFile(m)
	return web.Attachment{Type: m.Type, URL: file, Preview: preview, Text: m.Description}
}

// sanitized marks HTML as such, cleaned once more: pages are the one place where it runs on our own address.
func sanitized(html string) template.HTML { return template.HTML(text.Sanitize(html)) }
