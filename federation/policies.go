package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/policy"
	"svc/social"
	"svc/store"
)

// applyPoliciesToMessage passes a remote chat message through the policies, as a post for one recipient.
func (r *Receiver) applyPoliciesToMessage(ctx context.Context, from, to *store.Account, m *social.IncomingChatMessage) error {
	p := policy.ChatMessage(from, to, m.Content, m.Attachment)
	p.Host, p.ID, p.PublishedAt = r.reader.HostOf(from), m.URI, m.CreatedAt
	if m.Attachment != nil {
		p.Attachments[0].URL = m.Attachment.RemoteURL
	}
	for _, e := range m.Emojis {
		p.Emoji = append(p.Emoji, policy.Emoji(e))
	}
	if err := r.Policies.Post(ctx, p); err != nil {
		return err
	}
	if err := p.EnqueueJobs(ctx, r.db); err != nil {
		return err
	}
	m.Content, m.Emojis = p.Content, remote.AllowedEmojis(m.Emojis, p)
	if len(p.Attachments) == 0 {
		m.Attachment = nil
	}
	return nil
}

// applyPoliciesToActivity passes an activity without a post through the policies, which may narrow the visibility of a reblog.
func (r *Receiver) applyPoliciesToActivity(ctx context.Context, in *inbox.Activity) error {
	o := in.Object.Object("object")
	if in.Type == "Create" || in.Type == "Update" {
		if o == nil || o.Is("ChatMessage") || o.Is(remote.NoteTypes...) && !remote.IsVote(o) {
			return nil // Statuses.ApplyPolicies or applyPoliciesToMessage decides
		}
	}
	d := &policy.Activity{
		Type: in.Type, Actor: in.Actor, ActorID: in.Actor.URI, Host: r.reader.HostOf(in.Actor), ObjectIDs: in.Refs("object", remote.MaxAddressees),
		InnerType: o.Type(),
	}
	switch in.Type {
	case "Flag":
		d.Content = flagComment(in.Object)
	case "Announce":
		d.Visibility = boostVisibility(in.Object)
	case "EmojiReact", "Like":
		if tags := r.reader.ParseEmojis(in.Object); len(tags) > 0 {
			d.Emoji = &policy.Emoji{Shortcode: tags[0].Shortcode, URL: tags[0].URL}
		}
	case "Follow":
		target, err := r.db.AccountsByURI(ctx, d.ObjectIDs[:min(len(d.ObjectIDs), 1)])
		if err != nil {
			return err
		}
		d.Target = target[in.Ref("object")]
	}
	if err := r.Policies.Activity(ctx, d); err != nil {
		return err
	}
	in.Visibility = d.Visibility
	return nil
}
