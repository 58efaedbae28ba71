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
	"svc/social"
	"svc/store"
)

// NewPolicies makes the policies that the settings name, with what they need of the server. people is asked for when somebody is
// to be followed, for it may be made later. out fetches emoji, and proxy what is shown to people; nil: nobody does.
func NewPolicies(c *config.Config, db *store.DB, people func() *social.Service, emojis *emoji.Packs, out *fetch.Client, proxy *media.Proxy, log *slog.Logger) *policy.Chain {
	deps := policy.Deps{Log: log, Now: db.Now, Accounts: db, CheckNetwork: MayFetch}
	if proxy != nil {
		deps.WarmProxy = proxy.Warm
	}
	deps.Follow = func(ctx context.Context, nickname string, whom *store.Account) {
		if err := followAsBot(ctx, db, people(), nickname, whom); err != nil {
			level := slog.LevelWarn
			if IsFinal(err) { // who is followed does not want it, or has moved: that is nobody's trouble
				level = slog.LevelDebug
			}
			log.Log(ctx, level, "the follow bot could not follow", "nickname", nickname, "account", whom.ID, "err", err)
		}
	}
	if out != nil {
		deps.Emoji = &emojiCopier{Packs: emojis, out: out, log: log, busy: make(chan struct{}, maxEmojiCopies)}
	}
	return policy.New(c, deps)
}

