package social

import (
	"context"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Edit is a new version of a status. Audience, parent and author never change.
type Edit struct {
	Content
	MediaIDs     []store.MediaID          // all attachments of the new version
	Descriptions map[store.MediaID]string // of attachments; others stay
	Focuses      map[store.MediaID]Focus  // likewise
	Poll         *PollDraft               // nil: no poll
	Sensitive    bool
	QuotePolicy  *store.QuotePolicy       // nil: unchanged
	Interactions *store.InteractionPolicy // nil: stays
}

// EditStatus stores a new version of a status of actor's and keeps the old one. It notifies newly mentioned accounts and local ones that
// reblogged or quoted the status. An edit without changes makes no version.
func (s *Service) EditStatus(ctx context.Context, actor *store.Account, id store.StatusID, e Edit) (*store.Status, error) {
	was, err := ownStatus(ctx, s.db, actor, id)
	if err != nil {
		return nil, err
	}
	if e.ContentType == "" {
		e.ContentType = was.ContentType
	}
	w, err := s.parseContent(e.Content)
	if err != nil {
		return nil, err
	}
	if err := s.inspectAttachments(ctx, actor.ID, e.MediaIDs); err != nil {
		return nil, err
	}
	before := text.Parse(was.Text, text.ContentType(was.ContentType))
	return update(ctx, s.db, func(tx *store.Tx) (*store.Status, error) {
		st, err := ownStatus(ctx, tx, actor, id)
		if err != nil {
			return nil, err
		}
		if st.Text != was.Text || st.ContentType != was.ContentType { // another edit was faster
			before = text.Parse(st.Text, text.ContentType(st.ContentType))
		}
		return st, s.edit(ctx, tx, actor, st, e, w, before)
	})
}

// ownStatus returns a status of owner's that is not a reblog.
func ownStatus(ctx context.Context, r statusReader, owner *store.Account, id store.StatusID) (*store.Status, error) {
	st, err := r.VisibleStatus(ctx, owner.ID, id)
	if err == nil && (st.AccountID != owner.ID || st.ReblogOfID != nil) {
		err = errs.ErrRecordNotFound
	}
	return st, err
}

// version is a new version of a status before it is stored.
type version struct {
	*Composed
	oldMedia  []*store.Media
	described []*store.Media // attachments whose description or focus changes
	poll      pollEdit
}

// edit stores a new version of st. before is the text of the old one.
func (s *Service) edit(ctx context.Context, tx *store.Tx, author *store.Account, st *store.Status, e Edit, w *parsedContent, before *text.Document) error {
	newPolicy, err := setQuotePolicy(ctx, tx, st, e.QuotePolicy)
	if err != nil {
		return err
	}
	newInteractions, err := setInteractionPolicy(ctx, tx, st, e.Interactions)
	if err != nil {
		return err
	}
	newPolicy = newPolicy || newInteractions
	v, err := s.editedParts(ctx, tx, st, e, w)
	if err != nil {
		return err
	}
	mentioned, err := s.renderStatus(ctx, tx, v.Composed, w)
	if err != nil {
		return err
	}
	if err := s.applyPolicies(ctx, author, v.Composed); err != nil {
		return err
	}
	if err := s.checkEditSize(ctx, v, mentioned); err != nil {
		return err
	}
	if v.sameMedia() && sameContent(st, v.Status) && !v.poll.replaced {
		if !v.poll.changed && !newPolicy {
			return nil
		}
		tx.Emit(store.StatusEdited{Status: st})
		if err := v.poll.save(ctx, tx, st); err != nil {
			return err
		}
		return addEditToOutbox(ctx, tx, st)
	}
	mentions, added, err := s.editedMentions(ctx, tx, st, mentioned, before)
	if err != nil {
		return err
	}
	if err := s.addCard(ctx, tx, v.Composed); err != nil {
		return err
	}
	if err := v.save(ctx, tx, st, store.At(s.db.Now()), mentions); err != nil {
		return err
	}
	return notifyEdit(ctx, tx, st, added)
}

// editedParts returns the new version of st without its rendered text.
func (s *Service) editedParts(ctx context.Context, tx *store.Tx, st *store.Status, e Edit, w *parsedContent) (*version, error) {
	oldMedia, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
	if err != nil {
		return nil, err
	}
	media, err := s.usableMedia(ctx, tx, st.AccountID, e.MediaIDs, st.ID)
	if err != nil {
		return nil, err
	}
	if err := checkNotEmpty(w.Text, w.SpoilerText, media); err != nil {
		return nil, err
	}
	described, err := s.describeAttachments(media, e)
	if err != nil {
		return nil, err
	}
	poll, err := s.newPollEdit(ctx, tx, st, e.Poll)
	if err != nil {
		return nil, err
	}
	next := *st
	w.setOn(&next, st.Language)
	next.Sensitive, next.HasMedia, next.HasPoll = e.Sensitive, len(media) > 0, poll.next != nil
	v := &version{&Composed{Status: &next, Media: media, Poll: poll.next}, oldMedia, described, poll}
	v.Quoted, err = quotedStatus(ctx, tx, st)
	return v, err
}

// sameMedia returns true if attachments and descriptions stay the same.
func (v *version) sameMedia() bool {
	return len(v.described) == 0 && slices.EqualFunc(v.oldMedia, v.Media, func(a, b *store.Media) bool { return a.ID == b.ID })
}

// describeAttachments sets descriptions and focuses of attachments and returns the changed ones.
func (s *Service) describeAttachments(media []*store.Media, e Edit) ([]*store.Media, error) {
	var changed []*store.Media
	for _, m := range media {
		before := *m
		if d, ok := e.Descriptions[m.ID]; ok {
			m.Description = strings.TrimSpace(d)
		}
		if focus, ok := e.Focuses[m.ID]; ok {
			m.FocusX, m.FocusY = focus.X, focus.Y
		}
		if m.Description == before.Description && m.FocusX == before.FocusX && m.FocusY == before.FocusY {
			continue
		}
		if text.Length(m.Description, "") > s.Settings.Load().Media.DescriptionLength {
			return nil, errs.Invalid("The description is over the character limit")
		}
		changed = append(changed, m)
	}
	return changed, nil
}

// editedMentions returns the accounts that the new version mentions, and those that are new. Accounts that the text no longer mentions
// are removed. Accounts addressed without being in the text, such as the parent's author, stay. If recipients were given explicitly, the
// text does not change them (extension API 12.3, 15).
func (s *Service) editedMentions(ctx context.Context, tx *store.Tx, st *store.Status, mentioned []store.AccountID, before *text.Document) (mentions, added []store.AccountID, err error) {
	recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return nil, nil, err
	}
	if st.Addressed {
		for _, r := range recipients {
			if r.Mentioned {
				mentions = append(mentions, r.AccountID)
			}
		}
		return mentions, nil, nil
	}
	_, accounts, err := s.resolveHandles(ctx, tx, before)
	if err != nil {
		return nil, nil, err
	}
	inOldText := make(map[store.AccountID]bool, len(accounts))
	for _, a := range accounts {
		inOldText[a.ID] = true
	}
	addressed := make(map[store.AccountID]bool, len(recipients))
	for _, r := range recipients {
		if !r.Mentioned {
			continue
		}
		addressed[r.AccountID] = true
		if !inOldText[r.AccountID] {
			mentions = append(mentions, r.AccountID)
		}
	}
	for _, id := range mentioned {
		switch {
		case slices.Contains(mentions, id):
		case addressed[id]:
			mentions = append(mentions, id)
		case !inOldText[id]:
			mentions, added = append(mentions, id), append(added, id)
		}
	}
	return mentions, added, nil
}

