package server

import (
	"html/template"
	"net/http"
	"net/url"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/oauth"
	"svc/server/pages"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// publicPages serves the page at / and the pages of accounts and statuses. Those show what anyone may see, also to signed-in users.
type publicPages struct {
	settings *config.Live
	db       *store.DB
	entities *entity.Builder
	oauth    *oauth.Service
	pages    *web.Pages
	baseURL  string

	frontends *frontends   // their index replaces the pages
	documents *activityPub // for other servers that request a page
	ui        *pages.Handlers
}

func (h *publicPages) routes() rest.Routes {
	return rest.Routes{
		"GET /":               {rest.Anonymous.HTML(), h.frontends.orPage(h.homePage)},
		"GET /@:nickname":     {rest.Anonymous.HTML().Limit(rest.ApiBucket), h.documents.pageOrDocument(h.frontends.orPage(h.profilePage), h.documents.actorDocument)},
		"GET /@:nickname/:id": {rest.Browser.Limit(rest.ApiBucket), h.documents.pageOrDocument(h.frontends.orPage(h.ui.StatusPage), h.documents.pageObjectDocument)},
	}
}

var errNoPage = errs.NotFound("There is no page at this address.")

const postsOfPage = 20

// homePage shows the name of the server and how to join.
func (h *publicPages) homePage(*rest.Request) (any, error) {
	i := h.settings.Load().Instance
	description := i.ShortDescription
	if description == "" {
		description = text.HTMLToText(i.Description)
	}
	return h.pages.Page(http.StatusOK, web.Home{
		Name: i.Name, Description: description, Host: h.settings.Host(),
		SignUpURL: h.oauth.SignUpURL(""), ByInvitation: i.InvitesEnabled, ApprovalRequired: i.AccountApprovalRequired, Contact: i.Email,
	})
}

// publicAccount returns the local account of the path if anyone may see it.
func (h *publicPages) publicAccount(r *rest.Request) (*store.Account, error) {
	if !h.settings.Load().Instance.Public {
		return nil, errs.Forbidden("Sign in with your app to see posts on this server.")
	}
	a, err := h.db.AccountByName(r.Context(), r.Param("nickname"), "")
	if errs.IsNotFound(err) || err == nil && a.Unavailable {
		return nil, errNoPage
	}
	return a, err
}

// profilePage shows an account and its statuses, without boosts and replies to others.
func (h *publicPages) profilePage(r *rest.Request) (any, error) {
	a, err := h.publicAccount(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(postsOfPage, postsOfPage)
	part, err := h.db.AccountTimeline(r.Context(), 0, a.ID, "", store.Filter{ExcludeReblogs: true, ExcludeReplies: true}, page.Page)
	if err != nil {
		return nil, err
	}
	ids := part.Rows
	posts, err := h.webPosts(r, ids)
	if err != nil {
		return nil, err
	}
	p := web.Profile{
		Name: a.DisplayName, Handle: "@" + a.Nickname + "@" + h.settings.Host(), AvatarURL: h.entities.Avatar(a),
		Note: sanitized(a.Note), Posts: posts,
	}
	if h.settings.Load().Federation.Enabled {
		p.Remote = &web.Remote{HiddenFields: []web.Field{{Name: "nickname", Value: a.Nickname}}}
	}
	for _, f := range a.Fields.V {
		p.Fields = append(p.Fields, web.ProfileField{Name: f.Name, Value: sanitized(f.Value)})
	}
	older := flakeCursor(part.Next)
	if len(ids) == page.Limit {
		older = ids[len(ids)-1].String()
	}
	if older != "" {
		p.OlderURL = a.URL + "?max_id=" + url.QueryEscape(older)
	}
	return h.pages.Page(200, p)
}

// webPosts prepares statuses for a page, in the order of ids.
func (h *publicPages) webPosts(r *rest.Request, ids []store.StatusID) ([]web.Post, error) {
	rows, err := h.db.VisibleStatuses(r.Context(), 0, ids)
	if err != nil {
		return nil, err
	}
	media, err := h.db.MediaOf(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	var authors []store.AccountID
	byID := make(map[store.StatusID]*store.Status, len(rows))
	for _, st := range rows {
		byID[st.ID] = st
		authors = append(authors, st.AccountID)
	}
	accounts, err := h.db.Accounts(r.Context(), authors)
	if err != nil {
		return nil, err
	}
	authorOf := make(map[store.AccountID]*store.Account, len(accounts))
	for _, a := range accounts {
		authorOf[a.ID] = a
	}
	attached := make(map[store.StatusID][]web.Attachment)
	for _, m := range media {
		attached[*m.StatusID] = append(attached[*m.StatusID], webAttachment(h.entities, m))
	}
	posts := make([]web.Post, 0, len(ids))
	for _, id := range ids {
		st := byID[id]
		if st == nil || authorOf[st.AccountID] == nil {
			continue
		}
		post := webPost(h.entities, st, authorOf[st.AccountID])
		post.Media = attached[id]
		posts = append(posts, post)
	}
	return posts, nil
}

// webPost prepares a status without its media for a page.
func webPost(b *entity.Builder, st *store.Status, author *store.Account) web.Post {
	return web.Post{
		Name: author.DisplayName, Handle: "@" + author.Acct(), ProfileURL: author.URL, AvatarURL: b.Avatar(author), URL: st.URL,
		CreatedAt: st.CreatedAt.String(), Date: st.CreatedAt.Time().Format("2 January 2006"),
		SpoilerText: st.SpoilerText, Content: sanitized(st.Content), Sensitive: st.Sensitive,
	}
}

// webAttachment prepares a media attachment for a page.
func webAttachment(b *entity.Builder, m *store.Media) web.Attachment {
	file, preview := b.MediaFile(m)
	return web.Attachment{Type: m.Type, URL: file, PreviewURL: preview, Description: m.Description}
}

// sanitized cleans HTML once more, because on a page it would run with the origin of this server.
func sanitized(html string) template.HTML { return template.HTML(text.Sanitize(html)) }
