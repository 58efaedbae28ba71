package policy

import (
	"context"
	"strings"

	"golang.org/x/net/html"

	"svc/internal/config"
	"svc/internal/pattern"
	"svc/internal/text"
)

// maxSearchedBytes is the most text of a post that is searched. Longer posts are rejected by the policies that search. No server known
// allows posts of that length.
const maxSearchedBytes = 512 << 10

// compile parses a pattern of valid settings.
func compile(s string) *pattern.Pattern {
	p, err := pattern.Parse(s)
	if err != nil {
		panic(err)
	}
	return p
}

func compileAll(texts []string) pattern.List {
	list := make(pattern.List, len(texts))
	for i, s := range texts {
		list[i] = compile(s)
	}
	return list
}

// keywords is KeywordPolicy: patterns in the text that make a post rejected or unlisted, or are replaced.
type keywords struct {
	settings         config.MRFKeyword
	reject, unlisted pattern.List
	replace          pattern.List // as in settings
}

func newKeywords(c *config.Config, _ Deps) any {
	k := keywords{settings: c.MRFKeyword, reject: compileAll(c.MRFKeyword.Reject), unlisted: compileAll(c.MRFKeyword.FederatedTimelineRemoval)}
	for _, r := range c.MRFKeyword.Replace {
		k.replace = append(k.replace, compile(r.Pattern))
	}
	return k
}

func (k keywords) post(_ context.Context, p *Post) error {
	if p.textSize() > maxSearchedBytes {
		return rejectf("it is too long to be searched")
	}
	if len(k.reject)+len(k.unlisted) > 0 {
		// The HTML has URLs; in the plain text, markup cannot hide a word.
		parts := append([]string{p.Spoiler, p.Content, text.HTMLToText(p.Content)}, p.OtherText...)
		if found := k.reject.FirstMatch(parts...); found != nil {
			return rejectf("it has a rejected keyword (%s)", found)
		}
		if k.unlisted.FirstMatch(parts...) != nil {
			p.delist()
		}
	}
	return k.applyReplacements(p)
}

// applyReplacements replaces words. It checks the length each time, because a replacement may be longer.
func (k keywords) applyReplacements(p *Post) error {
	content := p.Content
	for i, r := range k.replace {
		by := k.settings.Replace[i].Replacement
		p.Spoiler, content = r.Replace(p.Spoiler, by), r.Replace(content, by)
		if len(p.Spoiler)+len(content) > maxSearchedBytes {
			return rejectf("it is too long after the replacement of %s", r)
		}
	}
	if content != p.Content {
		p.Content = text.Sanitize(content)
	}
	return nil
}

func (k keywords) describe(public map[string]any) {
	type replacement struct {
		Pattern     string `json:"pattern"`
		Replacement string `json:"replacement"`
	}
	replace := []replacement{}
	for _, r := range k.settings.Replace {
		replace = append(replace, replacement(r))
	}
	public["mrf_keyword"] = map[string]any{
		"reject": nonNil(k.settings.Reject), "federated_timeline_removal": nonNil(k.settings.FederatedTimelineRemoval), "replace": replace,
	}
}

// markup is NormalizeMarkup: it sanitizes the HTML again, with the configured strictness.
type markup struct{ scrub func(string) string }

func newMarkup(c *config.Config, _ Deps) any {
	if c.MRFNormalizeMarkup.ScrubPolicy == config.ScrubStrict {
		return markup{text.SanitizeStrict}
	}
	return markup{text.Sanitize}
}

func (m markup) post(_ context.Context, p *Post) error {
	p.Content = m.scrub(p.Content)
	return nil
}

// noPlaceholder is NoPlaceholderTextPolicy: it removes a text that is only a dot from a post with attachments.
type noPlaceholder struct{}

func (noPlaceholder) post(_ context.Context, p *Post) error {
	if len(p.Attachments) > 0 && (p.Content == "." || p.Content == "<p>.</p>") {
		p.Content = ""
	}
	return nil
}

// noEmpty is NoEmptyPolicy: it rejects local posts without attachments that only have mentions.
type noEmpty struct{}

func (noEmpty) post(_ context.Context, p *Post) error {
	if p.Local && p.ObjectType == "Note" && len(p.Attachments) == 0 && strings.TrimSpace(textOutsideMentions(p.Content)) == "" {
		return rejectf("it has no text")
	}
	return nil
}

// textOutsideMentions returns the text of HTML that is not inside links to mentioned accounts.
func textOutsideMentions(source string) string {
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	for inMention := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			if !inMention {
				out.Write(z.Text())
			}
		case html.StartTagToken:
			t := z.Token()
			for _, a := range t.Attr {
				if t.Data == "a" && a.Key == "class" && strings.Contains(a.Val, "mention") {
					inMention = true
				}
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "a" {
				inMention = false
			}
		}
	}
}

// rePrepended is EnsureRePrepended: a reply with the subject of its parent gets the prefix "re:".
type rePrepended struct{}

func (rePrepended) post(_ context.Context, p *Post) error {
	if p.Parent == nil || p.Parent.Spoiler == "" {
		return nil
	}
	if p.Spoiler == p.Parent.Spoiler && !isRe(p.Spoiler) {
		p.Spoiler = "re: " + p.Spoiler
	}
	return nil
}

func isRe(subject string) bool { return len(subject) >= 3 && strings.EqualFold(subject[:3], "re:") }
