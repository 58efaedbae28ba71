package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

// instance serves what the server says about itself, and lists that clients request at start and that are always empty (spec 4.6).
type instance struct{ *parts }

func (h *instance) routes() rest.Routes {
	return rest.Routes{
		"GET /api":                                {rest.Anonymous, h.showAPI},
		"GET /api/v1/instance":                    {rest.Anonymous.Answers("object"), h.showInstance},
		"GET /api/v2/instance":                    {rest.Anonymous.Answers("object"), h.showInstanceV2},
		"GET /api/v1/instance/peers":              {rest.Anonymous.Answers("[]text"), h.listPeers},
		"GET /api/v1/instance/activity":           {rest.Anonymous.Answers("[]Week"), h.showActivity},
		"GET /api/v1/instance/rules":              {rest.Anonymous.Answers("[]Rule"), h.listRules},
		"GET /api/v1/instance/domain_blocks":      {rest.Anyone.Answers("[]DomainBlock"), h.listDomainBlocks},
		"GET /api/v1/custom_emojis":               {rest.Anonymous.Answers("[]Emoji"), h.listCustomEmojis},
		"GET /api/v1/svc/emoji":                   {rest.Anonymous.Answers("object"), h.mapCustomEmojis},
		"GET /api/v1/svc/frontend_configurations": {rest.Anonymous.Answers("object"), h.showFrontendConfigurations},
		"GET /api/v1/svc/federation_status":       {rest.Anonymous.Answers("FederationStatus"), h.federationStatus},
		"GET /.well-known/nodeinfo":               {rest.Anonymous.WhenClosed(), h.listNodeInfo},
		"GET /.well-known/host-meta":              {rest.Anonymous, h.showHostMeta},
		"GET /nodeinfo/:version":                  {rest.Anonymous.WhenClosed(), h.showNodeInfo},
		"GET /api/v1/preferences":                 {rest.User("read:accounts").Answers("Preferences"), h.showPreferences},
		"GET /api/v1/identity_proofs":             {rest.Anyone.Answers("[]null"), rest.Always([]any{})},
	}
}

// showInstance returns the instance in version 1 of the API.
func (h *instance) showInstance(r *rest.Request) (any, error) {
	return h.instance.V1(r.Context())
}

// showInstanceV2 returns the instance in version 2 of the API.
func (h *instance) showInstanceV2(r *rest.Request) (any, error) {
	return h.instance.V2(r.Context())
}

// listRules lists the rules of the server in their order.
func (h *instance) listRules(r *rest.Request) (any, error) { return h.instance.Rules(r.Context()) }

// showFrontendConfigurations returns the configurations of front ends by their names.
func (h *instance) showFrontendConfigurations(*rest.Request) (any, error) {
	configurations := make(map[string]json.RawMessage)
	for _, f := range h.Settings.Load().Frontends.Configurations {
		configurations[f.Name] = json.RawMessage(f.Configuration)
	}
	return configurations, nil
}

// showAPI names the documents at which clients begin.
func (h *instance) showAPI(*rest.Request) (any, error) {
	return map[string]string{
		"instance": h.Settings.BaseURL + "/api/v2/instance", "nodeinfo": h.Settings.BaseURL + "/.well-known/nodeinfo", "oauth": h.Settings.BaseURL + "/.well-known/oauth-authorization-server",
	}, nil
}

// listPeers lists the hosts of known servers.
func (h *instance) listPeers(r *rest.Request) (any, error) {
	if !h.Settings.Load().Instance.ListPeers {
		return nil, errs.ErrRecordNotFound
	}
	return h.instance.Peers(r.Context())
}

// showActivity returns the weekly numbers of statuses, logins and registrations.
func (h *instance) showActivity(r *rest.Request) (any, error) {
	if !h.Settings.Load().Instance.ShowActivity {
		return nil, errs.ErrRecordNotFound
	}
	return h.instance.Activity(r.Context())
}

// listDomainBlocks lists the hosts that the settings reject or unlist, if the settings show them to the viewer.
func (h *instance) listDomainBlocks(r *rest.Request) (any, error) {
	c := h.Settings.Load()
	switch {
	case !c.MRF.Transparency || c.Instance.ListDomainBlocks == config.ToNobody:
		return nil, errs.ErrRecordNotFound
	case c.Instance.ListDomainBlocks == config.ToMembers && r.Viewer == nil:
		return nil, rest.ErrInvalidToken
	}
	return entity.Map(admin.PublicBlocks(c), entity.NewDomainBlock), nil
}

