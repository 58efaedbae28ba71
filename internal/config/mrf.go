package config

import "time"

// Policies are the settings of the rules that messages to and from other servers pass (admin API 11). MRF has which of them, and in
// which order; the others have one struct each.
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

// MRF is which policies there are. HashtagPolicy runs last, named or not.
type MRF struct {
	Policies               []string // short names, as in PolicyNames
	Transparency           bool
	TransparencyExclusions []HostReason
}

// HostReason is a host, "*.x" for x and all below it, and why it is in a list, which may be shown to everybody.
type HostReason struct{ Host, Reason string }

// MRFSimple has what is done with messages of hosts.
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

// MRFSubchain has policies for some actors only.
type MRFSubchain struct{ MatchActor []Subchain }

// Subchain is which policies those pass whose ActivityPub id has a pattern in it.
type Subchain struct {
	Pattern  string
	Policies []string
}

// MRFRejectNonPublic is what passes of that which is not for everybody.
type MRFRejectNonPublic struct{ AllowFollowersOnly, AllowDirect bool }

// MRFAntiMentionSpam is how new a stranger is.
type MRFAntiMentionSpam struct{ UserAgeLimit time.Duration }

// MRFMention names whom nobody may write to, by their ActivityPub ids.
type MRFMention struct{ Actors []string }

// MRFVocabulary has types of activities and objects.
type MRFVocabulary struct{ Accept, Reject []string }

// MRFObjectAge is what is done with old posts.
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

// MRFHellthread are numbers of recipients; 0: any.
type MRFHellthread struct{ DelistThreshold, RejectThreshold int }

// MRFKeyword has patterns to look for in posts.
type MRFKeyword struct {
	Reject                   []string
	FederatedTimelineRemoval []string
	Replace                  []Replacement
}

// Replacement is what comes in place of a pattern.
type Replacement struct{ Pattern, Replacement string }

// MRFHashtag has hashtags, without the "#".
type MRFHashtag struct{ Sensitive, Reject, FederatedTimelineRemoval []string }

// MRFEmoji has patterns to look for in custom emoji.
type MRFEmoji struct {
	RemoveURL                         []string
	RemoveShortcode                   []string
	FederatedTimelineRemovalURL       []string
	FederatedTimelineRemovalShortcode []string
}

// MRFNormalizeMarkup is how much markup stays.
type MRFNormalizeMarkup struct{ ScrubPolicy string }

// Values of MRFNormalizeMarkup.ScrubPolicy.
const (
	ScrubDefault = "default"
	ScrubStrict  = "strict"
)

// MRFActivityExpiration is how long posts of this server live.
type MRFActivityExpiration struct{ Days int }

// MRFFollowBot names the account that follows all; "": none.
type MRFFollowBot struct{ FollowerNickname string }

// MRFUserAllowlist is who of some hosts is heard.
type MRFUserAllowlist struct{ Hosts []AllowedActors }

// AllowedActors are the ActivityPub ids of those of a host who are heard.
type AllowedActors struct {
	Host   string
	Actors []string
}

// MRFStealEmoji is which emoji are copied.
type MRFStealEmoji struct {
	Hosts              []string
	RejectedShortcodes []string
	SizeLimit          int64 // bytes
	Pack               string
}

// MRFForceMention is who is mentioned without being named.
type MRFForceMention struct{ MentionParent, MentionQuoted bool }

// MRFInlineQuote is what is appended for a quote: HTML with {url} in it.
type MRFInlineQuote struct{ Template string }

// MRFRemoteReport is which reports from elsewhere are not taken.
type MRFRemoteReport struct{ RejectAll, RejectAnonymous, RejectThirdParty, RejectEmptyMessage bool }

// MRFDNSRBL is a list of hosts that is asked by DNS; without Zone, none.
type MRFDNSRBL struct {
	Nameserver string
	Port       int
	Zone       string
}

// MRFNSFWAPI is a service that scores pictures.
type MRFNSFWAPI struct {
	URL                           string
	Threshold                     float64
	MarkSensitive, Unlist, Reject bool
}

// PolicyNames returns all policies there are, by their short names.
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
