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

// inlineQuote is InlineQuotePolicy: it adds a link to the quoted post to the text, for clients without support for quotes.
type inlineQuote struct{ template string }

func (q inlineQuote) post(_ context.Context, p *Post) error {
	if p.Quote == nil {
		return nil
	}
	url := html.EscapeString(cmp.Or(p.Quote.URL, p.Quote.ID))
	if url == "" {
		return nil
	}
	for _, present := range []string{`<span class="quote-inline"`, url, html.EscapeString(p.Quote.ID)} {
		if present != "" && strings.Contains(p.Content, present) {
			return nil
		}
	}
	link := `<a href="` + url + `">` + url + `</a>`
	line := `<span class="quote-inline"><br/><br/>` + strings.ReplaceAll(q.template, "{url}", link) + `</span>`
	if within, ok := strings.CutSuffix(p.Content, "</p>"); ok {
		p.Content = text.Sanitize(within + line + "</p>")
	} else {
		p.Content = text.Sanitize(p.Content + line)
	}
	return nil
}

// forceMention is ForceMention: it mentions the authors of the parent and of the quoted post.
type forceMention struct{ config.MRFForceMention }

func (f forceMention) post(_ context.Context, p *Post) error {
	if !p.isCreate() || !p.isNote() {
		return nil
	}
	if f.MentionQuoted && p.Quote != nil {
		p.mention(p.Quote.Author)
	}
	if f.MentionParent && p.Parent != nil { // second, because mention prepends
		p.mention(p.Parent.Author)
	}
	return nil
}

// mentionsInContent is ForceMentionsInContent: it prepends links to mentioned accounts that the text of a reply does not have.
type mentionsInContent struct{ accounts AccountReader }

// maxMentionsInContent bounds the recipients that mentionsInContent reads.
const maxMentionsInContent = 100

func (m mentionsInContent) post(ctx context.Context, p *Post) error {
	if p.Parent == nil || !p.isNote() {
		return nil
	}
	accounts, err := m.mentioned(ctx, p)
	if err != nil {
		return err
	}
	var links strings.Builder
	for _, a := range accounts {
		url := html.EscapeString(cmp.Or(a.URL, a.URI))
		if strings.Contains(p.Content, `"`+url+`"`) || strings.Contains(p.Content, `"`+html.EscapeString(a.URI)+`"`) {
			continue
		}
		links.WriteString(`<span class="h-card"><a class="u-url mention" href="` + url + `" rel="ugc">@<span>` + html.EscapeString(a.Nickname) + `</span></a></span> `)
	}
	if links.Len() == 0 {
		return nil
	}
	line := `<span class="recipients-inline">` + links.String() + `</span>`
	if within, ok := strings.CutPrefix(p.Content, "<p>"); ok {
		p.Content = "<p>" + line + within
	} else {
		p.Content = line + p.Content
	}
	p.Content = text.Sanitize(p.Content)
	return nil
}

// mentioned returns the mentioned accounts, the author of the parent first. It reads those that the caller has not loaded.
func (m mentionsInContent) mentioned(ctx context.Context, p *Post) ([]*store.Account, error) {
	var accounts []*store.Account
	var missing []string
	for _, r := range p.Recipients[:min(len(p.Recipients), maxMentionsInContent)] {
		switch {
		case !r.Mentioned:
		case r.Account != nil:
			accounts = append(accounts, r.Account)
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
				accounts = append(accounts, a)
			}
		}
	}
	if parent := p.Parent.Author; parent != nil {
		slices.SortStableFunc(accounts, func(a, b *store.Account) int {
			return cmp.Compare(btoi(a.URI != parent.URI), btoi(b.URI != parent.URI))
		})
	}
	return accounts, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
