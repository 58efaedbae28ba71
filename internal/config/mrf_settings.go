package config

import (
	"slices"
	"time"
)

// policySections returns the part of the registry that is about policies.
func (c *Config) policySections() []section {
	return slices.Concat(c.originPolicies(), c.contentPolicies(), c.actionPolicies())
}

// originPolicies describes the policies that decide by where a message is from, its type and its age.
func (c *Config) originPolicies() []section {
	somebody := []map[string]any{{"host": "*.spam.example", "reason": "spam"}}
	hosts := func(key string, at *[]HostReason, about string) Setting {
		return Setting{Key: key, field: hostReasons(at), Restart: true, Description: about}
	}
	simple := []Setting{
		hosts("reject", &c.MRFSimple.Reject, "Hosts from which nothing is taken but deletions. \"*.spam.example\" is spam.example with all below it; \"spam.example\" is that host alone. The reason is shown to everybody."),
		hosts("accept", &c.MRFSimple.Accept, "If there is any host in this list, nothing is taken from all others."),
		hosts("media_removal", &c.MRFSimple.MediaRemoval, "Hosts whose posts lose their attachments."),
		hosts("media_nsfw", &c.MRFSimple.MediaNSFW, "Hosts whose posts are all marked as sensitive."),
		hosts("federated_timeline_removal", &c.MRFSimple.FederatedTimelineRemoval, "Hosts whose public posts become unlisted."),
		hosts("followers_only", &c.MRFSimple.FollowersOnly, "Hosts whose posts are shown to their authors' followers only."),
		hosts("report_removal", &c.MRFSimple.ReportRemoval, "Hosts from which no reports are taken."),
		hosts("avatar_removal", &c.MRFSimple.AvatarRemoval, "Hosts whose avatars are not shown."),
		hosts("banner_removal", &c.MRFSimple.BannerRemoval, "Hosts whose pictures at the head of profiles are not shown."),
		hosts("reject_deletes", &c.MRFSimple.RejectDeletes, "Hosts whose deletions are not obeyed."),
	}
	simple[0].Suggestions = []any{somebody}
	return []section{
		{"mrf", "The rules (policies) that messages from and to other servers pass, one after the other. docs/policies.md explains each of them.", []Setting{
			{Key: "policies", field: policyList(&c.MRF.Policies, "ObjectAgePolicy", "TagPolicy", "InlineQuotePolicy"), Restart: true,
				Description: "Which policies there are, in the order in which they are asked. HashtagPolicy always comes last.",
				Suggestions: suggested(PolicyNames())},
			{Key: "transparency", field: boolean(&c.MRF.Transparency, true), Restart: true,
				Description: "Show everybody which policies there are, and their settings."},
			{Key: "transparency_exclusions", field: hostReasons(&c.MRF.TransparencyExclusions), Restart: true,
				Description: "Hosts that are not shown among those of SimplePolicy. That there are any is shown."},
		}},
		{"mrf_simple", "SimplePolicy: what is done with messages of hosts.", simple},
		{"mrf_subchain", "SubchainPolicy: more policies for some.", []Setting{
			{Key: "match_actor", field: subchains(&c.MRFSubchain.MatchActor), Restart: true,
				Description: "The first entry whose pattern is found in the address (ActivityPub id) of an account says which policies its messages pass besides. A pattern is a plain text, or a regular expression as ~r/…/i.",
				Suggestions: []any{[]map[string]any{{"pattern": "~r/bot[0-9]+/i", "policies": []string{"ForceBotUnlistedPolicy"}}}}},
		}},
		{"mrf_rejectnonpublic", "RejectNonPublic: nothing but public and unlisted posts.", []Setting{
			{Key: "allow_followersonly", field: boolean(&c.MRFRejectNonPublic.AllowFollowersOnly, false), Restart: true,
				Description: "Let posts for followers pass."},
			{Key: "allow_direct", field: boolean(&c.MRFRejectNonPublic.AllowDirect, false), Restart: true,
				Description: "Let direct posts pass."},
		}},
		{"mrf_antimentionspam", "AntiMentionSpamPolicy: no posts to people here from accounts that are new, or have never posted.", []Setting{
			{Key: "user_age_limit", field: duration(&c.MRFAntiMentionSpam.UserAgeLimit, 30*time.Second, 0, 365*day), Restart: true,
				Description: "How long an account must have been known."},
		}},
		{"mrf_mention", "MentionPolicy: no posts to some.", []Setting{
			{Key: "actors", field: list(&c.MRFMention.Actors, nil, each(webAddress), maxItems[string](maxEntries)), Restart: true,
				Description: "Addresses (ActivityPub ids) of the accounts to which no post may be addressed.",
				Suggestions: []any{"https://example.org/users/somebody"}},
		}},
		{"mrf_vocabulary", "VocabularyPolicy: by types of activities and objects.", []Setting{
			{Key: "accept", field: list(&c.MRFVocabulary.Accept, nil, each(typeName), maxItems[string](maxEntries)), Restart: true,
				Description: "If there are any, only these types are taken. A post needs both that of its activity and its own.",
				Suggestions: []any{"Create", "Update", "Delete", "Note", "Follow", "Undo"}},
			{Key: "reject", field: list(&c.MRFVocabulary.Reject, nil, each(typeName), maxItems[string](maxEntries)), Restart: true,
				Description: "Types that are not taken.",
				Suggestions: []any{"Move", "EmojiReact"}},
		}},
		{"mrf_object_age", "ObjectAgePolicy: what is done with posts that come long after they were written.", []Setting{
			{Key: "threshold", field: duration(&c.MRFObjectAge.Threshold, 7*day, time.Minute, maxDays*day), Restart: true,
				Description: "From which age on a post is old."},
			{Key: "actions", field: list(&c.MRFObjectAge.Actions, []string{AgeDelist, AgeStripFollowers}, allOf(AgeDelist, AgeStripFollowers, AgeReject)), Restart: true,
				Description: "\"delist\" makes public ones unlisted, \"strip_followers\" keeps them out of the followers' timelines, \"reject\" refuses them.",
				Suggestions: []any{AgeDelist, AgeStripFollowers, AgeReject}},
		}},
	}
}

