package federation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"svc/emoji"
	"svc/federation/policy"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/media"
	"svc/store"
)

// NewPolicies returns the policies that the settings name. A nil out copies no emoji, a nil proxy fetches nothing in advance.
func NewPolicies(c *config.Config, db *store.DB, emojis *emoji.Packs, out *fetch.Client, proxy *media.Proxy, log *slog.Logger) *policy.Chain {
	deps := policy.Deps{Log: log, Now: db.Now, Accounts: db, CheckNetwork: MayFetch}
	if proxy != nil {
		deps.WarmProxy = proxy.Warm
	}
	deps.Follow = func(ctx context.Context, nickname string, target *store.Account) {
		if err := enqueueBotFollow(ctx, db, nickname, target); err != nil {
			log.Warn("follow bot cannot follow", "nickname", nickname, "account", target.ID, "err", err)
		}
	}
	if out != nil {
		deps.Emoji = &emojiCopier{Packs: emojis, out: out, log: log, busy: make(chan struct{}, maxEmojiCopies)}
	}
	return policy.New(c, deps)
}

// enqueueBotFollow makes a local bot follow target, unless it does so already.
func enqueueBotFollow(ctx context.Context, db *store.DB, nickname string, target *store.Account) error {
	bot, err := db.AccountByName(ctx, nickname, "")
	if errs.IsNotFound(err) {
		return errors.New("there is no such account")
	}
	if err != nil {
		return err
	}
	if bot.ActorType != "Service" || bot.Unavailable {
		return errors.New("the account is not a bot, or is unavailable")
	}
	if f, err := db.FollowOf(ctx, bot.ID, target.ID); f != nil || err != nil {
		return err
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, db.Now(), "bot_follow:"+target.ID.String(), store.BotFollow{BotID: bot.ID, TargetID: target.ID})
	})
}

// emojiCopier copies emoji beside other work, a few at a time. Those that come while it is busy are copied when they are seen again.
type emojiCopier struct {
	*emoji.Packs
	out  *fetch.Client
	log  *slog.Logger
	busy chan struct{}
}

const (
	maxEmojiCopies   = 2
	emojiCopyTimeout = 20 * time.Second
)

// Copy puts an emoji of another server into a pack.
func (s *emojiCopier) Copy(ctx context.Context, pack string, e policy.Emoji, most int64) {
	select {
	case s.busy <- struct{}{}:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), emojiCopyTimeout)
	go func() {
		defer func() { <-s.busy }()
		defer cancel()
		picture, err := s.out.Get(ctx, e.URL, fetch.Limits{MaxBody: most})
		if err == nil {
			err = s.Add(pack, e.Shortcode, picture.Body)
		}
		if err != nil {
			s.log.Info("an emoji was not copied", "shortcode", e.Shortcode, "err", err)
		}
	}()
}
