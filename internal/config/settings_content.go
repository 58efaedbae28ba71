package config

import "time"

// Settings of the instance and what users post.

func (c *Config) instanceSettings() section {
	return section{"instance", "What the server tells about itself, and who may join.", []Setting{
		{Key: "name", field: text(&c.Instance.Name, "svc", notEmpty, oneLine, atMost(200)),
			Description: "The title of the server."},
		{Key: "short_description", field: text(&c.Instance.ShortDescription, "", atMost(1000)),
			Description: "One or two sentences about the server, as plain text. Empty: the description is used."},
		{Key: "description", field: text(&c.Instance.Description, "A small social server.", atMost(20_000)),
			Description: "What the server is about and for whom. HTML is allowed."},
		{Key: "email", field: text(&c.Instance.Email, "", optional(mailAddress)),
			Description: "Public address of the people who run the server."},
		{Key: "contact_username", field: text(&c.Instance.ContactUsername, "", optional(localNickname)),
			Description: "Nickname of the account to turn to with questions."},
		{Key: "languages", field: list(&c.Instance.Languages, []string{"en"}, atLeastOne, each(languageTag)),
			Description: "Codes of the languages mostly spoken here, the first one first.",
			Suggestions: []any{"en", "de", "fr", "es", "ja", "pt-BR"}},
		{Key: "thumbnail", field: text(&c.Instance.Thumbnail, "", optional(pictureAddress)),
			Description: "Picture that stands for the server: a path on this server (\"/static/thumbnail.png\") or an address. Empty: a built-in one."},
		{Key: "background_image", field: text(&c.Instance.BackgroundImage, "", optional(pictureAddress)),
			Description: "Picture behind the pages of web front ends, as a path or an address. Empty: a built-in one."},
		{Key: "public", field: boolean(&c.Instance.Public, true),
			Description: "Let visitors read public profiles, posts and timelines without signing in."},
		{Key: "list_peers", field: boolean(&c.Instance.ListPeers, true),
			Description: "Tell everybody which other servers are known here."},
		{Key: "show_activity", field: boolean(&c.Instance.ShowActivity, true),
			Description: "Tell everybody how many posts, people and new accounts there were in each of the last weeks."},
		{Key: "registrations_open", field: boolean(&c.Instance.RegistrationsOpen, true),
			Description: "Let everybody make an account."},
		{Key: "invites_enabled", field: boolean(&c.Instance.InvitesEnabled, false),
			Description: "Let those who have an invitation make an account while registrations are closed."},
		{Key: "account_approval_required", field: boolean(&c.Instance.AccountApprovalRequired, false),
			Description: "Let new accounts in only after a moderator has approved them."},
		{Key: "account_activation_required", field: boolean(&c.Instance.AccountActivationRequired, false),
			Description: "Let new accounts in only after they have confirmed their e-mail address. It needs [mail]; without it, confirm accounts with \"svc user confirm\"."},
		{Key: "configurable_from_database", field: boolean(&c.Instance.ConfigurableFromDatabase, false, unsupported), Restart: true,
			Description: "Let administrators change settings in the browser. What they change there goes before this file."},
	}}
}

func (c *Config) accountsSettings() section {
	return section{"accounts", "Limits of profiles. Lengths are in characters.", []Setting{
		{Key: "name_length", field: number(&c.Accounts.NameLength, 100, 1, 1000),
			Description: "Longest display name."},
		{Key: "bio_length", field: number(&c.Accounts.BioLength, 5000, 1, 100_000),
			Description: "Longest text about oneself."},
		{Key: "max_fields", field: number(&c.Accounts.MaxFields, 10, 0, 100),
			Description: "How many fields, such as links, a profile here may have."},
		{Key: "max_remote_fields", field: number(&c.Accounts.MaxRemoteFields, 20, 0, 100),
			Description: "How many fields are kept of profiles from other servers."},
		{Key: "field_name_length", field: number(&c.Accounts.FieldNameLength, 512, 1, 10_000),
			Description: "Longest name of a profile field."},
		{Key: "field_value_length", field: number(&c.Accounts.FieldValueLength, 2048, 1, 10_000),
			Description: "Longest value of a profile field."},
		{Key: "registration_reason_length", field: number(&c.Accounts.RegistrationReasonLength, 500, 0, 10_000),
			Description: "Longest answer to why one wants to join, where accounts are approved."},
		{Key: "extended_nickname_format", field: boolean(&c.Accounts.ExtendedNicknameFormat, true),
			Description: "Allow _ and - in new nicknames, besides letters and digits."},
		{Key: "restricted_nicknames", field: list(&c.Accounts.RestrictedNicknames, nil, each(nickname)),
			Description: "Nicknames that nobody may register, in addition to those that the server needs for itself.",
			Suggestions: []any{"admin", "support", "root"}},
		{Key: "blockers_visible", field: boolean(&c.Accounts.BlockersVisible, false),
			Description: "Let people who were blocked go on reading the public posts of those who blocked them."},
		{Key: "password_reset_lifetime", field: duration(&c.Accounts.PasswordResetLifetime, day, 5*time.Minute, 30*day),
			Description: "How long a link to set a new password works."},
	}}
}

