package social

import (
	"context"
	"errors"
	"slices"

	"svc/internal/errs"
	"svc/policy"
	"svc/store"
)

// Statuses, chat messages and follows of local accounts pass the same policies (MRF) as incoming activities. Policies run inside the
// transaction, so they do not use the network; only inspectAttachments may, before it.

// applyPolicies passes a new status, which has no id yet, or a new version of one through the policies, and applies their changes.
// The visibility of a stored status never changes.
func (s *Service) applyPolicies(ctx context.Context, author *store.Account, c *Composed) error {
	if s.Policies == nil {
		return nil
	}
	p, err := s.policyPost(ctx, author, c)
	if err != nil {
		return err
	}
	if err := s.Policies.Post(ctx, p); err != nil {
		return rejection(err)
	}
	c.Content, c.SpoilerText, c.Sensitive = p.Content, p.Spoiler, p.Sensitive
	if !p.ExpiresAt.IsZero() {
		c.ExpiresAt = new(store.At(p.ExpiresAt))
	}
	if len(p.Attachments) < len(c.Media) {
		media := make([]*store.Media, len(p.Attachments))
		for i, a := range p.Attachments {
			media[i] = c.Media[a.Index]
		}
		c.Media = media
	}
	narrowed := c.ID == 0 && c.Visibility != p.Visibility
	if narrowed {
		c.Visibility = p.Visibility
	}
	for _, r := range p.Recipients {
		if r.Mentioned && r.Account != nil {
			c.addMention(r.Account.ID)
		}
	}
	if narrowed {
		c.updateRecipients()
	}
	c.HasMedia = len(c.Media) > 0
	return checkNotEmpty(c.Text, c.SpoilerText, c.Media)
}

// rejection returns a rejection by a policy as an error for the author. A policy that failed is an internal error.
func rejection(err error) error {
	var r *policy.Rejected
	if errors.As(err, &r) && r.Err == nil {
		return errs.Invalid("The rules of this server do not allow this (%s): %s", r.Policy, r.Reason)
	}
	return err
}

// policyPost returns a status in the form that policies read.
func (s *Service) policyPost(ctx context.Context, author *store.Account, c *Composed) (*policy.Post, error) {
	p := &policy.Post{
		Local: true, Author: author, ActorID: author.URI, ID: c.URI, ActivityType: "Create", ObjectType: "Note", Visibility: c.Visibility,
		Spoiler: c.SpoilerText, Content: c.Content, Sensitive: c.Sensitive, Tags: c.Tags,
		Attachments: make([]policy.Attachment, len(c.Media)),
	}
	for i, m := range c.Media {
		p.Attachments[i] = policy.Attachment{Index: i, URL: s.mediaURL(m), MediaType: m.Mime}
		p.OtherText = append(p.OtherText, m.Description)
	}
	if c.Poll != nil {
		p.ObjectType = "Question"
		p.OtherText = append(p.OtherText, c.Poll.Titles()...)
	}
	if c.ExpiresAt != nil {
		p.ExpiresAt = c.ExpiresAt.Time()
	}
	if c.ID != 0 {
		p.ActivityType = "Update"
	}
	accounts, recipients, parent := make(map[store.AccountID]*store.Account), c.Recipients, c.Parent
	if s.Policies.NeedsAccounts() {
		var err error
		if recipients, parent, err = s.loadPolicyContext(ctx, c, accounts); err != nil {
			return nil, err
		}
	}
	for _, to := range recipients {
		if to.AccountID == author.ID {
			continue
		}
		r := policy.Recipient{Mentioned: to.Mentioned, Account: accounts[to.AccountID]}
		if r.Account != nil {
			r.ID = r.Account.URI
		}
		p.Recipients = append(p.Recipients, r)
	}
	p.Parent, p.Quote = relatedPost(parent, accounts), relatedPost(c.Quoted, accounts)
	return p, nil
}