// followAsBot has a bot of this server follow somebody, unless it does so already.
func followAsBot(ctx context.Context, db *store.DB, people *social.Service, nickname string, whom *store.Account) error {
	bot, err := db.AccountByName(ctx, nickname, "")
	if errs.IsNotFound(err) {
		return errors.New("there is no such account")
	}
	if err != nil {
		return err
	}
	if bot.ActorType != "Service" || bot.Unavailable {
		return errors.New("the account is no bot, or not in service")
	}
	if f, err := db.FollowOf(ctx, bot.ID, whom.ID); f != nil || err != nil {
		return err
	}
	_, err = people.Follow(ctx, bot, whom.ID, social.FollowOptions{})
	return err
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

// localReviewer has what people here do pass the policies.
type localReviewer struct {
	chain *policy.Chain
	db    *store.DB
	media string // what names of media files are appended to
}

// ReviewLocal has what people here write and whom they follow pass the same policies as what comes from elsewhere.
func ReviewLocal(of *social.Config, chain *policy.Chain, db *store.DB) {
	r := localReviewer{chain, db, of.BaseURL + "/media/"}
	of.Review, of.ReviewMessage, of.ReviewFollow = r.status, r.message, r.follow
	if chain.Inspects() {
		of.Inspect = r.inspect
	}
}

// rejectionError makes the author's answer of what the policies say.
func rejectionError(err error) error {
	var r *policy.Rejected
	if errors.As(err, &r) && r.Err == nil {
		return errs.Invalid("The rules of this server do not allow this (%s): %s", r.Policy, r.Reason)
	}
	return err
}

func (r localReviewer) status(ctx context.Context, author *store.Account, c *social.Composed) error {
	p, err := r.post(ctx, author, c)
	if err != nil {
		return err
	}
	if err := r.chain.Post(ctx, p); err != nil {
		return rejectionError(err)
	}
	c.Content, c.SpoilerText, c.Sensitive, c.Visibility = p.Content, p.Spoiler, p.Sensitive, p.Visibility
	if !p.ExpiresAt.IsZero() {
		at := store.At(p.ExpiresAt)
		c.ExpiresAt = &at
	}
	if len(p.Attachments) < len(c.Media) {
		kept := make([]*store.Media, len(p.Attachments))
		for i, a := range p.Attachments {
			kept[i] = c.Media[a.Index]
		}
		c.Media = kept
	}
	for _, person := range p.Recipients {
		if person.Mentioned && person.Account != nil {
			c.AddMention(person.Account.ID)
		}
	}
	return nil
}

// post makes of a status what the policies know.
func (r localReviewer) post(ctx context.Context, author *store.Account, c *social.Composed) (*policy.Post, error) {
	p := &policy.Post{
		Version: policy.Version{
			Spoiler: c.SpoilerText, Content: c.Content, Sensitive: c.Sensitive, Tags: c.Tags,
			Attachments: make([]policy.Attachment, len(c.Media)),
		},
		Local: true, Author: author, ActorID: author.URI, ID: c.URI, ActivityType: "Create", ObjectType: "Note", Visibility: c.Visibility,
	}
	for i, m := range c.Media {
		p.Attachments[i] = policy.Attachment{Index: i, URL: r.media + m.File, MediaType: m.Mime}
		p.OtherText = append(p.OtherText, m.Description)
	}
	if c.Poll != nil {
		p.ObjectType = "Question"
		p.OtherText = append(p.OtherText, c.Poll.Titles()...)
	}
	if c.ExpiresAt != nil {
		p.ExpiresAt = c.ExpiresAt.Time()
	}
	people, parent := make(map[store.AccountID]*store.Account), c.Parent
	recipients := c.Recipients
	if c.ID != 0 {
		p.ActivityType = "Update"
	}
	if r.chain.NeedsAccounts() {
		var err error
		if recipients, parent, err = r.loadRelated(ctx, c, people); err != nil {
			return nil, err
		}
	}
	for _, rcpt := range recipients {
		if rcpt.AccountID == author.ID {
			continue
		}
		person := policy.Recipient{Mentioned: rcpt.Mentioned, Account: people[rcpt.AccountID]}
		if person.Account != nil {
			person.ID = person.Account.URI
		}
		p.Recipients = append(p.Recipients, person)
	}
	p.Parent, p.Quote = relatedStatus(parent, people), relatedStatus(c.Quoted, people)
	return p, nil
}

// loadRelated reads who and what a status has to do with.
func (r localReviewer) loadRelated(ctx context.Context, c *social.Composed, people map[store.AccountID]*store.Account) (recipients []store.Recipient, parent *store.Status, err error) {
	recipients, parent = c.Recipients, c.Parent
	if c.ID != 0 { // a new version of what is stored
		if recipients, err = r.db.Recipients(ctx, []store.StatusID{c.ID}); err != nil {
			return nil, nil, err
		}
		if c.InReplyToID != nil {
			if parent, err = r.db.Status(ctx, *c.InReplyToID); err != nil && !errs.IsNotFound(err) {
				return nil, nil, err
			}
		}
	}
	var ids []store.AccountID
	for _, rcpt := range recipients {
		ids = append(ids, rcpt.AccountID)
	}
	for _, st := range []*store.Status{parent, c.Quoted} {
		if st != nil {
			ids = append(ids, st.AccountID)
		}
	}
	if len(ids) == 0 {
		return recipients, parent, nil
	}
	accounts, err := r.db.Accounts(ctx, ids)
	for _, a := range accounts {
		people[a.ID] = a
	}
	return recipients, parent, err
}

func relatedStatus(st *store.Status, people map[store.AccountID]*store.Account) *policy.Related {
	if st == nil {
		return nil
	}
	return &policy.Related{ID: st.URI, URL: st.URL, Author: people[st.AccountID], Spoiler: st.SpoilerText, Visibility: st.Visibility}
}

// inspect has pictures looked at before they are published.
func (r localReviewer) inspect(ctx context.Context, owner store.AccountID, ids []store.MediaID) error {
	media, err := r.db.MediaByIDs(ctx, ids)
	if err != nil {
		return err
	}
	var pictures []string
	for _, m := range media {
		if m.AccountID == owner && m.Type == "image" && m.File != "" {
			pictures = append(pictures, r.media+m.File)
		}
	}
	r.chain.Inspect(ctx, pictures)
	return nil
}

// message asks the policies about a message of a chat.
func (r localReviewer) message(ctx context.Context, from, to *store.Account, content string, attachment *store.Media) (string, *store.Media, error) {
	p := chatMessagePost(from, to, content, attachment)
	p.Local = true
	if attachment != nil {
		p.Attachments[0].URL = r.media + attachment.File
	}
	if err := r.chain.Post(ctx, p); err != nil {
		return "", nil, rejectionError(err)
	}
	if len(p.Attachments) == 0 {
		attachment = nil
	}
	return p.Content, attachment, nil
}

// follow asks the policies about those who follow from here. Those from elsewhere have been asked about when their request came.
func (r localReviewer) follow(ctx context.Context, follower, target *store.Account) error {
	if !follower.Local() {
		return nil
	}
	return rejectionError(r.chain.Activity(ctx, &policy.Activity{
		Local: true, Type: "Follow", Actor: follower, ActorID: follower.URI, ObjectIDs: []string{target.URI}, Target: target,
	}))
}
