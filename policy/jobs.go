package policy

import (
	"context"
	"log/slog"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/pattern"
	"svc/internal/text"
	"svc/store"
)

// Policies that let remote posts pass and add jobs.

// stealEmoji is StealEmojiPolicy: it copies unknown emoji of some hosts into a local pack.
type stealEmoji struct {
	config.MRFStealEmoji
	hosts    hostList
	rejected pattern.List
	has      func(shortcode string) bool
}

func newStealEmoji(c *config.Config, d Deps) any {
	s := stealEmoji{c.MRFStealEmoji, newHostList(nil), compileAll(c.MRFStealEmoji.RejectedShortcodes), d.HasEmoji}
	for _, h := range c.MRFStealEmoji.Hosts {
		s.hosts.add(h)
	}
	return s
}

func (s stealEmoji) post(_ context.Context, p *Post) error {
	if p.Local || s.has == nil || !s.hosts.has(p.Host) {
		return nil
	}
	for _, m := range p.Emoji {
		if text.ValidShortcode(m.Shortcode) && s.rejected.FirstMatch(m.Shortcode) == nil && !s.has(m.Shortcode) {
			p.Jobs = append(p.Jobs, Job{"copy_emoji:" + m.Shortcode, store.CopyEmoji{Pack: s.Pack, Shortcode: m.Shortcode, URL: m.URL, MaxBytes: s.SizeLimit}})
		}
	}
	return nil
}

// proxyWarming is MediaProxyWarmingPolicy: the media proxy fetches attachments before anybody views them.
type proxyWarming struct{}

func (proxyWarming) post(_ context.Context, p *Post) error {
	if p.Local || len(p.Attachments) == 0 {
		return nil
	}
	var job store.FetchProxied
	for _, a := range p.Attachments {
		job.URLs = append(job.URLs, a.URL)
	}
	p.Jobs = append(p.Jobs, Job{Payload: job})
	return nil
}

// followBot is FollowBotPolicy: a local bot follows the authors of remote posts, unless they are locked or write "nobot" in their profile.
type followBot struct {
	nickname string
	accounts AccountReader
	log      *slog.Logger
}

func newFollowBot(c *config.Config, d Deps) any {
	return followBot{strings.TrimPrefix(c.MRFFollowBot.FollowerNickname, "@"), d.Accounts, d.Log}
}

func (f followBot) post(ctx context.Context, p *Post) error {
	a := p.Author
	if f.nickname == "" || a == nil || a.Local() || a.Locked || strings.Contains(strings.ToLower(a.Note), "nobot") {
		return nil
	}
	bot, err := f.accounts.AccountByName(ctx, f.nickname, "")
	if errs.IsNotFound(err) || err == nil && (bot.ActorType != "Service" || bot.Unavailable) {
		f.log.Warn("FollowBotPolicy: follower_nickname is not an available bot account", "nickname", f.nickname)
		return nil
	}
	if err != nil {
		return err
	}
	if follow, err := f.accounts.FollowOf(ctx, bot.ID, a.ID); follow != nil || err != nil {
		return err
	}
	p.Jobs = append(p.Jobs, Job{"bot_follow:" + a.ID.String(), store.BotFollow{BotID: bot.ID, TargetID: a.ID}})
	return nil
}
