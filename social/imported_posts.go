package social

import (
	"context"
	"errors"
	"html"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/media"
	"svc/store"
)

// ImportedPost is a post of an archive, with sanitized HTML. It becomes a local status that is never federated.
type ImportedPost struct {
	URI         string // of the original
	URL         string // its page
	Published   time.Time
	Updated     time.Time        // zero: never edited
	Visibility  store.Visibility // public, unlisted, or direct: for the author alone
	Content     string           // HTML
	Text        string           // as typed
	ContentType string           // of Text
	SpoilerText string
	Language    string
	Sensitive   bool
	Tags        []string
	Media       []ImportedFile
	Poll        *store.Poll
	Versions    []ImportedVersion // earlier ones, oldest first
	Pinned      bool
	Emojis      []store.RemoteEmoji // custom ones, at their addresses on the old server

	ParentURI   string // "": not a reply
	ParentIsOwn bool   // the archive has the parent, too: it may come later
}

// ImportedFile is an attachment of an imported post.
type ImportedFile struct {
	File        *media.File // stored already; the caller releases it
	Description string
	Focus       Focus
}

// ImportedVersion is an earlier version of an imported post.
type ImportedVersion struct {
	At          time.Time // since when it was current
	Content     string    // sanitized HTML
	Text        string
	ContentType string
	SpoilerText string
	Sensitive   bool
	PollOptions []string
}

// ImportedBatch is a part of an archive.
type ImportedBatch struct {
	Posts    []ImportedPost
	Skipped  []store.ArchiveSkip // Item and Reason
	Position int                 // entries of the outbox that are processed with it
}

// ErrArchiveStopped is returned when the import of an archive was undone meanwhile.
var ErrArchiveStopped = errors.New("the import of the archive was stopped")

// ErrInactiveImport is returned when the account was deactivated or deleted meanwhile: posts that came after its deletion would stay forever.
var ErrInactiveImport = errs.Forbidden("The account is not active")

// ImportPosts stores a part of an archive and the position in it, all at once. A post that the account has already is left out, so that
// nothing is stored twice. Nothing is federated, notified, sent to streams, or put into home timelines.
func (s *Service) ImportPosts(ctx context.Context, id store.ArchiveID, b ImportedBatch) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := tx.Archive(ctx, id)
		if err != nil {
			return err
		}
		if a.State != store.ArchiveQueued {
			return ErrArchiveStopped
		}
		account, err := tx.Account(ctx, a.AccountID)
		if err != nil {
			return err
		}
		if account.Unavailable {
			return ErrInactiveImport
		}
		for _, p := range b.Posts {
			added, err := s.importPost(ctx, tx, account, a, p)
			if refusal := (*errs.Error)(nil); errors.As(err, &refusal) {
				b.Skipped = append(b.Skipped, store.ArchiveSkip{Item: p.URI, Reason: refusal.Message})
				continue
			}
			if err != nil {
				return err
			}
			if added {
				a.Imported++
				a.Files += len(p.Media)
			}
		}
		for _, skip := range b.Skipped {
			a.Skipped++
			if err := tx.AddArchiveSkip(ctx, id, skip.Item, skip.Reason); err != nil {
				return err
			}
		}
		a.Position = b.Position
		return tx.SaveArchive(ctx, a)
	})
}

// SkipImported lists what of an archive could not be imported beside its posts.
func (s *Service) SkipImported(ctx context.Context, id store.ArchiveID, item, reason string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := tx.Archive(ctx, id)
		if err != nil {
			return err
		}
		a.Skipped++
		if err := tx.AddArchiveSkip(ctx, id, item, reason); err != nil {
			return err
		}
		return tx.SaveArchive(ctx, a)
	})
}

// importPost stores a post, or returns false if the account has it already. An errs.Error is returned before anything is stored.
func (s *Service) importPost(ctx context.Context, tx *store.Tx, account *store.Account, a *store.Archive, p ImportedPost) (added bool, err error) {
	known, err := tx.KnownOriginals(ctx, account.ID, []string{p.URI, p.ParentURI})
	if err != nil || known[p.URI] != 0 {
		return false, err
	}
	p.Content, p.Versions = text.LocalHashtags(p.Content, s.Settings.BaseURL, p.Tags), slices.Clone(p.Versions)
	for i, v := range p.Versions {
		p.Versions[i].Content = text.LocalHashtags(v.Content, s.Settings.BaseURL, p.Tags)
	}
	id, err := tx.NewStatusIDAt(ctx, p.Published)
	if err != nil {
		return false, err
	}
	st := &store.Status{
		ID: id, AccountID: account.ID, Domain: account.Domain, Visibility: p.Visibility, ConversationID: store.ConversationID(id),
		URI: store.NewObjectURI(s.Settings.BaseURL, id), URL: account.URL + "/" + id.String(),
		CreatedAt: store.At(p.Published), Content: p.Content, Text: p.Text, ContentType: p.ContentType, SpoilerText: p.SpoilerText,
		Language: p.Language, Sensitive: p.Sensitive, HasMedia: len(p.Media) > 0, HasPoll: p.Poll != nil,
		Addressed: true, Unfederated: true, Emojis: store.JSON[[]store.RemoteEmoji]{V: p.Emojis},
	}
	if p.Updated.After(p.Published) {
		st.EditedAt = new(store.At(p.Updated))
	}
	c := &Composed{Status: st, Tags: p.Tags, Poll: p.Poll}
	if c.Parent, err = importedParent(ctx, tx, account, p, known[p.ParentURI]); err != nil {
		return false, err
	}
	switch {
	case c.Parent != nil:
		st.InReplyToID, st.InReplyToAccountID, st.ConversationID = &c.Parent.ID, &c.Parent.AccountID, c.Parent.ConversationID
	case p.ParentURI != "" && !p.ParentIsOwn:
		st.Content = parentLink(p.ParentURI) + st.Content
	}
	for _, f := range p.Media {
		m := newMedia(account, f.File)
		m.StatusID, m.Position, m.Description, m.FocusX, m.FocusY = &st.ID, len(c.Media), f.Description, f.Focus.X, f.Focus.Y
		c.Media = append(c.Media, m)
	}
	if err := s.checkStatusSize(ctx, c); err != nil {
		return false, err
	}
	return true, addImportedPost(ctx, tx, a, p, c)
}