// contentPolicies describes the policies that decide by what a message contains.
func (c *Config) contentPolicies() []section {
	return []section{
		{"mrf_hellthread", "HellthreadPolicy: posts to very many.", []Setting{
			{Key: "delist_threshold", field: number(&c.MRFHellthread.DelistThreshold, 10, 0, 100_000), Restart: true,
				Description: "With more recipients than this, public posts become unlisted. 0: never."},
			{Key: "reject_threshold", field: number(&c.MRFHellthread.RejectThreshold, 20, 0, 100_000), Restart: true,
				Description: "With more recipients than this, posts are refused. 0: never."},
		}},
		{"mrf_keyword", "KeywordPolicy: by words in the text, the subject or the title of posts. A plain text is found in whatever case; ~r/…/i is a regular expression (RE2).", []Setting{
			{Key: "reject", field: patterns(&c.MRFKeyword.Reject), Restart: true,
				Description: "Posts with one of these are refused.",
				Suggestions: []any{"cheap watches", `~r/win\s+big/i`}},
			{Key: "federated_timeline_removal", field: patterns(&c.MRFKeyword.FederatedTimelineRemoval), Restart: true,
				Description: "Public posts with one of these become unlisted."},
			{Key: "replace", field: replacements(&c.MRFKeyword.Replace), Restart: true,
				Description: "What is put in place of a pattern.",
				Suggestions: []any{[]map[string]any{{"pattern": "https://tube.example/", "replacement": "https://front.example/"}}}},
		}},
		{"mrf_hashtag", "HashtagPolicy, which always runs: by hashtags, written without the #.", []Setting{
			{Key: "sensitive", field: hashtags(&c.MRFHashtag.Sensitive, "nsfw"), Restart: true,
				Description: "Posts with one of these are marked as sensitive."},
			{Key: "reject", field: hashtags(&c.MRFHashtag.Reject), Restart: true,
				Description: "Posts with one of these are refused."},
			{Key: "federated_timeline_removal", field: hashtags(&c.MRFHashtag.FederatedTimelineRemoval), Restart: true,
				Description: "Public posts with one of these become unlisted."},
		}},
		{"mrf_emoji", "EmojiPolicy: by custom emoji of other servers. Patterns are as in mrf_keyword.", []Setting{
			{Key: "remove_url", field: patterns(&c.MRFEmoji.RemoveURL), Restart: true,
				Description: "Emoji whose address has one of these in it are taken out of posts and profiles, and reactions with them are refused."},
			{Key: "remove_shortcode", field: patterns(&c.MRFEmoji.RemoveShortcode), Restart: true,
				Description: "The same by the name of the emoji.",
				Suggestions: []any{"badword", "~r/^nsfw_/"}},
			{Key: "federated_timeline_removal_url", field: patterns(&c.MRFEmoji.FederatedTimelineRemovalURL), Restart: true,
				Description: "Public posts with an emoji whose address has one of these in it become unlisted."},
			{Key: "federated_timeline_removal_shortcode", field: patterns(&c.MRFEmoji.FederatedTimelineRemovalShortcode), Restart: true,
				Description: "The same by the name of the emoji."},
		}},
		{"mrf_normalize_markup", "NormalizeMarkup: how much formatting stays in posts.", []Setting{
			{Key: "scrub_policy", field: choice(&c.MRFNormalizeMarkup.ScrubPolicy, ScrubDefault, ScrubDefault, ScrubStrict), Restart: true,
				Description: "\"default\" is what posts may have anyway; \"strict\" leaves paragraphs, line breaks and links."},
		}},
	}
}

