package federation

import (
	"context"
	"slices"

	"svc/federation/policy"
	"svc/social"
	"svc/store"
)

// reviewNote has a post from elsewhere pass the policies, which may change it, whether it was sent or fetched. verb is Create or Update.
func (s *Service) reviewNote(ctx context.Context, author *store.Account, n *note, verb string) error {
	p := &policy.Post{
		Version: policy.Version{
			Spoiler: n.SpoilerText, Content: n.Content, Sensitive: n.Sensitive, Tags: n.Tags,
			Attachments: make([]policy.Attachment, len(n.Media)), Emoji: make([]policy.Emoji, len(n.Emojis)),
		},
		Author: author, ActorID: author.URI, Host: s.hostOf(author), ID: n.URI, ActivityType: verb, ObjectType: n.kind,
		Visibility: n.Visibility, PublishedAt: n.Published,
	}
	for i, m := range n.Media {
		p.Attachments[i] = policy.Attachment{Index: i, URL: m.RemoteURL, MediaType: m.Mime}
		p.Words = append(p.Words, m.Description)
	}
	for i, e := range n.Emojis {
		p.Emoji[i] = policy.Emoji(e)
	}
	if n.Poll != nil {
		p.Words = append(p.Words, n.Poll.Titles()...)
	}
	if err := s.reviewedPeople(ctx, n, p); err != nil {
		return err
	}
	if err := s.Policies.Post(ctx, p); err != nil {
		return err
	}
	n.Content, n.SpoilerText, n.Sensitive, n.Visibility, n.NoFollowers = p.Content, p.Spoiler, p.Sensitive, p.Visibility, p.NoFollowers
	if len(p.Attachments) < len(n.Media) {
		kept := make([]*store.Media, len(p.Attachments))
		for i, a := range p.Attachments {
			kept[i] = n.Media[a.Index]
		}
		n.Media = kept
	}
	n.Emojis = keptEmojis(n.Emojis, p)
	for _, r := range p.Recipients {
		if r.Mentioned && !slices.Contains(n.Mentions, r.ID) {
			n.Mentions = append(n.Mentions, r.ID)
		}
	}
	return nil
}

// keptEmojis returns those custom emoji that the policies have left.
func keptEmojis(list []store.RemoteEmoji, p *policy.Post) []store.RemoteEmoji {
	if len(p.Emoji) == len(list) {
		return list
	}
	return slices.DeleteFunc(list, func(e store.RemoteEmoji) bool { return !slices.Contains(p.Emoji, policy.Emoji(e)) })
}

// reviewMessage has a message of a chat from elsewhere pass the policies, as a post for one person.
func (s *Service) reviewMessage(ctx context.Context, from, to *store.Account, m *social.IncomingMessage) error {
	p := messagePost(from, to, m.Content, m.Attachment)
	p.Host, p.ID, p.PublishedAt = s.hostOf(from), m.URI, m.CreatedAt
	if m.Attachment != nil {
		p.Attachments[0].URL = m.Attachment.RemoteURL
	}
	for _, e := range m.Emojis {
		p.Emoji = append(p.Emoji, policy.Emoji(e))
	}
	if err := s.Policies.Post(ctx, p); err != nil {
		return err
	}
	m.Content, m.Emojis = p.Content, keptEmojis(m.Emojis, p)
	if len(p.Attachments) == 0 {
		m.Attachment = nil
	}
	return nil
}

// messagePost makes of a message of a chat what the policies know. Its one attachment has no address yet.
func messagePost(from, to *store.Account, content string, attachment *store.Media) *policy.Post {
	p := &policy.Post{
		Version: policy.Version{Content: content}, Author: from, ActorID: from.URI, ActivityType: "Create", ObjectType: "ChatMessage",
		Visibility: store.Direct, Recipients: []policy.Recipient{{ID: to.URI, Account: to}},
	}
	if attachment != nil {
		p.Attachments = []policy.Attachment{{MediaType: attachment.Mime}}
		p.Words = []string{attachment.Description}
	}
	return p
}

// reviewedPeople tells the policies with whom and what a post has to do. What takes reading is read if a policy looks at it.
func (s *Service) reviewedPeople(ctx context.Context, n *note, p *policy.Post) error {
	for _, uri := range n.Audience {
		p.Recipients = append(p.Recipients, policy.Recipient{ID: uri, Mentioned: slices.Contains(n.Mentions, uri)})
	}
	if n.Parent != "" {
		p.Parent = &policy.Related{ID: n.Parent}
	}
	if n.Quote != "" && !n.RE { // else the link to it is put back where the quote is not shown
		p.Quote = &policy.Related{ID: n.Quote}
	}
	if !s.Policies.NeedsPeople() {
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
		if err := s.readRelated(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// readRelated reads what is known of a post that another one has to do with.
func (s *Service) readRelated(ctx context.Context, r *policy.Related) error {
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

// reviewDeed has an activity that brings no post of its own pass the policies, which may narrow for whom a boost is.
func (s *Service) reviewDeed(ctx context.Context, in *incoming) error {
	d := &policy.Deed{
		Type: in.verb, Actor: in.actor, ActorID: in.actor.URI, Host: s.hostOf(in.actor), ObjectIDs: in.Refs("object", maxAddressed),
	}
	if o := in.Object.Object("object"); o != nil {
		d.Inner = o.Type()
	}
	switch in.verb {
	case "Create", "Update":
		if o := in.Object.Object("object"); o == nil || o.Is("ChatMessage") || o.Is(noteTypes...) && !isVote(o) {
			return nil // it passes as a post
		}
	case "Flag":
		d.Content = complaint(in.Object)
	case "Announce":
		d.Visibility = boostVisibility(in.Object)
	case "EmojiReact", "Like":
		if tags := s.emojisIn(in.Object); len(tags) > 0 {
			d.Emoji = &policy.Emoji{Shortcode: tags[0].Shortcode, URL: tags[0].URL}
		}
	case "Follow":
		target, err := s.db.AccountsByURI(ctx, d.ObjectIDs[:min(len(d.ObjectIDs), 1)])
		if err != nil {
			return err
		}
		d.Target = target[in.Ref("object")]
	}
	if err := s.Policies.Deed(ctx, d); err != nil {
		return err
	}
	in.boost = d.Visibility
	return nil
}