// importedParent returns the status that an imported post replies to, nil if it is unknown or the account may not see it.
func importedParent(ctx context.Context, tx *store.Tx, account *store.Account, p ImportedPost, own store.StatusID) (*store.Status, error) {
	if own != 0 {
		return tx.Status(ctx, own)
	}
	if p.ParentURI == "" {
		return nil, nil
	}
	parent, err := tx.StatusByURI(ctx, p.ParentURI)
	if parent == nil || err != nil || parent.ReblogOfID != nil {
		return nil, err
	}
	if sees, err := tx.CanSee(ctx, account.ID, parent); !sees || err != nil {
		return nil, err
	}
	return parent, nil
}

// parentLink returns the line above a reply whose parent is unknown.
func parentLink(uri string) string {
	return text.Sanitize(`<p>↪ <a href="` + html.EscapeString(uri) + `">` + html.EscapeString(uri) + `</a></p>`)
}

// addImportedPost stores the rows of an imported post.
func addImportedPost(ctx context.Context, tx *store.Tx, a *store.Archive, p ImportedPost, c *Composed) error {
	st := c.Status
	if err := tx.AddStatus(ctx, st); err != nil {
		return err
	}
	origin := &store.ImportedStatus{StatusID: st.ID, AccountID: st.AccountID, ArchiveID: a.ID, OriginalURI: p.URI, OriginalURL: p.URL}
	if err := tx.AddImportedStatus(ctx, origin); err != nil {
		return err
	}
	if err := addRecipientsAndTags(ctx, tx, c); err != nil {
		return err
	}
	for i, m := range c.Media {
		if err := addUpload(ctx, tx, m, p.Media[i].File); err != nil {
			return err
		}
	}
	if c.Poll != nil {
		c.Poll.StatusID = st.ID
		if err := tx.AddPoll(ctx, c.Poll); err != nil {
			return err
		}
	}
	for _, v := range p.Versions {
		edit := &store.StatusEdit{
			StatusID: st.ID, CreatedAt: store.At(v.At), Sensitive: v.Sensitive, SpoilerText: v.SpoilerText, Text: v.Text, Content: v.Content, ContentType: v.ContentType,
		}
		edit.Media.V, edit.Poll.V = []store.MediaVersion{}, slices.Concat([]string{}, v.PollOptions)
		if err := tx.AddStatusEdit(ctx, edit); err != nil {
			return err
		}
	}
	if p.Pinned {
		if _, err := addPin(ctx, tx, st, maxRemotePins, errTooManyPins); err != nil && !errors.Is(err, errTooManyPins) {
			return err
		}
	}
	indexStatus(tx, c)
	if c.Parent == nil && p.ParentURI != "" {
		if err := tx.SaveRemoteStatus(ctx, &store.RemoteStatus{StatusID: st.ID, ParentURI: p.ParentURI}); err != nil {
			return err
		}
	}
	return linkImportedReplies(ctx, tx, p.URI, st)
}

// errTooManyPins leaves an imported post unpinned.
var errTooManyPins = errs.Invalid("No more statuses can be pinned")

// linkImportedReplies links imported replies of the account with their parent, which came later.
func linkImportedReplies(ctx context.Context, tx *store.Tx, uri string, st *store.Status) error {
	ids, err := tx.RepliesToUnknown(ctx, uri, maxWaitingStatuses)
	if err != nil {
		return err
	}
	for _, id := range ids {
		reply, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		if reply.AccountID != st.AccountID || reply.ID == st.ID {
			continue // others reply to the original
		}
		if above, err := tx.IsAncestor(ctx, id, st.ID); err != nil {
			return err
		} else if above {
			continue
		}
		if err := tx.LinkReply(ctx, reply, st); err != nil {
			return err
		}
		if err := tx.MergeThreads(ctx, reply.ConversationID, st.ConversationID); err != nil {
			return err
		}
	}
	return nil
}
