package policy

import (
	"slices"
	"strings"

	"svc/internal/config"
	"svc/internal/text"
)

// hostList finds hosts: those named, and those below one that is named as "*.x". A name without a port stands for all ports.
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

// has tells whether a host, in its one form, is in the list. The time that takes does not depend on the length of the list.
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

// publicHosts returns the names of a list as they were written, but those that exclude has.
func publicHosts(entries []config.HostReason, exclude []config.HostReason) []string {
	names := []string{}
	for _, e := range entries {
		if !isExcluded(e, exclude) {
			names = append(names, e.Host)
		}
	}
	return names
}

// hostReason is the object that a reason is shown in.
type hostReason struct {
	Reason string `json:"reason"`
}

// publicReasons returns the reasons of a list by host, where there are any.
func publicReasons(entries []config.HostReason, exclude []config.HostReason) map[string]hostReason {
	reasons := make(map[string]hostReason)
	for _, e := range entries {
		if e.Reason != "" && !isExcluded(e, exclude) {
			reasons[e.Host] = hostReason{e.Reason}
		}
	}
	return reasons
}

func isExcluded(e config.HostReason, exclude []config.HostReason) bool {
	return slices.ContainsFunc(exclude, func(x config.HostReason) bool { return strings.EqualFold(x.Host, e.Host) })
}
