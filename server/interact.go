package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/text"
	"svc/server/oauth"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// interactions serves the pages on which local users follow or reply to accounts and posts of another server (federation 1.1, extension
// API 27).
type interactions struct{ *parts }

func (h *interactions) routes() rest.Routes {
	return rest.Routes{
		"GET /authorize_interaction": {rest.Anonymous.HTML().Secret(), h.authorizeInteraction},
		"GET /ostatus_subscribe":     {rest.Anonymous.HTML().Limit("search").Secret(), h.showInteraction},
		"POST /ostatus_subscribe":    {rest.Anonymous.HTML().Limit("authentication").Secret(), h.interact},
	}
}

const interactPath = "/ostatus_subscribe"

// interactionPath returns the URL of the page for a handle or URL.
func interactionPath(address string) string {
	return interactPath + "?acct=" + url.QueryEscape(address)
}

// authorizeInteraction redirects from the older path of the page.
func (h *interactions) authorizeInteraction(r *rest.Request) (any, error) {
	address, err := bindInteraction(r)
	if err != nil {
		return nil, err
	}
	return rest.Redirect(interactionPath(address)), nil
}

// bindInteraction returns the handle or URL that the page is for.
func bindInteraction(r *rest.Request) (string, error) {
	var p struct {
		Acct string `param:"acct"`
		URI  string `param:"uri"`
	}
	if err := r.Bind(&p); err != nil {
		return "", err
	}
	address := strings.TrimSpace(p.URI)
	if p.Acct != "" {
		address = strings.TrimSpace(p.Acct)
	}
	address = strings.TrimPrefix(address, "acct:")
	if address == "" || len(address) > maxAddressBytes {
		return "", errs.BadRequest("The address names no account or post.")
	}
	return address, nil
}

// showInteraction shows an account or a status and what a user can do with it. Others have to sign in first, because the page can
// cause requests to other servers.
func (h *interactions) showInteraction(r *rest.Request) (any, error) {
	address, err := bindInteraction(r)
	if err != nil {
		return nil, err
	}
	sess, err := h.oauth.Session(r)
	if err != nil {
		return nil, err
	}
	if sess == nil {
		return h.signInPage(r, http.StatusOK, address, "", "")
	}
	return h.renderInteraction(r, sess, address, http.StatusOK, "", "")
}

// signInPage asks the user to sign in before the page is shown.
func (h *interactions) signInPage(r *rest.Request, status int, address, name, message string) (any, error) {
	return h.oauth.Page(r, status, web.SignIn{
		App: &web.App{Name: h.Settings.Load().Instance.Name}, Action: interactPath, Nested: true, HiddenFields: []web.Field{{Name: "acct", Value: address}},
		Nickname: name, Error: message, SignUpURL: h.oauth.SignUpURL(""),
	})
}

// interactionSubject is the account or status of the page.
type interactionSubject struct {
	account *store.Account
	status  *store.Status
}

var errNoSubject = errs.NotFound("No account or post was found that you can see.")

