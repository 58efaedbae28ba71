package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) composeRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/compose":  {rest.SignedIn, h.page((*page).showCompose)},
		"POST /web/compose": {rest.SignedIn.Uploads(), h.page((*page).compose)},
	}
}

// composeForm is what the form for a post sends.
type composeForm struct {
	Text         string         `param:"status"`
	SpoilerText  string         `param:"spoiler_text"`
	Visibility   string         `param:"visibility"`
	Sensitive    bool           `param:"sensitive"`
	Language     string         `param:"language"`
	ContentType  string         `param:"content_type"`
	QuotePolicy  string         `param:"quote_approval_policy"`
	MediaIDs     []string       `param:"media_ids"`
	Descriptions []string       `param:"media_descriptions"`
	Files        []*rest.Upload `param:"file"`
	Options      []string       `param:"poll_options"`
	Multiple     bool           `param:"poll_multiple"`
	HideTotals   bool           `param:"poll_hide_totals"`
	PollDuration string         `param:"poll_expires_in"`
	ScheduledAt  string         `param:"scheduled_at"`
	TimeZone     string         `param:"time_zone"` // of ScheduledAt
	ExpiresIn    string         `param:"expires_in"`
	ReplyTo      string         `param:"in_reply_to_id"`
	Quote        string         `param:"quote_id"`
	Edit         string         `param:"edit"`
	Whole        bool           `param:"whole"` // it is the form with all fields
	Do           string         `param:"do"`    // the button; "": the one that publishes
	Back         string         `param:"back"`
	Once         string         `param:"once"`
	Mentions     string         `param:"mentions"`    // that the form began with, each with a space after it
	Undescribed  bool           `param:"undescribed"` // the author was reminded of missing descriptions
}

// composePart is the part of a page by which the script of the form asks for the form alone, and for the post that it made; "compose below" for a reply
// that is shown right below what it answers.
const composePart = "compose"

// maxFormMedia bounds the attachments of the form, because each is looked up when the form is shown.
const maxFormMedia = 16

// compose publishes or edits a post, or shows the form again: with what another button did, or with what is wrong.
func (p *page) compose() (any, error) {
	var f composeForm
	if err := p.Bind(&f); err != nil {
		return nil, err
	}
	f.MediaIDs = f.MediaIDs[:min(len(f.MediaIDs), maxFormMedia)]
	err := p.uploadAll(&f)
	f.Text = separateMentions(f.Text, f.Mentions)
	for len(f.Descriptions) < len(f.MediaIDs) {
		f.Descriptions = append(f.Descriptions, "")
	}
	if err == nil {
		err = p.describe(&f)
	}
	var result any
	if err == nil {
		result, err = p.pressed(&f)
	}
	if e := forUser(err); e != nil {
		f.Once = keys.NewToken()
		return p.composePage(e.Status, &f, nil, e.Message)
	}
	return result, err
}

// uploadAll adds the files of the form to its attachments, as long as there is room. Those before one that is refused are kept.
func (p *page) uploadAll(f *composeForm) error {
	for _, file := range f.Files {
		if len(f.MediaIDs) >= maxFormMedia {
			return errs.Invalid("%s", p.text("compose.too_many", maxFormMedia))
		}
		media, err := p.upload(file)
		if err != nil {
			return err
		}
		if media != "" {
			f.MediaIDs = append(f.MediaIDs, media)
		}
	}
	return nil
}

// pressed does what the button of the form is for.
func (p *page) pressed(f *composeForm) (any, error) {
	action, at, _ := strings.Cut(f.Do, ":")
	i, err := strconv.Atoi(at)
	onMedia := err == nil && i >= 0 && i < len(f.MediaIDs)
	switch {
	case action == "":
		return p.publish(f)
	case action == "more":
		f.fillDefaults(p.User)
	case action == "preview":
		a, err := p.CallJSON(http.MethodPost, "/api/v1/statuses", f.preview())
		if err != nil {
			return nil, err
		}
		return p.composePage(http.StatusOK, f, a.Value, "")
	case action == "up" && onMedia && i > 0:
		f.swap(i, i-1)
	case action == "down" && onMedia && i+1 < len(f.MediaIDs):
		f.swap(i, i+1)
	case action == "remove" && onMedia:
		f.MediaIDs, f.Descriptions = slices.Delete(f.MediaIDs, i, i+1), slices.Delete(f.Descriptions, i, i+1)
	}
	return p.composePage(http.StatusOK, f, nil, "")
}

func (f *composeForm) swap(i, j int) {
	f.MediaIDs[i], f.MediaIDs[j] = f.MediaIDs[j], f.MediaIDs[i]
	f.Descriptions[i], f.Descriptions[j] = f.Descriptions[j], f.Descriptions[i]
}

