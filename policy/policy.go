// Package policy applies the rules that posts, profiles and other activities pass on their way in and out (MRF, admin API 11). A rule lets a
// message pass, changes it, or rejects it. The operator's settings name the rules and their order.
//
// Rules decide only. Their consequences (a follow by a bot, a copied emoji, a fetched attachment) is a job in Post.Jobs that the caller
// enqueues. Rules work on types of their own (Post, Profile, Activity), so that federation and social pass the same rules.
//
// To add a policy, implement the rule interfaces that it needs and register it in builders.
//
// Limits: 512 KiB of searched text; 3 s for a DNS query, 8 s for the score of an image and 20 s for all images of a post; 2000 results in
// memory for 10 minutes. The default policies use neither the network nor the database.
package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"svc/internal/config"
)

// Rejected is the error for a message that a policy rejects.
type Rejected struct {
	Policy string // short name
	Reason string // for logs and authors
	Err    error  // not nil: the policy failed, so it rejects
}

func (r *Rejected) Error() string {
	if r.Err != nil {
		return fmt.Sprintf("rejected by %s: %s: %v", r.Policy, r.Reason, r.Err)
	}
	return fmt.Sprintf("rejected by %s: %s", r.Policy, r.Reason)
}

func (r *Rejected) Unwrap() error { return r.Err }

// rejectf returns the error of a rule that rejects. The chain adds the name of the policy.
func rejectf(format string, args ...any) error {
	return &Rejected{Reason: fmt.Sprintf(format, args...)}
}

// A policy implements the interfaces of the messages that it decides on.
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

	// An inspector looks at images of local accounts before they are published, when the network may be used.
	inspector interface {
		inspect(ctx context.Context, urls []string)
	}
	// A describer has settings that are public.
	describer interface{ describe(public map[string]any) }
)

// namedRule is a rule with the short name of its policy.
type namedRule[R any] struct {
	name string
	rule R
}

// Chain is the configured policies in their order. It follows the settings and is safe for concurrent use.
type Chain struct{ current *config.View[*chain] }

// chain is the policies of one snapshot of the settings. It is immutable.
type chain struct {
	localHost   string // in the ids of this server
	handleHost  string // in handles; mostly the same
	names       []string
	hosts       []namedRule[hostRule]
	posts       []namedRule[postRule]
	profiles    []namedRule[profileRule]
	activities  []namedRule[activityRule]
	inspectors  []inspector
	simple      *simple // nil: SimplePolicy is not active
	quarantined hostList
	rejected    hostList
	described   map[string]any
	log         *slog.Logger
}

// lastPolicy always runs, after all others (admin API 11.1).
const lastPolicy = "HashtagPolicy"

// New returns the policies that valid settings name.
func New(live *config.Live, d Deps) *Chain {
	return &Chain{config.NewView(live, func(c *config.Config) *chain { return newPolicies(c, d) })}
}

func newPolicies(c *config.Config, d Deps) *chain {
	d = d.withDefaults(c)
	names := append(without(c.MRF.Policies, lastPolicy), lastPolicy)
	chain := newChain(names, c, d)
	chain.describe(c)
	return chain
}

