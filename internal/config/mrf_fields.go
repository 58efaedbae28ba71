package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"svc/internal/pattern"
	names "svc/internal/text"
)

// hostReasons is a list of hosts, with or without reasons.
func hostReasons(at *[]HostReason) field {
	return rows(at, []column[HostReason]{
		{name: "host", at: func(h *HostReason) any { return &h.Host }},
		{name: "reason", optional: true, at: func(h *HostReason) any { return &h.Reason }},
	}, each(func(h HostReason) error {
		if err := hostPatternName(h.Host); err != nil {
			return err
		}
		return atMost(2000)(h.Reason)
	}))
}

func subchains(at *[]Subchain) field {
	return rows(at, []column[Subchain]{
		{name: "pattern", at: func(s *Subchain) any { return &s.Pattern }},
		{name: "policies", at: func(s *Subchain) any { return &s.Policies }},
	}, each(func(s Subchain) error {
		if err := patternText(s.Pattern); err != nil {
			return err
		}
		if slices.Contains(s.Policies, "SubchainPolicy") {
			return errors.New("SubchainPolicy must not contain itself")
		}
		return policies(s.Policies)
	}))
}

func replacements(at *[]Replacement) field {
	return rows(at, []column[Replacement]{
		{name: "pattern", at: func(r *Replacement) any { return &r.Pattern }},
		{name: "replacement", optional: true, at: func(r *Replacement) any { return &r.Replacement }},
	}, each(func(r Replacement) error {
		if err := patternText(r.Pattern); err != nil {
			return err
		}
		return atMost(1000)(r.Replacement)
	}))
}

func allowed(at *[]AllowedActors) field {
	return rows(at, []column[AllowedActors]{
		{name: "host", at: func(a *AllowedActors) any { return &a.Host }},
		{name: "actors", at: func(a *AllowedActors) any { return &a.Actors }},
	}, each(func(a AllowedActors) error {
		if err := hostPatternName(a.Host); err != nil {
			return err
		}
		return each(webAddress)(a.Actors)
	}))
}

func patterns(at *[]string) field {
	return list(at, nil, each(patternText), maxItems[string](1000))
}

func hashtags(at *[]string, first ...string) field {
	return list(at, first, each(func(s string) error {
		if names.TagName(s) == "" {
			return fmt.Errorf("%q is not a hashtag", s)
		}
		return nil
	}), maxItems[string](1000))
}

// policyList is a list of policy names: short, or in the long form of other servers of this family. A single text is a list of
// one (admin API 11.1).
func policyList(at *[]string, first ...string) field {
	return &binding[[]string]{
		formKind: List, at: at, defaultValue: first,
		rules: []rule[[]string]{policies, func(l []string) error {
			for i, name := range l {
				if slices.Contains(l[:i], name) {
					return fmt.Errorf("%s is listed twice", name)
				}
			}
			return nil
		}},
		parse: func(value any) ([]string, error) {
			if name, ok := value.(string); ok {
				value = []string{name}
			}
			l, err := readList(value)
			for i, name := range l {
				if _, short, ok := strings.Cut(name, ".ActivityPub.MRF."); ok {
					l[i] = short
				}
			}
			return l, err
		},
		export: func(l []string) any { return append([]string{}, l...) },
	}
}

func suggested(l []string) []any {
	all := make([]any, len(l))
	for i, s := range l {
		all[i] = s
	}
	return all
}

func patternText(s string) error {
	_, err := pattern.Parse(s)
	return err
}

// hostPatternName accepts a host, or "*." and a host for it and all its subdomains.
func hostPatternName(s string) error {
	if names.NormalizeDomain(strings.TrimPrefix(s, "*.")) == "" {
		return fmt.Errorf(`%q is not a host such as "example.org" or "*.example.org"`, s)
	}
	return nil
}

func webAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf(`%q is not a URL such as "https://example.org/users/alice"`, s)
	}
	return nil
}

func typeName(s string) error {
	if s == "" || len(s) > 100 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return fmt.Errorf(`%q is not a type such as "Create" or "Note"`, s)
	}
	return nil
}

func packName(s string) error {
	if s == "" || len(s) > 100 || strings.HasPrefix(s, ".") || strings.ContainsAny(s, "/\\:") || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%q is not a valid name of an emoji pack", s)
	}
	return nil
}

func quoteTemplate(s string) error {
	if !strings.Contains(s, "{url}") {
		return errors.New("must contain {url}")
	}
	return atMost(1000)(s)
}
