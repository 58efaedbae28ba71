package config

import "time"

// Settings of the instance, its accounts and their content.

func (c *Config) instanceSettings() section {
	return section{"instance", "Public information about the server, and registration.", []Setting{
		{Key: "name", field: text(&c.Instance.Name, "svc", notEmpty, oneLine, atMost(200)),
			Description: "The title of the server."},
		{Key: "short_description", field: text(&c.Instance.ShortDescription, "", atMost(1000)),
			Description: "One or two sentences about the server, as plain text. Empty: the description is used."},
		{Key: "description", field: text(&c.Instance.Description, "A small social server.", atMost(20_000)),
			Description: "Description of the server: its subject and its audience. HTML is allowed."},
		{Key: "email", field: text(&c.Instance.Email, "", optional(mailAddress)),
			Description: "Public contact e-mail address of the administrators."},
		{Key: "contact_username", field: text(&c.Instance.ContactUsername, "", optional(localNickname)),
			Description: "Nickname of the contact account."},
		{Key: "languages", field: list(&c.Instance.Languages, []string{"en"}, atLeastOne, each(languageTag)),
			Description: "Language codes of the server, the main language first.",
			Suggestions: []any{"en", "de", "fr", "es", "ja", "pt-BR"}},
		{Key: "source_url", field: text(&c.Instance.SourceURL, "", optional(webAddress)),
			Description: "Where the source code of this server is published. Empty: it is not said.",
			Suggestions: []any{"https://code.example.org/svc"}},
		{Key: "thumbnail", field: text(&c.Instance.Thumbnail, "", optional(pictureAddress)),
			Description: "Thumbnail image of the server: a path on this server (\"/static/thumbnail.png\") or a URL. Empty: the built-in image."},
		{Key: "background_image", field: text(&c.Instance.BackgroundImage, "", optional(pictureAddress)),
			Description: "Background image of web front ends: a path or a URL. Empty: the built-in image."},
		{Key: "public", field: boolean(&c.Instance.Public, true),
			Description: "Allow anonymous access to public profiles, posts and timelines."},
		{Key: "list_peers", field: boolean(&c.Instance.ListPeers, true),
			Description: "Publish the list of known instances."},
		{Key: "show_activity", field: boolean(&c.Instance.ShowActivity, true),
			Description: "Publish the weekly numbers of posts, active users and registrations."},
		{Key: "list_domain_blocks", field: choice(&c.Instance.ListDomainBlocks, ToAnyone, ToAnyone, ToMembers, ToNobody),
			Description: "Who may read the list of hosts that are rejected or unlisted, with the reasons, in the reference API: \"public\", \"members\" or \"nobody\". Nobody may if mrf.transparency is off. Of hosts in mrf.transparency_exclusions it has a part of the name and a hash."},
		{Key: "registrations_open", field: boolean(&c.Instance.RegistrationsOpen, true),
			Description: "Allow registration."},
		{Key: "invites_enabled", field: boolean(&c.Instance.InvitesEnabled, false),
			Description: "Allow registration by invitation while registration is closed."},
		{Key: "account_approval_required", field: boolean(&c.Instance.AccountApprovalRequired, false),
			Description: "New accounts need the approval of a moderator before their users can sign in. Registrations are asked for a reason."},
		{Key: "account_activation_required", field: boolean(&c.Instance.AccountActivationRequired, false),
			Description: "New accounts need a confirmed e-mail address before their users can sign in. Requires [mail]; without it, confirm accounts with \"svc user confirm\"."},
		{Key: "configurable_from_database", field: boolean(&c.Instance.ConfigurableFromDatabase, false), Restart: true,
			Description: "Let administrators change settings in the admin front end. Their changes override this file. \"svc config unset\" removes a change that locks administrators out."},
		{Key: "admin_privileges", field: list(&c.Instance.AdminPrivileges, privilegeNames(false), knownPrivileges),
			Description: "What admins may do in the admin API. The role alone is not enough for what needs a privilege."},
		{Key: "moderator_privileges", field: list(&c.Instance.ModeratorPrivileges, privilegeNames(true), knownPrivileges),
			Description: "What moderators may do in the admin API."},
	}}
}

