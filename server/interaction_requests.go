package server

import (
	"svc/internal/enum"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// interactionRequests serves who may interact with the viewer's statuses, and the interactions that wait for the viewer's approval (API of
// GoToSocial).
type interactionRequests struct{ *parts }

func (h *interactionRequests) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/interaction_policies/defaults":       {rest.User("read:accounts").Answers("InteractionPolicies"), h.showDefaults},
		"PATCH /api/v1/interaction_policies/defaults":     {rest.User("write:accounts").Answers("InteractionPolicies"), h.changeDefaults},
		"GET /api/v1/interaction_requests":                {rest.User("read:notifications").Answers("[]InteractionRequest"), h.list},
		"GET /api/v1/interaction_requests/:id":            {rest.User("read:notifications").Answers("InteractionRequest"), h.show},
		"POST /api/v1/interaction_requests/:id/authorize": {rest.User("write:notifications").Answers("InteractionRequest"), h.authorize},
		"POST /api/v1/interaction_requests/:id/reject":    {rest.User("write:notifications").Deletes().Answers("InteractionRequest"), h.reject},
	}
}

// interactionRuleForm is a rule of a policy. The reference API has two names for each list.
type interactionRuleForm struct {
	Automatic []store.Interactors `param:"automatic_approval"`
	Always    []store.Interactors `param:"always"`
	Manual    []store.Interactors `param:"manual_approval"`
	Approval  []store.Interactors `param:"with_approval"`
}

// interactionPolicyForm is a policy. A missing rule lets everybody interact who sees the status.
type interactionPolicyForm struct {
	CanFavourite *interactionRuleForm `param:"can_favourite,closed"`
	CanReply     *interactionRuleForm `param:"can_reply,closed"`
	CanReblog    *interactionRuleForm `param:"can_reblog,closed"`
}

// policy returns the policy, nil if none was sent.
func (f *interactionPolicyForm) policy() *store.InteractionPolicy {
	if f == nil {
		return nil
	}
	var p store.InteractionPolicy
	for i, rule := range map[store.Interaction]*interactionRuleForm{
		store.Favouriting: f.CanFavourite, store.Replying: f.CanReply, store.Reblogging: f.CanReblog,
	} {
		if rule == nil {
			continue
		}
		automatic, manual := union(rule.Automatic, rule.Always), union(rule.Manual, rule.Approval)
		if automatic&store.AnyInteractor == 0 {
			p = p.With(i, automatic, manual)
		}
	}
	return &p
}

// union returns the groups of both lists.
func union(lists ...[]store.Interactors) (groups store.Interactors) {
	for _, list := range lists {
		for _, group := range list {
			groups |= group
		}
	}
	return groups
}

// showDefaults returns the policies of new statuses, by their visibility.
func (h *interactionRequests) showDefaults(r *rest.Request) (any, error) {
	return entity.NewInteractionPolicies(r.User.DefaultInteractionPolicies.V), nil
}

// changeDefaults sets the policies of new statuses. A policy that is missing or null is reset, so that one of an unknown name is refused.
func (h *interactionRequests) changeDefaults(r *rest.Request) (any, error) {
	sent, err := r.Object()
	if err != nil {
		return nil, err
	}
	for name := range sent {
		if _, err := enum.Index([]byte(name), []string{"public", "unlisted", "private", "direct"}); err != nil {
			return nil, errs.Invalid("Validation failed: Policy is %s", err)
		}
	}
	var p struct {
		Public   *interactionPolicyForm `param:"public,closed"`
		Unlisted *interactionPolicyForm `param:"unlisted,closed"`
		Private  *interactionPolicyForm `param:"private,closed"`
		Direct   *interactionPolicyForm `param:"direct,closed"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	policies := store.InteractionPolicies{}
	for v, form := range map[store.Visibility]*interactionPolicyForm{
		store.Public: p.Public, store.Unlisted: p.Unlisted, store.Private: p.Private, store.Direct: p.Direct,
	} {
		if policy := form.policy(); policy != nil && *policy != 0 {
			policies[v] = *policy
		}
	}
	if err := h.Social.SetDefaultInteractionPolicies(r.Context(), r.Viewer, policies); err != nil {
		return nil, err
	}
	return entity.NewInteractionPolicies(policies), nil
}

// list lists what waits for the viewer's approval.
func (h *interactionRequests) list(r *rest.Request) (any, error) {
	var p struct {
		StatusID   *store.StatusID `param:"status_id"`
		Favourites *bool           `param:"favourites"`
		Replies    *bool           `param:"replies"`
		Reblogs    *bool           `param:"reblogs"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	f := store.InteractionFilter{Kinds: []store.Interaction{}}
	for _, kind := range []struct {
		wanted *bool
		kind   store.Interaction
	}{{p.Favourites, store.Favouriting}, {p.Replies, store.Replying}, {p.Reblogs, store.Reblogging}} {
		if kind.wanted == nil || *kind.wanted {
			f.Kinds = append(f.Kinds, kind.kind)
		}
	}
	if p.StatusID != nil {
		if f.StatusID = *p.StatusID; f.StatusID == 0 {
			return []any{}, nil
		}
	}
	page := r.Page(40, 80)
	rows, err := h.DB.PendingInteractions(r.Context(), r.Viewer.ID, f, page.Page)
	if err != nil {
		return nil, err
	}
	show := func(rows []*store.InteractionRequest) ([]*entity.InteractionRequest, error) {
		return h.Entities.InteractionRequests(r.Context(), r.Viewer, rows)
	}
	return rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", show)
}

func interactionParam(r *rest.Request) store.InteractionRequestID {
	return store.ParseID[store.InteractionRequestID](r.Param("id"))
}

// render renders one request.
func (h *interactionRequests) render(r *rest.Request, row *store.InteractionRequest) (*entity.InteractionRequest, error) {
	list, err := h.Entities.InteractionRequests(r.Context(), r.Viewer, []*store.InteractionRequest{row})
	if err == nil && len(list) == 0 {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// show returns one request.
func (h *interactionRequests) show(r *rest.Request) (any, error) {
	row, err := h.Social.InteractionRequest(r.Context(), r.Viewer, interactionParam(r))
	if err != nil {
		return nil, err
	}
	return h.render(r, row)
}

// authorize approves an interaction.
func (h *interactionRequests) authorize(r *rest.Request) (any, error) {
	row, err := h.Social.AuthorizeInteraction(r.Context(), r.Viewer, interactionParam(r))
	if err != nil {
		return nil, err
	}
	return h.render(r, row)
}

// reject removes an interaction, and answers with the request as it was.
func (h *interactionRequests) reject(r *rest.Request) (any, error) {
	row, err := h.Social.InteractionRequest(r.Context(), r.Viewer, interactionParam(r))
	if err != nil {
		return nil, err
	}
	answer, err := h.render(r, row)
	if err != nil {
		return nil, err
	}
	if err := h.Social.RejectInteraction(r.Context(), r.Viewer, row.ID); err != nil {
		return nil, err
	}
	answer.AcceptedAt, answer.URI = nil, nil
	answer.RejectedAt = new(store.At(h.DB.Now()))
	return answer, nil
}
