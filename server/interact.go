package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/oauth"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// interactions serves the pages on which local users follow or reply to what they found on another server (federation 1.1, extension
// API 27).
type interactions struct {
	settings *config.Config
	db       *store.DB
	social   *social.Service
	entities *entity.Builder
	oauth    *oauth.Service
	pages    *web.Pages
	resolve  Resolver
	lookup   *lookup
	baseURL  string
}

func (h *interactions) routes() rest.Routes {
	return rest.Routes{
		"GET /authorize_interaction": {rest.Anonymous.HTML(), h.authorizeInteraction},
		"GET /ostatus_subscribe":     {rest.Anonymous.HTML().Limit("search"), h.showInteraction},
		"POST /ostatus_subscribe":    {rest.Anonymous.HTML().Limit("authentication"), h.interact},
	}
}

const interactPath = "/ostatus_subscribe"

// interactionPath returns the address of the page about something.
func interactionPath(what string) string { return interactPath + "?acct=" + url.QueryEscape(what) }

// authorizeInteraction leads to the page under its older name.
func (h *interactions) authorizeInteraction(r *rest.Request) (any, error) {
	what, err := bindInteraction(r)
	if err != nil {
		return nil, err
	}
	return rest.Redirect(interactionPath(what)), nil
}

// bindInteraction returns what a page is to be about: an address, or a handle.
func bindInteraction(r *rest.Request) (string, error) {
	var p struct {
		Acct string `param:"acct"`
		URI  string `param:"uri"`
	}
	if err := r.Bind(&p); err != nil {
		return "", err
	}
	what := strings.TrimSpace(p.URI)
	if p.Acct != "" {
		what = strings.TrimSpace(p.Acct)
	}
	what = strings.TrimPrefix(what, "acct:")
	if what == "" || len(what) > maxAddressBytes {
		return "", errs.BadRequest("The address does not say what this is about.")
	}
	return what, nil
}

// showInteraction shows an account or a post to who is signed in, and what can be done about it. Others are asked to sign in first:
// for strangers no other server is asked.
func (h *interactions) showInteraction(r *rest.Request) (any, error) {
	what, err := bindInteraction(r)
	if err != nil {
		return nil, err
	}
	sess, err := h.oauth.Session(r)
	if err != nil {
		return nil, err
	}
	if sess == nil {
		return h.signInPage(http.StatusOK, what, "", "")
	}
	return h.renderInteraction(r, sess, what, http.StatusOK, "", "")
}

// signInPage asks somebody to sign in, to go on to the page about something.
func (h *interactions) signInPage(status int, what, name, fault string) (any, error) {
	return h.pages.Page(status, web.Login{
		App: web.App{Name: h.settings.Instance.Name}, Action: interactPath, Hidden: []web.Field{{Name: "acct", Value: what}}, Name: name, Fault: fault,
	})
}

// interactionSubject is what a page is about: one of the two.
type interactionSubject struct {
	account *store.Account
	status  *store.Status
}

var errNoSubject = errs.NotFound("Nothing was found there that could be shown here.")

// findSubject finds what a page is about, if need be on its own server.
func (h *interactions) findSubject(r *rest.Request, viewer *store.Account, what string) (*interactionSubject, error) {
	r.Viewer = viewer
	named, err := h.resolveSubject(r, what)
	if errs.IsNotFound(err) {
		return nil, errNoSubject
	}
	if err != nil {
		return nil, err
	}
	f := new(interactionSubject)
	switch {
	case named.Status != 0:
		f.status, err = h.db.VisibleStatus(r.Context(), viewer.ID, named.Status)
		if err == nil && f.status.ReblogOfID != nil {
			f.status, err = h.db.VisibleStatus(r.Context(), viewer.ID, *f.status.ReblogOfID)
		}
	case named.Account != 0:
		f.account, err = h.db.Account(r.Context(), named.Account)
		if err == nil && f.account.Unavailable {
			err = errNoSubject
		}
	default:
		err = errNoSubject
	}
	if errs.IsNotFound(err) {
		err = errNoSubject
	}
	return f, err
}

