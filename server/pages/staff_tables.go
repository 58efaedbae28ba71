package pages

import (
	"net/url"

	"svc/server/web"
)

func column(label, from string) web.Column { return web.Column{Label: "admin." + label, From: from} }

func columnOf(kind, label, from string) web.Column {
	return web.Column{Label: "admin." + label, From: from, Kind: kind}
}

func table(name string, submit string, columns ...web.Column) web.Resource {
	r := web.Resource{Title: "admin." + name + ".title", Intro: "admin." + name + ".about", Columns: columns}
	if submit != "" {
		r.Submit = "admin." + name + "." + submit
	}
	return r
}

func textInput(name, label string, required bool) web.Input {
	return web.Input{Name: name, Kind: "text", Label: "admin." + label, Required: required, MaxLength: 2000}
}

func areaInput(name, label string, maxLength int) web.Input {
	return web.Input{Name: name, Kind: "textarea", Label: "admin." + label, MaxLength: maxLength}
}

func deletes(path string) rowAction {
	return rowAction{label: "admin.delete", method: "DELETE", path: path, ask: "delete_row"}
}

// resources are the pages of staff that are a table of rows.
var resources = []*resource{
	{
		Resource: table("rules", "add", column("text", "text"), column("hint", "hint"), column("priority", "priority")),
		path:     "/web/admin/rules", list: "/api/v1/svc/admin/rules", create: "/api/v1/svc/admin/rules",
		actions: []rowAction{deletes("/api/v1/svc/admin/rules/{id}")},
		change:  &rowChange{title: "admin.rules.change", key: "id", row: "/api/v1/svc/admin/rules", method: "PATCH", path: "/api/v1/svc/admin/rules/{id}"},
		inputs: func(*page) []web.Input {
			return []web.Input{
				{Name: "text", Kind: "textarea", Label: "admin.text", Required: true, MaxLength: 1000}, areaInput("hint", "hint", 5000),
				{Name: "priority", Kind: "number", Label: "admin.priority", Hint: "admin.priority_hint", Value: "0"},
			}
		},
	},
	{
		Resource: table("announcements", "add", column("text", "svc.raw_content"), columnOf("date", "starts", "starts_at"), columnOf("date", "ends", "ends_at")),
		path:     "/web/admin/announcements", list: "/api/v1/svc/admin/announcements", create: "/api/v1/svc/admin/announcements",
		actions: []rowAction{deletes("/api/v1/svc/admin/announcements/{id}")},
		change: &rowChange{
			title: "admin.announcements.change", key: "id", row: "/api/v1/svc/admin/announcements/{id}", method: "PATCH", path: "/api/v1/svc/admin/announcements/{id}",
		},
		inputs: func(p *page) []web.Input {
			return []web.Input{
				{Name: "content", Kind: "textarea", From: "svc.raw_content", Label: "admin.text", Required: true, MaxLength: 10_000},
				p.timeInput("starts_at", "starts", ""),
				p.timeInput("ends_at", "ends", ""),
			}
		},
	},
	{
		Resource: table("invites", "add", column("link", "link"), column("uses", "uses"), column("max_uses", "max_use"), columnOf("date", "expires", "expires_at"), columnOf("yes", "usable", "usable")),
		path:     "/web/admin/invites", list: "/api/v1/svc/admin/users/invites", member: "invites", create: "/api/v1/svc/admin/users/invite_token",
		actions: []rowAction{{label: "admin.revoke", method: "POST", path: "/api/v1/svc/admin/users/revoke_invite?token={token}", ask: "revoke_invite", only: "usable"}},
		more: []moreForm{{
			name: "mail", form: web.StaffForm{Submit: "admin.invites.mail", Hint: "admin.invites.mail_hint"}, create: "/api/v1/svc/admin/users/email_invite", done: "sent",
			inputs: func(*page) []web.Input {
				return []web.Input{{Name: "email", Kind: "email", Label: "admin.email", Required: true, MaxLength: 320}, textInput("name", "name", false)}
			},
		}},
		inputs: func(*page) []web.Input {
			return []web.Input{
				{Name: "max_use", Kind: "number", Label: "admin.max_uses", Hint: "admin.max_uses_hint"},
				{Name: "expires_at", Kind: "date", Label: "admin.expires"},
			}
		},
	},
	{
		Resource: table("domains", "add", column("domain", "domain"), columnOf("severity", "severity", "severity"), columnOf("yes", "reject_media", "reject_media"), columnOf("yes", "reject_reports", "reject_reports"), column("public_comment", "public_comment"), column("private_comment", "private_comment")),
		path:     "/web/admin/domains", list: "/api/v1/admin/domain_blocks", paged: true, create: "/api/v1/admin/domain_blocks",
		actions: []rowAction{deletes("/api/v1/admin/domain_blocks/{id}")},
		change: &rowChange{
			title: "admin.domains.change", key: "id", row: "/api/v1/admin/domain_blocks/{id}", method: "PUT", path: "/api/v1/admin/domain_blocks/{id}",
			about: "domain", without: []string{"domain"}, preview: (*page).previewSuspension,
		},
		preview: func(p *page) (web.Content, error) { return p.previewBlock(p.Query("domain"), "/web/admin/domains") },
		inputs: func(p *page) []web.Input {
			return []web.Input{
				textInput("domain", "domain", true),
				{Name: "severity", Kind: "select", Label: "admin.severity", Options: p.choices("admin.severity_", "silence", "suspend", "noop")},
				{Name: "reject_media", Kind: "checkbox", Label: "admin.reject_media"},
				{Name: "reject_reports", Kind: "checkbox", Label: "admin.reject_reports"},
				areaInput("public_comment", "public_comment", 2000), areaInput("private_comment", "private_comment", 2000),
			}
		},
	},
	{
		Resource: table("relays", "add", column("address", "actor"), columnOf("yes", "accepted", "followed_back"), columnOf("date", "unreachable", "unreachable_since"), column("last_error", "last_error")),
		path:     "/web/admin/relays", list: "/api/v1/svc/admin/relay", member: "relays", create: "/api/v1/svc/admin/relay",
		actions: []rowAction{{label: "admin.delete", method: "DELETE", path: "/api/v1/svc/admin/relay?force=true&relay_url={actor}", ask: "unfollow_relay"}},
		inputs: func(*page) []web.Input {
			return []web.Input{{Name: "relay_url", Kind: "url", Label: "admin.address", Required: true, MaxLength: 2000}}
		},
	},
	{
		Resource: table("email_domains", "add", column("domain", "domain"), columnOf("yes", "allow_with_approval", "allow_with_approval"), columnOf("date", "since", "created_at")),
		path:     "/web/admin/email_domains", list: "/api/v1/admin/email_domain_blocks", paged: true, create: "/api/v1/admin/email_domain_blocks",
		actions: []rowAction{deletes("/api/v1/admin/email_domain_blocks/{id}")},
		inputs: func(*page) []web.Input {
			return []web.Input{textInput("domain", "domain", true), {Name: "allow_with_approval", Kind: "checkbox", Label: "admin.allow_with_approval"}}
		},
	},
	{
		Resource: table("networks", "add", column("network", "ip"), columnOf("severity", "severity", "severity"), column("comment", "comment"), columnOf("date", "expires", "expires_at")),
		path:     "/web/admin/networks", list: "/api/v1/admin/ip_blocks", paged: true, create: "/api/v1/admin/ip_blocks",
		actions: []rowAction{deletes("/api/v1/admin/ip_blocks/{id}")},
		change: &rowChange{
			title: "admin.networks.change", key: "id", row: "/api/v1/admin/ip_blocks/{id}", method: "PUT", path: "/api/v1/admin/ip_blocks/{id}",
		},
		inputs: func(p *page) []web.Input {
			return []web.Input{
				textInput("ip", "network", true),
				{Name: "severity", Kind: "select", Label: "admin.severity", Options: p.choices("admin.severity_", "sign_up_requires_approval", "sign_up_block", "no_access")},
				textInput("comment", "comment", false),
				p.timeInput("expires_at", "ends", "admin.expires_hint"),
			}
		},
	},
	{
		Resource: table("apps", "add", column("name", "name"), column("website", "website"), columnOf("names", "scopes", "scopes"), columnOf("yes", "trusted", "trusted")),
		path:     "/web/admin/apps", list: "/api/v1/svc/admin/oauth_app", member: "apps", numbered: true, create: "/api/v1/svc/admin/oauth_app",
		actions: []rowAction{{label: "admin.delete", method: "DELETE", path: "/api/v1/svc/admin/oauth_app/{id}", ask: "delete_app"}},
		change: &rowChange{
			title: "admin.apps.change", key: "client_id", row: "/api/v1/svc/admin/oauth_app?client_id={client_id}", method: "PATCH", path: "/api/v1/svc/admin/oauth_app/{id}",
		},
		inputs: func(*page) []web.Input {
			return []web.Input{
				textInput("name", "name", true),
				{Name: "redirect_uris", Kind: "textarea", From: "redirect_uri", Label: "admin.redirect_uris", Hint: "admin.redirect_uris_hint", Value: "urn:ietf:wg:oauth:2.0:oob", Required: true, MaxLength: 2000},
				{Name: "scopes", Kind: "text", Label: "admin.scopes", Hint: "admin.scopes_hint", Value: "read write follow push", MaxLength: 2000},
				{Name: "website", Kind: "url", Label: "admin.website", MaxLength: 2000},
				{Name: "trusted", Kind: "checkbox", Label: "admin.trusted", Hint: "admin.trusted_hint"},
			}
		},
	},
	{
		Resource: table("frontends", "add", column("name", "name"), column("ref", "ref"), columnOf("yes", "installed", "installed"), columnOf("names", "versions", "installed_refs")),
		path:     "/web/admin/frontends", list: "/api/v1/svc/admin/frontends", create: "/api/v1/svc/admin/frontends/install",
		actions: []rowAction{{label: "admin.install", method: "POST", path: "/api/v1/svc/admin/frontends/install?name={name}&ref={ref}", unless: "installed"}},
		buttons: frontendButtons,
		inputs: func(*page) []web.Input {
			return []web.Input{textInput("name", "name", true), textInput("ref", "ref", false), textInput("build_url", "build_url", false)}
		},
	},
	{
		Resource: table("media", "add", column("address", ".")),
		path:     "/web/admin/media", list: "/api/v1/svc/admin/media_proxy_caches", member: "urls", numbered: true, create: "/api/v1/svc/admin/media_proxy_caches/purge",
		actions: []rowAction{{label: "admin.media.unban", method: "POST", path: "/api/v1/svc/admin/media_proxy_caches/delete?urls[]={.}"}},
		inputs: func(*page) []web.Input {
			return []web.Input{{Name: "urls", Kind: "url", Label: "admin.address", Required: true, MaxLength: 2000}, {Name: "ban", Kind: "checkbox", Label: "admin.media.ban", Hint: "admin.media.ban_hint", Checked: true}}
		},
	},
	{
		Resource: table("log", "", columnOf("unix", "time", "time"), columnOf("log", "message", "message")),
		path:     "/web/admin/log", list: "/api/v1/svc/admin/moderation_log", member: "items", numbered: true, selects: "account_id",
	},
}

