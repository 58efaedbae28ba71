package moving

// mastodon has the tables of Mastodon 4.1 to 4.5.
var mastodon = software{
	name:     "Mastodon",
	known:    []string{"account_stats", "oauth_access_tokens", "preview_cards"},
	mappings: map[string]*mapping{},
}
