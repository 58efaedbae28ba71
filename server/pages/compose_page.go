package pages

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/internal/keys"
	"svc/server/web"
	"svc/store"
)

// showCompose shows the form for a post: a new one, a reply, a quote, a message to someone, or one that is edited.
func (p *page) showCompose() (any, error) {
	query := p.URL.Query()
	f := composeForm{
		Visibility: p.User.DefaultVisibility.String(), Text: query.Get("text"), ReplyTo: query.Get("reply"),
		Quote: query.Get("quote"), Edit: query.Get("edit"), Once: keys.NewToken(), Back: homePath,
	}
	f.fillDefaults(p.User)
	var err error
	switch {
	case f.Edit != "":
		f.ReplyTo, f.Quote = "", ""
		err = p.fillEdit(&f)
	case f.ReplyTo != "":
		f.Quote = ""
		err = p.fillReply(&f)
	}
	if err != nil {
		return nil, err
	}
	if to := query.Get("to"); to != "" {
		f.mention(strings.TrimPrefix(to, "@"))
	}
	if query.Has("direct") { // without a value: the recipients are still to be mentioned
		f.Visibility = "direct"
		if to := strings.TrimPrefix(query.Get("direct"), "@"); to != "" {
			f.mention(to)
		}
	}
	return p.composePage(http.StatusOK, &f, nil, "")
}

// fillDefaults sets what the short form does not have.
func (f *composeForm) fillDefaults(u *store.User) {
	f.Sensitive, f.PollDuration = u.DefaultSensitive, "86400"
}

// mention begins the text with mentions.
func (f *composeForm) mention(handles ...string) {
	for _, handle := range handles {
		f.Mentions += "@" + handle + " "
	}
	f.Text = f.Mentions
}

// widths are the visibilities from the widest to the narrowest.
var widths = []string{"public", "unlisted", "local", "private", "list", "direct"}