// frontendButtons show and remove the installed versions of a front end.
func frontendButtons(row any) (list []web.RowButton) {
	const path = "/api/v1/svc/admin/frontends"
	name, versions := textOf(member(row, "name")), member(row, "installed_refs")
	refs, _ := versions.([]any)
	for _, ref := range refs {
		ref := textOf(ref)
		version := name + "/" + ref
		shown := false
		for _, to := range []struct{ member, label, stop, admin string }{
			{"primary_ref", "admin.frontends.use", "admin.frontends.stop", "false"}, {"admin_ref", "admin.frontends.use_admin", "admin.frontends.stop_admin", "true"},
		} {
			b := button(to.label, "POST", path+"/use", "version", version, "admin", to.admin, doneParam, "saved")
			if member(row, to.member) == ref {
				shown, b = true, button(to.stop, "POST", path+"/use", "version", "", "admin", to.admin, doneParam, "saved")
			}
			b.About = ref
			list = append(list, b)
		}
		if !shown {
			b := button("admin.frontends.remove", "DELETE", path, "version", version, doneParam, "deleted", askParam, "delete_row", namedParam, version)
			b.About = ref
			list = append(list, b)
		}
	}
	return list
}

// previewSuspension asks before a block becomes a suspension.
func (p *page) previewSuspension(row any) (web.Content, error) {
	if severity, _ := p.Entered("severity"); severity != "suspend" || member(row, "severity") == "suspend" {
		return nil, nil
	}
	return p.previewBlock(textOf(member(row, "domain")), p.URL.Path)
}

// previewBlock asks before a server is blocked, and says what that concerns.
func (p *page) previewBlock(domain, action string) (web.Content, error) {
	content := web.BlockPreview{Domain: domain, Action: action}
	if err := p.get("/api/v1/svc/admin/domain_blocks/preview", url.Values{"domain": {content.Domain}}, &content.Hosts); err != nil {
		return nil, err
	}
	for _, name := range []string{"domain", "severity", "reject_media", "reject_reports", "public_comment", "private_comment"} {
		if text, ok := p.Entered(name); ok {
			content.Hidden = append(content.Hidden, web.Field{Name: name, Value: text})
		}
	}
	return content, nil
}
