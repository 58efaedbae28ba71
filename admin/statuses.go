package admin

import (
	"context"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// maxStatusPage bounds a page of the lists of statuses.
const maxStatusPage = 100

// StatusQuery selects a page of the statuses of all accounts, of one account, or of one instance.
type StatusQuery struct {
	Account     string `json:"account"`      // a nickname or an id; "": all
	Instance    string `json:"instance"`     // a host; "": all
	LocalOnly   bool   `json:"local_only"`   // without remote ones
	Godmode     bool   `json:"godmode"`      // include those that are not public or unlisted
	WithReblogs bool   `json:"with_reblogs"` // include boosts
	Limit       int    `json:"limit"`
	Offset      int    `json:"offset"`
}

// StatusPage is a page of statuses, newest first.
type StatusPage struct {
	IDs   []store.StatusID
	Total int // of one account or instance: on all pages, up to 100 000
}

// Statuses returns a page of statuses of any audience (admin API 5.2). Looking at posts with a restricted audience is recorded in the
// moderation log.
func (s *Service) Statuses(ctx context.Context, q StatusQuery) (*StatusPage, error) {
	f := store.StaffStatusFilter{Restricted: q.Godmode, Reblogs: q.WithReblogs}
	of := ""
	switch {
	case q.Account != "":
		account, err := s.findAccount(ctx, s.db, q.Account)
		if err != nil {
			return nil, err
		}
		f.Account, of = account.ID, " of @"+account.Acct()
	case q.Instance != "":
		f.Host, f.OfHost, of = s.domainOf(q.Instance), true, " of "+q.Instance
	case q.LocalOnly:
		f.OfHost = true
	}
	page := new(StatusPage)
	var err error
	if page.IDs, err = s.db.StaffStatuses(ctx, f, min(max(q.Limit, 1), maxStatusPage), max(q.Offset, 0)); err != nil {
		return nil, err
	}
	if of != "" {
		if page.Total, err = s.db.CountStaffStatuses(ctx, f); err != nil {
			return nil, err
		}
	}
	if q.Godmode {
		err = s.recordReading(ctx, "status_list", "listed restricted statuses"+of)
	}
	return page, err
}

// domainOf returns the domain of a host as it is stored: "" for this server. A text that is no host becomes a domain that nobody has.
func (s *Service) domainOf(host string) string {
	switch domain := text.NormalizeDomain(strings.TrimSpace(host)); {
	case domain == "":
		return "invalid" // RFC 6761, 6.4
	case !s.social.Settings.IsOwnHost(domain):
		return domain
	}
	return ""
}

// ShowStatus returns a status of any audience. Looking at a post with a restricted audience is recorded in the moderation log.
func (s *Service) ShowStatus(ctx context.Context, id string) (*store.Status, error) {
	st, err := s.status(ctx, s.db, id)
	if err == nil && st.Visibility > store.Local {
		err = s.recordReading(ctx, "status_show", "read status #"+st.ID.String())
	}
	return st, err
}

// statusReader is what finding statuses needs.
type statusReader interface {
	Status(context.Context, store.StatusID) (*store.Status, error)
}

func (s *Service) status(ctx context.Context, r statusReader, id string) (*store.Status, error) {
	st, err := r.Status(ctx, store.ParseID[store.StatusID](id))
	if errs.IsNotFound(err) {
		return nil, errs.NotFound("There is no post %q", id)
	}
	return st, err
}

// StatusChange is a change of a status.
type StatusChange struct {
	ID         string  `json:"id"`
	Sensitive  *bool   `json:"sensitive"`  // nil: unchanged
	Visibility *string `json:"visibility"` // public, unlisted or private; nil: unchanged
	NoWider    bool    `json:"-"`          // refuse to give a restricted post a larger audience
}

// UpdateStatus changes a status, as social.ModerateStatusIn does.
func (s *Service) UpdateStatus(ctx context.Context, c StatusChange) (*store.Status, error) {
	m := social.Moderation{Sensitive: c.Sensitive}
	var changes []string
	data := map[string]any{}
	if c.Sensitive != nil {
		data["sensitive"] = *c.Sensitive
		changes = append(changes, "sensitive: '"+strconv.FormatBool(*c.Sensitive)+"'")
	}
	if c.Visibility != nil {
		v, ok := store.ParseVisibility(*c.Visibility)
		if !ok {
			return nil, social.ErrUnsupportedVisibility
		}
		m.Visibility, data["visibility"] = &v, v.String()
		changes = append(changes, "visibility: '"+v.String()+"'")
	}
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if st, err = s.status(ctx, tx, c.ID); err != nil {
			return err
		}
		if st.ReblogOfID != nil {
			return errs.BadRequest("A boost cannot be changed: change the boosted post")
		}
		if c.NoWider && m.Visibility != nil && *m.Visibility < st.Visibility && st.Visibility > store.Unlisted {
			return errs.Forbidden("Only staff who may read restricted posts can give them a larger audience")
		}
		changed, err := s.social.ModerateStatusIn(ctx, tx, st, m)
		if err != nil || !changed {
			return err
		}
		data["subject"] = statusSubject(st)
		return s.record(ctx, tx, "status_update", "updated status #"+st.ID.String()+", set "+strings.Join(changes, ", "), data)
	})
	return st, err
}

// DeleteStatus deletes a status with its media. It is logged unless it is the actor's own.
func (s *Service) DeleteStatus(ctx context.Context, id string) (*store.Status, error) {
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if st, err = s.status(ctx, tx, id); err != nil {
			return err
		}
		if err := s.social.DeleteStatusIn(ctx, tx, st); err != nil {
			return err
		}
		if s.actor != nil && s.actor.ID == st.AccountID {
			return nil
		}
		return s.record(ctx, tx, "status_delete", "deleted status #"+st.ID.String(), map[string]any{"subject": statusSubject(st)})
	})
	return st, err
}

func statusSubject(st *store.Status) map[string]any {
	return map[string]any{"type": "status", "id": st.ID.String()}
}
