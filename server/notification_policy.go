package server

import (
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// policyRoutes are the policy for notifications, and the requests that it makes of those that it filters.
func (h *notifications) policyRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/notifications/policy":                {rest.User("read:notifications").Answers("NotificationPolicyV1"), h.showPolicyV1},
		"PATCH /api/v1/notifications/policy":              {rest.User("write:notifications").Answers("NotificationPolicyV1"), h.changePolicyV1},
		"GET /api/v2/notifications/policy":                {rest.User("read:notifications").Answers("NotificationPolicy"), h.showPolicy},
		"PATCH /api/v2/notifications/policy":              {rest.User("write:notifications").Answers("NotificationPolicy"), h.changePolicy},
		"GET /api/v1/notifications/requests":              {rest.User("read:notifications").Answers("[]NotificationRequest"), h.listRequests},
		"GET /api/v1/notifications/requests/merged":       {rest.User("read:notifications").Answers("Merged"), rest.Always(mergedRequests{true})},
		"POST /api/v1/notifications/requests/accept":      {rest.User("write:notifications").Answers("empty"), h.acceptRequests},
		"POST /api/v1/notifications/requests/dismiss":     {rest.User("write:notifications").Deletes().Answers("empty"), h.dismissRequests},
		"GET /api/v1/notifications/requests/:id":          {rest.User("read:notifications").Answers("NotificationRequest"), h.showRequest},
		"POST /api/v1/notifications/requests/:id/accept":  {rest.User("write:notifications").Answers("empty"), h.acceptRequest},
		"POST /api/v1/notifications/requests/:id/dismiss": {rest.User("write:notifications").Deletes().Answers("empty"), h.dismissRequest},
	}
}

// mergedRequests says whether the notifications of accepted requests are in the list. They are before the answer to the acceptance.
type mergedRequests struct {
	Merged bool `json:"merged"`
}

// showPolicy returns the viewer's policy.
func (h *notifications) showPolicy(r *rest.Request) (any, error) {
	p, err := h.DB.NotificationPolicy(r.Context(), r.Viewer.ID)
	return h.renderPolicy(r, p, err)
}

func (h *notifications) renderPolicy(r *rest.Request, p *store.NotificationPolicy, err error) (entity.NotificationPolicy, error) {
	if err != nil {
		return entity.NotificationPolicy{}, err
	}
	filtered, err := h.DB.FilteredCounts(r.Context(), r.Viewer.ID)
	return entity.NewNotificationPolicy(p, filtered), err
}

