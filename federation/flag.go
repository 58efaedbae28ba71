package federation

import (
	"context"
	"strings"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const maxFlagRefs = social.MaxIncomingReportStatuses + 10 // ids that are looked at: among them is the account

// handleFlag reports somebody here to the staff. Who is reported is the account among what it is about, or else the author of the first post.
// Some servers name posts in the text only (federation 4.12).
func (s *Service) handleFlag(ctx context.Context, in *inbox.Activity) error {
	comment := text.HTMLToText(flagComment(in.Object))
	refs := in.Refs("object", maxFlagRefs)
	for _, word := range strings.Fields(comment) {
		if address := strings.Trim(word, "<>()[].,;:!?\"'"); s.isLocalURI(address) && len(refs) < maxFlagRefs {
			refs = append(refs, address)
		}
	}
	f := social.IncomingReport{URI: in.URI, Comment: comment}
	var author store.AccountID
	for _, ref := range refs {
		account, err := s.localAccount(ctx, ref)
		if err != nil {
			return err
		}
		if account != nil {
			if f.Target == 0 {
				f.Target = account.ID
			}
			continue
		}
		st, err := s.localStatus(ctx, ref)
		if err != nil {
			return err
		}
		if st != nil {
			f.Statuses = append(f.Statuses, st.ID)
			if author == 0 {
				author = st.AccountID
			}
		}
	}
	if f.Target == 0 {
		f.Target = author
	}
	if f.Target == 0 {
		return Refuse("it is about nobody here")
	}
	return s.social.ReceiveReport(ctx, in.Actor, f)
}

// flagComment returns what a report says, as HTML.
func flagComment(o activity.Object) string {
	if content := o.Text("content"); content != "" {
		return content
	}
	return o.Text("summary")
}

// localStatus returns the post of this server that an address names, the one for people included; nil if it names none.
func (s *Service) localStatus(ctx context.Context, address string) (*store.Status, error) {
	if !s.isLocalURI(address) {
		return nil, nil
	}
	st, err := s.db.StatusByURI(ctx, address)
	if st != nil || err != nil {
		return st, err
	}
	address, _, _ = strings.Cut(address, "?")
	var id store.StatusID
	id.UnmarshalText([]byte(address[strings.LastIndexByte(address, '/')+1:]))
	if id == 0 {
		return nil, nil
	}
	if st, err = s.db.Status(ctx, id); err != nil || !st.Local() {
		return nil, ignoreNotFound(err)
	}
	return st, nil
}
