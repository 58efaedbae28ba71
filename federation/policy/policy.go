// Package policy has the rules that messages pass on their way in and out (MRF, admin API 11): each lets a message pass, changes it,
// or refuses it. Which rules there are, and in which order, is for the operator to say.
//
// The rules work on messages of their own kind (Post, Profile, Deed), so that documents from elsewhere and what people write here
// pass the same ones. What a rule needs beside the message (what is known of its author, a list on another server) it gets from
// Deps. With the rules of a new installation, nothing is asked of anybody.
package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"svc/internal/config"
	"svc/internal/pattern"
)

// Rejected is the error for a message that a policy does not let pass.
type Rejected struct {
	Policy string // short name
	Reason string // for logs and authors, in plain words
	Err    error  // not nil: the policy itself has failed, and what it cannot judge does not pass
}

func (r *Rejected) Error() string {
	if r.Err != nil {
		return fmt.Sprintf("rejected by %s: %s: %v", r.Policy, r.Reason, r.Err)
	}
	return fmt.Sprintf("rejected by %s: %s", r.Policy, r.Reason)
}

func (r *Rejected) Unwrap() error { return r.Err }

// rejectf is what a rule returns for what it does not let pass. The chain adds which rule it was.
func rejectf(format string, args ...any) error {
	return &Rejected{Reason: fmt.Sprintf(format, args...)}
}

// Rules look at the kinds of messages that concern them.
type (
	hostRule interface{ host(host string) error }
	postRule interface {
		post(context.Context, *Post) error
	}
	profileRule interface {
		profile(context.Context, *Profile) error
	}
	activityRule interface {
		activity(context.Context, *Activity) error
	}

	// An inspector judges what people here are about to publish, before.
	inspector interface {
		inspect(ctx context.Context, addresses []string)
	}
	// A describer has settings that everybody may see.
	describer interface{ describe(shown map[string]any) }
)

// namedRule is a rule with its short name.
type namedRule[R any] struct {
	name string
	rule R
}

// Chain is the rules in their order. It does not change, and can be used by many at once.
type Chain struct {
	localHost   string // our host
	names       []string
	hosts       []namedRule[hostRule]
	posts       []namedRule[postRule]
	profiles    []namedRule[profileRule]
	activities  []namedRule[activityRule]
	inspectors  []inspector
	quarantined hostList
	rejected    hostList
	described   map[string]any
	log         *slog.Logger
}

// lastPolicy always comes at the end of the rules (admin API 11.1).
const lastPolicy = "HashtagPolicy"

// New makes the rules that valid settings name.
func New(c *config.Config, d Deps) *Chain {
	d = d.withDefaults(c)
	names := append(without(c.MRF.Policies, lastPolicy), lastPolicy)
	chain := newChain(names, c, d)
	chain.describe(c)
	return chain
}

func newChain(names []string, c *config.Config, d Deps) *Chain {
	chain := &Chain{
		localHost:   c.Host(),
		names:       names,
		quarantined: newHostList(c.Federation.QuarantinedInstances),
		rejected:    newHostList(c.Federation.RejectedInstances),
		described:   make(map[string]any),
		log:         d.Log,
	}
	for _, name := range names {
		chain.add(name, builders[name](c, d))
	}
	return chain
}

func (c *Chain) add(name string, rule any) {
	if r, ok := rule.(hostRule); ok {
		c.hosts = append(c.hosts, namedRule[hostRule]{name, r})
	}
	if r, ok := rule.(postRule); ok {
		c.posts = append(c.posts, namedRule[postRule]{name, r})
	}
	if r, ok := rule.(profileRule); ok {
		c.profiles = append(c.profiles, namedRule[profileRule]{name, r})
	}
	if r, ok := rule.(activityRule); ok {
		c.activities = append(c.activities, namedRule[activityRule]{name, r})
	}
	if r, ok := rule.(inspector); ok {
		c.inspectors = append(c.inspectors, r)
	}
	if r, ok := rule.(subchain); ok {
		for _, e := range r.entries {
			c.inspectors = append(c.inspectors, e.chain.inspectors...)
		}
	}
	if r, ok := rule.(describer); ok {
		r.describe(c.described)
	}
}

