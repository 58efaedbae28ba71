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

// linkSpam is AntiLinkSpamPolicy: it rejects links by remote accounts that have neither statuses nor followers here.
type linkSpam struct{ accounts AccountReader }

func (l linkSpam) post(ctx context.Context, p *Post) error {
	if p.Local || !p.isCreate() || text.FirstLink(p.Content, func(*url.URL) bool { return true }) == "" {
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

// mentionSpam is AntiMentionSpamPolicy: it rejects posts with recipients by remote accounts that are new or have no statuses here.
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
	if p.Author == nil || m.now().Sub(p.Author.ID.Time()) < m.minAge { // known since when, because an account may claim any age
		return rejectf("it has recipients, and its author is new here")
	}
	posted, _, err := m.accounts.HasStatusesAndFollowers(ctx, p.Author.ID)
	if err == nil && !posted {
		err = rejectf("it has recipients, and its author has no posts here")
	}
	return err
}

// followbots is AntiFollowbotPolicy: it rejects follows by bots, unless the target follows the bot.
type followbots struct{ accounts AccountReader }

// followbotNames are beginnings of nicknames, and whole display names, of bots that follow everybody.
var followbotNames = []string{"federationbot", "fedibot", "followbot", "followerbot"}

func (f followbots) activity(ctx context.Context, a *Activity) error {
	if a.Type != "Follow" || a.Actor == nil || !isFollowbot(a) {
		return nil
	}
	if a.Target != nil && a.Target.ActorType == "Application" { // the relay actor: some relays have the type of bots
		return nil
	}
	if a.Target != nil {
		followed, err := f.accounts.Follows(ctx, a.Target.ID, a.Actor.ID)
		if err != nil || followed {
			return err
		}
	}
	return rejectf("the follower is a bot")
}

func isFollowbot(a *Activity) bool {
	if a.Actor.ActorType == "Service" {
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
		return strings.HasPrefix(plain(a.Actor.Nickname), bot) || plain(a.Actor.DisplayName) == bot
	})
}

// reports is RemoteReportPolicy: it rejects kinds of remote reports.
type reports struct {
	config.MRFRemoteReport
	localHost string
}

func (r reports) activity(_ context.Context, a *Activity) error {
	if a.Type != "Flag" || a.Local {
		return nil
	}
	switch {
	case r.RejectAll:
		return rejectf("remote reports are rejected")
	case r.RejectAnonymous && isAnonymous(a):
		return rejectf("the report is anonymous")
	case r.RejectThirdParty && !slices.ContainsFunc(a.ObjectIDs, func(id string) bool { return hostOf(id) == r.localHost }):
		return rejectf("the report is about no local account")
	case r.RejectEmptyMessage && strings.TrimSpace(text.HTMLToText(a.Content)) == "":
		return rejectf("the report has no text")
	}
	return nil
}

// isAnonymous returns true if a server actor reports, not an account.
func isAnonymous(a *Activity) bool {
	if a.Actor != nil && a.Actor.ActorType == "Application" {
		return true
	}
	u, err := url.Parse(a.ActorID)
	return err == nil && (u.Path == "/actor" || u.Path == "/actor/")
}

func (r reports) describe(public map[string]any) {
	public["mrf_remote_report"] = map[string]any{
		"reject_all": r.RejectAll, "reject_anonymous": r.RejectAnonymous, "reject_third_party": r.RejectThirdParty,
		"reject_empty_message": r.RejectEmptyMessage,
	}
}
