package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// statuses serves single statuses, their edits and their threads.
type statuses struct{ *parts }

func (h *statuses) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses":            {rest.User("write:statuses").Limit("status_actions").Written().Answers("Status|ScheduledStatus|Preview|Reduced"), h.createStatus},
		"GET /api/v1/statuses":             {rest.Content("read:statuses").Answers("[]Status"), h.listStatuses},
		"GET /api/v1/statuses/:id":         {rest.Content("read:statuses").Answers("Status"), h.showStatus},
		"DELETE /api/v1/statuses/:id":      {rest.User("write:statuses").Limit("status_actions").Answers("Status"), h.deleteStatus},
		"GET /api/v1/statuses/:id/card":    {rest.Content("read:statuses").Answers("Card|empty"), h.showCard},
		"POST /api/v1/statuses/:id/mute":   {rest.User("write:mutes").Answers("Status"), h.muteThread},
		"POST /api/v1/statuses/:id/unmute": {rest.User("write:mutes").Deletes().Answers("Status"), h.render.statusAction(h.Social.UnmuteThread)},
	}
}

// contentForm has the parameters of new statuses and of edits alike.
type contentForm struct {
	Status      string `param:"status"`
	SpoilerText string `param:"spoiler_text"`
	ContentType string `param:"content_type,word"`
	Language    string `param:"language,word"`
}

func (p *contentForm) content() social.Content {
	return social.Content{Text: p.Status, SpoilerText: p.SpoilerText, ContentType: p.ContentType, Language: p.Language}
}

// statusForm has the parameters of a new status.
type statusForm struct {
	contentForm
	MediaIDs        []store.MediaID        `param:"media_ids"`
	InReplyTo       *store.StatusID        `param:"in_reply_to_id"`
	Quote           *store.StatusID        `param:"quote_id"`
	Quoted          *store.StatusID        `param:"quoted_status_id"` // the reference API's name
	QuotePolicy     *store.QuotePolicy     `param:"quote_approval_policy"`
	Interactions    *interactionPolicyForm `param:"interaction_policy,closed"`
	InConversation  string                 `param:"in_reply_to_conversation_id,word"`
	Visibility      *audience              `param:"visibility"`
	LocalOnly       bool                   `param:"local_only"` // other servers' words for the visibility local
	Federated       *bool                  `param:"federated"`
	To              []string               `param:"to"`
	AllowedMentions []store.AccountID      `param:"allowed_mentions"`
	Sensitive       *bool                  `param:"sensitive"`
	ExpiresIn       *int64                 `param:"expires_in"` // seconds
	ScheduledAt     string                 `param:"scheduled_at,word"`
	Preview         bool                   `param:"preview"`
	Poll            *pollForm              `param:"poll"`
}

// draft returns the status to publish. The app and the idempotency key are not parameters.
func (p *statusForm) draft() (d social.Draft, err error) {
	d = social.Draft{
		Content:         p.content(),
		MediaIDs:        p.MediaIDs,
		Poll:            p.Poll.draft(),
		To:              p.To,
		AllowedMentions: p.AllowedMentions,
		Sensitive:       p.Sensitive,
		QuotePolicy:     p.QuotePolicy,
		LocalOnly:       p.LocalOnly || p.Federated != nil && !*p.Federated,
	}
	if d.ScheduledAt, err = parseSchedule(p.ScheduledAt); err != nil {
		return d, err
	}
	d.Interactions = p.Interactions.policy()
	if p.Visibility != nil {
		d.Visibility, d.List = &p.Visibility.visibility, p.Visibility.list
	}
	if p.InConversation != "" {
		id := store.ParseID[store.DirectConversationID](p.InConversation)
		d.InConversation = &id
	}
	if p.ExpiresIn != nil {
		expiry := seconds(*p.ExpiresIn)
		d.ExpiresIn = &expiry
	}
	if p.InReplyTo != nil {
		if d.InReplyTo = *p.InReplyTo; d.InReplyTo == 0 {
			return d, errs.Invalid("Cannot reply to a deleted status")
		}
	}
	if quote := cmp.Or(p.Quote, p.Quoted); quote != nil {
		if d.Quote = *quote; d.Quote == 0 {
			return d, errs.Invalid("Cannot quote a deleted status")
		}
	}
	return d, nil
}

// createStatus publishes or schedules a status, or renders it without publishing (preview).
func (h *statuses) createStatus(r *rest.Request) (any, error) {
	var p statusForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	d, err := p.draft()
	if err != nil {
		return nil, err
	}
	d.IdempotencyKey = r.Header.Get("Idempotency-Key")
	if r.Token != nil {
		d.App = r.Token.AppID
	}
	publish := h.publish
	if p.Preview {
		publish = h.preview
	}
	value, err := publish(r, d)
	if err != nil || d.Quote == 0 {
		return value, err
	}
	return r.Readable(value, "read:statuses") // the quoted post, which may be private, is in the answer
}

func (h *statuses) preview(r *rest.Request, d social.Draft) (any, error) {
	c, err := h.Social.Preview(r.Context(), r.Viewer, d)
	if err != nil {
		return nil, h.publishError(r, err)
	}
	return h.Entities.PreviewStatus(r.Context(), r.Viewer, c)
}

