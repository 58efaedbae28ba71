package pages

import (
	"net/http"
	"net/url"
	"strings"

	"svc/emoji"
	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) postActionRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/statuses/:id/more":         {rest.SignedIn, h.page((*page).postActions)},
		"GET /web/statuses/:id/react":        {rest.SignedIn, h.page((*page).chooseReaction)},
		"POST /web/statuses/:id/react":       {rest.SignedIn, h.page((*page).react)},
		"POST /web/statuses/:id/translation": {rest.SignedIn, h.page((*page).translate)},
		"GET /web/statuses/:id/delete":       {rest.SignedIn, h.page((*page).askToDelete)},
		"GET /web/statuses/:id/redraft":      {rest.SignedIn, h.page((*page).askToDelete)},
		"POST /web/statuses/:id/redraft":     {rest.SignedIn, h.page((*page).redraft)},
	}
}

// postInPath returns the status that the path of the page names, and its HTML without buttons.
func (p *page) postInPath() (*web.PostActions, error) {
	a, err := p.Call(http.MethodGet, statusPath(p.Param("id")), nil)
	if err != nil {
		return nil, err
	}
	content := new(web.PostActions)
	var boost web.Status
	if err := p.decode(a.Value, &boost); err != nil {
		return nil, err
	}
	var approval struct {
		Quotes web.QuoteApproval `json:"quote_approval"`
	}
	if err := p.decode(a.Value, &approval); err != nil {
		return nil, err
	}
	content.Status, content.Quotes = boost.Shown(), approval.Quotes
	content.Status.Own = content.Status.Account.ID == p.Viewer.ID.String()
	content.Permalink = p.permalink(content.Status)
	content.Back = localPath(p.Query(backParam), p.cameFrom(content.Permalink))
	if strings.HasPrefix(content.Back, "/web/statuses/") { // another of these pages
		content.Back = content.Permalink
	}
	content.Post, err = p.frame.Messages.Article(web.Article{Status: content.Status, Base: p.frame.Base})
	return content, err
}

// postActions shows what the viewer can do with a post beside what its buttons do.
func (p *page) postActions() (any, error) {
	content, err := p.postInPath()
	if err != nil {
		return nil, err
	}
	if content.Folders, err = p.folders(); err != nil {
		return nil, err
	}
	st := content.Status
	content.CanTranslate = p.Settings.Load().Translation.URL != "" && (st.Visibility == "public" || st.Visibility == "unlisted")
	if q := st.Quote; q != nil && q.QuotedStatus != nil && !st.Own && q.QuotedStatus.Account.ID == p.Viewer.ID.String() {
		content.QuotedID = q.QuotedStatus.ID
	}
	return p.show(http.StatusOK, *content)
}

// maxEmojis bounds the custom emojis of a page.
const maxEmojis = 300

// chooseReaction shows the custom emojis, or those whose names contain a text.
func (p *page) chooseReaction() (any, error) {
	content, err := p.postInPath()
	if err != nil {
		return nil, err
	}
	var emojis []web.Emoji
	if err := p.get("/api/v1/custom_emojis", nil, &emojis); err != nil {
		return nil, err
	}
	choice := web.ChooseReaction{PostActions: *content, Query: strings.Trim(p.URL.Query().Get("q"), ": ")}
	if choice.Query == "" {
		choice.Common = emoji.Common
	}
	for _, e := range emojis {
		if len(choice.Emojis) < maxEmojis && strings.Contains(strings.ToLower(e.Shortcode), strings.ToLower(choice.Query)) {
			choice.Emojis = append(choice.Emojis, e)
		}
	}
	p.frame.Path = choice.Back
	return p.show(http.StatusOK, choice)
}

// react adds the reaction that was entered.
func (p *page) react() (any, error) {
	content, err := p.postInPath()
	if err != nil {
		return nil, err
	}
	emoji := strings.Trim(p.Query("emoji"), ": ")
	if emoji == "" {
		return nil, p.refusedForm("react.missing")
	}
	if _, err := p.Call(http.MethodPut, "/api/v1/svc/statuses/"+content.Status.ID+"/reactions/"+url.PathEscape(emoji), nil); err != nil {
		return nil, err
	}
	return p.leave(content.Back, "reacted", content.Status.ID), nil
}

// translate shows a post in the viewer's language.
func (p *page) translate() (any, error) {
	content, err := p.postInPath()
	if err != nil {
		return nil, err
	}
	a, err := p.Call(http.MethodPost, statusPath(content.Status.ID)+"/translate", nil)
	if err != nil {
		return nil, err
	}
	translated := web.TranslatedPost{Permalink: content.Permalink, Original: content.Status}
	if err := p.decode(a.Value, &translated.Translation); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, translated)
}

// askToDelete asks before a post is deleted, or deleted and written anew.
func (p *page) askToDelete() (any, error) {
	content, err := p.postInPath()
	if err != nil {
		return nil, err
	}
	if !content.Status.Own {
		return nil, errNoPage
	}
	return p.show(http.StatusOK, web.DeletePost{PostActions: *content, Redraft: strings.HasSuffix(p.URL.Path, "/redraft")})
}

// redraft deletes a post and shows the form with its content.
func (p *page) redraft() (any, error) {
	a, err := p.Call(http.MethodDelete, statusPath(p.Param("id")), nil)
	if err != nil {
		return nil, err
	}
	var st web.Status
	var source struct {
		Text      string `json:"text"`
		Extension struct {
			ListID string `json:"list_id"`
		} `json:"svc"`
	}
	if err := p.decode(a.Value, &st); err != nil {
		return nil, err
	}
	if err := p.decode(a.Value, &source); err != nil {
		return nil, err
	}
	f := composeForm{Visibility: st.Visibility, ReplyTo: st.InReplyToID, Once: keys.NewToken(), Back: homePath, PollDuration: "86400"}
	if list := source.Extension.ListID; list != "" {
		f.Visibility = "list:" + list
	}
	if st.Quote != nil && st.Quote.QuotedStatus != nil {
		f.Quote = st.Quote.QuotedStatus.ID
	}
	f.fillContent(&st, source.Text)
	return p.composePage(http.StatusOK, &f, nil, "")
}

// refusedForm returns the error of a form in which something is wrong.
func (p *page) refusedForm(key string) error { return errs.Invalid("%s", p.text(key)) }
