package web

import "html/template"

// Collection is a collection of accounts that the viewer is in.
type Collection struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Svc         struct {
		Account Account `json:"account"`
	} `json:"svc"`
}

// DescriptionHTML returns the description, which is sanitized.
func (c *Collection) DescriptionHTML() template.HTML { return content(c.Description, nil, nil, "") }

// InCollections are the collections that the viewer is in.
type InCollections struct {
	Collections  []Collection `json:"collections"`
	Newer, Older string       `json:"-"`
}

func (InCollections) Name() string { return "in_collections" }
