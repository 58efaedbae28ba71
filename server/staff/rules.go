package staff

import (
	"svc/admin"
	"svc/server/rest"
)

// ruleRoutes are the rules of the server, which the instance document shows.
func (h *Handlers) ruleRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/rules":        {rest.Admin("admin:read").Answers("[]AdminRule"), h.listRules},
		"POST /api/v1/svc/admin/rules":       {rest.Admin("admin:write").Written().Answers("AdminRule"), h.createRule},
		"PATCH /api/v1/svc/admin/rules/:id":  {rest.Admin("admin:write").Answers("AdminRule"), h.updateRule},
		"DELETE /api/v1/svc/admin/rules/:id": {rest.Admin("admin:write").Answers("empty"), h.deleteRule},
	}
}

// listRules lists the rules in their order.
func (h *Handlers) listRules(r *rest.Request) (any, error) {
	return h.Admin.Rules(r.Context(), struct{}{})
}

func bindRule(r *rest.Request) (admin.RuleChange, error) {
	var p struct {
		Priority *int    `param:"priority"`
		Text     *string `param:"text"`
		Hint     *string `param:"hint"`
	}
	err := r.Bind(&p)
	return admin.RuleChange{Priority: p.Priority, Text: p.Text, Hint: p.Hint}, err
}

// createRule adds a rule.
func (h *Handlers) createRule(r *rest.Request) (any, error) {
	c, err := bindRule(r)
	if err != nil {
		return nil, err
	}
	return h.as(r).CreateRule(r.Context(), c)
}

// updateRule changes the members of a rule that are given.
func (h *Handlers) updateRule(r *rest.Request) (any, error) {
	c, err := bindRule(r)
	if err != nil {
		return nil, err
	}
	c.ID = r.Param("id")
	updated, err := h.as(r).UpdateRule(r.Context(), c)
	return updated, notFound(err)
}

// deleteRule deletes a rule.
func (h *Handlers) deleteRule(r *rest.Request) (any, error) {
	_, err := h.as(r).DeleteRule(r.Context(), r.Param("id"))
	return struct{}{}, notFound(err)
}
