package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// ErrUnsupportedVisibility is returned for an audience that staff cannot give a post.
var ErrUnsupportedVisibility = errs.BadRequest("Unsupported visibility")

// Moderation is what staff change of a status; nil: unchanged.
type Moderation struct {
	Sensitive  *bool
	Visibility *store.Visibility // public, unlisted or private; of posts that have one of these
}

// ModerateStatusIn changes a status on behalf of staff, and federates the change of a local one. A change of Sensitive is a new version of a
// local status. Staff cannot give posts to a larger audience than followers that were addressed to recipients or to this server only. It returns
// false if nothing changed.
func (s *Service) ModerateStatusIn(ctx context.Context, tx *store.Tx, st *store.Status, m Moderation) (changed bool, err error) {
	if v := m.Visibility; v != nil && *v != st.Visibility && (!moderable(*v) || !moderable(st.Visibility)) {
		return false, ErrUnsupportedVisibility
	}
	if m.Sensitive != nil && *m.Sensitive != st.Sensitive {
		if err := s.setSensitive(ctx, tx, st, *m.Sensitive); err != nil {
			return false, err
		}
		changed = true
	}
	if m.Visibility != nil && *m.Visibility != st.Visibility {
		if err := tx.SetVisibility(ctx, st, *m.Visibility); err != nil {
			return false, err
		}
		if err := tx.ForgetLimit(ctx, st.ID); err != nil {
			return false, err
		}
		if err := tx.FanOutTags(ctx, st); err != nil {
			return false, err
		}
		changed = true
	}
	if !changed {
		return false, nil
	}
	if err := reindexStatus(ctx, tx, st.ID); err != nil {
		return false, err
	}
	tx.Emit(store.StatusEdited{Status: st})
	if !st.Local() {
		return true, nil
	}
	return true, addEditToOutbox(ctx, tx, st)
}

// LimitStatusIn gives a post of another server an audience up to v because of a block of its host, or its former one if that is not larger.
func (s *Service) LimitStatusIn(ctx context.Context, tx *store.Tx, st *store.Status, v store.Visibility) error {
	changed, err := tx.LimitStatus(ctx, st, v)
	if err != nil || !changed {
		return err
	}
	return reindexStatus(ctx, tx, st.ID)
}

// moderable returns true for the visibilities between which staff can change.
func moderable(v store.Visibility) bool {
	return v == store.Public || v == store.Unlisted || v == store.Private
}

func (s *Service) setSensitive(ctx context.Context, tx *store.Tx, st *store.Status, sensitive bool) error {
	if st.Local() {
		media, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
		if err != nil {
			return err
		}
		var poll *store.Poll
		if st.HasPoll {
			if poll, err = tx.PollOf(ctx, st.ID); err != nil {
				return err
			}
		}
		if err := tx.AddStatusEdit(ctx, st.AsEdit(media, poll)); err != nil {
			return err
		}
		st.EditedAt = new(store.At(s.db.Now()))
	}
	st.Sensitive = sensitive
	return tx.SaveStatus(ctx, st)
}

// DeleteStatusIn deletes a status of any account with its media, on behalf of staff. The deletion of a local one is federated.
func (s *Service) DeleteStatusIn(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if st.ReblogOfID == nil {
		if err := tx.DeleteMediaOf(ctx, st.ID); err != nil {
			return err
		}
	}
	return deleteStatus(ctx, tx, st)
}

// DeleteMessageIn deletes a chat message for both sides, on behalf of staff. The deletion of a local author's message is federated.
func (s *Service) DeleteMessageIn(ctx context.Context, tx *store.Tx, m *store.ChatMessage) error {
	entry := store.OutboxEntry{Type: store.ChatMessageDeleted, ActorID: m.AccountID, TargetID: m.RecipientID, RowID: int64(m.ID), URI: m.URI}
	if err := tx.AddToOutbox(ctx, entry); err != nil {
		return err
	}
	return tx.DeleteChatMessage(ctx, m)
}
