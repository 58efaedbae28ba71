package config

import "time"

// Settings of federation, apps, rate limits and streams.

func (c *Config) federationSettings() section {
	return section{"federation", "ActivityPub federation with other servers.", []Setting{
		{Key: "enabled", field: boolean(&c.Federation.Enabled, true), Restart: true,
			Description: "Federate with other servers. If off, users of this server can only interact with each other."},
		{Key: "allow_loopback", field: boolean(&c.Federation.AllowLoopback, false), Restart: true,
			Description: "Allow requests to loopback addresses and plain http. For testing only: remote servers could use it to reach other services of this machine."},
		{Key: "authorized_fetch", field: boolean(&c.Federation.AuthorizedFetch, false),
			Description: "Require a valid signature on fetches of ActivityPub documents. This keeps rejected instances out, but also servers that do not sign their fetches."},
		{Key: "store_all", field: boolean(&c.Federation.StoreAll, false),
			Description: "Store every post that other servers send, even if its author has no local followers and it has no relation to local accounts."},
		{Key: "send_listens", field: boolean(&c.Federation.SendListens, false),
			Description: "Send scrobbles (Listen activities) to remote followers. Few servers understand them."},
		{Key: "allow_relay", field: boolean(&c.Federation.AllowRelay, true),
			Description: "Let other servers follow this one as a relay and receive all public local posts. Relays that this server subscribes to receive them in any case."},
		{Key: "quarantined_instances", field: hostReasons(&c.Federation.QuarantinedInstances),
			Description: "Hosts to which only public and unlisted posts are sent. \"*.example.org\" is example.org and all its subdomains. The reason is public.",
			Suggestions: []any{[]map[string]any{{"host": "leaky.example", "reason": "shows private posts"}}}},
		{Key: "rejected_instances", field: hostReasons(&c.Federation.RejectedInstances),
			Description: "Hosts whose signed fetches are refused. To refuse unsigned fetches too, set authorized_fetch."},
		{Key: "signature_age", field: duration(&c.Federation.SignatureAge, 12*time.Hour, 5*time.Minute, 7*day),
			Description: "Maximum age of the HTTP signature of an incoming request. A shorter time rejects more requests of servers with wrong clocks, and of those that retry for hours without signing again."},
		{Key: "fetch_profiles", field: boolean(&c.Federation.FetchProfiles, true),
			Description: "Fetch the 20 newest public posts of a remote account when a user opens its profile or follows it, once a day at most. Otherwise a profile shows only what other servers have sent here."},
		{Key: "shared_domains", field: list(&c.Federation.SharedDomains, []string{"masto.host", "wordpress.com", "ghost.io", "writeas.com", "micro.blog"}, each(hostName)),
			Description: "Domains of hosting companies, below which many independent servers are. Of any other domain, this server gets to know ten new hosts a day, because its owner can make up any number. Add a domain whose servers are refused with status 429 although they are wanted."},
		{Key: "send_blocks", field: boolean(&c.Federation.SendBlocks, false),
			Description: "Send Block activities to the servers of blocked accounts, so that those hide the blocking user too. The blocked account can learn of the block from that."},
	}}
}

func (c *Config) captchaSettings() section {
	return section{"captcha", "Captcha at registration.", []Setting{
		{Key: "enabled", field: boolean(&c.Captcha.Enabled, false),
			Description: "Require a captcha at registration. Most phone apps cannot show one: their users register on the page /auth/sign_up. Trusted apps need none."},
		{Key: "provider", field: choice(&c.Captcha.Provider, CaptchaNative, CaptchaNative, CaptchaKocaptcha),
			Description: "\"native\" draws pictures, with a question in words as an alternative; \"kocaptcha\" uses the service at the endpoint, which has pictures only."},
		{Key: "endpoint", field: text(&c.Captcha.Endpoint, "", optional(webAddress)),
			Description: "Address of the kocaptcha service. The browsers of visitors load its pictures.",
			Suggestions: []any{"https://captcha.example.org"}},
		{Key: "seconds_valid", field: number(&c.Captcha.SecondsValid, 300, 30, 3600), Restart: true,
			Description: "How many seconds a captcha is valid."},
	}}
}

func (c *Config) translationSettings() section {
	return section{"translation", "Translations of public and unlisted posts.", []Setting{
		{Key: "url", field: text(&c.Translation.URL, "", optional(webAddress)),
			Description: "Address of a LibreTranslate server, which may be on this machine or in a private network. It receives the text of posts that users translate. Empty: no translations.",
			Suggestions: []any{"http://127.0.0.1:5000"}},
		{Key: "api_key", field: text(&c.Translation.APIKey, "", oneLine), Secret: true,
			Description: "API key for the LibreTranslate server. Empty: none."},
	}}
}

func (c *Config) oauthSettings() section {
	return section{"oauth", "Access tokens of apps.", []Setting{
		{Key: "token_lifetime", field: duration(&c.OAuth.TokenLifetime, 0, 0, maxDays*day, longEnough),
			Description: "Lifetime of access tokens; \"0s\": they do not expire. Apps that cannot refresh their token ask users to sign in again after that time.",
			Suggestions: []any{"30d", "365d"}},
	}}
}