// save replaces st by its new version and keeps the old one.
func (v *version) save(ctx context.Context, tx *store.Tx, st *store.Status, editedAt store.Time, mentions []store.AccountID) error {
	v.EditedAt = &editedAt
	old := st.AsEdit(v.oldMedia, v.poll.before)
	*st = *v.Status
	if err := v.poll.save(ctx, tx, st); err != nil {
		return err
	}
	if err := tx.AddStatusEdit(ctx, old); err != nil {
		return err
	}
	if err := tx.SaveStatus(ctx, v.Status); err != nil {
		return err
	}
	if err := tx.SetCard(ctx, v.ID, v.CardID); err != nil {
		return err
	}
	if err := tx.SetMentions(ctx, v.Status, mentions); err != nil {
		return err
	}
	if err := tx.SetTags(ctx, v.Status, v.Tags); err != nil {
		return err
	}
	if err := tx.FanOutTags(ctx, v.Status); err != nil {
		return err
	}
	if err := tx.AttachMedia(ctx, v.ID, v.Media); err != nil {
		return err
	}
	for _, m := range v.described {
		if err := tx.DescribeMedia(ctx, m); err != nil {
			return err
		}
	}
	return reindexStatus(ctx, tx, v.ID)
}

// notifyEdit notifies the newly mentioned accounts and local accounts that reblogged or quoted the status, and emits the edit.
func notifyEdit(ctx context.Context, tx *store.Tx, st *store.Status, added []store.AccountID) error {
	if len(added) > 0 && (st.Visibility == store.Direct || st.Visibility == store.ListOnly) {
		if err := tx.FanOut(ctx, st, nil); err != nil { // to new recipients
			return err
		}
		recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
		if err != nil {
			return err
		}
		if err := addToConversations(ctx, tx, st, recipients, added); err != nil {
			return err
		}
	}
	for _, id := range added {
		n := store.Notification{AccountID: id, Type: store.NotifyMention, FromID: st.AccountID}
		if err := notify(ctx, tx, n, st); err != nil {
			return err
		}
	}
	rebloggers, err := tx.LocalRebloggers(ctx, st.ID)
	if err != nil {
		return err
	}
	for _, id := range rebloggers {
		if sees, err := tx.CanSee(ctx, id, st); err != nil {
			return err
		} else if !sees { // its author has made the audience smaller
			continue
		}
		// Only the latest edit has a notification.
		if err := tx.RemoveNotification(ctx, id, store.NotifyUpdate, st.AccountID, &st.ID); err != nil {
			return err
		}
		n := store.Notification{AccountID: id, Type: store.NotifyUpdate, FromID: st.AccountID}
		if err := notify(ctx, tx, n, st); err != nil {
			return err
		}
	}
	if err := notifyQuoters(ctx, tx, st); err != nil {
		return err
	}
	tx.Emit(store.StatusEdited{Status: st})
	return addEditToOutbox(ctx, tx, st)
}

// addEditToOutbox federates an edit.
func addEditToOutbox(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if !st.Federated() {
		return nil
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.StatusUpdated, ActorID: st.AccountID, StatusID: st.ID})
}
