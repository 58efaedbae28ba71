package federation

import (
	"context"
	"strings"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const maxFlagComment = 100_000 // bytes, of which social keeps the beginning

const maxFlagRefs = social.MaxIncomingReportStatuses + 10 // ids, one of them the account's

// handleFlag stores a report. The reported account is among the objects, or else the author of the first status. Some servers name
// statuses in the text only (federation 4.12).
func (r *Receiver) handleFlag(ctx context.Context, in *inbox.Activity) error {
	comment := strings.ToValidUTF8(flagComment(in.Object), "")
	refs := in.Refs("object", maxFlagRefs)
	for _, word := range strings.Fields(comment) {
		if address := strings.Trim(word, "<>()[].,;:!?\"'"); r.local.isLocalURI(address) && len(refs) < maxFlagRefs {
			refs = append(refs, address)
		}
	}
	f := social.IncomingReport{URI: in.URI, Comment: comment}
	var author store.AccountID
	for _, ref := range refs {
		account, err := r.local.localAccount(ctx, ref)
		if err != nil {
			return err
		}
		if account != nil {
			if f.Target == 0 {
				f.Target = account.ID
			}
			continue
		}
		st, err := r.local.localStatus(ctx, ref)
		if err != nil {
			return err
		}
		if id, ok := strings.CutPrefix(ref, r.Settings.BaseURL+"/collections/"); ok {
			f.Collections = append(f.Collections, store.ParseID[store.CollectionID](id))
			continue
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
		return remote.Refuse("report names no local account or status")
	}
	return r.social.ReceiveReport(ctx, in.Actor, f)
}

// flagComment returns the comment of a report, which is plain text unless the report says otherwise: markup in it is part of the text that the
// reporter complains about.
func flagComment(o activity.Object) string {
	comment := o.Text("content")
	if comment == "" {
		comment = o.Text("summary")
	}
	comment = comment[:min(len(comment), maxFlagComment)]
	if kind, _, _ := text.ParseMediaType(o.Text("mediaType")); kind == "text/html" {
		return text.HTMLToText(comment)
	}
	return comment
}