// findSubject finds the account or status, if necessary on its own server.
func (h *interactions) findSubject(r *rest.Request, viewer *store.Account, address string) (*interactionSubject, error) {
	r.Viewer = viewer
	named, err := h.resolveSubject(r, address)
	f := new(interactionSubject)
	switch {
	case err != nil:
	case named.Status != 0:
		f.status, err = h.DB.VisibleStatus(r.Context(), viewer.ID, named.Status)
		if err == nil && f.status.ReblogOfID != nil {
			f.status, err = h.DB.VisibleStatus(r.Context(), viewer.ID, *f.status.ReblogOfID)
		}
	case named.Account != 0:
		f.account, err = h.DB.Account(r.Context(), named.Account)
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

func (h *interactions) resolveSubject(r *rest.Request, address string) (Resolved, error) {
	address = text.NormalizeAddress(address)
	isURL := strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
	if isURL {
		named, err := h.lookup.lookUpAddress(r, address)
		if err != nil || named != (Resolved{}) || strings.HasPrefix(address, h.Settings.BaseURL+"/") {
			return named, err
		}
	} else {
		a, err := h.lookup.accountByHandle(r, address)
		if err == nil {
			return Resolved{Account: a.ID}, nil
		}
		if !errs.IsNotFound(err) {
			return Resolved{}, err
		}
	}
	if h.Resolve == nil {
		return Resolved{}, errNoSubject
	}
	return h.Resolve(r.Context(), r.Viewer, address)
}

// renderInteraction shows the page to a signed-in user.
func (h *interactions) renderInteraction(r *rest.Request, sess *oauth.Session, address string, status int, result, message string) (any, error) {
	f, err := h.findSubject(r, sess.Account, address)
	if err != nil {
		return nil, err
	}
	frame := h.oauth.Frame(r)
	if result != "" {
		result = frame.Messages.Text(result)
	}
	p := web.Interact{
		Acct: sess.Account.Nickname, Result: result, Error: message,
		HiddenFields: []web.Field{
			{Name: "acct", Value: address}, {Name: oauth.FormParam, Value: h.oauth.FormToken(sess)}, {Name: idempotencyParam, Value: keys.NewToken()},
		},
	}
	if f.account != nil {
		err = h.addAccountActions(r.Context(), &p, frame.Messages, sess.Account, f.account)
	} else {
		err = h.addStatusActions(r.Context(), &p, frame.Messages, sess.Account, f.status)
	}
	if err != nil {
		return nil, err
	}
	return h.pages.Show(status, frame, p)
}

// idempotencyParam keeps a reply from being published twice.
const idempotencyParam = "once"

// The actions of the buttons.
const (
	followDecision    = "follow"
	unfollowDecision  = "unfollow"
	favouriteDecision = "favourite"
	reblogDecision    = "reblog"
	bookmarkDecision  = "bookmark"
	replyDecision     = "reply"
)

// addAccountActions adds an account and its possible actions to the page.
func (h *interactions) addAccountActions(ctx context.Context, p *web.Interact, texts *web.Messages, viewer, a *store.Account) error {
	p.Handle = "@" + a.Acct()
	if a.Local() {
		p.Handle += "@" + h.Settings.Host
	}
	p.Title = p.Handle
	shown, err := h.Entities.Account(ctx, a.ID)
	if err != nil {
		return err
	}
	p.Account = new(web.Account)
	if err := h.pages.Decode(shown, p.Account); err != nil {
		return err
	}
	if a.ID == viewer.ID {
		return nil
	}
	follow, err := h.DB.FollowOf(ctx, viewer.ID, a.ID)
	switch {
	case err != nil:
		return err
	case follow == nil:
		p.Actions = []web.Action{{Name: followDecision, Label: "account.follow"}}
	case follow.Pending:
		p.Actions = []web.Action{{Name: unfollowDecision, Label: "account.cancel_request"}}
	default:
		p.Actions = []web.Action{{Name: unfollowDecision, Label: "account.unfollow"}}
	}
	if p.Result == "" && follow != nil {
		p.Result = texts.Text(followState(follow))
	}
	return nil
}

// followState returns the key of the text about a follow.
func followState(f *store.Follow) string {
	if f.Pending {
		return "interact.requested"
	}
	return "interact.following"
}

// addStatusActions adds a status and its possible actions to the page.
func (h *interactions) addStatusActions(ctx context.Context, p *web.Interact, texts *web.Messages, viewer *store.Account, st *store.Status) error {
	shown, err := h.Entities.Status(ctx, viewer, st.ID)
	if err != nil {
		return err
	}
	var post web.Status
	if err := h.pages.Decode(shown, &post); err != nil {
		return err
	}
	if p.Post, err = texts.Article(web.Article{Status: &post}); err != nil {
		return err
	}
	p.Title = texts.Text("interact.post_by", post.Account.Acct)
	p.Reply = true
	p.Actions = []web.Action{
		{Name: replyDecision, Label: "post.reply"}, {Name: favouriteDecision, Label: "post.favourite"},
		{Name: reblogDecision, Label: "post.boost"}, {Name: bookmarkDecision, Label: "post.bookmark"},
	}
	return nil
}

// interact handles the forms of the page: signing in, or an action.
func (h *interactions) interact(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	address, err := bindInteraction(r)
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
		return h.oauth.SignInPage(r, interactionPath(address), p.In.Name, p.In.Password, func(status int, message string) (any, error) {
			return h.signInPage(r, status, address, p.In.Name, message)
		})
	}
	sess, err := h.oauth.Session(r)
	if err != nil {
		return nil, err
	}
	if sess == nil {
		return h.signInPage(r, http.StatusOK, address, "", h.oauth.Text(r, "sign_in.cookies"))
	}
	if err := h.oauth.CheckForm(r, sess); err != nil {
		return nil, err
	}
	if p.Decision == oauth.SwitchAccount {
		if err := h.oauth.EndSession(r, sess); err != nil {
			return nil, err
		}
		return h.signInPage(r, http.StatusOK, address, "", "")
	}
	f, err := h.findSubject(r, sess.Account, address)
	if err != nil {
		return nil, err
	}
	result, err := h.performAction(r.Context(), sess.Account, f, p.Decision, social.Draft{Content: social.Content{Text: p.Status}, IdempotencyKey: p.Once})
	var refusal *errs.Error
	if errors.As(err, &refusal) && refusal.Status < 500 {
		return h.renderInteraction(r, sess, address, refusal.Status, "", refusal.Message)
	}
	if err != nil {
		return nil, err
	}
	return h.renderInteraction(r, sess, address, http.StatusOK, result, "")
}

// performAction performs an action and returns the key of the text that tells the user.
func (h *interactions) performAction(ctx context.Context, viewer *store.Account, f *interactionSubject, decision string, answer social.Draft) (string, error) {
	if f.account != nil {
		switch decision {
		case followDecision:
			follow, err := h.Social.Follow(ctx, viewer, f.account.ID, social.FollowOptions{})
			if err != nil {
				return "", err
			}
			return followState(follow), nil
		case unfollowDecision:
			return "interact.not_following", h.Social.Unfollow(ctx, viewer, f.account.ID)
		}
		return "", errs.BadRequest("Unknown action.")
	}
	var err error
	result := ""
	switch decision {
	case favouriteDecision:
		_, err = h.Social.Favourite(ctx, viewer, f.status.ID)
		result = "interact.favourited"
	case reblogDecision:
		_, err = h.Social.Reblog(ctx, viewer, f.status.ID, nil)
		result = "interact.boosted"
	case bookmarkDecision:
		_, err = h.Social.Bookmark(ctx, viewer, f.status.ID)
		result = "interact.bookmarked"
	case replyDecision:
		answer.InReplyTo = f.status.ID
		_, err = h.Social.Publish(ctx, viewer, answer)
		result = "interact.replied"
	default:
		err = errs.BadRequest("Unknown action.")
	}
	return result, err
}
