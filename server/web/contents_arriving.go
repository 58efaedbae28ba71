package web

import (
	"html/template"
	"net/url"
	"strconv"
	"time"
)

// Announcement is a text of the staff for all users.
type Announcement struct {
	ID          string     `json:"id"`
	Content     string     `json:"content"` // HTML
	StartsAt    *time.Time `json:"starts_at"`
	EndsAt      *time.Time `json:"ends_at"`
	AllDay      bool       `json:"all_day"`
	PublishedAt time.Time  `json:"published_at"`
	Read        bool       `json:"read"`
	Emojis      []Emoji    `json:"emojis"`
	Reactions   []Reaction `json:"reactions"`
}

// HTML returns the text with custom emojis.
func (a *Announcement) HTML() template.HTML { return content(a.Content, a.Emojis, nil, "") }

// offeredReactions are the emojis for which an announcement has buttons. Others can be added by apps.
var offeredReactions = []string{"👍", "❤️", "🎉", "😄", "😮", "😢"}

// Offered returns the emojis that nobody has reacted with yet, for more buttons.
func (a *Announcement) Offered() []string {
	var list []string
	for _, emoji := range offeredReactions {
		used := false
		for _, r := range a.Reactions {
			used = used || r.Name == emoji
		}
		if !used {
			list = append(list, emoji)
		}
	}
	return list
}

// Announcements are the current announcements.
type Announcements struct{ Announcements []Announcement }

// Arrival is what a home page suggests to a user who follows few accounts.
type Arrival struct {
	People      []*Account
	Tags        []Tag
	Collections []Collection
}

// FindPeople is the page with accounts to follow.
type FindPeople struct {
	People      []*Account
	Collections []Collection
	Import      *Import // the last list of follows that was imported; nil: none
}

// Explore is a page of trends or suggestions of one kind.
type Explore struct {
	Kind        string // tags, people, links, packs; "": posts
	Tabs        []Tab
	Posts       []template.HTML
	Tags        []Tag
	People      []*Account
	Links       []Card
	Collections []Collection
}

// FollowedAll is the outcome of following all accounts of a collection.
type FollowedAll struct {
	Followed, Requested int
	Skipped             int  // followed before, or not to be followed
	Limited             bool // the rate limit ended it
}

// Query returns the outcome as parameters of an address.
func (f FollowedAll) Query() url.Values {
	return url.Values{"followed": {strconv.Itoa(f.Followed)}, "requested": {strconv.Itoa(f.Requested)}, "skipped": {strconv.Itoa(f.Skipped)}, "limited": {strconv.FormatBool(f.Limited)}}
}

// FollowedAllIn returns the outcome in the parameters of an address, nil if there is none.
func FollowedAllIn(query url.Values) *FollowedAll {
	if !query.Has("followed") {
		return nil
	}
	f := FollowedAll{Limited: query.Get("limited") == "true"}
	for _, part := range []struct {
		name string
		to   *int
	}{{"followed", &f.Followed}, {"requested", &f.Requested}, {"skipped", &f.Skipped}} {
		n, err := strconv.ParseUint(query.Get(part.name), 10, 16)
		if err != nil {
			return nil
		}
		*part.to = int(n)
	}
	return &f
}

// Offline is the page that a browser keeps for when it does not reach the server.
type Offline struct{}

func (Offline) Name() string       { return "offline" }
func (Announcements) Name() string { return "announcements" }
func (FindPeople) Name() string    { return "find_people" }
func (Explore) Name() string       { return "explore" }
