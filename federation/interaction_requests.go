package federation

import (
	"context"
	"net/http"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// Interaction policies of local statuses, requests to interact with them, and authorizations (the extension of GoToSocial).

// interactionKind has the names of an interaction in documents.
type interactionKind struct{ rule, request, authorization string }

var interactionKinds = map[store.Interaction]interactionKind{
	store.Favouriting: {"canLike", "LikeRequest", "LikeAuthorization"},
	store.Replying:    {"canReply", "ReplyRequest", "ReplyAuthorization"},
	store.Reblogging:  {"canAnnounce", "AnnounceRequest", "AnnounceAuthorization"},
}

// handleInteractionRequest handles a request to favourite, answer or boost a local status. Its instrument is the interaction.
func (r *Receiver) handleInteractionRequest(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	instrument, visibility := in.Ref("instrument"), store.Private
	if !activity.SameHost(instrument, in.Actor.URI, r.Settings.AllowLoopback) {
		return remote.Refuse("interaction is on another host than the actor")
	}
	st, err := r.local.statusIDByURI(ctx, ref)
	if err != nil || st == 0 {
		return err
	}
	if in.Type == "LikeRequest" {
		_, err = r.social.ReceiveFavourite(ctx, in.Actor, st, instrument, in.URI)
		return err
	}
	inner, err := r.requestedInteraction(ctx, in, st)
	if err != nil {
		return err
	}
	switch in.Type {
	case "AnnounceRequest":
		if inner != nil {
			if err := r.checkBoostAudience(ctx, in.Actor, inner); err != nil {
				return err
			}
			visibility = boostVisibility(inner)
		}
		_, err = r.social.ReceiveReblog(ctx, in.Actor, st, social.IncomingReblog{
			URI: instrument, Visibility: visibility, Published: remote.PlausibleTime(inner.Time("published"), in.Row.ReceivedAt.Time()), Request: in.URI,
		})
	default:
		if !inner.Is(remote.NoteTypes...) || inner.Ref("inReplyTo") != ref {
			return remote.Refuse("request does not have a reply to its object")
		}
		_, err = r.receiveNote(ctx, in, inner)
	}
	return err
}

// requestedInteraction returns the reply or boost of a request: the embedded one, or else the fetched one. The fetch is signed by the author of the
// status, because others may not see the interaction. It returns nil for a boost that is not served, as is usual.
func (r *Receiver) requestedInteraction(ctx context.Context, in *inbox.Activity, id store.StatusID) (activity.Object, error) {
	if inner := in.Object.Object("instrument"); inner != nil && inner.Type() != "" {
		return inner, nil
	}
	st, err := r.db.Status(ctx, id)
	switch {
	case errs.IsNotFound(err), err == nil && !st.Local():
		return nil, remote.Refuse("request is not for a local status")
	case err != nil:
		return nil, err
	}
	o, err := r.fetcher.DocumentAs(ctx, in.Ref("instrument"), st.AccountID)
	switch {
	case in.Type == "ReplyRequest":
		return o, err
	case err != nil && remote.IsFinal(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !o.Is("Announce") || o.Ref("actor") != in.Actor.URI || o.Ref("object") != in.Ref("object"):
		return nil, remote.Refuse("request does not have a boost of its object")
	}
	return o, nil
}

// interactionPolicy returns who may interact with a status, as far as others see it. All rules are always there, because that says that this
// server enforces them.
func (d *Documents) interactionPolicy(st *store.Status, p *documentRows) jsonMap {
	policy := jsonMap{}
	for i, kind := range interactionKinds {
		policy[kind.rule] = d.interactionRule(st, p, i)
	}
	if isPublicOrUnlisted(st.Visibility) {
		policy["canQuote"] = jsonMap{"automaticApproval": []any{d.quoters(st, p.accounts[st.AccountID])}}
	}
	return policy
}

func (d *Documents) interactionRule(st *store.Status, p *documentRows, i store.Interaction) jsonMap {
	author := p.accounts[st.AccountID]
	automatic, manual, ok := st.InteractionPolicy.Rule(i)
	switch {
	case i == store.Reblogging && !isPublicOrUnlisted(st.Visibility):
		return jsonMap{"automaticApproval": []any{author.URI}}
	case !ok:
		return jsonMap{"automaticApproval": []any{activity.Public}}
	case i == store.Replying:
		automatic |= store.MentionedInteractor
	}
	rule := jsonMap{"automaticApproval": append([]any{author.URI}, d.interactors(st, p, automatic)...)}
	if manual != 0 {
		rule["manualApproval"] = d.interactors(st, p, manual)
	}
	return rule
}

// interactors returns the ids of groups of accounts.
func (d *Documents) interactors(st *store.Status, p *documentRows, groups store.Interactors) []any {
	author := p.accounts[st.AccountID]
	list := []any{}
	if groups&store.AnyInteractor != 0 {
		list = append(list, activity.Public)
	}
	if groups&store.FollowerInteractor != 0 {
		list = append(list, d.followersURI(author))
	}
	if groups&store.FollowedInteractor != 0 {
		list = append(list, author.URI+"/following")
	}
	if groups&store.MentionedInteractor == 0 {
		return list
	}
	for _, r := range p.recipients[st.ID] {
		if a := p.accounts[r.AccountID]; a != nil && r.Mentioned {
			list = append(list, a.URI)
		}
	}
	return list
}

// authorizationPath is the path of authorizations to interact with local statuses.
const authorizationPath = "/authorizations/"

func (d *Documents) authorizationURI(id store.InteractionRequestID) string {
	return d.Settings.BaseURL + authorizationPath + id.String()
}

// ServeAuthorization returns the authorization of a favourite, reply or boost, or of an account's place in a collection. All have ids of one sequence.
func (s *DocumentServer) ServeAuthorization(ctx context.Context, r *http.Request, id store.InteractionRequestID) (*Response, error) {
	signer, err := s.authorizedSigner(ctx, r, true)
	if err != nil {
		return nil, err
	}
	q, err := s.db.InteractionRequest(ctx, id)
	if errs.IsNotFound(err) {
		return s.featureAuthorization(ctx, store.CollectionItemID(id), signer)
	}
	if err == nil && q.AcceptedAt == nil {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	st, err := s.db.VisibleStatus(ctx, idOf(signer), q.StatusID)
	if err != nil {
		return nil, err
	}
	author, err := s.db.Account(ctx, st.AccountID)
	if err != nil {
		return nil, err
	}
	return s.respond(activity.Object{
		"id": s.documents.authorizationURI(q.ID), "type": interactionKinds[q.Interaction].authorization, "attributedTo": author.URI,
		"interactingObject": q.URI, "interactionTarget": st.URI,
	}, signer)
}

// buildInteractionAccepted sends the Accept of an interaction or of the request for it, with the id of the authorization.
func (b *Outbox) buildInteractionAccepted(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	q, err := b.db.InteractionRequest(ctx, store.InteractionRequestID(e.RowID))
	if err != nil || q.AcceptedAt == nil {
		return nil, err
	}
	a, err := b.interactionAnswer(ctx, author, e, "Accept", q)
	if err != nil {
		return nil, err
	}
	a["result"] = b.documents.authorizationURI(q.ID)
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

func (b *Outbox) buildInteractionRejected(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	q := &store.InteractionRequest{StatusID: e.StatusID, Interaction: store.Interaction(e.RowID), URI: e.Object, RequestURI: e.URI}
	a, err := b.interactionAnswer(ctx, author, e, "Reject", q)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

// interactionAnswer makes the Accept or Reject of an interaction. A request for it is embedded.
func (b *Outbox) interactionAnswer(ctx context.Context, author *store.Account, e store.OutboxEntry, activityType string, q *store.InteractionRequest) (activity.Object, error) {
	st, err := b.db.Status(ctx, q.StatusID)
	if err != nil {
		return nil, err
	}
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	var object any = q.URI
	if q.RequestURI != "" {
		object = jsonMap{"id": q.RequestURI, "type": interactionKinds[q.Interaction].request, "actor": to.URI, "object": st.URI, "instrument": q.URI}
	}
	a := b.newActivity(e, activityType, author, object, []string{to.URI}, nil)
	a["target"] = st.URI
	return a, nil
}

// buildInteractionRevoked sends the Delete of an authorization to the account that had it.
func (b *Outbox) buildInteractionRevoked(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	gone := jsonMap{"id": b.documents.authorizationURI(store.InteractionRequestID(e.RowID)), "type": "Tombstone"}
	return b.toTarget(ctx, e, b.newActivity(e, "Delete", author, gone, []string{to.URI}, nil), 0, store.ReplaceNothing)
}
