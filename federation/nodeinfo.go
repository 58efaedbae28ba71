package federation

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/store"
)

const (
	nodeInfoTTL = 24 * time.Hour
	nodeInfoRel = "http://nodeinfo.diaspora.software/ns/schema/"
	maxVersion  = 64 // characters
)

var softwareName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// enqueueNodeInfo has the server of an address asked which software it runs, once a day at most (federation 1.5).
func (s *Service) enqueueNodeInfo(ctx context.Context, address string) error {
	domain, err := activity.Host(address, s.AllowLoopback)
	if err != nil {
		return nil
	}
	host, err := s.db.Host(ctx, domain)
	if err != nil || s.now().Sub(host.CheckedAt.Time()) < nodeInfoTTL {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, s.now(), "host:"+domain, store.FetchNodeInfo{Domain: domain})
	})
}

// fetchNodeInfo is the job that does so. Who does not tell is not asked again that day either.
func (s *Service) fetchNodeInfo(ctx context.Context, w store.FetchNodeInfo) error {
	name, version, err := s.readNodeInfo(ctx, w.Domain)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.log.Debug("server does not tell its software", "host", w.Domain, "err", err)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetHostSoftware(ctx, w.Domain, name, version) })
}

// readNodeInfo reads which software a server runs. The document must be on the server itself.
func (s *Service) readNodeInfo(ctx context.Context, domain string) (name, version string, err error) {
	base, err := s.serverURL(domain)
	if err != nil {
		return "", "", err
	}
	types := []string{"application/json", "application/jrd+json"}
	resp, err := s.fetchWellKnown(ctx, base+"/.well-known/nodeinfo", "application/json", types)
	if err != nil {
		return "", "", err
	}
	d, err := parseDescriptor(resp.Type, resp.Body)
	if err != nil {
		return "", "", err
	}
	best := slices.MaxFunc(append(d.links, link{}), func(a, b link) int { return strings.Compare(nodeInfoVersion(a), nodeInfoVersion(b)) })
	if nodeInfoVersion(best) == "" || !activity.SameHost(best.href, base, s.AllowLoopback) {
		return "", "", Refuse("it names no nodeinfo of its own")
	}
	if resp, err = s.fetchWellKnown(ctx, best.href, "application/json", types); err != nil {
		return "", "", err
	}
	var info struct {
		Software struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"software"`
	}
	if err := json.Unmarshal(resp.Body, &info); err != nil {
		return "", "", err
	}
	if name = strings.ToLower(info.Software.Name); !softwareName.MatchString(name) {
		return "", "", Refuse("its software has no name")
	}
	return name, singleLine(info.Software.Version, maxVersion), nil
}

// nodeInfoVersion returns the version of nodeinfo that a link leads to, "" if it leads to something else.
func nodeInfoVersion(l link) string {
	version, ok := strings.CutPrefix(l.rel, nodeInfoRel)
	if !ok {
		return ""
	}
	return version
}