func (h *interactions) resolveSubject(r *rest.Request, what string) (Resolved, error) {
	isAddress := strings.HasPrefix(what, "https://") || strings.HasPrefix(what, "http://")
	if isAddress {
		named, err := h.lookup.lookUpAddress(r, what)
		if err != nil || named != (Resolved{}) || strings.HasPrefix(what, h.baseURL+"/") {
			return named, err
		}
	} else {
		a, err := h.lookup.accountByHandle(r, what)
		if err == nil {
			return Resolved{Account: a.ID}, nil
		}
		if !errs.IsNotFound(err) {
			return Resolved{}, err
		}
	}
	if h.resolve == nil {
		return Resolved{}, errNoSubject
	}
	return h.resolve(r.Context(), r.Viewer, what)
}

// renderInteraction shows what a page is about to who is signed in.
func (h *interactions) renderInteraction(r *rest.Request, sess *oauth.Session, what string, status int, done, fault string) (any, error) {
	f, err := h.findSubject(r, sess.Account, what)
	if err != nil {
		return nil, err
	}
	p := web.Interact{
		Acct: sess.Account.Nickname, Done: done, Fault: fault,
		Hidden: []web.Field{
			{Name: "acct", Value: what}, {Name: oauth.FormParam, Value: h.oauth.FormToken(sess)}, {Name: idempotencyParam, Value: keys.NewToken()},
		},
	}
	if f.account != nil {
		err = h.addAccountActions(r.Context(), &p, sess.Account, f.account)
	} else {
		err = h.addStatusActions(r, &p, f.status)
	}
	if err != nil {
		return nil, err
	}
	return h.pages.Page(status, p)
}

// idempotencyParam keeps what a page sends from being posted twice.
const idempotencyParam = "once"

// What people can do by a button.
const (
	followDecision    = "follow"
	unfollowDecision  = "unfollow"
	favouriteDecision = "favourite"
	reblogDecision    = "reblog"
	bookmarkDecision  = "bookmark"
	replyDecision     = "reply"
)

// addAccountActions puts an account on the page.
func (h *interactions) addAccountActions(ctx context.Context, p *web.Interact, viewer, a *store.Account) error {
	handle := "@" + a.Acct()
	if a.Local() {
		handle += "@" + h.settings.Host()
	}
	p.Title = handle
	p.Account = &web.AccountSummary{Name: a.DisplayName, Handle: handle, Profile: a.URL, Avatar: h.entities.Avatar(a), Note: text.HTMLToText(a.Note)}
	if a.URL == "" {
		p.Account.Profile = a.URI
	}
	if a.ID == viewer.ID {
		return nil
	}
	follow, err := h.db.FollowOf(ctx, viewer.ID, a.ID)
	switch {
	case err != nil:
		return err
	case follow == nil:
		p.Actions = []web.Action{{Name: followDecision, Label: "Follow"}}
	case follow.Pending:
		p.Actions = []web.Action{{Name: unfollowDecision, Label: "Take the request back"}}
	default:
		p.Actions = []web.Action{{Name: unfollowDecision, Label: "Unfollow"}}
	}
	if p.Done == "" && follow != nil {
		p.Done = followState(follow)
	}
	return nil
}

func followState(f *store.Follow) string {
	if f.Pending {
		return "You have asked to follow this account."
	}
	return "You follow this account."
}

