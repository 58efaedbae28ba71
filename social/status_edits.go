package social

import (
	"context"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Edit is a new version of a status. Whom it is for, what it replies to and who wrote it never change.
type Edit struct {
	Text         string
	SpoilerText  string
	ContentType  string                   // "": as it was
	MediaIDs     []store.MediaID          // all attachments that it is to have
	Descriptions map[store.MediaID]string // of attachments; who is not here keeps theirs
	Poll         *PollDraft               // nil: it is to have none
	Sensitive    bool
	Language     string // "": as it was
}

// EditStatus gives a status of actor's a new version, and keeps the old one. Those mentioned newly are told, and so are the local
// people who boosted it. An edit that changes nothing makes no version.
func (s *Service) EditStatus(ctx context.Context, actor *store.Account, id store.StatusID, e Edit) (*store.Status, error) {
	was, err := ownStatus(ctx, s.db, actor, id)
	if err != nil {
		return nil, err
	}
	if e.ContentType == "" {
		e.ContentType = was.ContentType
	}
	w, err := s.parseText(e.Text, e.SpoilerText, e.ContentType)
	if err != nil {
		return nil, err
	}
	if err := s.inspectAttachments(ctx, actor.ID, e.MediaIDs); err != nil {
		return nil, err
	}
	before := text.Parse(was.Text, text.ContentType(was.ContentType))
	var st *store.Status
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if st, err = ownStatus(ctx, tx, actor, id); err != nil {
			return err
		}
		if st.Text != was.Text || st.ContentType != was.ContentType { // another edit came in between
			before = text.Parse(st.Text, text.ContentType(st.ContentType))
		}
		return s.edit(ctx, tx, actor, st, e, w, before)
	})
	return st, err
}

// ownStatus returns a status of owner's that is no boost.
func ownStatus(ctx context.Context, r statusReader, owner *store.Account, id store.StatusID) (*store.Status, error) {
	st, err := r.VisibleStatus(ctx, owner.ID, id)
	if err == nil && (st.AccountID != owner.ID || st.ReblogOfID != nil) {
		err = errs.ErrRecordNotFound
	}
	return st, err
}

// edit makes st, which is author's, its new version. before is its text as it was.
func (s *Service) edit(ctx context.Context, tx *store.Tx, author *store.Account, st *store.Status, e Edit, w *statusText, before *text.Document) error {
	had, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
	if err != nil {
		return err
	}
	media, err := s.usableMedia(ctx, tx, st.AccountID, e.MediaIDs, st.ID)
	if err != nil {
		return err
	}
	if err := checkNotEmpty(w.text, w.spoilerText, media); err != nil {
		return err
	}
	described, err := s.updateDescriptions(media, e.Descriptions)
	if err != nil {
		return err
	}
	next := *st
	next.Text, next.SpoilerText, next.ContentType = w.text, w.spoilerText, w.contentType
	next.Sensitive, next.HasMedia = e.Sensitive, len(media) > 0
	if language := text.Language(e.Language); language != "" {
		next.Language = language
	}
	poll, err := s.newPollEdit(ctx, tx, st, e.Poll)
	if err != nil {
		return err
	}
	next.HasPoll = poll.next != nil
	c := &Composed{Status: &next, Media: media, Poll: poll.next}
	if c.Quoted, err = quotedStatus(ctx, tx, st); err != nil {
		return err
	}
	mentioned, err := s.renderStatus(ctx, tx, c, w)
	if err != nil {
		return err
	}
	if err := s.applyPolicies(ctx, author, c); err != nil {
		return err
	}
	media = c.Media
	sameMedia := slices.EqualFunc(had, media, func(a, b *store.Media) bool { return a.ID == b.ID })
	if sameMedia && len(described) == 0 && sameText(st, &next) && !poll.replaced {
		if !poll.changed {
			return nil
		}
		tx.Emit(store.StatusEdited{Status: st})
		if err := poll.save(ctx, tx, st); err != nil {
			return err
		}
		return addEditToOutbox(ctx, tx, st)
	}
	people, added, err := s.editedMentions(ctx, tx, st, mentioned, before)
	if err != nil {
		return err
	}
	if err := s.addCard(ctx, tx, c); err != nil {
		return err
	}
	now := store.At(s.db.Now())
	next.EditedAt = &now
	version := st.AsEdit(had, poll.before)
	*st = next
	if err := poll.save(ctx, tx, st); err != nil {
		return err
	}
	if err := saveEdit(ctx, tx, c, version, people, described); err != nil {
		return err
	}
	return notifyEdit(ctx, tx, st, added)
}

