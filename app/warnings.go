package app

import (
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"svc/internal/config"
)

// Warnings returns warnings about settings that are valid but risky or probably a mistake.
func Warnings(c *config.Config) []string {
	var list []string
	url := c.URL()
	private := isPrivate(url.Hostname())
	if c.Federation.AllowLoopback {
		list = append(list, "federation.allow_loopback is on: other servers can cause requests to services on this machine; use it for testing only")
	}
	if url.Scheme == "http" && !private {
		list = append(list, "server.url begins with http://: passwords are sent unencrypted, and other servers will not federate with this one; use https")
	}
	if url.Scheme == "https" && private {
		list = append(list, "server.url has a host that other machines cannot reach: "+url.Hostname())
	}
	if network, address := c.ListenAddress(); url.Scheme == "https" && !c.Server.TLS.Enabled && network == "tcp" && strings.HasSuffix(address, ":443") {
		list = append(list, "server.listen is the port of https, but the server speaks http there: set server.tls.enabled (svc setup --tls) for certificates from Let's Encrypt, "+
			"or leave the port to a reverse proxy")
	}
	if BehindProxy(c) && len(c.Server.TrustedProxies) == 0 {
		list = append(list, "server.trusted_proxies is empty: behind a reverse proxy, all clients share one IP address and its rate limits; list the proxy")
	}
	if c.Data.Synchronous == config.SyncNormal {
		list = append(list, `data.synchronous is "normal": a power failure may lose the most recent changes`)
	}
	if !c.RateLimit.Enabled && !private {
		list = append(list, "rate_limit.enabled is off: guessing passwords is not limited")
	}
	if (c.Instance.RegistrationsOpen || c.Instance.InvitesEnabled) && c.Instance.AccountActivationRequired && !c.Mail.Enabled {
		list = append(list, `instance.account_activation_required is on but mail.enabled is off: new accounts cannot sign in until you run "svc user confirm"`)
	}
	if c.Mail.Enabled && c.Mail.Adapter == config.MailSMTP && !isPrivate(c.Mail.Host) {
		if c.Mail.TLS == config.MailPlain {
			list = append(list, `mail.tls is "none": mail with password reset links is sent unencrypted to `+c.Mail.Host)
		} else if !c.Mail.VerifyCertificate {
			list = append(list, "mail.verify_certificate is off: others in the network can read mail with password reset links")
		}
	}
	return append(list, policyWarnings(c)...)
}

// isPrivate returns true if a host is on this machine or in a private network.
func isPrivate(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
	}
	return host == "localhost"
}

// OnLoopback returns true if server.listen is not reachable from other machines.
func OnLoopback(c *config.Config) bool {
	network, address := c.ListenAddress()
	host, _, err := net.SplitHostPort(address)
	return network == "tcp" && err == nil && host != "" && isPrivate(host)
}

// BehindProxy returns true if only a reverse proxy on this machine can make the public address reachable.
func BehindProxy(c *config.Config) bool {
	return c.URL().Scheme == "https" && !c.Server.TLS.Enabled && OnLoopback(c)
}

// policyWarnings returns warnings about settings of inactive policies, and active policies that lack a required setting.
func policyWarnings(c *config.Config) []string {
	var list []string
	defaults := config.Default()
	for _, p := range []struct {
		name     string
		set      bool   // a setting of the policy differs from its default
		requires string // a setting without which the policy does nothing
	}{
		{name: "SimplePolicy", set: !reflect.DeepEqual(c.MRFSimple, defaults.MRFSimple)},
		{name: "KeywordPolicy", set: !reflect.DeepEqual(c.MRFKeyword, defaults.MRFKeyword)},
		{name: "EmojiPolicy", set: !reflect.DeepEqual(c.MRFEmoji, defaults.MRFEmoji)},
		{name: "MentionPolicy", set: len(c.MRFMention.Actors) > 0},
		{name: "VocabularyPolicy", set: len(c.MRFVocabulary.Accept)+len(c.MRFVocabulary.Reject) > 0},
		{name: "UserAllowListPolicy", set: len(c.MRFUserAllowlist.Hosts) > 0},
		{name: "SubchainPolicy", set: len(c.MRFSubchain.MatchActor) > 0},
		{name: "StealEmojiPolicy", set: len(c.MRFStealEmoji.Hosts) > 0, requires: "mrf_steal_emoji.hosts"},
		{name: "FollowBotPolicy", set: c.MRFFollowBot.FollowerNickname != "", requires: "mrf_follow_bot.follower_nickname"},
		{name: "DNSRBLPolicy", set: c.MRFDNSRBL.Zone != "", requires: "mrf_dnsrbl.zone"},
	} {
		active := slices.Contains(c.MRF.Policies, p.name) ||
			slices.ContainsFunc(c.MRFSubchain.MatchActor, func(s config.Subchain) bool { return slices.Contains(s.Policies, p.name) })
		switch {
		case p.set && !active:
			list = append(list, "mrf.policies does not list "+p.name+": its settings have no effect")
		case !p.set && active && p.requires != "":
			list = append(list, p.name+" does nothing while "+p.requires+" is empty")
		}
	}
	return list
}
