package pages

import (
	"svc/server/web"
)

// api shows the description of the API.
func (p *page) api() (any, error) {
	a, err := p.fetch("/api/openapi", nil)
	if err != nil {
		return nil, err
	}
	return p.keep(func() (web.Content, error) {
		content := new(web.API)
		return content, p.decode(a.Value, content)
	})
}
