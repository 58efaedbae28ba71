package server

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// webFingerRoutes resolve handles (RFC 7033).
func (h *activityPub) webFingerRoutes() rest.Routes {
	return rest.Routes{
		"GET /.well-known/webfinger":      {documentAccess, h.showWebFinger},
		"GET /.well-known/host-meta.json": {rest.Anonymous, h.showHostMetaJSON},
	}
}

var (
	errNoResource        = errs.BadRequest("Missing parameter: resource")
	errMalformedResource = errs.BadRequest("Malformed parameter: resource is neither a URI nor a handle")
	errAccountGone       = errs.New(http.StatusGone, "The account was deleted")
)

// resourceDescriptor is the answer of WebFinger, as JSON or XML.
type resourceDescriptor struct {
	XMLName xml.Name         `json:"-" xml:"http://docs.oasis-open.org/ns/xri/xrd-1.0 XRD"`
	Subject string           `json:"subject" xml:"Subject"`
	Aliases []string         `json:"aliases" xml:"Alias"`
	Links   []descriptorLink `json:"links" xml:"Link"`
}

type descriptorLink struct {
	Rel  string `json:"rel" xml:"rel,attr"`
	Type string `json:"type,omitempty" xml:"type,attr,omitempty"`
	Href string `json:"href,omitempty" xml:"href,attr,omitempty"`

	Template string `json:"template,omitempty" xml:"template,attr,omitempty"`
}

// showWebFinger answers with the account of a handle or URL (federation 1.2).
func (h *activityPub) showWebFinger(r *rest.Request) (any, error) {
	r.ResponseHeader().Set("Vary", "Accept")
	query := r.URL.Query()
	resource := query.Get("resource")
	if resource == "" {
		return nil, errNoResource
	}
	if !isResource(resource) {
		return nil, errMalformedResource
	}
	if !h.lookup.federates() {
		return nil, errs.ErrRecordNotFound
	}
	a, err := h.accountOfResource(r.Context(), resource)
	switch {
	case err != nil:
		return nil, err
	case a.DeletedAt != nil:
		return nil, errAccountGone
	case a.Unavailable && !h.Federation.Documents.IsServerActor(a):
		return nil, errs.ErrRecordNotFound
	}
	d := h.describeAccount(a)
	if rels := query["rel"]; rels != nil { // only the links of these relations (RFC 7033, 4.3)
		d.Links = slices.DeleteFunc(d.Links, func(l descriptorLink) bool { return !slices.Contains(rels, l.Rel) })
	}
	return d.negotiate(r.Request)
}

// isResource returns true for a URI (RFC 7033, 4.1), and for a handle, which other servers send without a scheme.
func isResource(resource string) bool {
	if strings.ContainsFunc(resource, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	scheme, rest, ok := strings.Cut(resource, ":")
	if !ok || strings.Contains(scheme, "@") { // a handle, with or without a port
		scheme, rest = "acct", resource
	}
	u, err := url.Parse(scheme + ":" + rest)
	if err != nil || u.Scheme == "" {
		return false
	}
	if u.Scheme != "acct" {
		return rest != ""
	}
	user, host, ok := strings.Cut(strings.TrimPrefix(rest, "@"), "@")
	return ok && user != "" && host != "" && !strings.Contains(host, "@")
}

// showHostMetaJSON is showHostMeta in JSON.
func (h *activityPub) showHostMetaJSON(*rest.Request) (any, error) {
	template := h.Settings.BaseURL + "/.well-known/webfinger?resource={uri}"
	return map[string]any{"links": []any{map[string]any{"rel": "lrdd", "type": "application/jrd+json", "template": template}}}, nil
}

// accountOfResource returns the account of a handle, in one of its forms, or of a URL.
func (h *activityPub) accountOfResource(ctx context.Context, resource string) (*store.Account, error) {
	if scheme, _, ok := strings.Cut(resource, "://"); ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) {
		return h.accountOfAddress(ctx, resource)
	}
	handle := resource
	if len(handle) > 5 && strings.EqualFold(handle[:5], "acct:") {
		handle = handle[5:]
	}
	handle = strings.TrimPrefix(handle, "@")
	at := strings.LastIndexByte(handle, '@')
	if at < 1 || !h.Settings.IsOwnHost(handle[at+1:]) {
		return nil, errs.ErrRecordNotFound
	}
	return h.localAccountByName(ctx, handle[:at])
}