// Host tells by a *Rejected whether nothing at all is to be fetched from a host or taken from it, except deletions, which Deed judges.
// The host is in its one form (activity.Host).
func (c *Chain) Host(host string) error {
	if host == "" || host == c.localHost {
		return nil
	}
	return runRules(c, c.hosts, func(r hostRule) error { return r.host(host) })
}

// Post asks the rules about a post, which they may change. The error is a *Rejected if one does not let it pass, and another one
// if what a rule needs to know could not be read.
func (c *Chain) Post(ctx context.Context, p *Post) error {
	if p.Local {
		p.Host = c.localHost
	} else if p.Host == "" {
		return errNoHost()
	}
	return runRules(c, c.posts, func(r postRule) error { return r.post(ctx, p) })
}

// Profile is Post for actor documents.
func (c *Chain) Profile(ctx context.Context, p *Profile) error {
	if p.Host == "" {
		return errNoHost()
	}
	return runRules(c, c.profiles, func(r profileRule) error { return r.profile(ctx, p) })
}

// Activity is Post for all other activities.
func (c *Chain) Activity(ctx context.Context, d *Activity) error {
	if d.Local {
		d.Host = c.localHost
	} else if d.Host == "" {
		return errNoHost()
	}
	return runRules(c, c.activities, func(r activityRule) error { return r.activity(ctx, d) })
}

// errNoHost is for what comes from nowhere, which no list of hosts would find.
func errNoHost() error {
	return &Rejected{Policy: "SimplePolicy", Reason: "nobody knows where it comes from"}
}

// Quarantined tells whether a host gets only what is public or unlisted.
func (c *Chain) Quarantined(host string) bool { return c.quarantined.has(host) }

// RejectsFetches tells whether a host gets nothing if it asks.
func (c *Chain) RejectsFetches(host string) bool { return c.rejected.has(host) }

// Describe returns what everybody may know of the rules: metadata.federation of the instance and of nodeinfo (admin API 11.3).
func (c *Chain) Describe() map[string]any { return c.described }

// NeedsAccounts tells whether any rule looks at who the recipients and the authors of related posts are, and at related posts when one
// is edited, so that it is worth while to read that for a post of this server.
func (c *Chain) NeedsAccounts() bool {
	for _, name := range []string{"MentionPolicy", "EnsureRePrepended", "ForceMention", "ForceMentionsInContent", "SubchainPolicy"} {
		if slices.Contains(c.names, name) {
			return true
		}
	}
	return false
}

// runRules asks one rule after the other, until one refuses.
func runRules[R any](c *Chain, rules []namedRule[R], ask func(R) error) error {
	for _, r := range rules {
		if err := c.callRule(r.name, func() error { return ask(r.rule) }); err != nil {
			return err
		}
	}
	return nil
}

// callRule asks a rule. One that panics has not let the message pass.
func (c *Chain) callRule(name string, ask func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("a policy has failed: the message is refused", "policy", name, "panic", v, "stack", string(debug.Stack()))
			err = &Rejected{Policy: name, Reason: "the policy has failed", Err: fmt.Errorf("panic: %v", v)}
		}
	}()
	err = ask()
	var r *Rejected
	switch {
	case errors.As(err, &r):
		if r.Policy == "" {
			r.Policy = name
		}
		return r
	case err != nil:
		return fmt.Errorf("policy %s: %w", name, err)
	}
	return nil
}

// builders make the rules, by their short names.
var builders map[string]func(*config.Config, Deps) any