func (c *Config) accountsSettings() section {
	return section{"accounts", "Limits of profiles. Lengths are in characters.", []Setting{
		{Key: "name_length", field: number(&c.Accounts.NameLength, 100, 1, 1000),
			Description: "Maximum length of a display name."},
		{Key: "bio_length", field: number(&c.Accounts.BioLength, 5000, 1, 100_000),
			Description: "Maximum length of a bio."},
		{Key: "max_fields", field: number(&c.Accounts.MaxFields, 10, 0, 100),
			Description: "Maximum number of profile fields of a local account."},
		{Key: "max_remote_fields", field: number(&c.Accounts.MaxRemoteFields, 20, 0, 100),
			Description: "Maximum number of profile fields that are stored of a remote account."},
		{Key: "field_name_length", field: number(&c.Accounts.FieldNameLength, 255, 1, 10_000),
			Description: "Maximum length of the name of a profile field."},
		{Key: "field_value_length", field: number(&c.Accounts.FieldValueLength, 1024, 1, 10_000),
			Description: "Maximum length of the value of a profile field."},
		{Key: "registration_reason_length", field: number(&c.Accounts.RegistrationReasonLength, 500, 0, 10_000),
			Description: "Maximum length of the reason that a registration gives if accounts need approval."},
		{Key: "password_min_length", field: number(&c.Accounts.PasswordMinLength, 8, 8, 128),
			Description: "Minimum length of new passwords."},
		{Key: "extended_nickname_format", field: boolean(&c.Accounts.ExtendedNicknameFormat, true),
			Description: "Allow _ and - in new nicknames, in addition to letters and digits."},
		{Key: "restricted_nicknames", field: list(&c.Accounts.RestrictedNicknames, nil, each(nickname)),
			Description: "Nicknames that cannot be registered, in addition to those that the server reserves.",
			Suggestions: []any{"admin", "support", "root"}},
		{Key: "blockers_visible", field: boolean(&c.Accounts.BlockersVisible, false),
			Description: "Let blocked users read the public posts of accounts that block them."},
		{Key: "profile_directory", field: boolean(&c.Accounts.ProfileDirectory, true),
			Description: "List accounts that are discoverable (a setting of the profile) in the profile directory."},
		{Key: "max_collections", field: number(&c.Accounts.MaxCollections, 10, 0, 100),
			Description: "Maximum number of collections of accounts (starter packs) that an account can make."},
		{Key: "password_reset_lifetime", field: duration(&c.Accounts.PasswordResetLifetime, day, 5*time.Minute, 30*day),
			Description: "How long a password reset link is valid."},
		{Key: "sign_in_mails", field: boolean(&c.Accounts.SignInMails, true),
			Description: "Send mail to users about a sign-in from a network that was not used for their account in the last 90 days. Requires [mail]."},
		{Key: "backup_interval", field: duration(&c.Accounts.BackupInterval, 7*day, 0, 365*day),
			Description: "How often a user can make a backup of the own account."},
		{Key: "backup_lifetime", field: duration(&c.Accounts.BackupLifetime, 30*day, time.Hour, 365*day),
			Description: "How long such a backup can be downloaded. Then it is removed."},
		{Key: "backup_size_limit", field: size(&c.Accounts.BackupSizeLimit, 2_000_000_000, 0, 100_000_000_000),
			Description: "Maximum bytes of the uploaded files in a backup of an account. Further files are left out, and named in it."},
		{Key: "backup_storage_limit", field: size(&c.Accounts.BackupStorageLimit, 20_000_000_000, 0, 10_000_000_000_000),
			Description: "Maximum bytes of all backups of accounts. While they have more, no backup is made."},
		{Key: "archive_size_limit", field: size(&c.Accounts.ArchiveSizeLimit, 10_000_000_000, 0, 10_000_000_000_000),
			Description: "Maximum bytes of an archive of another server, packed and unpacked, from which a user imports posts. 0: only administrators import."},
		{Key: "unconfirmed_lifetime", field: duration(&c.Accounts.UnconfirmedLifetime, 14*day, 0, 365*day),
			Description: "How long an account is kept whose e-mail address is not confirmed; \"0s\": for ever. Then its nickname and its address are free again."},
		{Key: "email_blacklist", field: list(&c.Accounts.EmailBlacklist, nil, each(hostName)),
			Description: "Domains whose e-mail addresses cannot be used, with all their subdomains.",
			Suggestions: []any{"mailinator.example"}},
		{Key: "birthday_required", field: boolean(&c.Accounts.BirthdayRequired, false),
			Description: "Users must enter their birthday. Others do not see it, unless the user shows it."},
		{Key: "birthday_min_age", field: number(&c.Accounts.BirthdayMinAge, 0, 0, 120),
			Description: "Minimum age of users in years, where a birthday is entered; 0: any age. Set birthday_required, too, so that nobody leaves the birthday out."},
		{Key: "autofollow", field: list(&c.Accounts.Autofollow, nil, each(localNickname)),
			Description: "Nicknames of local accounts that new accounts follow.",
			Suggestions: []any{"announcements"}},
		{Key: "autofollowed_by", field: list(&c.Accounts.AutofollowedBy, nil, each(localNickname)),
			Description: "Nicknames of local accounts that follow new accounts.",
			Suggestions: []any{"moderator"}},
	}}
}

