package policy

import (
	"slices"
	"strings"
	"time"

	"svc/internal/config"
)

// describe completes the public settings (admin API 11.3).
func (c *chain) describe(settings *config.Config) {
	if !settings.MRF.Transparency {
		c.described = map[string]any{"enabled": settings.Federation.Enabled}
		return
	}
	rejected := make(map[string]hostReason)
	for _, e := range settings.Federation.RejectedInstances {
		rejected[e.Host] = hostReason{e.Reason}
	}
	quarantined := settings.Federation.QuarantinedInstances
	c.described["enabled"] = settings.Federation.Enabled
	c.described["mrf_policies"] = c.names
	c.described["exclusions"] = len(settings.MRF.TransparencyExclusions) > 0
	c.described["quarantined_instances"] = publicHosts(quarantined, nil)
	c.described["quarantined_instances_info"] = map[string]any{"quarantined_instances": publicReasons(quarantined, nil)}
	c.described["rejected_instances"] = rejected
}

// publicHosts returns the hosts of a list as they are written in the settings, without those of exclude.
func publicHosts(entries []config.HostReason, exclude []config.HostReason) []string {
	names := []string{}
	for _, e := range entries {
		if !isExcluded(e, exclude) {
			names = append(names, e.Host)
		}
	}
	return names
}

// hostReason is the object that a reason is rendered in.
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

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// nonNil returns a list that is rendered as [] if it is empty.
func nonNil(l []string) []string { return append([]string{}, l...) }