// listCustomEmojis returns the custom emoji of the server.
func (h *instance) listCustomEmojis(*rest.Request) (any, error) { return h.customEmojis.List() }

// mapCustomEmojis returns all custom emoji by their shortcodes.
func (h *instance) mapCustomEmojis(*rest.Request) (any, error) {
	return h.customEmojis.ByShortcode()
}

const nodeInfoSchema = "http://nodeinfo.diaspora.software/ns/schema/"

// listNodeInfo lists the URLs of NodeInfo by version.
func (h *instance) listNodeInfo(*rest.Request) (any, error) {
	type link struct {
		Rel  string `json:"rel"`
		Href string `json:"href"`
	}
	var links []link
	if h.lookup.federates() { // the instance actor (FEP-2677)
		links = append(links, link{"https://www.w3.org/ns/activitystreams#Application", h.Settings.BaseURL + "/internal/fetch"})
	}
	for _, version := range []string{"2.0", "2.1"} { // servers that fetch emoji packs follow the last link (admin API 10.6)
		links = append(links, link{nodeInfoSchema + version, h.Settings.BaseURL + "/nodeinfo/" + version + ".json"})
	}
	return map[string]any{"links": links}, nil
}

// showNodeInfo returns NodeInfo in one version.
func (h *instance) showNodeInfo(r *rest.Request) (any, error) {
	version := r.Param("version")
	text, err := h.instance.NodeInfo(r.Context(), version)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, errs.NotFound("Nodeinfo schema version not handled")
	}
	return rawDocument{fmt.Sprintf(`application/json; profile="%s%s#"; charset=utf-8`, nodeInfoSchema, version), text}, nil
}

// showHostMeta returns the URL template of WebFinger. Some clients read from it which host has the API.
func (h *instance) showHostMeta(*rest.Request) (any, error) {
	text := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Link rel="lrdd" type="application/xrd+xml" template="%s/.well-known/webfinger?resource={uri}"/></XRD>
`, html.EscapeString(h.Settings.BaseURL))
	return rawDocument{"application/xrd+xml; charset=utf-8", []byte(text)}, nil
}

// preferences are defaults for clients. The keys are the reference API's.
type preferences struct {
	Visibility     string  `json:"posting:default:visibility"`
	Sensitive      bool    `json:"posting:default:sensitive"`
	Language       *string `json:"posting:default:language"`
	QuotePolicy    string  `json:"posting:default:quote_policy"`
	ExpandMedia    string  `json:"reading:expand:media"`
	ExpandSpoilers bool    `json:"reading:expand:spoilers"`
}

// showPreferences returns the viewer's defaults for new statuses, and how the viewer reads in the web interface.
func (h *instance) showPreferences(r *rest.Request) (any, error) {
	settings, err := h.DB.FrontendSettings(r.Context(), r.Viewer.ID, web.SettingsClient)
	if err != nil {
		return nil, err
	}
	reading := web.ReadingOf(settings)
	p := preferences{
		Visibility:     r.User.DefaultVisibility.String(),
		Sensitive:      r.User.DefaultSensitive,
		QuotePolicy:    r.User.DefaultQuotePolicy.String(),
		ExpandMedia:    cmp.Or(reading.Media, "default"),
		ExpandSpoilers: reading.OpenWarnings,
	}
	if r.User.DefaultLanguage != "" {
		p.Language = &r.User.DefaultLanguage
	}
	return p, nil
}

// rawDocument serves a document of another content type than application/json.
type rawDocument struct {
	contentType string
	text        []byte
}

func (d rawDocument) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", d.contentType)
	h.Set("Content-Length", strconv.Itoa(len(d.text)))
	w.Write(d.text) // fails only if the client has gone
}

// federationStatus returns the unreachable hosts, and since when they are.
func (h *instance) federationStatus(r *rest.Request) (any, error) {
	unreachable := any(struct{}{})
	if h.Federation != nil {
		since, err := h.Federation.Operator.UnreachableHosts(r.Context())
		if err != nil {
			return nil, err
		}
		unreachable = since
	}
	return map[string]any{"unreachable": unreachable}, nil
}
