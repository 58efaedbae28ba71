package policy

import (
	"context"
	"strings"

	"golang.org/x/net/html"

	"svc/internal/config"
	"svc/internal/pattern"
	"svc/internal/text"
)

// maxSearchedBytes bounds what is searched of one version of a post, in bytes: more than any server in the field lets people write. What is
// longer is refused by the rules that search, since they cannot tell what is in it.
const maxSearchedBytes = 512 << 10

// compile reads a pattern of valid settings.
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

// keywords is KeywordPolicy: by words in the text, the subject or the title.
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
	return p.eachVersion(func(v *Version) error {
		if v.textSize() > maxSearchedBytes {
			return rejectf("it is too long to be searched")
		}
		if len(k.reject)+len(k.unlisted) > 0 {
			// In the HTML, where addresses are; and in what people read, where markup cannot hide a word.
			parts := append([]string{v.Name, v.Spoiler, v.Content, text.HTMLToText(v.Content)}, v.OtherText...)
			if found := k.reject.FirstMatch(parts...); found != nil {
				return rejectf("it has a rejected keyword (%s)", found)
			}
			if k.unlisted.FirstMatch(parts...) != nil {
				p.delist()
			}
		}
		return k.applyReplacements(v)
	})
}

// textSize is how much there is to read, in bytes.
func (v *Version) textSize() int {
	n := len(v.Name) + len(v.Spoiler) + len(v.Content)
	for _, w := range v.OtherText {
		n += len(w)
	}
	return n
}

// applyReplacements replaces words. Each replacement may make the text longer, so the length is looked at after each.
func (k keywords) applyReplacements(v *Version) error {
	content := v.Content
	for i, r := range k.replace {
		by := k.settings.Replace[i].Replacement
		v.Name, v.Spoiler, content = r.Replace(v.Name, by), r.Replace(v.Spoiler, by), r.Replace(content, by)
		if len(v.Name)+len(v.Spoiler)+len(content) > maxSearchedBytes {
			return rejectf("it is too long after the replacement of %s", r)
		}
	}
	if content != v.Content {
		v.Content = text.Sanitize(content)
	}
	return nil
}

func (k keywords) describe(shown map[string]any) {
	type replacement struct {
		Pattern     string `json:"pattern"`
		Replacement string `json:"replacement"`
	}
	replace := []replacement{}
	for _, r := range k.settings.Replace {
		replace = append(replace, replacement(r))
	}
	shown["mrf_keyword"] = map[string]any{
		"reject": nonNil(k.settings.Reject), "federated_timeline_removal": nonNil(k.settings.FederatedTimelineRemoval), "replace": replace,
	}
}

// markup is NormalizeMarkup.
type markup struct{ scrub func(string) string }

func newMarkup(c *config.Config, _ Deps) any {
	if c.MRFNormalizeMarkup.ScrubPolicy == config.ScrubStrict {
		return markup{text.SanitizeStrict}
	}
	return markup{text.Sanitize}
}

func (m markup) post(_ context.Context, p *Post) error {
	return p.eachVersion(func(v *Version) error {
		v.Content = m.scrub(v.Content)
		return nil
	})
}

// noPlaceholder is NoPlaceholderTextPolicy: a text that is only a dot, to have a picture accepted, is no text.
type noPlaceholder struct{}

func (noPlaceholder) post(_ context.Context, p *Post) error {
	return p.eachVersion(func(v *Version) error {
		if len(v.Attachments) > 0 && (v.Content == "." || v.Content == "<p>.</p>") {
			v.Content = ""
		}
		return nil
	})
}

// noEmpty is NoEmptyPolicy: what people here write says something besides naming others, or shows something.
type noEmpty struct{}

func (noEmpty) post(_ context.Context, p *Post) error {
	if p.Local && p.ObjectType == "Note" && len(p.Attachments) == 0 && strings.TrimSpace(textOutsideMentions(p.Content)) == "" {
		return rejectf("it says nothing")
	}
	return nil
}

// textOutsideMentions returns what HTML says outside of links to the mentioned.
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

// rePrepended is EnsureRePrepended: a reply that has the subject of what it replies to says that it is one.
type rePrepended struct{}

func (rePrepended) post(_ context.Context, p *Post) error {
	if p.Parent == nil || p.Parent.Spoiler == "" {
		return nil
	}
	return p.eachVersion(func(v *Version) error {
		if v.Spoiler == p.Parent.Spoiler && !isRe(v.Spoiler) {
			v.Spoiler = "re: " + v.Spoiler
		}
		return nil
	})
}

func isRe(subject string) bool { return len(subject) >= 3 && strings.EqualFold(subject[:3], "re:") }
