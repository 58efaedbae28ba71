// Package translate translates texts through a LibreTranslate server that the operator names in the settings. It may be on this machine.
//
// Each request takes 10 s at most and has an answer of 1 MiB at most; 4 run at the same time. Translations are cached by
// their texts and languages, the list of languages for an hour.
package translate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"svc/internal/cache"
	"svc/internal/fetch"
)

// Provider is the name of the software that translates.
const Provider = "LibreTranslate"

// Auto stands for an unknown source language.
const Auto = "auto"

// Errors of translations.
var (
	ErrUnavailable = errors.New("the translation server does not answer")
	ErrLanguage    = errors.New("there is no translation between these languages")
)

const (
	defaultTimeout = 10 * time.Second
	maxRequests    = 4
	languagesTTL   = time.Hour
	retryPause     = 10 * time.Second // after languages could not be read
	cacheBytes     = 4 << 20
)

// Config is what New needs.
type Config struct {
	URL       string
	APIKey    string
	UserAgent string
	Timeout   time.Duration // of a request, the wait for others included; default 10 s
	Now       func() time.Time
}

// Service translates. It is safe for concurrent use.
type Service struct {
	Config
	base      *url.URL
	client    *fetch.Client
	results   *cache.Cache[key, *Result]
	languages cache.Value[Languages]
	retryAt   atomic.Int64 // Unix time in nanoseconds
}

// New returns a service.
func New(c Config) (*Service, error) {
	base, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("translation.url: %w", err)
	}
	return &Service{
		Config:  c,
		base:    base,
		client:  fetch.New(fetch.Options{UserAgent: c.UserAgent, Service: base, MaxRequests: maxRequests, MaxPerHost: maxRequests}),
		results: cache.NewWeighted[key](cacheBytes, (*Result).size),
	}, nil
}

// Languages are the codes of target languages by the code of their source language.
type Languages map[string][]string

// Match returns the languages of the server for tags such as "pt-BR". Without a source it is Auto, and so is one that the server does not
// know. The error is ErrLanguage if there is no such translation.
func (l Languages) Match(source, target string) (from, to string, err error) {
	var sources, targets []string
	for code, list := range l {
		sources = append(sources, code)
		targets = append(targets, list...)
	}
	slices.Sort(sources)
	from = cmp.Or(closest(sources, source), Auto)
	if from != Auto {
		targets = l[from]
	}
	slices.Sort(targets)
	if to = closest(targets, target); to == "" || to == from {
		return "", "", ErrLanguage
	}
	return from, to, nil
}

// WithUndetermined returns the languages with all targets for "und", a text without a language.
func (l Languages) WithUndetermined() Languages {
	all := make(Languages, len(l)+1)
	targets := []string{}
	for code, list := range l {
		all[code] = list
		targets = append(targets, list...)
	}
	slices.Sort(targets)
	all["und"] = slices.Compact(targets)
	return all
}

// closest returns the code of a language: itself, else its main language, else a variant of it; "" if there is none.
func closest(codes []string, tag string) string {
	main, _, _ := strings.Cut(tag, "-")
	if tag == "" {
		return ""
	}
	for _, matches := range []func(string) bool{
		func(code string) bool { return strings.EqualFold(code, tag) },
		func(code string) bool { return strings.EqualFold(code, main) },
		func(code string) bool { base, _, _ := strings.Cut(code, "-"); return strings.EqualFold(base, main) },
	} {
		if i := slices.IndexFunc(codes, matches); i >= 0 {
			return codes[i]
		}
	}
	return ""
}

// Languages returns the languages of the server. After a failure it returns ErrUnavailable without a request for a while, because
// callers would wait for each other.
func (s *Service) Languages(ctx context.Context) (Languages, error) {
	return s.languages.Load(s.Now(), languagesTTL, func() (Languages, error) {
		if s.Now().UnixNano() < s.retryAt.Load() {
			return nil, ErrUnavailable
		}
		var list []struct {
			Code    string   `json:"code"`
			Targets []string `json:"targets"`
		}
		if err := s.request(context.WithoutCancel(ctx), http.MethodGet, "languages", nil, &list); err != nil {
			s.retryAt.Store(s.Now().Add(retryPause).UnixNano())
			return nil, err
		}
		languages := make(Languages, len(list))
		for _, l := range list {
			others := slices.DeleteFunc(l.Targets, func(target string) bool { return target == l.Code })
			languages[l.Code] = append([]string{}, others...)
		}
		return languages, nil
	})
}

// Result is a translation.
type Result struct {
	Texts  []string // HTML, not sanitized
	Source string   // the language that was given or detected
}

func (r *Result) size() int {
	n := cache.EntryBytes
	for _, t := range r.Texts {
		n += len(t) + 16
	}
	return n
}

// key is a hash of the languages and the texts, so that an edit makes a new one.
type key [sha256.Size]byte

func newKey(source, target string, texts []string) (key, error) {
	b, err := json.Marshal([]any{source, target, texts})
	return sha256.Sum256(b), err
}

// Translate translates texts in HTML. source may be Auto.
func (s *Service) Translate(ctx context.Context, texts []string, source, target string) (*Result, error) {
	k, err := newKey(source, target, texts)
	if err != nil {
		return nil, err
	}
	return s.results.Load(k, func() (*Result, error) { return s.translate(ctx, texts, source, target) })
}

func (s *Service) translate(ctx context.Context, texts []string, source, target string) (*Result, error) {
	question, err := json.Marshal(struct {
		Texts  []string `json:"q"`
		Source string   `json:"source"`
		Target string   `json:"target"`
		Format string   `json:"format"`
		APIKey string   `json:"api_key,omitempty"`
	}{texts, source, target, "html", s.APIKey})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Texts    []string        `json:"translatedText"`
		Detected json.RawMessage `json:"detectedLanguage"`
	}
	if err := s.request(ctx, http.MethodPost, "translate", question, &answer); err != nil {
		return nil, err
	}
	if len(answer.Texts) != len(texts) {
		return nil, fmt.Errorf("%w: %d texts for %d", ErrUnavailable, len(answer.Texts), len(texts))
	}
	result := &Result{Texts: answer.Texts, Source: source}
	if source == Auto {
		result.Source = detected(answer.Detected)
	}
	return result, nil
}

// detected returns the language of the first text. Versions of the server answer with one object or with one for each text.
func detected(answer json.RawMessage) string {
	type language struct {
		Code string `json:"language"`
	}
	var one language
	var each []language
	if json.Unmarshal(answer, &one) == nil {
		return one.Code
	}
	if json.Unmarshal(answer, &each) == nil && len(each) > 0 {
		return each[0].Code
	}
	return ""
}

// request makes a request and decodes the answer. Every failure is ErrUnavailable. The cause does not contain the key.
func (s *Service) request(ctx context.Context, method, path string, question []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Timeout, defaultTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(path).String(), bytes.NewReader(question))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if question != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %w", ErrUnavailable, &fetch.StatusError{Status: resp.StatusCode})
	}
	content, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(content, answer)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
