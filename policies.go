package main

import (
	"reflect"
	"slices"

	"svc/internal/config"
)

// policyWarnings tells of settings of policies that nothing looks at, and of policies that can do nothing.
func policyWarnings(c *config.Config) []string {
	var list []string
	usual := config.Default()
	for _, p := range []struct {
		name  string
		set   bool // something that has no use without the policy
		lacks string
	}{
		{name: "SimplePolicy", set: !reflect.DeepEqual(c.MRFSimple, usual.MRFSimple)},
		{name: "KeywordPolicy", set: !reflect.DeepEqual(c.MRFKeyword, usual.MRFKeyword)},
		{name: "EmojiPolicy", set: !reflect.DeepEqual(c.MRFEmoji, usual.MRFEmoji)},
		{name: "MentionPolicy", set: len(c.MRFMention.Actors) > 0},
		{name: "VocabularyPolicy", set: len(c.MRFVocabulary.Accept)+len(c.MRFVocabulary.Reject) > 0},
		{name: "UserAllowListPolicy", set: len(c.MRFUserAllowlist.Hosts) > 0},
		{name: "SubchainPolicy", set: len(c.MRFSubchain.MatchActor) > 0},
		{name: "StealEmojiPolicy", set: len(c.MRFStealEmoji.Hosts) > 0, lacks: "mrf_steal_emoji.hosts"},
		{name: "FollowBotPolicy", set: c.MRFFollowBot.FollowerNickname != "", lacks: "mrf_follow_bot.follower_nickname"},
		{name: "DNSRBLPolicy", set: c.MRFDNSRBL.Zone != "", lacks: "mrf_dnsrbl.zone"},
	} {
		named := slices.Contains(c.MRF.Policies, p.name) ||
			slices.ContainsFunc(c.MRFSubchain.MatchActor, func(s config.Subchain) bool { return slices.Contains(s.Policies, p.name) })
		switch {
		case p.set && !named:
			list = append(list, "mrf.policies does not name "+p.name+": its settings have no effect")
		case !p.set && named && p.lacks != "":
			list = append(list, p.name+" does nothing while "+p.lacks+" is empty")
		}
	}
	return list
}
