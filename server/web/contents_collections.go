package web

import (
	"html/template"
	"time"
)

// Collection is a collection of accounts.
type Collection struct {
	ID           string `json:"id"`
	AccountID    string `json:"account_id"`
	URL          string `json:"url"`
	URI          string `json:"uri"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	Language     string `json:"language"`
	Local        bool   `json:"local"`
	Sensitive    bool   `json:"sensitive"`
	Discoverable bool   `json:"discoverable"`
	ItemCount    int    `json:"item_count"`
	Tag          *struct {
		Name string `json:"name"`
	} `json:"tag"`
	Items []struct {
		ID        string `json:"id"`
		AccountID string `json:"account_id"`
		State     string `json:"state"`
	} `json:"items"`
	UpdatedAt time.Time `json:"updated_at"`
	Svc       struct {
		Account Account `json:"account"`
	} `json:"svc"`
}

// DescriptionHTML returns the description, which is sanitized.
func (c *Collection) DescriptionHTML() template.HTML { return content(c.Description, nil, nil, "") }

// Item returns the id of the place of an account, "" if it has none.
func (c *Collection) Item(account string) string {
	for _, i := range c.Items {
		if i.AccountID == account {
			return i.ID
		}
	}
	return ""
}

// Pending returns true if an account was asked and has not answered yet.
func (c *Collection) Pending(account string) bool {
	for _, i := range c.Items {
		if i.AccountID == account {
			return i.State == "pending"
		}
	}
	return false
}

// TagName returns the hashtag without #, "" if there is none.
func (c *Collection) TagName() string {
	if c.Tag == nil {
		return ""
	}
	return c.Tag.Name
}

// InCollections are the collections that the viewer is in.
type InCollections struct {
	Collections  []Collection `json:"collections"`
	Viewer       string       `json:"-"` // the id of the viewer
	Newer, Older string       `json:"-"`
}

// OwnCollections are the collections that the viewer has made.
type OwnCollections struct {
	Collections  []Collection `json:"collections"`
	Newer, Older string       `json:"-"`
}

// ShownCollection is the page of a collection.
type ShownCollection struct {
	Meta       Meta       `json:"-"`
	Accounts   []*Account `json:"accounts"` // the owner first
	Collection Collection `json:"collection"`
	Own        bool       `json:"-"` // it is the viewer's
	Item       string     `json:"-"` // the place of the viewer; "": none

	Viewer      string       `json:"-"` // the id of the viewer; "": a visitor
	FollowedAll *FollowedAll `json:"-"` // the outcome of a press; nil: none
}

// Owner returns the account that made the collection, nil if it is not shown.
func (c *ShownCollection) Owner() *Account {
	for _, a := range c.Accounts {
		if a.ID == c.Collection.AccountID {
			return a
		}
	}
	return nil
}

// Followable returns how many of the accounts the viewer can follow and does not.
func (c *ShownCollection) Followable() (n int) {
	for _, a := range c.Members() {
		if r := a.Svc.Relationship; r != nil && r.ID != "" && !r.Related() && a.ID != c.Viewer {
			n++
		}
	}
	return n
}

// Members returns the accounts that are in the collection.
func (c *ShownCollection) Members() []*Account {
	var members []*Account
	for _, a := range c.Accounts {
		if c.Collection.Item(a.ID) != "" {
			members = append(members, a)
		}
	}
	return members
}

// EditCollection is the form for a collection, with its accounts.
type EditCollection struct {
	ShownCollection
	Text  string // of the description
	Query string // that Found answers
	Found []*Account
}

func (InCollections) Name() string   { return "in_collections" }
func (OwnCollections) Name() string  { return "collections" }
func (ShownCollection) Name() string { return "collection" }
func (EditCollection) Name() string  { return "collection_edit" }