// changePolicy changes the viewer's policy. Absent parameters change nothing.
func (h *notifications) changePolicy(r *rest.Request) (any, error) {
	var p struct {
		ForNotFollowing    *store.NotificationAction `param:"for_not_following"`
		ForNotFollowers    *store.NotificationAction `param:"for_not_followers"`
		ForNewAccounts     *store.NotificationAction `param:"for_new_accounts"`
		ForPrivateMentions *store.NotificationAction `param:"for_private_mentions"`
		ForLimitedAccounts *store.NotificationAction `param:"for_limited_accounts"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	c := social.NotificationPolicyChange{
		ForNotFollowing: p.ForNotFollowing, ForNotFollowers: p.ForNotFollowers, ForNewAccounts: p.ForNewAccounts,
		ForPrivateMentions: p.ForPrivateMentions, ForLimitedAccounts: p.ForLimitedAccounts,
	}
	policy, err := h.Social.ChangeNotificationPolicy(r.Context(), r.Viewer, c)
	return h.renderPolicy(r, policy, err)
}

// showPolicyV1 returns the viewer's policy in its first version.
func (h *notifications) showPolicyV1(r *rest.Request) (any, error) {
	p, err := h.DB.NotificationPolicy(r.Context(), r.Viewer.ID)
	policy, err := h.renderPolicy(r, p, err)
	return policy.V1(), err
}

// changePolicyV1 changes the viewer's policy: true filters, false accepts.
func (h *notifications) changePolicyV1(r *rest.Request) (any, error) {
	var p struct {
		NotFollowing    *bool `param:"filter_not_following"`
		NotFollowers    *bool `param:"filter_not_followers"`
		NewAccounts     *bool `param:"filter_new_accounts"`
		PrivateMentions *bool `param:"filter_private_mentions"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	action := func(filter *bool) *store.NotificationAction {
		if filter == nil {
			return nil
		}
		a := store.PolicyAccept
		if *filter {
			a = store.PolicyFilter
		}
		return &a
	}
	changed, err := h.Social.ChangeNotificationPolicy(r.Context(), r.Viewer, social.NotificationPolicyChange{
		ForNotFollowing: action(p.NotFollowing), ForNotFollowers: action(p.NotFollowers),
		ForNewAccounts: action(p.NewAccounts), ForPrivateMentions: action(p.PrivateMentions),
	})
	policy, err := h.renderPolicy(r, changed, err)
	return policy.V1(), err
}

func requestParam(r *rest.Request) store.NotificationRequestID {
	return store.ParseID[store.NotificationRequestID](r.Param("id"))
}

// listRequests lists the accounts whose notifications the viewer has filtered.
func (h *notifications) listRequests(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	part, err := h.DB.NotificationRequests(r.Context(), r.Viewer.ID, page.Page)
	if err != nil {
		return nil, err
	}
	rows := part.Rows
	show := func(rows []*store.NotificationRequestSummary) ([]*entity.NotificationRequest, error) {
		return h.Entities.NotificationRequests(r.Context(), r.Viewer, rows)
	}
	return rest.List(r, page, rows, func(i int) string { return decimalCursor(int64(rows[i].ID)) }, decimalCursor(part.Next), show)
}

// showRequest returns one request.
func (h *notifications) showRequest(r *rest.Request) (any, error) {
	row, err := h.DB.NotificationRequest(r.Context(), r.Viewer.ID, requestParam(r))
	if err != nil {
		return nil, err
	}
	list, err := h.Entities.NotificationRequests(r.Context(), r.Viewer, []*store.NotificationRequestSummary{row})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errs.ErrRecordNotFound
	}
	return list[0], nil
}

// acceptRequest adds the notifications of a request to the list, and lets the account through from then on.
func (h *notifications) acceptRequest(r *rest.Request) (any, error) {
	n, err := h.Social.AcceptNotificationRequests(r.Context(), r.Viewer, []store.NotificationRequestID{requestParam(r)})
	return nil, oneRequest(n, err)
}

// dismissRequest deletes a request with its notifications.
func (h *notifications) dismissRequest(r *rest.Request) (any, error) {
	n, err := h.Social.DismissNotificationRequests(r.Context(), r.Viewer, []store.NotificationRequestID{requestParam(r)})
	return nil, oneRequest(n, err)
}

func oneRequest(n int, err error) error {
	if err == nil && n == 0 {
		return errs.ErrRecordNotFound
	}
	return err
}

// maxRequests is how many requests one call may accept or dismiss.
const maxRequests = 100

// boundRequests reads the ids of several requests. Without ids, as apps send them when nothing is selected, there are none.
func boundRequests(r *rest.Request) ([]store.NotificationRequestID, error) {
	var p struct {
		IDs []store.NotificationRequestID `param:"id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if len(p.IDs) > maxRequests {
		return nil, errs.BadRequest("id - too many: %d, at most %d.", len(p.IDs), maxRequests)
	}
	return p.IDs, nil
}

// acceptRequests accepts several requests. Ids that are not of requests to the viewer are ignored.
func (h *notifications) acceptRequests(r *rest.Request) (any, error) {
	ids, err := boundRequests(r)
	if err != nil {
		return nil, err
	}
	_, err = h.Social.AcceptNotificationRequests(r.Context(), r.Viewer, ids)
	return nil, err
}

// dismissRequests dismisses several requests. Ids that are not of requests to the viewer are ignored.
func (h *notifications) dismissRequests(r *rest.Request) (any, error) {
	ids, err := boundRequests(r)
	if err != nil {
		return nil, err
	}
	_, err = h.Social.DismissNotificationRequests(r.Context(), r.Viewer, ids)
	return nil, err
}