func newChain(names []string, c *config.Config, d Deps) *chain {
	chain := &chain{
		localHost:   c.WebHost(),
		handleHost:  c.Host(),
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

func (c *chain) add(name string, rule any) {
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
	if r, ok := rule.(*simple); ok {
		c.simple = r
	}
	if r, ok := rule.(describer); ok {
		r.describe(c.described)
	}
}

// now returns the policies of the current settings.
func (c *Chain) now() *chain { return *c.current.Load() }

// Host returns a *Rejected if nothing is fetched from a host or accepted from it, except deletions, which Activity decides on. The host
// is normalized (activity.Host).
func (c *Chain) Host(host string) error { return c.now().host(host) }

// Post runs the rules for posts, which may change p. The error is a *Rejected if a rule rejects it, and another if a rule could not read
// what it needs.
func (c *Chain) Post(ctx context.Context, p *Post) error { return c.now().post(ctx, p) }

// Profile is Post for actor documents.
func (c *Chain) Profile(ctx context.Context, p *Profile) error { return c.now().profile(ctx, p) }

// Activity is Post for all other activities.
func (c *Chain) Activity(ctx context.Context, a *Activity) error { return c.now().activity(ctx, a) }

// Quarantined returns true if a host only gets public and unlisted posts.
func (c *Chain) Quarantined(host string) bool { return c.now().quarantined.has(host) }

// RejectsFetches returns true if nothing is served to a host.
func (c *Chain) RejectsFetches(host string) bool { return c.now().rejected.has(host) }

// Describe returns the public part of the settings: metadata.federation of the instance and of NodeInfo (admin API 11.3).
func (c *Chain) Describe() map[string]any { return c.now().described }

// NeedsAccounts returns true if a policy reads the accounts of recipients and of related posts. If none does, callers need not load them
// for a local post.
func (c *Chain) NeedsAccounts() bool { return c.now().needsAccounts() }

// Inspects returns true if Inspect has to be called before images of local accounts are published.
func (c *Chain) Inspects() bool { return len(c.now().inspectors) > 0 }

// Inspect scores images that are about to be published, and may take seconds. Post then finds the scores in memory.
func (c *Chain) Inspect(ctx context.Context, urls []string) {
	for _, r := range c.now().inspectors {
		r.inspect(ctx, urls)
	}
}

func (c *chain) host(host string) error {
	if host == "" || host == c.localHost || host == c.handleHost {
		return nil
	}
	return runRules(c, c.hosts, func(r hostRule) error { return r.host(host) })
}

func (c *chain) post(ctx context.Context, p *Post) error {
	if p.Local {
		p.Host = c.localHost
	} else if p.Host == "" {
		return errNoHost
	}
	return runRules(c, c.posts, func(r postRule) error { return r.post(ctx, p) })
}

func (c *chain) profile(ctx context.Context, p *Profile) error {
	if p.Host == "" {
		return errNoHost
	}
	return runRules(c, c.profiles, func(r profileRule) error { return r.profile(ctx, p) })
}

func (c *chain) activity(ctx context.Context, a *Activity) error {
	if a.Local {
		a.Host = c.localHost
	} else if a.Host == "" {
		return errNoHost
	}
	return runRules(c, c.activities, func(r activityRule) error { return r.activity(ctx, a) })
}

// errNoHost rejects messages without a host, because no list of hosts would match it.
var errNoHost = &Rejected{Policy: "SimplePolicy", Reason: "the host of its sender is unknown"}

func (c *chain) needsAccounts() bool {
	for _, name := range []string{"MentionPolicy", "EnsureRePrepended", "ForceMention", "ForceMentionsInContent", "SubchainPolicy"} {
		if slices.Contains(c.names, name) {
			return true
		}
	}
	return false
}

// runRules calls the rules in their order, until one returns an error.
func runRules[R any](c *chain, rules []namedRule[R], call func(R) error) error {
	for _, r := range rules {
		if err := c.callRule(r.name, func() error { return call(r.rule) }); err != nil {
			return err
		}
	}
	return nil
}

// callRule calls one rule. A rule that panics rejects.
func (c *chain) callRule(name string, call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("policy failed: message rejected", "policy", name, "panic", v, "stack", string(debug.Stack()))
			err = &Rejected{Policy: name, Reason: "the policy failed", Err: fmt.Errorf("panic: %v", v)}
		}
	}()
	err = call()
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

// builders is the registry of policies, by short name.
var builders map[string]func(*config.Config, Deps) any

func init() { // not in the declaration, because SubchainPolicy uses builders
	builders = map[string]func(*config.Config, Deps) any{
		"NoOpPolicy":               func(*config.Config, Deps) any { return noOp{} },
		"DropPolicy":               func(*config.Config, Deps) any { return drop{} },
		"SimplePolicy":             newSimple,
		"TagPolicy":                func(*config.Config, Deps) any { return tags{} },
		"SubchainPolicy":           newSubchain,
		"RejectNonPublic":          func(c *config.Config, _ Deps) any { return nonPublic{c.MRFRejectNonPublic} },
		"EnsureRePrepended":        func(*config.Config, Deps) any { return rePrepended{} },
		"AntiLinkSpamPolicy":       func(_ *config.Config, d Deps) any { return linkSpam{d.Accounts} },
		"AntiMentionSpamPolicy":    newMentionSpam,
		"AntiFollowbotPolicy":      func(_ *config.Config, d Deps) any { return followbots{d.Accounts} },
		"MediaProxyWarmingPolicy":  func(*config.Config, Deps) any { return proxyWarming{} },
		"MentionPolicy":            newMentionedActors,
		"VocabularyPolicy":         func(c *config.Config, _ Deps) any { return vocabulary{c.MRFVocabulary} },
		"ObjectAgePolicy":          func(c *config.Config, d Deps) any { return objectAge{c.MRFObjectAge, d.Now} },
		"HellthreadPolicy":         func(c *config.Config, _ Deps) any { return hellthread{c.MRFHellthread} },
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
		"ForceMention":             func(c *config.Config, _ Deps) any { return forceMention{c.MRFForceMention} },
		"ForceMentionsInContent":   func(_ *config.Config, d Deps) any { return mentionsInContent{d.Accounts} },
		"InlineQuotePolicy":        func(c *config.Config, _ Deps) any { return inlineQuote{c.MRFInlineQuote.Template} },
		"QuoteToLinkTagPolicy":     func(*config.Config, Deps) any { return noOp{} }, // notes have this tag always (FEP-e232)
		"QuietReply":               func(*config.Config, Deps) any { return quietReply{} },
		"FODirectReply":            func(*config.Config, Deps) any { return directReply{} },
		"RemoteReportPolicy":       func(c *config.Config, _ Deps) any { return reports{c.MRFRemoteReport, c.WebHost()} },
		"DNSRBLPolicy":             func(c *config.Config, d Deps) any { return dnsBlockList{c.MRFDNSRBL, d.DNSListed, d.Log} },
		"NsfwApiPolicy":            func(c *config.Config, d Deps) any { return nsfwImages{c.MRFNSFWAPI, d.scores, d.Log} },
	}
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(l string) bool { return l == s })
}

// noOp is NoOpPolicy: everything passes.
type noOp struct{}

// drop is DropPolicy: nothing passes.
type drop struct{}

func (drop) host(string) error                         { return rejectf("everything is rejected") }
func (drop) post(context.Context, *Post) error         { return rejectf("everything is rejected") }
func (drop) profile(context.Context, *Profile) error   { return rejectf("everything is rejected") }
func (drop) activity(context.Context, *Activity) error { return rejectf("everything is rejected") }