// actionPolicies describes the policies that add to a message, act on it, or ask a service about it.
func (c *Config) actionPolicies() []section {
	return []section{
		{"mrf_activity_expiration", "ActivityExpirationPolicy: posts made here delete themselves.", []Setting{
			{Key: "days", field: number(&c.MRFActivityExpiration.Days, 365, 1, maxDays), Restart: true,
				Description: "After how many days, unless their author wants it earlier."},
		}},
		{"mrf_follow_bot", "FollowBotPolicy: an account of this server follows everybody it hears of, to see more posts.", []Setting{
			{Key: "follower_nickname", field: text(&c.MRFFollowBot.FollowerNickname, "", optional(localNickname)), Restart: true,
				Description: "Nickname of that account, which must be marked as a bot. Empty: nobody."},
		}},
		{"mrf_user_allowlist", "UserAllowListPolicy: of some hosts, only some people are heard.", []Setting{
			{Key: "hosts", field: allowed(&c.MRFUserAllowlist.Hosts), Restart: true,
				Description: "Hosts, and the addresses (ActivityPub ids) of those who are heard.",
				Suggestions: []any{[]map[string]any{{"host": "example.org", "actors": []string{"https://example.org/users/somebody"}}}}},
		}},
		{"mrf_steal_emoji", "StealEmojiPolicy: copies custom emoji that are not known here.", []Setting{
			{Key: "hosts", field: list(&c.MRFStealEmoji.Hosts, nil, each(hostPatternName), maxItems[string](maxEntries)), Restart: true,
				Description: "Hosts whose emoji are copied.",
				Suggestions: []any{"example.org"}},
			{Key: "rejected_shortcodes", field: patterns(&c.MRFStealEmoji.RejectedShortcodes), Restart: true,
				Description: "Emoji with one of these patterns in their name are not copied."},
			{Key: "size_limit", field: number(&c.MRFStealEmoji.SizeLimit, 50_000, 100, 10_000_000), Restart: true,
				Description: "Largest picture that is copied, in bytes."},
			{Key: "pack", field: text(&c.MRFStealEmoji.Pack, "stolen", packName), Restart: true,
				Description: "The pack that they are put into."},
		}},
		{"mrf_force_mention", "ForceMention: mentions people without their being named.", []Setting{
			{Key: "mention_parent", field: boolean(&c.MRFForceMention.MentionParent, true), Restart: true,
				Description: "The author of what a post replies to."},
			{Key: "mention_quoted", field: boolean(&c.MRFForceMention.MentionQuoted, true), Restart: true,
				Description: "The author of what a post quotes."},
		}},
		{"mrf_inline_quote", "InlineQuotePolicy: shows the address of what a post quotes below it, for clients that show no quotes.", []Setting{
			{Key: "template", field: text(&c.MRFInlineQuote.Template, "<bdi>RT:</bdi> {url}", quoteTemplate), Restart: true,
				Description: "The HTML that is appended, with {url} where the link goes."},
		}},
		{"mrf_remote_report", "RemoteReportPolicy: which reports from other servers are not taken.", []Setting{
			{Key: "reject_all", field: boolean(&c.MRFRemoteReport.RejectAll, false), Restart: true, Description: "None of them is taken."},
			{Key: "reject_anonymous", field: boolean(&c.MRFRemoteReport.RejectAnonymous, true), Restart: true, Description: "Those that do not say who reports, but are sent in the name of a server."},
			{Key: "reject_third_party", field: boolean(&c.MRFRemoteReport.RejectThirdParty, false), Restart: true, Description: "Those that are about nobody here."},
			{Key: "reject_empty_message", field: boolean(&c.MRFRemoteReport.RejectEmptyMessage, true), Restart: true, Description: "Those without a word."},
		}},
		{"mrf_dnsrbl", "DNSRBLPolicy: refuses hosts that are in a block list that is asked by DNS. If that does not answer, they pass.", []Setting{
			{Key: "nameserver", field: text(&c.MRFDNSRBL.Nameserver, "127.0.0.1", hostName), Restart: true, Description: "The name server that is asked."},
			{Key: "port", field: number(&c.MRFDNSRBL.Port, 53, 1, 65535), Restart: true, Description: "The port of that name server."},
			{Key: "zone", field: text(&c.MRFDNSRBL.Zone, "", optional(hostName)), Restart: true,
				Description: "The zone of the list: whether there is \"HOST.ZONE\" is asked. Empty: nobody is asked.",
				Suggestions: []any{"bl.example.org"}},
		}},
		{"mrf_nsfw_api", "NsfwApiPolicy: has a service of yours look at pictures. If that does not answer, they pass.", []Setting{
			{Key: "url", field: text(&c.MRFNSFWAPI.URL, "http://127.0.0.1:5000/", webAddress), Restart: true,
				Description: "Address of the service. It is asked with ?url=…, and answers {\"score\": 0.5}."},
			{Key: "threshold", field: fraction(&c.MRFNSFWAPI.Threshold, 0.7), Restart: true,
				Description: "From which score on something is done, from 0 to 1."},
			{Key: "mark_sensitive", field: boolean(&c.MRFNSFWAPI.MarkSensitive, true), Restart: true, Description: "Mark the post as sensitive."},
			{Key: "unlist", field: boolean(&c.MRFNSFWAPI.Unlist, false), Restart: true, Description: "Make a public post unlisted."},
			{Key: "reject", field: boolean(&c.MRFNSFWAPI.Reject, false), Restart: true, Description: "Refuse the post."},
		}},
	}
}
