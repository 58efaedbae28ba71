package remote

import (
	"bytes"
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

// enqueueNodeInfo queues a fetch of a server's software, at most once a day (federation 1.5).
func (b *Backfill) enqueueNodeInfo(ctx context.Context, address string) error {
	domain, err := activity.Host(address, b.Settings.AllowLoopback)
	if err != nil {
		return nil
	}
	host, err := b.db.Host(ctx, domain)
	if err != nil || host.CheckedAt.Age(b.db.Now()) < nodeInfoTTL {
		return err
	}
	return b.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, b.db.Now(), "host:"+domain, store.FetchNodeInfo{Domain: domain})
	})
}

// fetchNodeInfo is the job that fetches the software of a server. A failure is not retried that day either.
func (b *Backfill) fetchNodeInfo(ctx context.Context, w store.FetchNodeInfo) error {
	name, version, err := b.fetcher.readNodeInfo(ctx, w.Domain)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.log.Debug("nodeinfo could not be fetched", "host", w.Domain, "err", err)
	}
	return b.db.Update(ctx, func(tx *store.Tx) error { return tx.SetHostSoftware(ctx, w.Domain, name, version) })
}

// readNodeInfo fetches the name and version of a server's software. The document must be on the server itself.
func (f *Fetcher) readNodeInfo(ctx context.Context, domain string) (name, version string, err error) {
	base, err := f.serverURL(domain)
	if err != nil {
		return "", "", err
	}
	resp, err := f.fetchWellKnown(ctx, base+"/.well-known/nodeinfo", "application/json")
	if err != nil {
		return "", "", err
	}
	d, err := parseDescriptor(resp.Body)
	if err != nil {
		return "", "", err
	}
	best := slices.MaxFunc(append(d.links, link{}), func(a, b link) int { return strings.Compare(nodeInfoVersion(a), nodeInfoVersion(b)) })
	if nodeInfoVersion(best) == "" || !activity.SameHost(best.href, base, f.Settings.AllowLoopback) {
		return "", "", Refuse("no nodeinfo document on the same host")
	}
	if resp, err = f.fetchWellKnown(ctx, best.href, "application/json"); err != nil {
		return "", "", err
	}
	var info struct {
		Software struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"software"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(resp.Body, byteOrderMark), &info); err != nil {
		return "", "", err
	}
	if name = strings.ToLower(info.Software.Name); !softwareName.MatchString(name) {
		return "", "", Refuse("nodeinfo has no software name")
	}
	return name, singleLine(info.Software.Version, maxVersion), nil
}

// nodeInfoVersion returns the nodeinfo version of a link, "" for other links.
func nodeInfoVersion(l link) string {
	version, ok := strings.CutPrefix(l.rel, nodeInfoRel)
	if !ok {
		return ""
	}
	return version
}
