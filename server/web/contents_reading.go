package web

// ShortcutGroup is a list of keyboard shortcuts with a heading.
type ShortcutGroup struct {
	Title     string // key of the messages
	Shortcuts []Shortcut
}

// Shortcut is what keys do that are pressed one after the other.
type Shortcut struct {
	Keys []string
	Text string // key of the messages
}

// Shortcuts lists the keyboard shortcuts of script/shortcuts.js.
type Shortcuts struct{ Off bool }

// Groups returns the shortcuts. TestShortcuts compares them with the script.
func (Shortcuts) Groups() []ShortcutGroup {
	page := func(key, text string) Shortcut { return Shortcut{[]string{"g", key}, "nav." + text} }
	return []ShortcutGroup{
		{"shortcuts.posts", []Shortcut{
			{[]string{"j"}, "shortcuts.next"}, {[]string{"k"}, "shortcuts.previous"}, {[]string{"o"}, "shortcuts.open"}, {[]string{"p"}, "shortcuts.author"},
			{[]string{"r"}, "post.reply"}, {[]string{"f"}, "shortcuts.favourite"}, {[]string{"b"}, "shortcuts.boost"}, {[]string{"m"}, "shortcuts.bookmark"},
			{[]string{"x"}, "shortcuts.unfold"}, {[]string{"."}, "shortcuts.fresh"},
		}},
		{"shortcuts.pages", []Shortcut{
			page("h", "home"), page("n", "notifications"), page("d", "conversations"), page("l", "local"), page("i", "lists"), page("b", "bookmarks"),
			page("s", "settings"), {[]string{"c"}, "nav.compose"}, {[]string{"/"}, "nav.search"}, {[]string{"?"}, "shortcuts.help"},
		}},
	}
}

func (Shortcuts) Name() string { return "shortcuts" }
