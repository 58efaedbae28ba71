package policy

import (
	"time"

	"svc/internal/config"
)

// describe completes what the rules have told of themselves (admin API 11.3).
func (c *Chain) describe(settings *config.Config) {
	if !settings.MRF.Transparency {
		c.described = map[string]any{"enabled": settings.Federation.Enabled}
		return
	}
	refused := make(map[string]hostReason)
	for _, e := range settings.Federation.RejectedInstances {
		refused[e.Host] = hostReason{e.Reason}
	}
	quarantined := settings.Federation.QuarantinedInstances
	c.described["enabled"] = settings.Federation.Enabled
	c.described["mrf_policies"] = c.names
	c.described["exclusions"] = len(settings.MRF.TransparencyExclusions) > 0
	c.described["quarantined_instances"] = publicHosts(quarantined, nil)
	c.described["quarantined_instances_info"] = map[string]any{"quarantined_instances": publicReasons(quarantined, nil)}
	c.described["rejected_instances"] = refused
}

// seconds is how settings of time are shown.
func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// nonNil makes a list that is shown as [] if it is empty.
func nonNil(l []string) []string { return append([]string{}, l...) }
