package staff

import (
	"strings"

	"svc/federation"
	"svc/internal/errs"
	"svc/server/rest"
)

// relayRoutes are the relays with which the server exchanges public posts.
func (h *Handlers) relayRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/relay":    {rest.Admin("admin:read").Answers("[]Relay|Relays"), h.listRelays},
		"POST /api/v1/svc/admin/relay":   {rest.Admin("admin:write:follows").Answers("Relay"), h.followRelay},
		"DELETE /api/v1/svc/admin/relay": {rest.Admin("admin:write:follows").Answers("string"), h.unfollowRelay},
	}
}

var errFederationDisabled = errs.BadRequest("This server does not federate")

// listRelays lists the relays that the server follows or has asked to follow (spec 4.5). A compatible server puts the list into an object.
func (h *Handlers) listRelays(r *rest.Request) (any, error) {
	list := []*federation.Relay{}
	if h.Federation != nil {
		var err error
		if list, err = h.Federation.Relays.List(r.Context()); err != nil {
			return nil, err
		}
	}
	if h.compatible() {
		return map[string]any{"relays": list}, nil
	}
	return list, nil
}

func (h *Handlers) bindRelay(r *rest.Request) (url string, force bool, err error) {
	var p struct {
		URL   string `param:"relay_url,required"`
		Force bool   `param:"force"`
	}
	if err := r.Bind(&p); err != nil {
		return "", false, err
	}
	url = strings.TrimSpace(p.URL)
	switch {
	case url == "":
		return "", false, errs.BadRequest("Missing field: relay_url.")
	case h.Federation == nil:
		return "", false, errFederationDisabled
	}
	return url, p.Force, nil
}

// followRelay asks to follow a relay. It returns before the relay has accepted.
func (h *Handlers) followRelay(r *rest.Request) (any, error) {
	url, _, err := h.bindRelay(r)
	if err != nil {
		return nil, err
	}
	return h.Federation.Relays.Follow(r.Context(), r.Viewer, url)
}

// unfollowRelay unfollows a relay, with force also one that is unreachable. It returns the URL.
func (h *Handlers) unfollowRelay(r *rest.Request) (any, error) {
	url, force, err := h.bindRelay(r)
	if err != nil {
		return nil, err
	}
	return url, h.Federation.Relays.Unfollow(r.Context(), r.Viewer, url, force)
}
