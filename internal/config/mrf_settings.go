package config

import (
	"slices"
	"time"
)

// policySections returns the settings of policies.
func (c *Config) policySections() []section {
	return slices.Concat(c.originPolicies(), c.contentPolicies(), c.actionPolicies())
}

// originPolicies describes the policies that decide by the sender, type and age of an activity.
func (c *Config) originPolicies() []section {
	spamHost := []map[string]any{{"host": "*.spam.example", "reason": "spam"}}
	hosts := func(key string, at *[]HostReason, about string) Setting {
		return Setting{Key: key, field: hostReasons(at), Description: about}
	}
	simple := []Setting{
		hosts("reject", &c.MRFSimple.Reject, "Hosts whose activities are rejected, except deletions. \"*.spam.example\" is spam.example and all its subdomains; \"spam.example\" is that host only. The reason is public."),
		hosts("accept", &c.MRFSimple.Accept, "If not empty, the activities of all other hosts are rejected."),
		hosts("media_removal", &c.MRFSimple.MediaRemoval, "Hosts whose posts are stored without attachments."),
		hosts("media_nsfw", &c.MRFSimple.MediaNSFW, "Hosts whose posts are marked as sensitive."),
		hosts("federated_timeline_removal", &c.MRFSimple.FederatedTimelineRemoval, "Hosts whose public posts become unlisted."),
		hosts("followers_only", &c.MRFSimple.FollowersOnly, "Hosts whose posts become visible to their authors' followers only."),
		hosts("report_removal", &c.MRFSimple.ReportRemoval, "Hosts whose reports are rejected."),
		hosts("avatar_removal", &c.MRFSimple.AvatarRemoval, "Hosts whose accounts are stored without avatars."),
		hosts("banner_removal", &c.MRFSimple.BannerRemoval, "Hosts whose accounts are stored without header images."),
		hosts("reject_deletes", &c.MRFSimple.RejectDeletes, "Hosts whose Delete activities are rejected."),
	}
	simple[0].Suggestions = []any{spamHost}
	return []section{
		{"mrf", "Policies (MRF), which incoming and outgoing activities pass one after the other. docs/policies.md explains each of them.", []Setting{
			{Key: "policies", field: policyList(&c.MRF.Policies, "ObjectAgePolicy", "TagPolicy", "InlineQuotePolicy"),
				Description: "The active policies, in the order in which they run. HashtagPolicy always runs, as the last one.",
				Suggestions: suggested(PolicyNames())},
			{Key: "transparency", field: boolean(&c.MRF.Transparency, true),
				Description: "Publish the active policies and their settings."},
			{Key: "transparency_exclusions", field: hostReasons(&c.MRF.TransparencyExclusions),
				Description: "Hosts that are omitted from the published settings of SimplePolicy. It is published that there are exclusions."},
		}},
		{"mrf_simple", "SimplePolicy: rules for hosts.", simple},
		{"mrf_subchain", "SubchainPolicy: additional policies for some accounts.", []Setting{
			{Key: "match_actor", field: subchains(&c.MRFSubchain.MatchActor),
				Description: "The first entry whose pattern matches the ActivityPub id of an account names the additional policies for its activities. A pattern is plain text, or a regular expression as ~r/…/i.",
				Suggestions: []any{[]map[string]any{{"pattern": "~r/bot[0-9]+/i", "policies": []string{"ForceBotUnlistedPolicy"}}}}},
		}},
		{"mrf_rejectnonpublic", "RejectNonPublic: rejects posts that are neither public nor unlisted.", []Setting{
			{Key: "allow_followersonly", field: boolean(&c.MRFRejectNonPublic.AllowFollowersOnly, false),
				Description: "Accept followers-only posts."},
			{Key: "allow_direct", field: boolean(&c.MRFRejectNonPublic.AllowDirect, false),
				Description: "Accept direct posts."},
		}},
		{"mrf_antimentionspam", "AntiMentionSpamPolicy: rejects posts that mention local accounts if their author is new or has no posts.", []Setting{
			{Key: "user_age_limit", field: duration(&c.MRFAntiMentionSpam.UserAgeLimit, 30*time.Second, 0, 365*day),
				Description: "Minimum time since the account became known to this server."},
		}},
		{"mrf_mention", "MentionPolicy: rejects posts that are addressed to some accounts.", []Setting{
			{Key: "actors", field: list(&c.MRFMention.Actors, nil, each(webAddress), maxItems[string](maxEntries)),
				Description: "ActivityPub ids of these accounts.",
				Suggestions: []any{"https://example.org/users/alice"}},
		}},
		{"mrf_vocabulary", "VocabularyPolicy: rules for types of activities and objects.", []Setting{
			{Key: "accept", field: list(&c.MRFVocabulary.Accept, nil, each(typeName), maxItems[string](maxEntries)),
				Description: "If not empty, only these types are accepted. For a post, list the type of its activity and its own.",
				Suggestions: []any{"Create", "Update", "Delete", "Note", "Follow", "Undo"}},
			{Key: "reject", field: list(&c.MRFVocabulary.Reject, nil, each(typeName), maxItems[string](maxEntries)),
				Description: "Types that are rejected.",
				Suggestions: []any{"Move", "EmojiReact"}},
		}},
		{"mrf_object_age", "ObjectAgePolicy: rules for posts that arrive long after they were published.", []Setting{
			{Key: "threshold", field: duration(&c.MRFObjectAge.Threshold, 7*day, time.Minute, maxDays*day),
				Description: "Age from which a post is old."},
			{Key: "actions", field: list(&c.MRFObjectAge.Actions, []string{AgeDelist, AgeStripFollowers}, allOf(AgeDelist, AgeStripFollowers, AgeReject)),
				Description: "\"delist\" makes public posts unlisted, \"strip_followers\" keeps posts out of followers' timelines, \"reject\" rejects them.",
				Suggestions: []any{AgeDelist, AgeStripFollowers, AgeReject}},
		}},
	}
}

