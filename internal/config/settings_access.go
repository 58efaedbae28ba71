package config

import "time"

// Settings of other servers, apps and limits of requests.

func (c *Config) federationSettings() section {
	return section{"federation", "The exchange with other servers.", []Setting{
		{Key: "enabled", field: boolean(&c.Federation.Enabled, true), Restart: true,
			Description: "Talk with other servers. Without it only people on this server see each other."},
		{Key: "allow_loopback", field: boolean(&c.Federation.AllowLoopback, false), Restart: true,
			Description: "Talk with servers on this machine, without encryption. Only for trials: strangers could reach other services of the machine through it."},
		{Key: "authorized_fetch", field: boolean(&c.Federation.AuthorizedFetch, false),
			Description: "Answer other servers only if they prove who they are. It keeps blocked servers out, and some honest ones too."},
		{Key: "store_all", field: boolean(&c.Federation.StoreAll, false), Restart: true,
			Description: "Keep every post that other servers send, also if nobody here follows its author, is mentioned, or has to do with it otherwise."},
		{Key: "send_listens", field: boolean(&c.Federation.SendListens, false),
			Description: "Tell followers on other servers what people listen to. Few servers understand that."},
		{Key: "allow_relay", field: boolean(&c.Federation.AllowRelay, true), Restart: true,
			Description: "Let other servers follow this one as a relay, and tell them of all public posts that are written here. Relays that this server has subscribed to itself are told of them in any case."},
		{Key: "quarantined_instances", field: hostReasons(&c.Federation.QuarantinedInstances), Restart: true,
			Description: "Hosts that get only what is public or unlisted. \"*.example.org\" is example.org with all below it. The reason is shown to everybody.",
			Suggestions: []any{[]map[string]any{{"host": "leaky.example", "reason": "shows private posts"}}}},
		{Key: "rejected_instances", field: hostReasons(&c.Federation.RejectedInstances), Restart: true,
			Description: "Hosts that get nothing at all when they ask, as far as they say who they are: see authorized_fetch."},
		{Key: "signature_age", field: duration(&c.Federation.SignatureAge, 12*time.Hour, 5*time.Minute, 7*day), Restart: true,
			Description: "How long ago a message of another server may have been signed. A shorter time refuses more of servers with wrong clocks, and of those that sign once and try again for hours."},
		{Key: "send_blocks", field: boolean(&c.Federation.SendBlocks, false), Restart: true,
			Description: "Tell other servers whom people here block, so that those see nothing of them there either. The blocked can find out by it."},
	}}
}

func (c *Config) captchaSettings() section {
	return section{"captcha", "A picture with letters to copy, against automatic registrations.", []Setting{
		{Key: "enabled", field: boolean(&c.Captcha.Enabled, false, unsupported),
			Description: "Ask for it at registration. This version cannot do that yet: it has to stay off."},
	}}
}

func (c *Config) oauthSettings() section {
	return section{"oauth", "How apps stay signed in.", []Setting{
		{Key: "token_lifetime", field: duration(&c.OAuth.TokenLifetime, 0, 0, maxDays*day, longEnough),
			Description: "How long an app stays signed in; \"0s\" is for ever. Apps that cannot renew their token ask for the password after that time.",
			Suggestions: []any{"30d", "365d"}},
	}}
}

func (c *Config) rateLimitSettings() section {
	return section{"rate_limit", "How often things may be done. \"15/1m\" is 15 times a minute, \"off\" is without a limit. Signed-in people are counted by account, others by address.", []Setting{
		{Key: "enabled", field: boolean(&c.RateLimit.Enabled, true), Restart: true,
			Description: "Count at all."},
		{Key: "all", field: limit(&c.RateLimit.All, 1500, 5*time.Minute), Restart: true,
			Description: "Requests of any kind by one account. Web front ends ask for news every few seconds."},
		{Key: "all_anonymous", field: limit(&c.RateLimit.AllAnonymous, 600, 5*time.Minute), Restart: true,
			Description: "Requests of any kind by one visitor."},
		{Key: "authentication", field: limit(&c.RateLimit.Authentication, 15, time.Minute), Restart: true,
			Description: "Tries to sign in from one address."},
		{Key: "failed_logins", field: limit(&c.RateLimit.FailedLogins, 5, 5*time.Minute), Restart: true,
			Description: "Wrong passwords for one account, and wrong codes of its second factor, wherever they come from."},
		{Key: "password_reset", field: limit(&c.RateLimit.PasswordReset, 5, 30*time.Minute), Restart: true,
			Description: "Requests for a new password from one address."},
		{Key: "registration", field: limit(&c.RateLimit.Registration, 25, 30*time.Minute), Restart: true,
			Description: "Registrations from one address."},
		{Key: "app_registration", field: limit(&c.RateLimit.AppRegistration, 5, 15*time.Minute), Restart: true,
			Description: "Apps that make themselves known, from one address."},
		{Key: "timeline", field: limit(&c.RateLimit.Timeline, 3, 500*time.Millisecond), Restart: true,
			Description: "Looks at one and the same timeline."},
		{Key: "search", field: limit(&c.RateLimit.Search, 30, time.Second), Restart: true,
			Description: "Searches by one account."},
		{Key: "search_anonymous", field: limit(&c.RateLimit.SearchAnonymous, 10, time.Second), Restart: true,
			Description: "Searches by one visitor."},
		{Key: "follows", field: limit(&c.RateLimit.Follows, 10, 10*time.Second), Restart: true,
			Description: "Following and unfollowing."},
		{Key: "follows_same_account", field: limit(&c.RateLimit.FollowsSameAccount, 2, time.Minute), Restart: true,
			Description: "Following and unfollowing one and the same account."},
		{Key: "status_actions", field: limit(&c.RateLimit.StatusActions, 15, 10*time.Second), Restart: true,
			Description: "Posting, chatting, deleting, boosting and favouriting, taken together."},
		{Key: "same_status_action", field: limit(&c.RateLimit.SameStatusAction, 3, time.Minute), Restart: true,
			Description: "Boosting, or favouriting, one and the same post and taking it back."},
		{Key: "reports", field: limit(&c.RateLimit.Reports, 10, 10*time.Minute), Restart: true,
			Description: "Reports to the staff by one account."},
		{Key: "media_upload", field: limit(&c.RateLimit.MediaUpload, 100, 30*time.Minute), Restart: true,
			Description: "Uploads by one account."},
		{Key: "federation", field: limit(&c.RateLimit.Federation, 6000, 5*time.Minute), Restart: true,
			Description: "Documents that one other server reads: a well-known one asks for many at once when it has heard of a post."},
		{Key: "inbox", field: limit(&c.RateLimit.Inbox, 150_000, 5*time.Minute), Restart: true,
			Description: "Activities that one other server sends. A relay may send hundreds a second."},
	}}
}

func (c *Config) streamingSettings() section {
	return section{"streaming", "Limits of open streams, by which apps hear of news at once.", []Setting{
		{Key: "max_streams", field: number(&c.Streaming.MaxStreams, 2000, 1, 100_000), Restart: true,
			Description: "How many streams may be open in all. An idle one takes some 20 kB of memory."},
		{Key: "max_streams_per_account", field: number(&c.Streaming.MaxStreamsPerAccount, 500, 1, 100_000), Restart: true,
			Description: "How many one account may have open."},
		{Key: "max_streams_per_address", field: number(&c.Streaming.MaxStreamsPerAddress, 200, 1, 100_000), Restart: true,
			Description: "How many may be open from one address. Those from this machine are not counted."},
	}}
}
