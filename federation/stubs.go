package federation

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/store"
)

func (s *Service) learnKey(ctx context.Context, id string) error                    { panic("discovery") }
func (s *Service) gone(ctx context.Context, verb string, doc activity.Object) error { panic("posts") }
func (s *Service) passedOn(ctx context.Context, in *incoming) error                 { panic("posts") }

func (s *Service) activityURI(id int64) string {
	return s.BaseURL + "/activities/" + store.ActivityID(id).String()
}
func withContext(o activity.Object) activity.Object     { o["@context"] = activity.Context; return o }
func (s *Service) followersURI(a *store.Account) string { return a.URI + "/followers" }
func (s *Service) fetchActor(ctx context.Context, uri string) (*store.Account, error) {
	panic("discovery")
}

var (
	actorTypes = []string{"Person", "Service", "Application", "Group", "Organization"}
	noteTypes  = []string{"Note", "Question", "Article", "Page", "Event", "Video", "Audio", "Image"}
)

const (
	fingerTime   = 8 * time.Second
	maxFinger    = 256 << 10 // bytes
	fingerAccept = "application/jrd+json, application/json;q=0.9, application/xrd+xml;q=0.8"
)

var fingerTypes = []string{"application/jrd+json", "application/json", "application/xrd+xml", "application/xml", "text/xml"}

func (s *Service) serverURL(domain string) (string, error) { panic("discovery") }
func (s *Service) wellKnown(ctx context.Context, address, accept string, types []string) (*fetch.Response, error) {
	panic("discovery")
}
