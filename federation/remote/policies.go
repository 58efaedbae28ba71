package remote

import (
	"context"
	"slices"

	"svc/policy"
	"svc/store"
)

// ApplyPolicies applies the policies to a remote status, received or fetched, and may change it. activityType is Create or Update.
func (s *Statuses) ApplyPolicies(ctx context.Context, author *store.Account, n *Note, activityType string) error {
	p := &policy.Post{
		Spoiler: n.SpoilerText, Content: n.Content, Sensitive: n.Sensitive, Tags: n.Tags,
		Attachments: make([]policy.Attachment, len(n.Media)), Emoji: make([]policy.Emoji, len(n.Emojis)),
		Author: author, ActorID: author.URI, Host: s.reader.HostOf(author), ID: n.URI, ActivityType: activityType, ObjectType: n.ObjectType,
		Visibility: n.Visibility, PublishedAt: n.Published,
	}
	for i, m := range n.Media {
		p.Attachments[i] = policy.Attachment{Index: i, URL: m.RemoteURL, MediaType: m.Mime}
		p.OtherText = append(p.OtherText, m.Description)
	}
	for i, e := range n.Emojis {
		p.Emoji[i] = policy.Emoji(e)
	}
	if n.Poll != nil {
		p.OtherText = append(p.OtherText, n.Poll.Titles()...)
	}
	if err := s.loadPolicyContext(ctx, n, p); err != nil {
		return err
	}
	if err := s.Policies.Post(ctx, p); err != nil {
		return err
	}
	if err := p.EnqueueJobs(ctx, s.db); err != nil {
		return err
	}
	n.Content, n.SpoilerText, n.Sensitive, n.Visibility, n.NoFollowers = p.Content, p.Spoiler, p.Sensitive, p.Visibility, p.NoFollowers
	if len(p.Attachments) < len(n.Media) {
		media := make([]*store.Media, len(p.Attachments))
		for i, a := range p.Attachments {
			media[i] = n.Media[a.Index]
		}
		n.Media = media
	}
	n.Emojis = AllowedEmojis(n.Emojis, p)
	for _, r := range p.Recipients {
		if r.Mentioned && !slices.Contains(n.Mentions, r.ID) {
			n.Mentions = append(n.Mentions, r.ID)
		}
	}
	return nil
}

// AllowedEmojis returns the custom emoji that the policies permit.
func AllowedEmojis(list []store.RemoteEmoji, p *policy.Post) []store.RemoteEmoji {
	if len(p.Emoji) == len(list) {
		return list
	}
	return slices.DeleteFunc(list, func(e store.RemoteEmoji) bool { return !slices.Contains(p.Emoji, policy.Emoji(e)) })
}

// loadPolicyContext adds the recipients, the parent and the quoted status. It reads their rows only if a policy needs them.
func (s *Statuses) loadPolicyContext(ctx context.Context, n *Note, p *policy.Post) error {
	for _, uri := range n.Audience {
		p.Recipients = append(p.Recipients, policy.Recipient{ID: uri, Mentioned: slices.Contains(n.Mentions, uri)})
	}
	if n.ParentURI != "" {
		p.Parent = &policy.Related{ID: n.ParentURI}
	}
	if n.QuoteURI != "" && !n.QuoteLinkRemoved { // a RE link was removed from the content; InlineQuotePolicy would add it again
		p.Quote = &policy.Related{ID: n.QuoteURI}
	}
	if !s.Policies.NeedsAccounts() {
		return nil
	}
	known, err := s.db.AccountsByURI(ctx, n.Audience)
	if err != nil {
		return err
	}
	for i, r := range p.Recipients {
		p.Recipients[i].Account = known[r.ID]
	}
	for _, r := range []*policy.Related{p.Parent, p.Quote} {
		if err := s.loadRelated(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// loadRelated reads the row of a parent or a quoted status if it is known.
func (s *Statuses) loadRelated(ctx context.Context, r *policy.Related) error {
	if r == nil {
		return nil
	}
	st, err := s.db.StatusByURI(ctx, r.ID)
	if st == nil || err != nil {
		return err
	}
	r.URL, r.Spoiler, r.Visibility = st.URL, st.SpoilerText, st.Visibility
	r.Author, err = s.db.Account(ctx, st.AccountID)
	return err
}

// applyPoliciesToActor applies the policies to an actor of a domain, and may remove parts of the profile.
func (a *Actors) applyPoliciesToActor(ctx context.Context, p *parsedActor, domain string) error {
	account := &p.account
	r := &policy.Profile{
		ActorID: account.URI, ActorType: account.ActorType, Host: p.host, Domain: domain, Nickname: account.Nickname, Name: account.DisplayName, Note: account.Note, Fields: account.Fields.V,
		Avatar: account.Avatar, Banner: account.Header,
	}
	for _, e := range account.Emojis.V {
		r.Emoji = append(r.Emoji, policy.Emoji(e))
	}
	if err := a.Policies.Profile(ctx, r); err != nil {
		return err
	}
	account.DisplayName, account.Note, account.Fields.V, account.Avatar, account.Header = r.Name, r.Note, r.Fields, r.Avatar, r.Banner
	account.Emojis.V = make([]store.RemoteEmoji, 0, len(r.Emoji))
	for _, e := range r.Emoji {
		account.Emojis.V = append(account.Emojis.V, store.RemoteEmoji(e))
	}
	return nil
}
