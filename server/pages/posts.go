package pages

import (
	"fmt"
	"html/template"

	"svc/server/entity"
	"svc/server/web"
)

// articleKey identifies a post as HTML.
type articleKey struct {
	status   entity.StatusKey
	language string
	base     string
	inThread bool
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

// post returns the HTML of a status. a says how it is shown.
func (p *page) post(s *entity.Status, a web.Article) (template.HTML, error) {
	status, whole := s.Key()
	if !whole || a.Main {
		return p.article(s, a)
	}
	key := articleKey{status, p.frame.Messages.Language, p.frame.Base, a.InThread}
	generation := p.articles.Generation()
	if html, ok := p.articles.Get(key); ok {
		return html, nil
	}
	html, err := p.article(s, a)
	if err == nil {
		p.articles.Put(key, html, generation)
	}
	return html, err
}

func (p *page) article(s *entity.Status, a web.Article) (template.HTML, error) {
	var status web.Status
	if err := p.decode(s, &status); err != nil {
		return "", err
	}
	status.Shown().Own = s.ByViewer()
	a.Status, a.Base, a.Viewer = &status, p.frame.Base, p.frame.Viewer != nil
	if a.Viewer {
		a.Token = p.frame.Viewer.FormToken
	}
	return p.frame.Messages.Article(a)
}