func (c *Config) rateLimitSettings() section {
	return section{"rate_limit", "Rate limits. \"15/1m\" is 15 a minute, \"off\" is no limit. Authenticated requests are counted by account, others by IP address.", []Setting{
		{Key: "enabled", field: boolean(&c.RateLimit.Enabled, true), Restart: true,
			Description: "Enforce the rate limits."},
		{Key: "all", field: limit(&c.RateLimit.All, 1500, 5*time.Minute), Restart: true,
			Description: "All requests of one account. Web front ends poll every few seconds."},
		{Key: "all_anonymous", field: limit(&c.RateLimit.AllAnonymous, 600, 5*time.Minute), Restart: true,
			Description: "All requests without a user token, from one address."},
		{Key: "authentication", field: limit(&c.RateLimit.Authentication, 15, time.Minute), Restart: true,
			Description: "Sign-in attempts from one address."},
		{Key: "failed_logins", field: limit(&c.RateLimit.FailedLogins, 5, 5*time.Minute), Restart: true,
			Description: "Wrong passwords and second-factor codes for one account. Networks from which its user signed in before have as many of their own. Beyond that, passwords are checked slowly, one after another."},
		{Key: "password_reset", field: limit(&c.RateLimit.PasswordReset, 5, 30*time.Minute), Restart: true,
			Description: "Password reset requests from one address."},
		{Key: "registration", field: limit(&c.RateLimit.Registration, 25, 30*time.Minute), Restart: true,
			Description: "Registrations from one address."},
		{Key: "app_registration", field: limit(&c.RateLimit.AppRegistration, 5, 15*time.Minute), Restart: true,
			Description: "App registrations from one address."},
		{Key: "timeline", field: limit(&c.RateLimit.Timeline, 3, 500*time.Millisecond), Restart: true,
			Description: "Requests for the same timeline."},
		{Key: "search", field: limit(&c.RateLimit.Search, 30, time.Second), Restart: true,
			Description: "Searches by one account."},
		{Key: "search_anonymous", field: limit(&c.RateLimit.SearchAnonymous, 10, time.Second), Restart: true,
			Description: "Searches without a user token, from one address."},
		{Key: "follows", field: limit(&c.RateLimit.Follows, 10, 10*time.Second), Restart: true,
			Description: "Follows and unfollows."},
		{Key: "follows_same_account", field: limit(&c.RateLimit.FollowsSameAccount, 2, time.Minute), Restart: true,
			Description: "Follows and unfollows of the same account."},
		{Key: "status_actions", field: limit(&c.RateLimit.StatusActions, 15, 10*time.Second), Restart: true,
			Description: "Posts, chat messages, deletions, boosts and favourites together."},
		{Key: "same_status_action", field: limit(&c.RateLimit.SameStatusAction, 3, time.Minute), Restart: true,
			Description: "Boosts and unboosts of the same post; favourites and unfavourites likewise."},
		{Key: "reports", field: limit(&c.RateLimit.Reports, 10, 10*time.Minute), Restart: true,
			Description: "Reports by one account."},
		{Key: "translations", field: limit(&c.RateLimit.Translations, 30, time.Minute), Restart: true,
			Description: "Translations for one account."},
		{Key: "media_upload", field: limit(&c.RateLimit.MediaUpload, 100, 30*time.Minute), Restart: true,
			Description: "Uploads by one account."},
		{Key: "files", field: limit(&c.RateLimit.Files, 30_000, 5*time.Minute), Restart: true,
			Description: "Files that pages load, from one address: uploads, copies of remote media, emoji, pictures, styles and scripts. A picker may load a thousand custom emoji at once."},
		{Key: "federation", field: limit(&c.RateLimit.Federation, 6000, 5*time.Minute), Restart: true,
			Description: "ActivityPub documents that one server fetches. A large server fetches many at once when it receives a post."},
		{Key: "inbox", field: limit(&c.RateLimit.Inbox, 150_000, 5*time.Minute), Restart: true,
			Description: "Activities that one server delivers. A relay may send hundreds a second."},
	}}
}

func (c *Config) streamingSettings() section {
	return section{"streaming", "Limits of open streams, which push events to apps.", []Setting{
		{Key: "max_streams", field: number(&c.Streaming.MaxStreams, 2000, 1, 100_000),
			Description: "Maximum number of open streams. Clients without an account have at most half of them, and theirs end first when an account needs one. An idle stream takes about 20 kB of memory."},
		{Key: "max_streams_per_account", field: number(&c.Streaming.MaxStreamsPerAccount, 20, 1, 100_000),
			Description: "Maximum number of open streams of one account."},
		{Key: "max_streams_per_address", field: number(&c.Streaming.MaxStreamsPerAddress, 200, 1, 100_000),
			Description: "Maximum number of open streams from one IP address. Streams from loopback addresses are not counted."},
	}}
}