func (c *Config) welcomeSettings() section {
	return section{"welcome", "Messages to new users, sent once they can sign in.", []Setting{
		{Key: "sender", field: text(&c.Welcome.Sender, "", optional(localNickname)),
			Description: "Nickname of the local account that sends the messages. Empty: none are sent.",
			Suggestions: []any{"moderator"}},
		{Key: "direct_message", field: text(&c.Welcome.DirectMessage, "", atMost(5000)),
			Description: "Text of a direct post to each new user. Empty: none."},
		{Key: "chat_message", field: text(&c.Welcome.ChatMessage, "", atMost(5000)),
			Description: "Text of a chat message to each new user. Empty: none."},
	}}
}

func (c *Config) statusesSettings() section {
	return section{"statuses", "Limits of posts. Lengths are in characters.", []Setting{
		{Key: "max_length", field: number(&c.Statuses.MaxLength, 5000, 1, 100_000),
			Description: "Maximum length of a post, including its subject."},
		{Key: "allowed_formats", field: list(&c.Statuses.AllowedFormats, postFormats(), allOf(postFormats()...), contains("text/plain")),
			Description: "Formats in which posts may be written.",
			Suggestions: []any{"text/plain", "text/html", "text/markdown", "text/bbcode"}},
		{Key: "max_pinned", field: number(&c.Statuses.MaxPinned, 5, 0, 100),
			Description: "Maximum number of pinned posts of an account."},
		{Key: "min_expiry", field: duration(&c.Statuses.MinExpiry, time.Hour, time.Minute, 365*day),
			Description: "Minimum lifetime of an expiring post."},
	}}
}

func (c *Config) pollsSettings() section {
	return section{"polls", "Limits of local polls.", []Setting{
		{Key: "max_options", field: number(&c.Polls.MaxOptions, 20, 2, 100),
			Description: "Maximum number of options."},
		{Key: "max_option_length", field: number(&c.Polls.MaxOptionLength, 200, 1, 1000),
			Description: "Maximum length of an option, in characters."},
		{Key: "min_expiration", field: duration(&c.Polls.MinExpiration, 0, 0, 365*day),
			Description: "Minimum duration of a poll."},
		{Key: "max_expiration", field: duration(&c.Polls.MaxExpiration, 365*day, time.Minute, 3650*day),
			Description: "Maximum duration of a poll."},
	}}
}

func (c *Config) chatsSettings() section {
	return section{"chats", "Limits of chats.", []Setting{
		{Key: "max_length", field: number(&c.Chats.MaxLength, 5000, 1, 100_000),
			Description: "Maximum length of a chat message, in characters."},
	}}
}

func (c *Config) timelinesSettings() section {
	return section{"timelines", "Limits of timelines.", []Setting{
		{Key: "home_length", field: number(&c.Timelines.HomeLength, 2000, 100, 100_000),
			Description: "Maximum number of posts in each home timeline and in each list timeline."},
		{Key: "bubble", field: list(&c.Timelines.Bubble, nil, each(hostName), maxItems[string](maxBubble)),
			Description: "Hosts whose public posts are in the bubble timeline, besides those of this server. NodeInfo lists them.",
			Suggestions: []any{"friends.example"}},
	}}
}

// maxBubble bounds the hosts of the bubble timeline, each of which is read for a page.
const maxBubble = 20

func (c *Config) searchSettings() section {
	return section{"search", "Scope of search results.", []Setting{
		{Key: "anonymous_remote", field: boolean(&c.Search.AnonymousRemote, false),
			Description: "Include remote accounts and posts in the results of anonymous searches."},
		{Key: "discoverable_only", field: boolean(&c.Search.DiscoverableOnly, false),
			Description: "Find posts by their text only if their authors are discoverable (a setting of the profile), or if the user received or interacted with them."},
	}}
}

