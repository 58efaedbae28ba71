package policy

import (
	"cmp"
	"context"
	"html"
	"slices"
	"strings"

	"svc/internal/config"
	"svc/internal/text"
	"svc/store"
)

// inlineQuote is InlineQuotePolicy: shows the address of what a post quotes below it, for clients that show no quotes.
type inlineQuote struct{ template string }

func newInlineQuote(c *config.Config, _ Deps) any { return inlineQuote{c.MRFInlineQuote.Template} }

func (q inlineQuote) post(_ context.Context, p *Post) error {
	if p.Quote == nil {
		return nil
	}
	address := html.EscapeString(cmp.Or(p.Quote.URL, p.Quote.ID))
	if address == "" {
		return nil
	}
	return p.eachVersion(func(v *Version) error {
		for _, there := range []string{`<span class="quote-inline"`, address, html.EscapeString(p.Quote.ID)} {
			if there != "" && strings.Contains(v.Content, there) {
				return nil
			}
		}
		link := `<a href="` + address + `">` + address + `</a>`
		line := `<span class="quote-inline"><br/><br/>` + strings.ReplaceAll(q.template, "{url}", link) + `</span>`
		if within, ok := strings.CutSuffix(v.Content, "</p>"); ok {
			v.Content = text.Sanitize(within + line + "</p>")
		} else {
			v.Content = text.Sanitize(v.Content + line)
		}
		return nil
	})
}

// quoteLinks is QuoteToLinkTagPolicy: adds a Link tag for the quote, for those who look for quotes there (FEP-e232).
type quoteLinks struct{}

const objectLink = `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`

func (quoteLinks) post(_ context.Context, p *Post) error {
	if p.Quote == nil || p.Quote.ID == "" || slices.ContainsFunc(p.Links, func(l Link) bool { return l.Href == p.Quote.ID }) {
		return nil
	}
	p.Links = append(p.Links, Link{Href: p.Quote.ID, MediaType: objectLink, Name: "RE: " + p.Quote.ID})
	return nil
}

// forceMention is ForceMention: the authors of what a post replies to, and quotes, are mentioned.
type forceMention struct{ config.MRFForceMention }

func newForceMention(c *config.Config, _ Deps) any { return forceMention{c.MRFForceMention} }

func (f forceMention) post(_ context.Context, p *Post) error {
	if !p.isCreate() || !p.isNote() {
		return nil
	}
	if f.MentionQuoted && p.Quote != nil {
		p.mention(p.Quote.Author)
	}
	if f.MentionParent && p.Parent != nil { // second, so that it stands first
		p.mention(p.Parent.Author)
	}
	return nil
}

// mentionsInContent is ForceMentionsInContent: who is mentioned in a reply without being named in its text is named before it.
type mentionsInContent struct{ accounts AccountReader }

func newMentionsInContent(_ *config.Config, d Deps) any { return mentionsInContent{d.Accounts} }

// maxMentionsInContent bounds how many people are named before a text.
const maxMentionsInContent = 100

func (m mentionsInContent) post(ctx context.Context, p *Post) error {
	if p.Parent == nil || !p.isNote() {
		return nil
	}
	people, err := m.mentioned(ctx, p)
	if err != nil || len(people) == 0 {
		return err
	}
	return p.eachVersion(func(v *Version) error {
		var names strings.Builder
		for _, a := range people {
			url := html.EscapeString(cmp.Or(a.URL, a.URI))
			if strings.Contains(v.Content, `"`+url+`"`) || strings.Contains(v.Content, `"`+html.EscapeString(a.URI)+`"`) {
				continue
			}
			names.WriteString(`<span class="h-card"><a class="u-url mention" href="` + url + `" rel="ugc">@<span>` + html.EscapeString(a.Nickname) + `</span></a></span> `)
		}
		if names.Len() == 0 {
			return nil
		}
		line := `<span class="recipients-inline">` + names.String() + `</span>`
		if within, ok := strings.CutPrefix(v.Content, "<p>"); ok {
			v.Content = "<p>" + line + within
		} else {
			v.Content = line + v.Content
		}
		v.Content = text.Sanitize(v.Content)
		return nil
	})
}

// mentioned returns the mentioned, the author of the parent first. Those whom the caller has not brought along are looked up.
func (m mentionsInContent) mentioned(ctx context.Context, p *Post) ([]*store.Account, error) {
	var people []*store.Account
	var missing []string
	for _, r := range p.Recipients[:min(len(p.Recipients), maxMentionsInContent)] {
		switch {
		case !r.Mentioned:
		case r.Account != nil:
			people = append(people, r.Account)
		default:
			missing = append(missing, r.ID)
		}
	}
	if len(missing) > 0 {
		found, err := m.accounts.AccountsByURI(ctx, missing)
		if err != nil {
			return nil, err
		}
		for _, id := range missing {
			if a := found[id]; a != nil {
				people = append(people, a)
			}
		}
	}
	if parent := p.Parent.Author; parent != nil {
		slices.SortStableFunc(people, func(a, b *store.Account) int {
			return cmp.Compare(btoi(a.URI != parent.URI), btoi(b.URI != parent.URI))
		})
	}
	return people, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