// addStatusActions puts a post on the page.
func (h *interactions) addStatusActions(r *rest.Request, p *web.Interact, st *store.Status) error {
	author, err := h.db.Account(r.Context(), st.AccountID)
	if err != nil {
		return err
	}
	media, err := h.db.MediaOf(r.Context(), []store.StatusID{st.ID})
	if err != nil {
		return err
	}
	p.Title = "A post by @" + author.Acct()
	p.Post = &web.Post{
		Name: author.DisplayName, Handle: "@" + author.Acct(), Profile: author.URL, Avatar: h.entities.Avatar(author), URL: st.URL,
		At: st.CreatedAt.String(), Day: st.CreatedAt.Time().Format("2 January 2006"),
		Subject: st.SpoilerText, Content: sanitized(st.Content), Hidden: st.Sensitive,
	}
	for _, m := range media {
		p.Post.Media = append(p.Post.Media, webAttachment(h.entities, m))
	}
	p.Reply = true
	p.Actions = []web.Action{
		{Name: replyDecision, Label: "Answer"}, {Name: favouriteDecision, Label: "Favourite"},
		{Name: reblogDecision, Label: "Boost"}, {Name: bookmarkDecision, Label: "Bookmark"},
	}
	return nil
}

// interact takes what the page's forms send: name and password, or what to do.
func (h *interactions) interact(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	what, err := bindInteraction(r)
	if err != nil {
		return nil, err
	}
	var p struct {
		In struct {
			Name     string `param:"name"`
			Password string `param:"password"`
		} `param:"authorization"`
		Decision string `param:"decision"`
		Status   string `param:"status"`
		Once     string `param:"once"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.In.Name != "" || p.In.Password != "" {
		return h.oauth.SignInPage(r, interactionPath(what), p.In.Name, p.In.Password, func(status int, message string) (any, error) {
			return h.signInPage(status, what, p.In.Name, message)
		})
	}
	sess, err := h.oauth.Session(r)
	if err != nil {
		return nil, err
	}
	if sess == nil {
		return h.signInPage(http.StatusOK, what, "", "You are not signed in any more. Your browser has to accept a cookie for that.")
	}
	if err := h.oauth.CheckForm(r, sess); err != nil {
		return nil, err
	}
	if p.Decision == oauth.SwitchAccount {
		if err := h.oauth.EndSession(r, sess); err != nil {
			return nil, err
		}
		return h.signInPage(http.StatusOK, what, "", "")
	}
	f, err := h.findSubject(r, sess.Account, what)
	if err != nil {
		return nil, err
	}
	done, err := h.performAction(r.Context(), sess.Account, f, p.Decision, social.Draft{Text: p.Status, IdempotencyKey: p.Once})
	var refusal *errs.Error
	if errors.As(err, &refusal) && refusal.Status < 500 {
		return h.renderInteraction(r, sess, what, refusal.Status, "", refusal.Message)
	}
	if err != nil {
		return nil, err
	}
	return h.renderInteraction(r, sess, what, http.StatusOK, done, "")
}

// performAction does what somebody wants, and returns what to say of it.
func (h *interactions) performAction(ctx context.Context, viewer *store.Account, f *interactionSubject, decision string, answer social.Draft) (string, error) {
	if f.account != nil {
		switch decision {
		case followDecision:
			follow, err := h.social.Follow(ctx, viewer, f.account.ID, social.FollowOptions{})
			if err != nil {
				return "", err
			}
			return followState(follow), nil
		case unfollowDecision:
			return "You do not follow this account.", h.social.Unfollow(ctx, viewer, f.account.ID)
		}
		return "", errs.BadRequest("That cannot be done here.")
	}
	var err error
	done := ""
	switch decision {
	case favouriteDecision:
		_, err = h.social.Favourite(ctx, viewer, f.status.ID)
		done = "This is one of your favourites now."
	case reblogDecision:
		_, err = h.social.Reblog(ctx, viewer, f.status.ID, nil)
		done = "You have boosted this."
	case bookmarkDecision:
		_, err = h.social.Bookmark(ctx, viewer, f.status.ID)
		done = "This is among your bookmarks now."
	case replyDecision:
		answer.InReplyTo = f.status.ID
		_, err = h.social.Publish(ctx, viewer, answer)
		done = "Your answer is posted."
	default:
		err = errs.BadRequest("That cannot be done here.")
	}
	return done, err
}