// sameText tells whether two versions of a status are alike in what their author chose.
func sameText(a, b *store.Status) bool {
	return a.Text == b.Text && a.SpoilerText == b.SpoilerText && a.ContentType == b.ContentType &&
		a.Sensitive == b.Sensitive && a.Language == b.Language
}

// updateDescriptions sets descriptions of attachments, and returns those attachments that had another one.
func (s *Service) updateDescriptions(media []*store.Media, descriptions map[store.MediaID]string) ([]*store.Media, error) {
	var changed []*store.Media
	for _, m := range media {
		d, ok := descriptions[m.ID]
		if d = strings.TrimSpace(d); !ok || d == m.Description {
			continue
		}
		if text.Length(d, "") > s.MaxDescription {
			return nil, errs.Invalid("The description is over the character limit")
		}
		m.Description = d
		changed = append(changed, m)
	}
	return changed, nil
}

// editedMentions returns whom an edited status mentions, and who of them is new. Who was named in the text and is no longer, is
// mentioned no longer. Who was addressed without being named, such as the author of what it replies to, stays so, and so does who
// was named without being addressed. Where the text did not say whom the status is for, it does not say so now (extension API 12.3, 15).
func (s *Service) editedMentions(ctx context.Context, tx *store.Tx, st *store.Status, mentioned []store.AccountID, before *text.Document) (people, added []store.AccountID, err error) {
	recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return nil, nil, err
	}
	if st.Addressed {
		for _, r := range recipients {
			if r.Mentioned {
				people = append(people, r.AccountID)
			}
		}
		return people, nil, nil
	}
	_, accounts, err := s.resolveHandles(ctx, tx, before)
	if err != nil {
		return nil, nil, err
	}
	named := make(map[store.AccountID]bool, len(accounts))
	for _, a := range accounts {
		named[a.ID] = true
	}
	addressed := make(map[store.AccountID]bool, len(recipients))
	for _, r := range recipients {
		if !r.Mentioned {
			continue
		}
		addressed[r.AccountID] = true
		if !named[r.AccountID] {
			people = append(people, r.AccountID)
		}
	}
	for _, id := range mentioned {
		switch {
		case slices.Contains(people, id):
		case addressed[id]:
			people = append(people, id)
		case !named[id]:
			people, added = append(people, id), append(added, id)
		}
	}
	return people, added, nil
}

// saveEdit stores a new version and all that belongs to it.
func saveEdit(ctx context.Context, tx *store.Tx, c *Composed, old *store.StatusEdit, people []store.AccountID, described []*store.Media) error {
	if err := tx.AddStatusEdit(ctx, old); err != nil {
		return err
	}
	if err := tx.SaveStatus(ctx, c.Status); err != nil {
		return err
	}
	if err := tx.SetCard(ctx, c.Status.ID, c.CardID); err != nil {
		return err
	}
	if err := tx.SetMentions(ctx, c.Status, people); err != nil {
		return err
	}
	if err := tx.SetTags(ctx, c.Status.ID, c.Tags); err != nil {
		return err
	}
	if err := tx.FanOutTags(ctx, c.Status); err != nil {
		return err
	}
	if err := tx.AttachMedia(ctx, c.Status.ID, c.Media); err != nil {
		return err
	}
	for _, m := range described {
		if err := tx.DescribeMedia(ctx, m); err != nil {
			return err
		}
	}
	return reindexStatus(ctx, tx, c.ID)
}

// notifyEdit tells the newly mentioned, the local people who boosted the status, and the open streams.
func notifyEdit(ctx context.Context, tx *store.Tx, st *store.Status, added []store.AccountID) error {
	if len(added) > 0 && (st.Visibility == store.Direct || st.Visibility == store.ListOnly) {
		if err := tx.FanOut(ctx, st, nil); err != nil { // to who is addressed now
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
	boosters, err := tx.LocalRebloggers(ctx, st.ID)
	if err != nil {
		return err
	}
	for _, id := range boosters {
		// Only the latest edit is told of.
		if err := tx.RemoveNotification(ctx, id, store.NotifyUpdate, st.AccountID, &st.ID); err != nil {
			return err
		}
		n := store.Notification{AccountID: id, Type: store.NotifyUpdate, FromID: st.AccountID}
		if err := notify(ctx, tx, n, st); err != nil {
			return err
		}
	}
	tx.Emit(store.StatusEdited{Status: st})
	return addEditToOutbox(ctx, tx, st)
}

// addEditToOutbox has other servers told that a status is another now.
func addEditToOutbox(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if !st.Visibility.Federated() {
		return nil
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.StatusUpdated, ActorID: st.AccountID, StatusID: st.ID})
}