// localAccountByName returns a local account or a server actor.
func (h *activityPub) localAccountByName(ctx context.Context, name string) (*store.Account, error) {
	a, err := h.Federation.DocumentServer.ServerActorByName(ctx, strings.ToLower(name))
	if !errs.IsNotFound(err) {
		return a, err
	}
	id, err := h.DB.AccountIDByName(ctx, name, "")
	if err != nil {
		return nil, err
	}
	if id == 0 {
		return nil, errs.ErrRecordNotFound
	}
	a, err = h.Federation.Accounts.Get(ctx, id)
	if err == nil && h.Federation.Documents.IsServerActor(a) { // federation is disabled
		err = errs.ErrRecordNotFound
	}
	return a, err
}

func (h *activityPub) accountOfAddress(ctx context.Context, address string) (*store.Account, error) {
	u, err := url.Parse(address)
	base, baseErr := url.Parse(h.Settings.BaseURL)
	if err != nil || baseErr != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
		!strings.EqualFold(u.Scheme, base.Scheme) || !h.Settings.IsOwnHost(u.Host) {
		return nil, errs.ErrRecordNotFound
	}
	if a, err := h.Federation.DocumentServer.ServerActor(ctx, u.Path); !errs.IsNotFound(err) {
		return a, err
	}
	if h.DB.HasOldAddresses() {
		if a, err := h.DB.AccountByURI(ctx, h.Settings.BaseURL+u.Path); !errs.IsNotFound(err) {
			return a, err
		}
	}
	if name, ok := strings.CutPrefix(u.Path, "/@"); ok {
		return h.localAccountByName(ctx, name)
	}
	name, ok := strings.CutPrefix(u.Path, "/users/")
	if !ok {
		return nil, errs.ErrRecordNotFound
	}
	id := store.ParseID[store.AccountID](name)
	if id == 0 {
		return h.localAccountByName(ctx, name)
	}
	a, err := h.DB.Account(ctx, id)
	if err == nil && (!a.Local() || h.Federation.Documents.IsServerActor(a)) {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

// describeAccount returns the descriptor of an account. Its aliases are local URLs only, because others take all aliases for the same
// account.
func (h *activityPub) describeAccount(a *store.Account) resourceDescriptor {
	d := resourceDescriptor{Subject: "acct:" + a.Nickname + "@" + h.Settings.Host, Aliases: []string{a.URI}}
	if a.URL != a.URI {
		d.Aliases = append(d.Aliases, a.URL)
		d.Links = append(d.Links, descriptorLink{Rel: "http://webfinger.net/rel/profile-page", Type: "text/html", Href: a.URL})
	}
	for _, kind := range []string{activity.MediaType, activity.LDMediaType + `; profile="` + activity.LDProfile + `"`} {
		d.Links = append(d.Links, descriptorLink{Rel: "self", Type: kind, Href: a.URI})
	}
	if !h.Federation.Documents.IsServerActor(a) { // through which users of this server follow accounts of others
		d.Links = append(d.Links, descriptorLink{Rel: "http://ostatus.org/schema/1.0/subscribe", Template: h.Settings.BaseURL + "/authorize_interaction?uri={uri}"})
	}
	return d
}

// negotiate returns the descriptor in the requested format.
func (d resourceDescriptor) negotiate(r *http.Request) (any, error) {
	list := acceptPreferences(r,
		func(media string, _ map[string]string) bool {
			return media == "application/jrd+json" || media == "application/json" || media == "application/*"
		},
		func(media string, _ map[string]string) bool {
			return media == "application/xrd+xml" || media == "application/xml" || media == "text/xml"
		})
	if list[1].preferredTo(list[0]) {
		text, err := xml.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("describe account: %w", err)
		}
		return rawDocument{"application/xrd+xml; charset=utf-8", append([]byte(xml.Header), text...)}, nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("describe account: %w", err)
	}
	return rawDocument{"application/jrd+json; charset=utf-8", text}, nil
}
