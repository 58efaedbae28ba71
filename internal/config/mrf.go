package config

import "time"

// Policies are the settings of the policies (admin API 11). MRF lists the active ones in their order; each policy with settings has a
// struct of its own.
type Policies struct {
	MRF                   MRF
	MRFSimple             MRFSimple
	MRFSubchain           MRFSubchain
	MRFRejectNonPublic    MRFRejectNonPublic
	MRFAntiMentionSpam    MRFAntiMentionSpam
	MRFMention            MRFMention
	MRFVocabulary         MRFVocabulary
	MRFObjectAge          MRFObjectAge
	MRFHellthread         MRFHellthread
	MRFKeyword            MRFKeyword
	MRFHashtag            MRFHashtag
	MRFEmoji              MRFEmoji
	MRFNormalizeMarkup    MRFNormalizeMarkup
	MRFActivityExpiration MRFActivityExpiration
	MRFFollowBot          MRFFollowBot
	MRFUserAllowlist      MRFUserAllowlist
	MRFStealEmoji         MRFStealEmoji
	MRFForceMention       MRFForceMention
	MRFInlineQuote        MRFInlineQuote
	MRFRemoteReport       MRFRemoteReport
	MRFDNSRBL             MRFDNSRBL
	MRFNSFWAPI            MRFNSFWAPI
}

// MRF lists the active policies. HashtagPolicy always runs, as the last one.
type MRF struct {
	Policies               []string // short names, as in PolicyNames
	Transparency           bool
	TransparencyExclusions []HostReason
}

// HostReason is a host, or "*.x" for x and all its subdomains, and the reason why it is listed, which may be published.
type HostReason struct{ Host, Reason string }

// MRFSimple lists hosts by what SimplePolicy does with their activities.
type MRFSimple struct {
	Accept                   []HostReason
	Reject                   []HostReason
	MediaRemoval             []HostReason
	MediaNSFW                []HostReason
	FederatedTimelineRemoval []HostReason
	FollowersOnly            []HostReason
	ReportRemoval            []HostReason
	AvatarRemoval            []HostReason
	BannerRemoval            []HostReason
	RejectDeletes            []HostReason
}

// MRFSubchain has additional policies for some actors.
type MRFSubchain struct{ MatchActor []Subchain }

// Subchain names the additional policies for actors whose ActivityPub id matches a pattern.
type Subchain struct {
	Pattern  string
	Policies []string
}

// MRFRejectNonPublic has the exceptions of RejectNonPublic.
type MRFRejectNonPublic struct{ AllowFollowersOnly, AllowDirect bool }

// MRFAntiMentionSpam has the time for which an account counts as new.
type MRFAntiMentionSpam struct{ UserAgeLimit time.Duration }

// MRFMention has the ActivityPub ids of accounts to which no post may be addressed.
type MRFMention struct{ Actors []string }

// MRFVocabulary lists types of activities and objects.
type MRFVocabulary struct{ Accept, Reject []string }

// MRFObjectAge has the actions on old posts.
type MRFObjectAge struct {
	Threshold time.Duration
	Actions   []string // AgeDelist, AgeStripFollowers, AgeReject
}

// Values of MRFObjectAge.Actions.
const (
	AgeDelist         = "delist"
	AgeStripFollowers = "strip_followers"
	AgeReject         = "reject"
)

// MRFHellthread has maximum numbers of recipients; 0: no limit.
type MRFHellthread struct{ DelistThreshold, RejectThreshold int }

// MRFKeyword has patterns that KeywordPolicy searches for in posts.
type MRFKeyword struct {
	Reject                   []string
	FederatedTimelineRemoval []string
	Replace                  []Replacement
}

// Replacement is a pattern and the text that replaces it.
type Replacement struct{ Pattern, Replacement string }

// MRFHashtag lists hashtags, without the "#".
type MRFHashtag struct{ Sensitive, Reject, FederatedTimelineRemoval []string }

// MRFEmoji has patterns of URLs and shortcodes of custom emoji.
type MRFEmoji struct {
	RemoveURL                         []string
	RemoveShortcode                   []string
	FederatedTimelineRemovalURL       []string
	FederatedTimelineRemovalShortcode []string
}

// MRFNormalizeMarkup selects the HTML sanitizer of NormalizeMarkup.
type MRFNormalizeMarkup struct{ ScrubPolicy string }

// Values of MRFNormalizeMarkup.ScrubPolicy.
const (
	ScrubDefault = "default"
	ScrubStrict  = "strict"
)

// MRFActivityExpiration has the lifetime of local posts.
type MRFActivityExpiration struct{ Days int }

// MRFFollowBot names the local account that follows remote accounts; "": none.
type MRFFollowBot struct{ FollowerNickname string }

// MRFUserAllowlist lists the only accounts that are accepted from some hosts.
type MRFUserAllowlist struct{ Hosts []AllowedActors }

// AllowedActors are the ActivityPub ids of a host's accepted accounts.
type AllowedActors struct {
	Host   string
	Actors []string
}

// MRFStealEmoji selects the emoji that StealEmojiPolicy copies.
type MRFStealEmoji struct {
	Hosts              []string
	RejectedShortcodes []string
	SizeLimit          int64 // bytes
	Pack               string
}

// MRFForceMention selects the authors that ForceMention mentions.
type MRFForceMention struct{ MentionParent, MentionQuoted bool }

// MRFInlineQuote has the HTML that is appended to a quote, with {url} in it.
type MRFInlineQuote struct{ Template string }

// MRFRemoteReport selects the remote reports that are rejected.
type MRFRemoteReport struct{ RejectAll, RejectAnonymous, RejectThirdParty, RejectEmptyMessage bool }

// MRFDNSRBL is a DNS block list; Zone "": none.
type MRFDNSRBL struct {
	Nameserver string
	Port       int
	Zone       string
}

// MRFNSFWAPI is a service that scores images.
type MRFNSFWAPI struct {
	URL                           string
	Threshold                     float64
	MarkSensitive, Unlist, Reject bool
}

// PolicyNames returns the short names of all policies.
func PolicyNames() []string {
	return []string{
		"NoOpPolicy", "DropPolicy", "SimplePolicy", "TagPolicy", "SubchainPolicy", "RejectNonPublic", "EnsureRePrepended", "AntiLinkSpamPolicy",
		"AntiMentionSpamPolicy", "AntiFollowbotPolicy", "MediaProxyWarmingPolicy", "MentionPolicy", "VocabularyPolicy", "ObjectAgePolicy",
		"HellthreadPolicy", "KeywordPolicy", "HashtagPolicy", "EmojiPolicy", "NormalizeMarkup", "NoPlaceholderTextPolicy", "NoEmptyPolicy",
		"ActivityExpirationPolicy", "ForceBotUnlistedPolicy", "FollowBotPolicy", "UserAllowListPolicy", "StealEmojiPolicy", "ForceMention",
		"ForceMentionsInContent", "InlineQuotePolicy", "QuoteToLinkTagPolicy", "QuietReply", "FODirectReply", "RemoteReportPolicy",
		"DNSRBLPolicy", "NsfwApiPolicy",
	}
}
