package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"svc/internal/config"
)

// nsfwImages is NsfwApiPolicy: a service scores images. If it does not answer, they pass.
type nsfwImages struct {
	config.MRFNSFWAPI
	scores *resultCache[float64]
	log    *slog.Logger
}

func (n nsfwImages) post(ctx context.Context, p *Post) error {
	ctx, cancel := context.WithTimeout(ctx, postScoreTimeout)
	defer cancel()
	for _, a := range p.Attachments {
		if !a.isImage() {
			continue
		}
		if nsfw, err := n.exceedsThreshold(ctx, p.Local, a.URL); err != nil {
			return err
		} else if !nsfw {
			continue
		}
		if n.Reject {
			return rejectf("an image is not safe for work")
		}
		if n.Unlist {
			p.delist()
		}
		if n.MarkSensitive {
			p.Sensitive = true
		}
	}
	return nil
}

// exceedsThreshold returns true if the score of an image is too high. Local images only have a score after inspect, because local
// posts are published in a transaction.
func (n nsfwImages) exceedsThreshold(ctx context.Context, local bool, image string) (bool, error) {
	score, known := n.scores.lookup(image)
	if !known {
		if local {
			return false, nil
		}
		var err error
		if score, err = n.scores.get(ctx, image); errors.As(err, new(networkError)) {
			return false, err
		}
		if err != nil {
			n.log.Warn("images could not be scored: they pass", "err", err)
			return false, nil
		}
	}
	return score >= n.Threshold, nil
}

func (n nsfwImages) inspect(ctx context.Context, urls []string) {
	ctx, cancel := context.WithTimeout(ctx, postScoreTimeout)
	defer cancel()
	for _, image := range urls {
		_, _ = n.exceedsThreshold(ctx, false, image) // an image without a score passes
	}
}

func (n nsfwImages) describe(public map[string]any) {
	public["mrf_nsfw_api"] = map[string]any{
		"threshold": n.Threshold, "mark_sensitive": n.MarkSensitive, "unlist": n.Unlist, "reject": n.Reject,
	}
}

// newScorer returns the request to the service that scores images. It is the operator's own and may be on loopback, so the request does
// not go through internal/fetch.
func newScorer(service string) func(context.Context, string) (float64, error) {
	client := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, image string) (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, scoreTimeout)
		defer cancel()
		u, err := url.Parse(service)
		if err != nil {
			return 0, err
		}
		query := u.Query()
		query.Set("url", image)
		u.RawQuery = query.Encode()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return 0, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		var answer struct {
			Score *float64 `json:"score"`
		}
		if err := json.NewDecoder(io.LimitReader(resp.Body, 16<<10)).Decode(&answer); err != nil {
			return 0, err
		}
		if resp.StatusCode != http.StatusOK || answer.Score == nil {
			return 0, fmt.Errorf("status %d without a score", resp.StatusCode)
		}
		return *answer.Score, nil
	}
}