// contentPolicies describes the policies that decide by the content of an activity.
func (c *Config) contentPolicies() []section {
	return []section{
		{"mrf_hellthread", "HellthreadPolicy: rules for posts with many recipients.", []Setting{
			{Key: "delist_threshold", field: number(&c.MRFHellthread.DelistThreshold, 10, 0, 100_000),
				Description: "Public posts with more recipients than this become unlisted. 0: no limit."},
			{Key: "reject_threshold", field: number(&c.MRFHellthread.RejectThreshold, 20, 0, 100_000),
				Description: "Posts with more recipients than this are rejected. 0: no limit."},
		}},
		{"mrf_keyword", "KeywordPolicy: rules for patterns in the text, subject or title of posts. Plain text matches regardless of case; ~r/…/i is a regular expression (RE2).", []Setting{
			{Key: "reject", field: patterns(&c.MRFKeyword.Reject),
				Description: "Posts with one of these are rejected.",
				Suggestions: []any{"cheap watches", `~r/win\s+big/i`}},
			{Key: "federated_timeline_removal", field: patterns(&c.MRFKeyword.FederatedTimelineRemoval),
				Description: "Public posts with one of these become unlisted."},
			{Key: "replace", field: replacements(&c.MRFKeyword.Replace),
				Description: "Patterns and their replacements.",
				Suggestions: []any{[]map[string]any{{"pattern": "https://tube.example/", "replacement": "https://front.example/"}}}},
		}},
		{"mrf_hashtag", "HashtagPolicy, which always runs: rules for hashtags, written without the #.", []Setting{
			{Key: "sensitive", field: hashtags(&c.MRFHashtag.Sensitive, "nsfw"),
				Description: "Posts with one of these are marked as sensitive."},
			{Key: "reject", field: hashtags(&c.MRFHashtag.Reject),
				Description: "Posts with one of these are rejected."},
			{Key: "federated_timeline_removal", field: hashtags(&c.MRFHashtag.FederatedTimelineRemoval),
				Description: "Public posts with one of these become unlisted."},
		}},
		{"mrf_emoji", "EmojiPolicy: rules for remote custom emoji. Patterns are as in mrf_keyword.", []Setting{
			{Key: "remove_url", field: patterns(&c.MRFEmoji.RemoveURL),
				Description: "Emoji whose URL matches one of these are removed from posts and profiles, and reactions with them are rejected."},
			{Key: "remove_shortcode", field: patterns(&c.MRFEmoji.RemoveShortcode),
				Description: "The same for the shortcode of the emoji.",
				Suggestions: []any{"badword", "~r/^nsfw_/"}},
			{Key: "federated_timeline_removal_url", field: patterns(&c.MRFEmoji.FederatedTimelineRemovalURL),
				Description: "Public posts with an emoji whose URL matches one of these become unlisted."},
			{Key: "federated_timeline_removal_shortcode", field: patterns(&c.MRFEmoji.FederatedTimelineRemovalShortcode),
				Description: "The same for the shortcode of the emoji."},
		}},
		{"mrf_normalize_markup", "NormalizeMarkup: sanitizes the HTML of posts.", []Setting{
			{Key: "scrub_policy", field: choice(&c.MRFNormalizeMarkup.ScrubPolicy, ScrubDefault, ScrubDefault, ScrubStrict),
				Description: "\"default\" keeps all HTML that posts may contain; \"strict\" keeps only paragraphs, line breaks and links."},
		}},
	}
}