// describe stores the descriptions of uploads that were changed. Those of a published post are changed with it.
func (p *page) describe(f *composeForm) error {
	if f.Edit != "" {
		return nil
	}
	for i, id := range f.MediaIDs {
		media, err := p.ownMedia(id)
		if err != nil {
			return err
		}
		if media.Description == f.Descriptions[i] {
			continue
		}
		if _, err := p.CallJSON(http.MethodPut, mediaPath(id), map[string]any{"description": f.Descriptions[i]}); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes, schedules or edits the post.
func (p *page) publish(f *composeForm) (any, error) {
	if p.frame.Describe && !f.Undescribed && slices.ContainsFunc(f.Descriptions[:len(f.MediaIDs)], isBlank) {
		f.Undescribed = true
		return nil, errs.Invalid("%s", p.text("compose.undescribed"))
	}
	if f.Edit != "" {
		a, err := p.CallJSON(http.MethodPut, statusPath(f.Edit), f.edit())
		if err != nil {
			return nil, err
		}
		return p.posted(f, a.Value, "saved")
	}
	draft := f.draft()
	if f.ScheduledAt != "" {
		at, err := p.enteredTime(f.ScheduledAt, f.TimeZone)
		if err != nil {
			return nil, err
		}
		draft["scheduled_at"] = at
	}
	p.Header.Set("Idempotency-Key", f.Once)
	a, err := p.CallJSON(http.MethodPost, "/api/v1/statuses", draft)
	if err != nil {
		return nil, err
	}
	if _, later := a.Value.(*entity.ScheduledStatus); later {
		return p.posted(f, nil, "scheduled")
	}
	return p.posted(f, a.Value, "posted")
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// posted leads to where a post is seen: a reply below what it answers, a direct message in its conversation, others where they were written. The script of
// the form gets the post and the address of that place instead.
func (p *page) posted(f *composeForm, value any, done string) (any, error) {
	var made web.Status
	next, at := localPath(f.Back, homePath), ""
	if value == nil {
		next = "/web/scheduled"
	} else if err := p.decode(value, &made); err != nil {
		return nil, err
	}
	if value != nil && f.Edit == "" && (f.Visibility == "direct" || f.ReplyTo != "") {
		at = made.ID
	}
	if f.Visibility == "direct" && f.ReplyTo == "" && at != "" {
		next = p.permalink(&made)
	}
	part, variant, _ := strings.Cut(p.Part(), " ")
	if part != composePart {
		return p.leave(next, done, at), nil
	}
	content := web.Posted{Done: done, Next: placeAfter(next, done, at)}
	if st, ok := value.(*entity.Status); ok {
		content.Link = p.postLink(&made)
		var err error
		if content.Post, err = p.post(st, web.Article{InThread: variant == "below"}); err != nil {
			return nil, err
		}
	}
	return p.show(http.StatusOK, content)
}

// separateMentions puts a space between a text and the mentions that the form began with. A field that is entered by the keyboard has its caret at the
// start, so that typed text ends up in front of them.
func separateMentions(text, mentions string) string {
	at := strings.Index(text, mentions)
	if at <= 0 || strings.TrimSpace(mentions) == "" {
		return text
	}
	if before, _ := utf8.DecodeLastRuneInString(text[:at]); unicode.IsSpace(before) {
		return text
	}
	return text[:at] + " " + text[at:]
}

// content returns the parameters that new and edited posts have in common.
func (f *composeForm) content() map[string]any {
	body := map[string]any{"status": f.Text, "spoiler_text": f.SpoilerText, "media_ids": append([]string{}, f.MediaIDs...)}
	if f.Whole {
		body["sensitive"] = f.Sensitive
	}
	for name, value := range map[string]string{"language": f.Language, "content_type": f.ContentType, "quote_approval_policy": f.QuotePolicy} {
		if value != "" {
			body[name] = value
		}
	}
	options := slices.DeleteFunc(slices.Clone(f.Options), func(o string) bool { return strings.TrimSpace(o) == "" })
	if len(options) == 0 {
		return body
	}
	poll := map[string]any{"options": options, "multiple": f.Multiple, "hide_totals": f.HideTotals}
	if f.PollDuration != "" {
		poll["expires_in"] = f.PollDuration
	}
	body["poll"] = poll
	return body
}

// draft returns the parameters of a new post.
func (f *composeForm) draft() map[string]any {
	body := f.content()
	for name, value := range map[string]string{
		"visibility": f.Visibility, "scheduled_at": f.ScheduledAt, "expires_in": f.ExpiresIn, "in_reply_to_id": f.ReplyTo, "quote_id": f.Quote,
	} {
		if value != "" {
			body[name] = value
		}
	}
	return body
}

func (f *composeForm) preview() map[string]any {
	body := f.draft()
	delete(body, "scheduled_at")
	body["preview"] = true
	return body
}

// edit returns the parameters of an edited post.
func (f *composeForm) edit() map[string]any {
	body := f.content()
	attributes := make([]map[string]any, len(f.MediaIDs))
	for i, id := range f.MediaIDs {
		attributes[i] = map[string]any{"id": id, "description": f.Descriptions[i]}
	}
	body["media_attributes"] = attributes
	return body
}

// quickPost returns the short form for a post.
func (p *page) quickPost() *web.Compose {
	return &web.Compose{
		Once: keys.NewToken(), Visibility: p.User.DefaultVisibility.String(), Visibilities: p.visibilities(nil), MaxCharacters: p.Settings.Load().Statuses.MaxLength,
	}
}