func (c *Config) statusesSettings() section {
	return section{"statuses", "Limits of posts. Lengths are in characters.", []Setting{
		{Key: "max_length", field: number(&c.Statuses.MaxLength, 5000, 1, 100_000),
			Description: "Longest post, subject included."},
		{Key: "allowed_formats", field: list(&c.Statuses.AllowedFormats, postFormats(), allOf(postFormats()...), contains("text/plain")),
			Description: "Formats in which posts may be written.",
			Suggestions: []any{"text/plain", "text/html", "text/markdown", "text/bbcode"}},
		{Key: "max_pinned", field: number(&c.Statuses.MaxPinned, 5, 0, 100),
			Description: "How many posts one can pin to one's profile."},
		{Key: "min_expiry", field: duration(&c.Statuses.MinExpiry, time.Hour, time.Minute, 365*day),
			Description: "A post that is to delete itself must live longer than this."},
	}}
}

func (c *Config) pollsSettings() section {
	return section{"polls", "Limits of polls made here.", []Setting{
		{Key: "max_options", field: number(&c.Polls.MaxOptions, 20, 2, 100),
			Description: "Most options of a poll."},
		{Key: "max_option_length", field: number(&c.Polls.MaxOptionLength, 200, 1, 1000),
			Description: "Longest option, in characters."},
		{Key: "min_expiration", field: duration(&c.Polls.MinExpiration, 0, 0, 365*day),
			Description: "Shortest time a poll is open."},
		{Key: "max_expiration", field: duration(&c.Polls.MaxExpiration, 365*day, time.Minute, 3650*day),
			Description: "Longest time a poll is open."},
	}}
}

func (c *Config) chatsSettings() section {
	return section{"chats", "Limits of chats.", []Setting{
		{Key: "max_length", field: number(&c.Chats.MaxLength, 5000, 1, 100_000),
			Description: "Longest chat message, in characters."},
	}}
}

func (c *Config) timelinesSettings() section {
	return section{"timelines", "Limits of timelines.", []Setting{
		{Key: "home_length", field: number(&c.Timelines.HomeLength, 2000, 100, 100_000),
			Description: "How many posts are kept in the home timeline, and in each list, of each account."},
	}}
}

func (c *Config) searchSettings() section {
	return section{"search", "Who finds what.", []Setting{
		{Key: "anonymous_remote", field: boolean(&c.Search.AnonymousRemote, false),
			Description: "Let visitors who are not signed in find accounts and posts of other servers too, not only those of this one."},
		{Key: "discoverable_only", field: boolean(&c.Search.DiscoverableOnly, false),
			Description: "Let strangers' posts be found by their words only if their authors want to be found (\"discoverable\" in their profile)."},
	}}
}

func (c *Config) mediaSettings() section {
	return section{"media", "Limits of uploads, in bytes where nothing else is said.", []Setting{
		{Key: "upload_limit", field: number(&c.Media.UploadLimit, 16_000_000, 1000, 10_000_000_000), Restart: true,
			Description: "Largest file attached to a post. A reverse proxy in front must let as much through."},
		{Key: "avatar_limit", field: number(&c.Media.AvatarLimit, 2_000_000, 1000, 100_000_000),
			Description: "Largest avatar."},
		{Key: "banner_limit", field: number(&c.Media.BannerLimit, 4_000_000, 1000, 100_000_000),
			Description: "Largest picture at the head of a profile."},
		{Key: "background_limit", field: number(&c.Media.BackgroundLimit, 4_000_000, 1000, 100_000_000),
			Description: "Largest background picture of a profile."},
		{Key: "description_length", field: number(&c.Media.DescriptionLength, 5000, 1, 100_000),
			Description: "Longest description of a picture, video or sound, in characters."},
		{Key: "max_pixels", field: number(&c.Media.MaxPixels, 50_000_000, 10_000, 1_000_000_000),
			Description: "Largest picture in pixels, width times height. Making a preview takes up to four bytes of memory for each."},
		{Key: "max_frames", field: number(&c.Media.MaxFrames, 200, 1, 10_000, notSettable(200)),
			Description: "Most frames of an animated picture."},
	}}
}

func (c *Config) mediaProxySettings() section {
	return section{"media_proxy", "Pictures, video and sound of other servers, shown through this one, so that those do not learn who looks at them.", []Setting{
		{Key: "enabled", field: boolean(&c.MediaProxy.Enabled, true), Restart: true,
			Description: "Show them through this server. Without it, people's browsers and apps load them from where they are."},
		{Key: "cache_size", field: number(&c.MediaProxy.CacheSize, 1<<30, 10_000_000, 10_000_000_000_000), Restart: true,
			Description: "Bytes of disk that copies may take, in the folder cache/ of the data folder. What has not been looked at for longest goes first."},
		{Key: "max_file", field: number(&c.MediaProxy.MaxFile, 40<<20, 100_000, 10_000_000_000), Restart: true,
			Description: "Largest file that is fetched, in bytes. It has to arrive within a minute."},
		{Key: "direct_hosts", field: list(&c.MediaProxy.DirectHosts, nil, each(hostName)), Restart: true,
			Description: "Hosts whose files are loaded from there, with all below them: for those that are your own.",
			Suggestions: []any{"media.example.org"}},
	}}
}

func (c *Config) cardsSettings() section {
	return section{"cards", "Previews of the pages that posts link to.", []Setting{
		{Key: "enabled", field: boolean(&c.Cards.Enabled, true),
			Description: "Look at the first page that a public or unlisted post links to, and show its title and picture below the post."},
		{Key: "ignored_hosts", field: list(&c.Cards.IgnoredHosts, nil, each(hostName)),
			Description: "Hosts that are never asked for a preview, with all below them.",
			Suggestions: []any{"intranet.example.org", "t.co"}},
	}}
}

// postFormats are the formats that the server can render.
func postFormats() []string {
	return []string{"text/plain", "text/html", "text/markdown", "text/bbcode"}
}
