package policy

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/text"
)

// linkSpam is AntiLinkSpamPolicy: no links by those of whom nobody knows anything.
type linkSpam struct{ accounts AccountReader }

func newLinkSpam(_ *config.Config, d Deps) any { return linkSpam{d.Accounts} }

func (l linkSpam) post(ctx context.Context, p *Post) error {
	if p.Local || !p.isCreate() {
		return nil
	}
	links := false
	_ = p.eachVersion(func(v *Version) error {
		links = links || text.FirstLink(v.Content, func(*url.URL) bool { return true }) != ""
		return nil
	})
	if !links {
		return nil
	}
	if p.Author != nil {
		posted, followed, err := l.accounts.HasStatusesAndFollowers(ctx, p.Author.ID)
		if err != nil || posted || followed {
			return err
		}
	}
	return rejectf("it has links, and its author has neither posts nor followers here")
}

// mentionSpam is AntiMentionSpamPolicy: no posts to people here from accounts that are new, or have never posted.
type mentionSpam struct {
	minAge   time.Duration
	accounts AccountReader
	now      func() time.Time
}

func newMentionSpam(c *config.Config, d Deps) any {
	return mentionSpam{c.MRFAntiMentionSpam.UserAgeLimit, d.Accounts, d.Now}
}

func (m mentionSpam) post(ctx context.Context, p *Post) error {
	if p.Local || !p.isCreate() || len(p.Recipients) == 0 {
		return nil
	}
	if p.Author == nil || m.now().Sub(p.Author.ID.Time()) < m.minAge { // since when it is known: what it says of its age is its own affair
		return rejectf("it names people, and its author is new here")
	}
	posted, _, err := m.accounts.HasStatusesAndFollowers(ctx, p.Author.ID)
	if err == nil && !posted {
		err = rejectf("it names people, and its author has no posts here")
	}
	return err
}

// followbots is AntiFollowbotPolicy: no followers who are none, unless they are wanted.
type followbots struct{ accounts AccountReader }

func newFollowbots(_ *config.Config, d Deps) any { return followbots{d.Accounts} }

// followbotNames are names of accounts whose purpose is to follow all.
var followbotNames = []string{"federationbot", "fedibot", "followbot", "followerbot"}

func (f followbots) activity(ctx context.Context, d *Activity) error {
	if d.Type != "Follow" || d.Actor == nil || !isFollowbot(d) {
		return nil
	}
	if d.Target != nil && d.Target.ActorType == "Application" { // the server's own actor for relays, of which some are bots by their type
		return nil
	}
	if d.Target != nil {
		wanted, err := f.accounts.Follows(ctx, d.Target.ID, d.Actor.ID)
		if err != nil || wanted {
			return err
		}
	}
	return rejectf("the follower is a bot")
}

func isFollowbot(d *Activity) bool {
	if d.Actor.ActorType == "Service" {
		return true
	}
	plain := func(name string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" _-.", r) {
				return -1
			}
			return r
		}, strings.ToLower(name))
	}
	return slices.ContainsFunc(followbotNames, func(bot string) bool {
		return strings.HasPrefix(plain(d.Actor.Nickname), bot) || plain(d.Actor.DisplayName) == bot
	})
}

// reports is RemoteReportPolicy: which reports from elsewhere are not taken.
type reports struct {
	config.MRFRemoteReport
	localHost string
}

func newReports(c *config.Config, _ Deps) any { return reports{c.MRFRemoteReport, c.Host()} }

func (r reports) activity(_ context.Context, d *Activity) error {
	if d.Type != "Flag" || d.Local {
		return nil
	}
	switch {
	case r.RejectAll:
		return rejectf("no reports are taken from elsewhere")
	case r.RejectAnonymous && isAnonymous(d):
		return rejectf("the report does not say who reports")
	case r.RejectThirdParty && !slices.ContainsFunc(d.ObjectIDs, func(id string) bool { return hostOf(id) == r.localHost }):
		return rejectf("the report is about nobody here")
	case r.RejectEmptyMessage && strings.TrimSpace(text.HTMLToText(d.Content)) == "":
		return rejectf("the report says nothing")
	}
	return nil
}

// isAnonymous tells whether a server speaks, and no person.
func isAnonymous(d *Activity) bool {
	if d.Actor != nil && d.Actor.ActorType == "Application" {
		return true
	}
	u, err := url.Parse(d.ActorID)
	return err == nil && (u.Path == "/actor" || u.Path == "/actor/")
}

func (r reports) describe(shown map[string]any) {
	shown["mrf_remote_report"] = map[string]any{
		"reject_all": r.RejectAll, "reject_anonymous": r.RejectAnonymous, "reject_third_party": r.RejectThirdParty,
		"reject_empty_message": r.RejectEmptyMessage,
	}
}