func (h *statuses) publish(r *rest.Request, d social.Draft) (any, error) {
	h.lookup.resolveMentions(r, d.Text, d.ContentType, d.To)
	mark := h.Entities.Generation()
	c, err := h.Social.Publish(r.Context(), r.Viewer, d)
	if err != nil {
		return nil, h.publishError(r, err)
	}
	if c.Scheduled != nil {
		return h.Entities.ScheduledStatus(r.Context(), c.Scheduled)
	}
	if c.Existing {
		return h.Entities.Status(r.Context(), r.Viewer, c.ID)
	}
	return h.Entities.PublishedStatus(r.Context(), r.Viewer, c, mark)
}

// publishError adds the accounts to the error of a status that mentions others than allowed.
func (h *statuses) publishError(r *rest.Request, err error) error {
	var unexpected *social.UnexpectedMentions
	if !errors.As(err, &unexpected) {
		return err
	}
	accounts, err := h.Entities.Accounts(r.Context(), unexpected.Accounts)
	if err != nil {
		return err
	}
	return errs.Invalid("Post would be sent to unexpected accounts").With("unexpected_accounts", json.RawMessage(accounts.AppendJSON(nil)))
}

// parseSchedule reads scheduled_at. It returns the zero time for "".
func parseSchedule(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := parseTime(text)
	if err != nil {
		return at, errs.BadRequest("scheduled_at - Invalid format. Expected date-time.")
	}
	return at, nil
}

// parseTime reads ISO 8601, in UTC if there is no zone.
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if err == nil {
			break
		}
		at, err = time.Parse(layout, text)
	}
	return at, err
}

// seconds returns a duration of at most a hundred years.
func seconds(n int64) time.Duration {
	const maxSeconds = 100 * 365 * 24 * 60 * 60
	return time.Duration(max(-1, min(n, maxSeconds))) * time.Second
}

// maxStatusIDs is how many ids a request may have (spec 4.6). More are ignored.
const maxStatusIDs = 100

// listStatuses returns the statuses of the ids that the viewer may see, the newest first.
func (h *statuses) listStatuses(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.StatusID `param:"ids"`
		ID  []store.StatusID `param:"id"` // the reference API's name
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.IDs == nil && p.ID == nil {
		return nil, errs.BadRequest("Missing field: ids.")
	}
	ids := slices.Concat(p.IDs, p.ID)
	seen, err := h.DB.VisibleIDs(r.Context(), viewerID(r), ids[:min(len(ids), maxStatusIDs)])
	if err != nil {
		return nil, err
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	slices.Reverse(seen)
	return h.render.firstStatuses(r, seen)
}

// showStatus returns a status that the viewer may see.
func (h *statuses) showStatus(r *rest.Request) (any, error) {
	id := statusParam(r)
	sees, err := h.DB.CanSeeID(r.Context(), viewerID(r), id)
	if err != nil {
		return nil, err
	}
	if !sees {
		return nil, errs.ErrRecordNotFound
	}
	h.lookup.refreshPoll(r, id)
	return h.Entities.Status(r.Context(), r.Viewer, id)
}

func statusParam(r *rest.Request) store.StatusID { return store.ParseID[store.StatusID](r.Param("id")) }

// viewerID returns the viewer's id, 0 for anonymous requests.
func viewerID(r *rest.Request) store.AccountID {
	if r.Viewer == nil {
		return 0
	}
	return r.Viewer.ID
}

// deleteStatus deletes a status and returns it with its source, so that it can be redrafted.
func (h *statuses) deleteStatus(r *rest.Request) (any, error) {
	var p struct {
		DeleteMedia bool `param:"delete_media"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	id := statusParam(r)
	before, err := h.Entities.Status(r.Context(), r.Viewer, id)
	if err != nil {
		return nil, err
	}
	st, err := h.Social.DeleteStatus(r.Context(), r.Viewer, id, p.DeleteMedia)
	if errs.IsNotFound(err) {
		return before, h.deleteAsStaff(r, id)
	}
	if err != nil {
		return nil, err
	}
	return before.WithText(st.Text), nil
}

// deleteAsStaff deletes the status of another account, if the viewer sees it and has the privilege (admin API 1.4).
func (h *statuses) deleteAsStaff(r *rest.Request, id store.StatusID) error {
	if !h.Entities.HasPrivilege(r.User, config.MessagesDelete) {
		return errs.ErrRecordNotFound
	}
	if _, err := h.DB.VisibleStatus(r.Context(), r.Viewer.ID, id); err != nil {
		return err
	}
	_, err := h.Admin.As(r.Viewer).DeleteStatus(r.Context(), id.String())
	return err
}

// showCard returns the preview card of a status, for old clients.
func (h *statuses) showCard(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	card, err := h.Entities.StatusCard(r.Context(), st)
	if err != nil || card == nil {
		return nil, err
	}
	return card, nil
}

// muteThread mutes the thread of a status, for expires_in seconds or without end.
func (h *statuses) muteThread(r *rest.Request) (any, error) {
	var p struct {
		ExpiresIn int64 `param:"expires_in"` // seconds; 0: without an end
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	d := seconds(p.ExpiresIn)
	if d < 0 {
		return nil, errs.Invalid("Expiry date is too soon")
	}
	st, err := h.Social.MuteThread(r.Context(), r.Viewer, statusParam(r), d)
	return h.render.status(r, st, err)
}