// fillReply prepares a reply: it mentions whom the post mentions, has its content warning and is seen by no more people.
func (p *page) fillReply(f *composeForm) error {
	var st web.Status
	if err := p.get(statusPath(f.ReplyTo), nil, &st); err != nil {
		return err
	}
	st = *st.Shown()
	f.ReplyTo, f.SpoilerText, f.Back = st.ID, st.SpoilerText, p.permalink(&st)
	f.Language = st.Language
	if slices.Index(widths, st.Visibility) > slices.Index(widths, f.Visibility) {
		f.Visibility = st.Visibility
	}
	if f.Visibility == "list" {
		f.Visibility = "direct"
	}
	names := []string{st.Account.Acct}
	for _, m := range st.Mentions {
		names = append(names, m.Acct)
	}
	var others []string
	for _, name := range names {
		if name != p.Viewer.Nickname && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	f.mention(others...)
	return nil
}

// fillEdit prepares the edit of a post.
func (p *page) fillEdit(f *composeForm) error {
	var st web.Status
	if err := p.get(statusPath(f.Edit), nil, &st); err != nil {
		return err
	}
	if st.Account.ID != p.Viewer.ID.String() {
		return errNoPage
	}
	var source struct {
		Text        string `json:"text"`
		SpoilerText string `json:"spoiler_text"`
		ContentType string `json:"content_type"`
	}
	if err := p.get(statusPath(f.Edit)+"/source", nil, &source); err != nil {
		return err
	}
	f.fillContent(&st, source.Text)
	f.SpoilerText, f.ContentType, f.PollDuration, f.Back = source.SpoilerText, source.ContentType, "", p.permalink(&st)
	return nil
}

// fillContent fills the form with the content of a post.
func (f *composeForm) fillContent(st *web.Status, text string) {
	f.Text, f.SpoilerText, f.Sensitive, f.Language = text, st.SpoilerText, st.Sensitive, st.Language
	for _, m := range st.MediaAttachments {
		f.MediaIDs, f.Descriptions = append(f.MediaIDs, m.ID), append(f.Descriptions, m.Description)
	}
	if st.Poll == nil {
		return
	}
	f.Multiple = st.Poll.Multiple
	for _, o := range st.Poll.Options {
		f.Options = append(f.Options, o.Title)
		f.HideTotals = f.HideTotals || o.VotesCount == nil
	}
}

// composePage shows the form. preview is the status that the API rendered of it, nil for none.
func (p *page) composePage(status int, f *composeForm, preview any, message string) (any, error) {
	settings := p.Settings.Load()
	undescribed := ""
	if zone, err := web.Zone(f.TimeZone); err == nil {
		p.frame.Zone = zone // the entered time is in it
	}
	content := web.Compose{
		Title: "compose.title", Action: "/web/compose", Error: message, Once: cmp.Or(f.Once, keys.NewToken()), Back: localPath(f.Back, homePath),
		Text: f.Text, SpoilerText: f.SpoilerText, Visibility: f.Visibility, MaxCharacters: settings.Statuses.MaxLength, Whole: true,
		Sensitive: f.Sensitive, Language: f.Language, ContentType: f.ContentType, Formats: settings.Statuses.AllowedFormats,
		QuotePolicy: f.QuotePolicy, Options: pollFields(f.Options, settings.Polls.MaxOptions), HasPoll: len(f.Options) > 0 && strings.Join(f.Options, "") != "",
		MaxOptions: settings.Polls.MaxOptions, MaxOption: settings.Polls.MaxOptionLength, Multiple: f.Multiple, HideTotals: f.HideTotals, PollDuration: f.PollDuration,
		ScheduledAt: f.ScheduledAt, ExpiresIn: f.ExpiresIn, Edit: f.Edit, MoreMedia: len(f.MediaIDs) < maxFormMedia,
		PollDurations: durations(settings.Polls.MinExpiration, settings.Polls.MaxExpiration), Expiries: durations(settings.Statuses.MinExpiry, 366*24*time.Hour),
	}
	if p.Part() == composePart {
		content.Prefix = "c" + cmp.Or(f.ReplyTo, f.Quote, f.Edit)
	}
	if f.Undescribed {
		undescribed = "true"
	}
	hidden := []web.Field{{Name: "undescribed", Value: undescribed}, {Name: "in_reply_to_id", Value: f.ReplyTo}, {Name: "quote_id", Value: f.Quote}, {Name: "edit", Value: f.Edit}, {Name: "mentions", Value: f.Mentions}}
	content.HiddenFields = slices.DeleteFunc(hidden, func(field web.Field) bool { return field.Value == "" })
	switch {
	case f.Edit != "":
		content.Title = "compose.edit_title"
	case f.ReplyTo != "":
		content.Title = "compose.reply_title"
	case f.Quote != "":
		content.Title = "compose.quote_title"
	}
	var err error
	if content.Prefix == "" {
		if content.Context, err = p.composeContext(cmp.Or(f.ReplyTo, f.Quote)); err != nil {
			return nil, err
		}
	}
	if preview != nil {
		if content.Preview, err = p.plainPost(preview); err != nil {
			return nil, err
		}
	}
	var lists []web.List
	if f.Edit == "" {
		if err := p.get("/api/v1/lists", nil, &lists); err != nil {
			return nil, err
		}
	}
	content.Visibilities = p.visibilities(lists)
	for i, id := range f.MediaIDs {
		media, err := p.ownMedia(id)
		if err != nil {
			return nil, err
		}
		media.Description = f.Descriptions[i]
		content.Media = append(content.Media, *media)
	}
	return p.show(status, content)
}

// composeContext returns the HTML of the post that is answered or quoted, "" if there is none.
func (p *page) composeContext(id string) (template.HTML, error) {
	if id == "" {
		return "", nil
	}
	a, err := p.Call(http.MethodGet, statusPath(id), nil)
	if err != nil {
		return "", err
	}
	return p.plainPost(a.Value)
}

// plainPost returns the HTML of a status without its buttons.
func (p *page) plainPost(value any) (template.HTML, error) {
	var st web.Status
	if err := p.decode(value, &st); err != nil {
		return "", err
	}
	return p.frame.Messages.Article(web.Article{Status: st.Shown(), Base: p.frame.Base})
}

func mediaPath(id string) string { return "/api/v1/media/" + url.PathEscape(id) }

func (p *page) ownMedia(id string) (*web.Media, error) {
	media := new(web.Media)
	return media, p.get(mediaPath(id), nil, media)
}

// visibilities returns those that a new post may have, with the viewer's lists.
func (p *page) visibilities(lists []web.List) []web.Choice {
	var choices []web.Choice
	for _, name := range []string{"public", "unlisted", "private", "direct", "local"} {
		choices = append(choices, web.Choice{Value: name, Label: p.text("compose.seen_by." + name)})
	}
	for _, l := range lists {
		choices = append(choices, web.Choice{Value: "list:" + l.ID, Label: p.text("compose.to_list", l.Title)})
	}
	return choices
}

// pollFields returns the texts of the fields for options: those that were entered and some empty ones.
func pollFields(options []string, most int) []string {
	fields := slices.DeleteFunc(slices.Clone(options), func(o string) bool { return o == "" })
	n := min(max(4, len(fields)+2), max(most, len(fields)))
	for len(fields) < n {
		fields = append(fields, "")
	}
	return fields
}

// standardDurations are offered where a form asks how long something lasts.
var standardDurations = []time.Duration{
	5 * time.Minute, 30 * time.Minute, time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 3 * 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
	365 * 24 * time.Hour,
}

// durations returns the standard durations in a range, in seconds.
func durations(from, to time.Duration) []web.Choice {
	var choices []web.Choice
	for _, d := range standardDurations {
		if from <= d && d <= to {
			seconds := strconv.Itoa(int(d / time.Second))
			choices = append(choices, web.Choice{Value: seconds, Label: seconds})
		}
	}
	return choices
}
