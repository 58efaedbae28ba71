package app

import (
	"net"
	"net/netip"
	"reflect"
	"slices"

	"svc/internal/config"
)

// Warnings returns what is allowed, but probably not meant, in the settings of a server that others use.
func Warnings(c *config.Config) []string {
	var list []string
	url := c.URL()
	private := isPrivate(url.Hostname())
	if c.Federation.AllowLoopback {
		list = append(list, "federation.allow_loopback is on: other servers can have this one send requests to services on this machine; it is for trials only")
	}
	if url.Scheme == "http" && !private {
		list = append(list, "server.url begins with http://: passwords travel unprotected, and other servers will not talk with this one; use https")
	}
	if url.Scheme == "https" && private {
		list = append(list, "server.url names a host that nobody else can reach: "+url.Hostname())
	}
	if url.Scheme == "https" && !c.Server.TLS.Enabled && len(c.Server.TrustedProxies) == 0 && onLoopback(c) {
		list = append(list, "server.trusted_proxies is empty: if a reverse proxy is in front, all visitors look like one and share its rate limits")
	}
	if c.Data.Synchronous == config.SyncNormal {
		list = append(list, `data.synchronous is "normal": a power failure may take the last moments before it along`)
	}
	if !c.RateLimit.Enabled && !private {
		list = append(list, "rate_limit.enabled is off: nothing slows down those who guess passwords")
	}
	if c.Instance.RegistrationsOpen && c.Instance.AccountActivationRequired && !c.Mail.Enabled {
		list = append(list, `instance.account_activation_required is on but mail.enabled is off: new accounts wait until you run "svc user confirm"`)
	}
	return append(list, policyWarnings(c)...)
}

// isPrivate tells whether a host is on this machine or in a network of one's own.
func isPrivate(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
	}
	return host == "localhost"
}

// onLoopback tells whether only this machine reaches the port that the server listens on.
func onLoopback(c *config.Config) bool {
	network, address := c.ListenAddress()
	host, _, err := net.SplitHostPort(address)
	return network == "tcp" && err == nil && host != "" && isPrivate(host)
}

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