func init() { // not in the declaration: SubchainPolicy makes rules itself
	builders = map[string]func(*config.Config, Deps) any{
		"NoOpPolicy":               func(*config.Config, Deps) any { return struct{}{} },
		"DropPolicy":               func(*config.Config, Deps) any { return drop{} },
		"SimplePolicy":             newSimple,
		"TagPolicy":                newTags,
		"SubchainPolicy":           newSubchain,
		"RejectNonPublic":          newNonPublic,
		"EnsureRePrepended":        func(*config.Config, Deps) any { return rePrepended{} },
		"AntiLinkSpamPolicy":       newLinkSpam,
		"AntiMentionSpamPolicy":    newMentionSpam,
		"AntiFollowbotPolicy":      newFollowbots,
		"MediaProxyWarmingPolicy":  newProxyWarming,
		"MentionPolicy":            newMentionedActors,
		"VocabularyPolicy":         newVocabulary,
		"ObjectAgePolicy":          newObjectAge,
		"HellthreadPolicy":         newHellthread,
		"KeywordPolicy":            newKeywords,
		"HashtagPolicy":            newHashtags,
		"EmojiPolicy":              newEmoji,
		"NormalizeMarkup":          newMarkup,
		"NoPlaceholderTextPolicy":  func(*config.Config, Deps) any { return noPlaceholder{} },
		"NoEmptyPolicy":            func(*config.Config, Deps) any { return noEmpty{} },
		"ActivityExpirationPolicy": newExpiration,
		"ForceBotUnlistedPolicy":   func(*config.Config, Deps) any { return botsUnlisted{} },
		"FollowBotPolicy":          newFollowBot,
		"UserAllowListPolicy":      newAllowList,
		"StealEmojiPolicy":         newStealEmoji,
		"ForceMention":             newForceMention,
		"ForceMentionsInContent":   newMentionsInContent,
		"InlineQuotePolicy":        newInlineQuote,
		"QuoteToLinkTagPolicy":     func(*config.Config, Deps) any { return quoteLinks{} },
		"QuietReply":               func(*config.Config, Deps) any { return quietReply{} },
		"FODirectReply":            func(*config.Config, Deps) any { return directReply{} },
		"RemoteReportPolicy":       newReports,
		"DNSRBLPolicy":             newDNSBlockList,
		"NsfwApiPolicy":            newNSFWImages,
	}
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(l string) bool { return l == s })
}

// drop is DropPolicy: nothing passes.
type drop struct{}

func (drop) host(string) error                         { return rejectf("nothing passes") }
func (drop) post(context.Context, *Post) error         { return rejectf("nothing passes") }
func (drop) profile(context.Context, *Profile) error   { return rejectf("nothing passes") }
func (drop) activity(context.Context, *Activity) error { return rejectf("nothing passes") }

// subchain is SubchainPolicy: some pass other rules besides.
type subchain struct{ entries []subEntry }

type subEntry struct {
	pattern *pattern.Pattern
	chain   *Chain
}

func newSubchain(c *config.Config, d Deps) any {
	var s subchain
	for _, e := range c.MRFSubchain.MatchActor {
		s.entries = append(s.entries, subEntry{compile(e.Pattern), newChain(e.Policies, c, d)})
	}
	return s
}

// chainFor returns the rules for an actor, nil if there are none.
func (s subchain) chainFor(actor string) *Chain {
	for _, e := range s.entries {
		if e.pattern.Matches(actor) {
			return e.chain
		}
	}
	return nil
}

func (s subchain) post(ctx context.Context, p *Post) error {
	if c := s.chainFor(p.ActorID); c != nil {
		return c.Post(ctx, p)
	}
	return nil
}

func (s subchain) profile(ctx context.Context, p *Profile) error {
	if c := s.chainFor(p.ActorID); c != nil {
		return c.Profile(ctx, p)
	}
	return nil
}

func (s subchain) activity(ctx context.Context, d *Activity) error {
	if c := s.chainFor(d.ActorID); c != nil {
		return c.Activity(ctx, d)
	}
	return nil
}
