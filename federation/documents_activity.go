package federation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// buildCreate returns the Create of a status, with its object.
func (d *Documents) buildCreate(st *store.Status, p *documentRows) (activity.Object, error) {
	o, err := d.buildObject(st, p)
	if err != nil {
		return nil, err
	}
	a := jsonMap{
		"id": d.createURI(st), "type": "Create", "actor": o["actor"], "published": o["published"],
		"to": o["to"], "cc": o["cc"], "context": o["context"], "conversation": o["conversation"], "object": jsonMap(o),
	}
	if st.Visibility == store.Direct {
		a["directMessage"] = true
	}
	if o["audience"] != nil {
		a["audience"] = o["audience"]
	}
	return a, nil
}

// buildAnnounce returns the Announce of a reblog. It embeds a private status of the same author (federation 4.8).
func (d *Documents) buildAnnounce(boost *store.Status, p *documentRows) (activity.Object, error) {
	original := p.reblogged(boost)
	if original == nil || !original.Federated() && !d.archive {
		return nil, errs.ErrRecordNotFound
	}
	to, cc, err := d.audienceOf(boost, p)
	if err != nil {
		return nil, err
	}
	a := jsonMap{
		"id": boost.URI, "type": "Announce", "actor": p.accounts[boost.AccountID].URI, "published": boost.CreatedAt.String(),
		"to": stringValues(to), "cc": stringValues(cc), "object": original.URI,
	}
	if by := p.approvals[boost.ID]; by != "" {
		a["announceAuthorization"] = by
	}
	if embedsOriginal(boost, original) {
		object, err := d.buildObject(original, p)
		if err != nil {
			return nil, err
		}
		a["object"] = jsonMap(object)
	}
	return a, nil
}

// outboxItem returns the item of an outbox collection for a status.
func (d *Documents) outboxItem(st *store.Status, p *documentRows) (activity.Object, error) {
	if st.ReblogOfID != nil {
		return d.buildAnnounce(st, p)
	}
	return d.buildCreate(st, p)
}

// likeActivity returns the Like of a local favourite (federation 4.6).
func (d *Documents) likeActivity(ctx context.Context, f *store.Favourite) (activity.Object, error) {
	a, err := d.interactionActivity(ctx, "Like", f.AccountID, f.StatusID, int64(f.ID), f.URI)
	if err != nil {
		return nil, err
	}
	if f.Approval != "" {
		a["likeAuthorization"] = f.Approval
	}
	group, err := d.groupOf(ctx, f.StatusID)
	if group != nil {
		a["audience"], a["cc"] = group.URI, append(a.Values("cc"), group.URI)
	}
	return a, err
}

// groupOf returns the remote group in whose thread a remote status is, nil if there is none or not everybody may read it.
func (d *Documents) groupOf(ctx context.Context, id store.StatusID) (*store.Account, error) {
	st, err := d.db.Status(ctx, id)
	if err != nil || st.Local() || !isPublicOrUnlisted(st.Visibility) {
		return nil, err
	}
	group, err := d.db.GroupOf(ctx, id)
	if group == 0 || err != nil {
		return nil, err
	}
	return d.db.Account(ctx, group)
}

// reactActivity returns the EmojiReact of a local reaction (federation 4.7).
func (d *Documents) reactActivity(ctx context.Context, r *store.Reaction) (activity.Object, error) {
	a, err := d.interactionActivity(ctx, "EmojiReact", r.AccountID, r.StatusID, int64(r.ID), r.URI)
	if err != nil {
		return nil, err
	}
	a["content"] = store.ReactionText(r.Emoji)
	if !store.CustomEmoji(r.Emoji) {
		return a, nil
	}
	switch local := d.emojis.Find(r.Emoji); {
	case local != nil:
		a["tag"] = []any{d.emojiTag(*local)}
	case strings.Contains(r.URL, "://"):
		a["tag"] = []any{newEmojiTag(store.ReactionText(r.Emoji), r.URL)}
	default:
		a["tag"] = []any{newEmojiTag(store.ReactionText(r.Emoji), d.Settings.BaseURL+r.URL)}
	}
	return a, nil
}

// interactionActivity returns an activity about a status, addressed to its author, and to followers and the public if everybody may read
// the status.
func (d *Documents) interactionActivity(ctx context.Context, kind string, actor store.AccountID, statusID store.StatusID, id int64, uri *string) (activity.Object, error) {
	st, err := d.db.Status(ctx, statusID)
	if err != nil {
		return nil, err
	}
	if !st.Federated() {
		return nil, errs.ErrRecordNotFound
	}
	of, err := d.accountsByID(ctx, actor, st.AccountID)
	if err != nil {
		return nil, err
	}
	from, author := of[actor], of[st.AccountID]
	to, cc := []string{author.URI}, []string{}
	if isPublicOrUnlisted(st.Visibility) {
		to, cc = append(to, d.followersURI(from)), append(cc, activity.Public)
	}
	a := jsonMap{"id": d.activityURI(id), "type": kind, "actor": from.URI, "object": st.URI, "to": stringValues(to), "cc": stringValues(cc)}
	if uri != nil {
		a["id"] = *uri
	}
	return a, nil
}

// followActivity returns the Follow of a local account (federation 4.10).
func (d *Documents) followActivity(ctx context.Context, f *store.Follow) (activity.Object, error) {
	of, err := d.accountsByID(ctx, f.FollowerID, f.TargetID)
	if err != nil {
		return nil, err
	}
	target := of[f.TargetID].URI
	a := jsonMap{
		"id": d.activityURI(int64(f.ID)), "type": "Follow", "actor": of[f.FollowerID].URI, "object": target,
		"to": []any{target}, "cc": []any{},
	}
	if f.URI != nil {
		a["id"] = *f.URI
	}
	return a, nil
}

var errNotLocal = errors.New("not a local account")

// accountsByID returns accounts by id. The first has to be local.
func (d *Documents) accountsByID(ctx context.Context, ids ...store.AccountID) (map[store.AccountID]*store.Account, error) {
	rows, err := d.db.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := make(map[store.AccountID]*store.Account, len(rows))
	for _, a := range rows {
		of[a.ID] = a
	}
	for i, id := range ids {
		switch a := of[id]; {
		case a == nil:
			return nil, errs.ErrRecordNotFound
		case i == 0 && !a.Local():
			return nil, fmt.Errorf("activity of %s: %w", a.URI, errNotLocal)
		}
	}
	return of, nil
}