// loadPolicyContext returns the recipients and the parent of a status, and puts their accounts and that of the quoted author into
// accounts.
func (s *Service) loadPolicyContext(ctx context.Context, c *Composed, accounts map[store.AccountID]*store.Account) ([]store.Recipient, *store.Status, error) {
	recipients, parent := c.Recipients, c.Parent
	if c.ID != 0 { // an edit composes neither
		var err error
		if recipients, err = s.db.Recipients(ctx, []store.StatusID{c.ID}); err != nil {
			return nil, nil, err
		}
		if c.InReplyToID != nil {
			if parent, err = s.db.Status(ctx, *c.InReplyToID); err != nil && !errs.IsNotFound(err) {
				return nil, nil, err
			}
		}
	}
	var ids []store.AccountID
	for _, r := range recipients {
		ids = append(ids, r.AccountID)
	}
	for _, st := range []*store.Status{parent, c.Quoted} {
		if st != nil {
			ids = append(ids, st.AccountID)
		}
	}
	if len(ids) == 0 {
		return recipients, parent, nil
	}
	rows, err := s.db.Accounts(ctx, ids)
	for _, a := range rows {
		accounts[a.ID] = a
	}
	return recipients, parent, err
}

func relatedPost(st *store.Status, accounts map[store.AccountID]*store.Account) *policy.Related {
	if st == nil {
		return nil
	}
	return &policy.Related{ID: st.URI, URL: st.URL, Author: accounts[st.AccountID], Spoiler: st.SpoilerText, Visibility: st.Visibility}
}

// inspectAttachments lets policies judge pictures before the transaction that publishes them, because that may use the network.
func (s *Service) inspectAttachments(ctx context.Context, owner store.AccountID, ids []store.MediaID) error {
	if s.Policies == nil || !s.Policies.Inspects() || len(ids) == 0 {
		return nil
	}
	media, err := s.db.MediaByIDs(ctx, ids)
	if err != nil {
		return err
	}
	var urls []string
	for _, m := range media {
		if m.AccountID == owner && m.Type == "image" && m.File != "" {
			urls = append(urls, s.mediaURL(m))
		}
	}
	s.Policies.Inspect(ctx, urls)
	return nil
}

func (s *Service) mediaURL(m *store.Media) string { return s.Settings.BaseURL + "/media/" + m.File }

// applyMessagePolicies passes a chat message through the policies. It returns the content and the attachment that they leave.
func (s *Service) applyMessagePolicies(ctx context.Context, from, to *store.Account, content string, attachment *store.Media) (string, *store.Media, error) {
	if s.Policies == nil {
		return content, attachment, nil
	}
	p := policy.ChatMessage(from, to, content, attachment)
	p.Local = true
	if attachment != nil {
		p.Attachments[0].URL = s.mediaURL(attachment)
	}
	if err := s.Policies.Post(ctx, p); err != nil {
		return "", nil, rejection(err)
	}
	if len(p.Attachments) == 0 {
		attachment = nil
	}
	return p.Content, attachment, nil
}

// applyFollowPolicies returns an error if a policy rejects a follow by a local account. Federation applies them to remote ones.
func (s *Service) applyFollowPolicies(ctx context.Context, follower, target *store.Account) error {
	if s.Policies == nil || !follower.Local() {
		return nil
	}
	return rejection(s.Policies.Activity(ctx, &policy.Activity{
		Local: true, Type: "Follow", Actor: follower, ActorID: follower.URI, ObjectIDs: []string{target.URI}, Target: target,
	}))
}

// updateRecipients makes a status that has become direct reach the author of its parent and its own author's conversation.
func (c *Composed) updateRecipients() {
	if c.Visibility != store.Direct {
		return
	}
	if c.Parent != nil && c.Parent.AccountID != c.AccountID {
		c.addRecipient(c.Parent.AccountID, true)
	}
	c.addRecipient(c.AccountID, false)
	for i := range c.Recipients {
		c.Recipients[i].Direct = true
	}
}

// addMention makes a new status mention an account besides those in its text.
func (c *Composed) addMention(id store.AccountID) {
	i := slices.IndexFunc(c.Recipients, func(r store.Recipient) bool { return r.AccountID == id })
	if i < 0 {
		c.addRecipient(id, true)
		return
	}
	c.Recipients[i].Mentioned = true
}

// botFollow is the job that makes a local bot follow an account. A refusal by the account is final.
func (s *Service) botFollow(ctx context.Context, w store.BotFollow) error {
	bot, err := s.db.Account(ctx, w.BotID)
	if err != nil || bot.Unavailable {
		return errs.IgnoreNotFound(err)
	}
	f, err := s.db.FollowOf(ctx, w.BotID, w.TargetID)
	if f != nil || err != nil {
		return err
	}
	_, err = s.Follow(ctx, bot, w.TargetID, FollowOptions{})
	return ignoreClientError(err)
}
