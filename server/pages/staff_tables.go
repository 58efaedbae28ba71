package pages

import "svc/server/web"

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

func deletes(path string) rowAction {
	return rowAction{label: "admin.delete", method: "DELETE", path: path, danger: true}
}

// resources are the pages of staff that are a table of rows.
var resources = []*resource{
	{
		Resource: table("rules", "add", column("text", "text"), column("hint", "hint"), column("priority", "priority")),
		path:     "/web/admin/rules", list: "/api/v1/svc/admin/rules", create: "/api/v1/svc/admin/rules",
		actions: []rowAction{deletes("/api/v1/svc/admin/rules/{id}")},
		inputs: func(*page) []web.Input {
			return []web.Input{
				textInput("text", "text", true), textInput("hint", "hint", false),
				{Name: "priority", Kind: "number", Label: "admin.priority", Hint: "admin.priority_hint", Value: "0"},
			}
		},
	},
	{
		Resource: table("announcements", "add", column("text", "svc.raw_content"), columnOf("date", "starts", "starts_at"), columnOf("date", "ends", "ends_at")),
		path:     "/web/admin/announcements", list: "/api/v1/svc/admin/announcements", create: "/api/v1/svc/admin/announcements",
		actions: []rowAction{deletes("/api/v1/svc/admin/announcements/{id}")},
		inputs: func(*page) []web.Input {
			return []web.Input{
				{Name: "content", Kind: "textarea", Label: "admin.text", Required: true, MaxLength: 5000},
				{Name: "starts_at", Kind: "datetime-local", Label: "admin.starts_utc"},
				{Name: "ends_at", Kind: "datetime-local", Label: "admin.ends_utc"},
			}
		},
	},
	{
		Resource: table("invites", "add", column("link", "link"), column("uses", "uses"), column("max_uses", "max_use"), columnOf("date", "expires", "expires_at"), columnOf("yes", "usable", "usable")),
		path:     "/web/admin/invites", list: "/api/v1/svc/admin/users/invites", member: "invites", create: "/api/v1/svc/admin/users/invite_token",
		actions: []rowAction{{label: "admin.revoke", method: "POST", path: "/api/v1/svc/admin/users/revoke_invite?token={token}", danger: true, only: "usable"}},
		inputs: func(*page) []web.Input {
			return []web.Input{
				{Name: "max_use", Kind: "number", Label: "admin.max_uses", Hint: "admin.max_uses_hint"},
				{Name: "expires_at", Kind: "date", Label: "admin.expires"},
			}
		},
	},
	{
		Resource: table("domains", "add", column("domain", "domain"), column("severity", "severity"), columnOf("yes", "reject_media", "reject_media"), columnOf("yes", "reject_reports", "reject_reports"), column("public_comment", "public_comment"), column("private_comment", "private_comment")),
		path:     "/web/admin/domains", list: "/api/v1/admin/domain_blocks", paged: true, create: "/api/v1/admin/domain_blocks",
		actions: []rowAction{deletes("/api/v1/admin/domain_blocks/{id}")},
		inputs: func(p *page) []web.Input {
			return []web.Input{
				textInput("domain", "domain", true),
				{Name: "severity", Kind: "select", Label: "admin.severity", Options: p.choices("admin.severity_", "silence", "suspend", "noop")},
				{Name: "reject_media", Kind: "checkbox", Label: "admin.reject_media"},
				{Name: "reject_reports", Kind: "checkbox", Label: "admin.reject_reports"},
				textInput("public_comment", "public_comment", false), textInput("private_comment", "private_comment", false),
			}
		},
	},
	{
		Resource: table("relays", "add", column("address", "actor"), columnOf("yes", "accepted", "followed_back")),
		path:     "/web/admin/relays", list: "/api/v1/svc/admin/relay", create: "/api/v1/svc/admin/relay",
		actions: []rowAction{{label: "admin.delete", method: "DELETE", path: "/api/v1/svc/admin/relay?relay_url={actor}", danger: true}},
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
		Resource: table("networks", "add", column("network", "ip"), column("severity", "severity"), column("comment", "comment"), columnOf("date", "expires", "expires_at")),
		path:     "/web/admin/networks", list: "/api/v1/admin/ip_blocks", paged: true, create: "/api/v1/admin/ip_blocks",
		actions: []rowAction{deletes("/api/v1/admin/ip_blocks/{id}")},
		inputs: func(p *page) []web.Input {
			return []web.Input{
				textInput("ip", "network", true),
				{Name: "severity", Kind: "select", Label: "admin.severity", Options: p.choices("admin.severity_", "sign_up_requires_approval", "sign_up_block", "no_access")},
				textInput("comment", "comment", false),
				{Name: "expires_in", Kind: "number", Label: "admin.expires_in", Hint: "admin.expires_in_hint"},
			}
		},
	},
	{
		Resource: table("apps", "", column("name", "name"), column("website", "website"), columnOf("names", "scopes", "scopes"), columnOf("yes", "trusted", "trusted")),
		path:     "/web/admin/apps", list: "/api/v1/svc/admin/oauth_app", member: "apps", numbered: true,
		actions: []rowAction{deletes("/api/v1/svc/admin/oauth_app/{id}")},
	},
	{
		Resource: table("frontends", "add", column("name", "name"), column("ref", "ref"), columnOf("yes", "installed", "installed"), columnOf("names", "versions", "installed_refs")),
		path:     "/web/admin/frontends", list: "/api/v1/svc/admin/frontends", create: "/api/v1/svc/admin/frontends/install",
		actions: []rowAction{{label: "admin.install", method: "POST", path: "/api/v1/svc/admin/frontends/install?name={name}&ref={ref}", unless: "installed"}},
		inputs: func(*page) []web.Input {
			return []web.Input{textInput("name", "name", true), textInput("ref", "ref", false), textInput("build_url", "build_url", false)}
		},
	},
	{
		Resource: table("log", "", columnOf("unix", "time", "time"), column("message", "message")),
		path:     "/web/admin/log", list: "/api/v1/svc/admin/moderation_log", numbered: true,
	},
}