// actionPolicies describes the policies that extend an activity, act on it, or query a service about it.
func (c *Config) actionPolicies() []section {
	return []section{
		{"mrf_activity_expiration", "ActivityExpirationPolicy: local posts expire.", []Setting{
			{Key: "days", field: number(&c.MRFActivityExpiration.Days, 365, 1, maxDays),
				Description: "Days after which posts are deleted, unless their author chose an earlier expiry."},
		}},
		{"mrf_follow_bot", "FollowBotPolicy: a local account follows all remote accounts whose posts arrive, so that more posts do.", []Setting{
			{Key: "follower_nickname", field: text(&c.MRFFollowBot.FollowerNickname, "", optional(localNickname)),
				Description: "Nickname of that account, which must be marked as a bot. Empty: none."},
		}},
		{"mrf_user_allowlist", "UserAllowListPolicy: accepts only the listed accounts of some hosts.", []Setting{
			{Key: "hosts", field: allowed(&c.MRFUserAllowlist.Hosts),
				Description: "Hosts, and the ActivityPub ids of the only accounts of each whose activities are accepted.",
				Suggestions: []any{[]map[string]any{{"host": "example.org", "actors": []string{"https://example.org/users/alice"}}}}},
		}},
		{"mrf_steal_emoji", "StealEmojiPolicy: copies unknown remote custom emoji.", []Setting{
			{Key: "hosts", field: list(&c.MRFStealEmoji.Hosts, nil, each(hostPatternName), maxItems[string](maxEntries)),
				Description: "Hosts whose emoji are copied.",
				Suggestions: []any{"example.org"}},
			{Key: "rejected_shortcodes", field: patterns(&c.MRFStealEmoji.RejectedShortcodes),
				Description: "Emoji whose shortcode matches one of these are not copied."},
			{Key: "size_limit", field: number(&c.MRFStealEmoji.SizeLimit, 50_000, 100, 256<<10),
				Description: "Maximum size of an image that is copied, in bytes."},
			{Key: "pack", field: text(&c.MRFStealEmoji.Pack, "stolen", packName),
				Description: "The emoji pack to which they are added."},
		}},
		{"mrf_force_mention", "ForceMention: adds mentions to replies and quotes.", []Setting{
			{Key: "mention_parent", field: boolean(&c.MRFForceMention.MentionParent, true),
				Description: "Mention the author of the parent post."},
			{Key: "mention_quoted", field: boolean(&c.MRFForceMention.MentionQuoted, true),
				Description: "Mention the author of the quoted post."},
		}},
		{"mrf_inline_quote", "InlineQuotePolicy: appends the URL of the quoted post, for clients that do not show quotes.", []Setting{
			{Key: "template", field: text(&c.MRFInlineQuote.Template, "<bdi>RT:</bdi> {url}", quoteTemplate),
				Description: "The HTML that is appended, with {url} where the link goes."},
		}},
		{"mrf_remote_report", "RemoteReportPolicy: rejects reports from other servers.", []Setting{
			{Key: "reject_all", field: boolean(&c.MRFRemoteReport.RejectAll, false), Description: "Reject all."},
			{Key: "reject_anonymous", field: boolean(&c.MRFRemoteReport.RejectAnonymous, true), Description: "Reject reports whose actor is a server instead of an account."},
			{Key: "reject_third_party", field: boolean(&c.MRFRemoteReport.RejectThirdParty, false), Description: "Reject reports that are not about a local account."},
			{Key: "reject_empty_message", field: boolean(&c.MRFRemoteReport.RejectEmptyMessage, true), Description: "Reject reports without a comment."},
		}},
		{"mrf_dnsrbl", "DNSRBLPolicy: rejects hosts that are on a DNS block list. If the lookup fails, they are accepted.", []Setting{
			{Key: "nameserver", field: text(&c.MRFDNSRBL.Nameserver, "127.0.0.1", hostName), Description: "The name server to query."},
			{Key: "port", field: number(&c.MRFDNSRBL.Port, 53, 1, 65535), Description: "The port of that name server."},
			{Key: "zone", field: text(&c.MRFDNSRBL.Zone, "", optional(hostName)),
				Description: "The zone of the block list: the query is for \"HOST.ZONE\". Empty: no query.",
				Suggestions: []any{"bl.example.org"}},
		}},
		{"mrf_nsfw_api", "NsfwApiPolicy: scores images with a service of your own. If it does not respond, they are accepted.", []Setting{
			{Key: "url", field: text(&c.MRFNSFWAPI.URL, "http://127.0.0.1:5000/", webAddress),
				Description: "URL of the service. It is called with ?url=…, and returns {\"score\": 0.5}."},
			{Key: "threshold", field: fraction(&c.MRFNSFWAPI.Threshold, 0.7),
				Description: "Score from which the actions below apply, from 0 to 1."},
			{Key: "mark_sensitive", field: boolean(&c.MRFNSFWAPI.MarkSensitive, true), Description: "Mark the post as sensitive."},
			{Key: "unlist", field: boolean(&c.MRFNSFWAPI.Unlist, false), Description: "Make a public post unlisted."},
			{Key: "reject", field: boolean(&c.MRFNSFWAPI.Reject, false), Description: "Reject the post."},
		}},
	}
}
