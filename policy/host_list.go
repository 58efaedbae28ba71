package policy

import (
	"net/url"
	"strings"

	"svc/internal/config"
	"svc/internal/text"
	"svc/store"
)

// hostList is a set of hosts. An entry "*.x" includes x and all hosts below it; an entry without a port includes all ports.
type hostList struct {
	exact map[string]bool
	below map[string]bool
}

func newHostList(entries []config.HostReason) hostList {
	l := hostList{make(map[string]bool), make(map[string]bool)}
	for _, e := range entries {
		l.add(e.Host)
	}
	return l
}

func (l hostList) add(entry string) {
	name, all := strings.CutPrefix(entry, "*.")
	name = text.NormalizeDomain(name)
	if name == "" {
		return
	}
	l.exact[name] = true
	if all {
		l.below[name] = true
	}
}

func (l hostList) empty() bool { return len(l.exact) == 0 }

// has returns true if the list includes a normalized host. The time does not depend on the length of the list.
func (l hostList) has(host string) bool {
	if len(l.exact) == 0 || host == "" {
		return false
	}
	if l.find(host) {
		return true
	}
	name, _, port := strings.Cut(host, ":")
	return port && !strings.HasPrefix(host, "[") && l.find(name)
}

func (l hostList) find(host string) bool {
	if l.exact[host] {
		return true
	}
	for parent := host; len(l.below) > 0; {
		var ok bool
		if _, parent, ok = strings.Cut(parent, "."); !ok {
			return false
		}
		if l.below[parent] {
			return true
		}
	}
	return false
}

// hasEither returns true if the list includes the host of a server, or the domain of an account's handle.
func (l hostList) hasEither(host, domain string) bool {
	return l.has(host) || domain != host && l.has(domain)
}

// domainOf returns the domain of an account's handle, "" if the account is unknown or local.
func domainOf(a *store.Account) string {
	if a == nil {
		return ""
	}
	return a.Domain
}

// hostOf returns the normalized host of an id, "" if it has none.
func hostOf(id string) string {
	u, err := url.Parse(id)
	if err != nil {
		return ""
	}
	host := text.NormalizeDomain(u.Host)
	for _, port := range []string{":443", ":80"} {
		if n := len(host) - len(port); n > 0 && host[n:] == port {
			return host[:n]
		}
	}
	return host
}
