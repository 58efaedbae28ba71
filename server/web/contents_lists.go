package web

// List is a list of accounts.
type List struct {
	ID            string `json:"id"`
	Title         string `json:"title"`
	RepliesPolicy string `json:"replies_policy"`
	Exclusive     bool   `json:"exclusive"`
}

// Lists are the viewer's lists.
type Lists struct{ Lists []List }

// EditList is the form for a list.
type EditList struct{ List List }

// ListMembers are the members of a list.
type ListMembers struct {
	List         List
	Members      []*Account
	Query        string // that Found answers
	Found        []*Account
	Newer, Older string
}

// FollowedTags are the hashtags that the viewer follows.
type FollowedTags struct {
	Tags         []Tag
	Entered      string
	Error        string
	Newer, Older string
}

// Menu is the navigation on a page of its own.
type Menu struct{}

// Folder is a folder of bookmarks.
type Folder struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Emoji string `json:"emoji"`
}

// Label returns the name with the emoji.
func (f Folder) Label() string {
	if f.Emoji == "" {
		return f.Name
	}
	return f.Emoji + " " + f.Name
}

// Folders are the viewer's folders of bookmarks.
type Folders struct{ Folders []Folder }

func (Lists) Name() string        { return "lists" }
func (EditList) Name() string     { return "list_edit" }
func (ListMembers) Name() string  { return "list_members" }
func (FollowedTags) Name() string { return "followed_tags" }
func (Menu) Name() string         { return "menu" }
func (Folders) Name() string      { return "folders" }
