package pages

import (
	"fmt"
	"html/template"
	"strings"

	"svc/internal/keys"
	"svc/server/entity"
	"svc/server/web"
)

// articleKey identifies a post as HTML.
type articleKey struct {
	status         entity.StatusKey // zero if it does not identify what is shown: then json does
	json           version
	language, base string
	viewer, own    bool
	inThread, main bool
	reading        web.Reading
}

// article is a post as HTML. Where a form of it needs the token of its session, which differs in each answer, it has a mark. No post can have that
// mark as its text, because it is random and never sent; "" if there is no form.
type article struct {
	html template.HTML
	mark string
}

// with returns the HTML for a viewer.
func (a article) with(v *web.Viewer) template.HTML {
	if a.mark == "" {
		return a.html
	}
	return template.HTML(strings.ReplaceAll(string(a.html), a.mark, template.HTMLEscapeString(v.FormToken)))
}

// posts returns the HTML of statuses that an endpoint returned.
func (p *page) posts(value any) ([]template.HTML, error) {
	statuses, ok := value.(entity.List[*entity.Status])
	if !ok {
		return nil, fmt.Errorf("page: %T is no list of statuses", value)
	}
	list := make([]template.HTML, 0, len(statuses))
	for _, s := range statuses {
		html, err := p.post(s, web.Article{})
		if err != nil {
			return nil, err
		}
		list = append(list, html)
	}
	return list, nil
}

// post returns the HTML of a status, which is kept until it changes. a says how it is shown.
func (p *page) post(s *entity.Status, a web.Article) (template.HTML, error) {
	a.Base, a.Viewer = p.frame.Base, p.frame.Viewer != nil
	key := articleKey{language: p.frame.Messages.Language, base: a.Base, viewer: a.Viewer, own: s.ByViewer(), inThread: a.InThread, main: a.Main, reading: p.frame.Reading}
	if status, whole := s.Key(); whole {
		key.status = status
	} else {
		d := newDigest()
		if err := d.value(s); err != nil {
			return "", err
		}
		key.json = d.version()
	}
	kept, err := p.articles.Load(key, func() (article, error) {
		a.Status = new(web.Status)
		if err := p.decode(s, a.Status); err != nil {
			return article{}, err
		}
		shown := a.Status.Shown()
		shown.Own = key.own
		shown.ReadBy(p.frame.Reading, a.Main)
		if err := p.measure(shown.AllMedia()); err != nil {
			return article{}, err
		}
		if a.Viewer && s.HasPoll() {
			a.Token = keys.NewToken()
		}
		html, err := p.frame.Messages.Article(a)
		return article{html, a.Token}, err
	})
	if err != nil {
		return "", err
	}
	return kept.with(p.frame.Viewer), nil
}
