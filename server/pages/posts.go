package pages

import (
	"fmt"
	"html/template"

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
	token          string // "" if no form of the post has one
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
		if a.Viewer && s.HasPoll() {
			a.Token = p.frame.Viewer.FormToken
		}
		key.json, key.token = d.version(), a.Token
	}
	return p.articles.Load(key, func() (template.HTML, error) {
		a.Status = new(web.Status)
		if err := p.decode(s, a.Status); err != nil {
			return "", err
		}
		shown := a.Status.Shown()
		shown.Own = key.own
		shown.ReadBy(p.frame.Reading, a.Main)
		if err := p.measure(shown.AllMedia()); err != nil {
			return "", err
		}
		return p.frame.Messages.Article(a)
	})
}
