package federation

import (
	"maps"

	"svc/federation/delivery"
	"svc/federation/inbox"
	"svc/internal/cache"
)

// Stats are what the queues did since the start.
type Stats struct {
	Deliveries delivery.Stats
	Inbox      inbox.Stats
}

// Stats returns the state of the queues.
func (s *Service) Stats() Stats { return Stats{s.deliveries.Stats(), s.inbox.Stats()} }

// CacheStats returns the state of the caches by name.
func (s *Service) CacheStats() map[string]cache.Stats {
	all := s.Remote.CacheStats()
	maps.Copy(all, map[string]cache.Stats{"documents": s.Documents.cache.Stats(), "payloads": s.deliveries.CacheStats()})
	return all
}