func (c *Config) mediaSettings() section {
	return section{"media", "Limits of uploads. Sizes are in bytes unless noted.", []Setting{
		{Key: "upload_limit", field: size(&c.Media.UploadLimit, 16_000_000, 1000, 10_000_000_000), Restart: true,
			Description: "Maximum size of an attachment. A reverse proxy must allow request bodies of this size."},
		{Key: "avatar_limit", field: size(&c.Media.AvatarLimit, 2_000_000, 1000, 100_000_000),
			Description: "Maximum size of an avatar."},
		{Key: "banner_limit", field: size(&c.Media.BannerLimit, 4_000_000, 1000, 100_000_000),
			Description: "Maximum size of a profile header image."},
		{Key: "background_limit", field: size(&c.Media.BackgroundLimit, 4_000_000, 1000, 100_000_000),
			Description: "Maximum size of a profile background image."},
		{Key: "description_length", field: number(&c.Media.DescriptionLength, 5000, 1, 100_000),
			Description: "Maximum length of a media description, in characters."},
		{Key: "max_pixels", field: number(&c.Media.MaxPixels, 50_000_000, 10_000, 1_000_000_000), Restart: true,
			Description: "Maximum width times height of an image. Making a thumbnail takes up to four bytes of memory for each pixel."},
		{Key: "max_frames", field: number(&c.Media.MaxFrames, 1000, 1, 10_000), Restart: true,
			Description: "Maximum number of frames of an animated image."},
		{Key: "describe", field: boolean(&c.Media.Describe, false), Restart: true,
			Description: "Show size, length and a blurred placeholder of attachments in the API (meta, blurhash). Turn it on if people use phone apps: without it, posts jump while pictures load."},
		{Key: "storage", field: choice(&c.Media.Storage, MediaOnDisk, MediaOnDisk, MediaInBucket), Restart: true,
			Description: `Where new uploads, their thumbnails and archives of accounts are stored: "disk" (the data directory) or "s3" (media.bucket). Files that are in the other place are read from there; svc media move moves them. The cache of the media proxy stays on disk.`},
		{Key: "bucket", field: text(&c.Media.Bucket, "", optional(bucket)), Restart: true,
			Description: "Bucket of S3 for media. The credentials are in s3. Nobody else may read or write it. Keep it here until svc media move has moved all files out of it.",
			Suggestions: []any{"s3://bucket/media?endpoint=https://s3.example.org"}},
		{Key: "redirect", field: boolean(&c.Media.Redirect, false), Restart: true,
			Description: "Send clients to the bucket for files that are there, by addresses that are valid for 10 minutes, instead of serving the files through this server. The host of the bucket must be one of its own, because S3 cannot send all headers that this server sends (docs/media.md)."},
	}}
}

func (c *Config) mediaProxySettings() section {
	return section{"media_proxy", "Proxy for remote media, so that remote servers do not learn the IP addresses of viewers.", []Setting{
		{Key: "enabled", field: boolean(&c.MediaProxy.Enabled, true), Restart: true,
			Description: "Serve remote media through this server. If off, browsers and apps load them from the remote servers."},
		{Key: "cache_size", field: size(&c.MediaProxy.CacheSize, 1<<30, 10_000_000, 10_000_000_000_000), Restart: true,
			Description: "Maximum size of the cache in bytes, in cache/ in the data directory. The least recently used files are evicted first."},
		{Key: "max_file", field: size(&c.MediaProxy.MaxFile, 40<<20, 100_000, 10_000_000_000), Restart: true,
			Description: "Maximum size of a proxied file, in bytes. A fetch times out after a minute."},
		{Key: "direct_hosts", field: list(&c.MediaProxy.DirectHosts, nil, each(hostName)), Restart: true,
			Description: "Hosts that are not proxied, including their subdomains, for example your own media host.",
			Suggestions: []any{"media.example.org"}},
	}}
}

func (c *Config) emojiSettings() section {
	return section{"emoji", "Custom emoji in folders without a pack.json. docs/emoji.md explains the folders.", []Setting{
		{Key: "groups", field: emojiGroups(&c.Emoji.Groups, EmojiGroup{Name: "Custom", Patterns: []string{"/emoji/*.png", "/emoji/**/*.png"}}),
			Description: "Groups, which apps show as categories. An emoji is in the first group that has a pattern for its path. * stands for any characters, /**/ for any folders."},
		{Key: "pack_extensions", field: list(&c.Emoji.PackExtensions, []string{".png", ".gif"}, each(oneOf(emojiExtensions...))),
			Description: "Extensions of the files in such a folder that become emoji, unless the folder has an emoji.txt.",
			Suggestions: suggested(emojiExtensions)},
		{Key: "shortcode_globs", field: list(&c.Emoji.ShortcodeGlobs, []string{"/emoji/custom/**/*.png"}, each(emojiPattern), maxItems[string](100)),
			Description: "Patterns of further files that become emoji, such as \"/emoji/*.png\" for files that are in no folder. Files of packs with a pack.json never do."},
	}}
}

func (c *Config) cardsSettings() section {
	return section{"cards", "Preview cards of pages that posts link to.", []Setting{
		{Key: "enabled", field: boolean(&c.Cards.Enabled, true),
			Description: "Fetch the first page that a public or unlisted post links to, and show its title and image below the post."},
		{Key: "ignored_hosts", field: list(&c.Cards.IgnoredHosts, nil, each(hostName)),
			Description: "Hosts that are never fetched for a preview card, including their subdomains.",
			Suggestions: []any{"intranet.example.org", "t.co"}},
	}}
}

// postFormats are the formats that the server can render.
func postFormats() []string {
	return []string{"text/plain", "text/html", "text/markdown", "text/bbcode"}
}
