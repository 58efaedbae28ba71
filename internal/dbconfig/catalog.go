package dbconfig

import (
	"strings"
	"sync"
	"time"

	"svc/internal/config"
)

// place is where front ends expect a setting: in the row of a group and a key, in a subkey, and perhaps in a member of its value: a
// key of an object, or a position of a pair of limits.
type place struct {
	row    RowKey
	subkey string // "": the setting is the whole value
	member string
	form   form
}

// Positions of a pair of limits.
const (
	anonymous = "anonymous"
	signedIn  = "signed in"
)

func at(key, subkey string) place { return place{row: RowKey{":svc", key}, subkey: subkey} }

func (p place) as(f form) place { p.form = f; return p }

func (p place) in(member string) place { p.member = member; return p }

// policyPrefix and scrubberPrefix are before the short names of policies and sanitizers.
const (
	policyPrefix   = "Svc.Web.ActivityPub.MRF."
	scrubberPrefix = "Svc.HTML.Scrubber."
)

var policies = modulesForm(policyPrefix)

// places are the settings whose place is not their own name (admin API 8).
var places = map[string]place{
	"instance.admin_privileges":           at(":instance", ":admin_privileges").as(atomsForm),
	"instance.moderator_privileges":       at(":instance", ":moderator_privileges").as(atomsForm),
	"instance.thumbnail":                  at(":instance", ":instance_thumbnail"),
	"mail.from":                           at(":instance", ":notify_email"),
	"statuses.max_length":                 at(":instance", ":limit"),
	"statuses.allowed_formats":            at(":instance", ":allowed_post_formats"),
	"statuses.max_pinned":                 at(":instance", ":max_pinned_statuses"),
	"media.description_length":            at(":instance", ":description_limit"),
	"media.upload_limit":                  at(":instance", ":upload_limit"),
	"media.avatar_limit":                  at(":instance", ":avatar_upload_limit"),
	"media.banner_limit":                  at(":instance", ":banner_upload_limit"),
	"media.background_limit":              at(":instance", ":background_upload_limit"),
	"chats.max_length":                    at(":instance", ":chat_limit"),
	"polls.max_options":                   at(":instance", ":poll_limits").in(":max_options"),
	"polls.max_option_length":             at(":instance", ":poll_limits").in(":max_option_chars"),
	"polls.min_expiration":                at(":instance", ":poll_limits").in(":min_expiration").as(durationForm(time.Second)),
	"polls.max_expiration":                at(":instance", ":poll_limits").in(":max_expiration").as(durationForm(time.Second)),
	"accounts.name_length":                at(":instance", ":user_name_length"),
	"accounts.bio_length":                 at(":instance", ":user_bio_length"),
	"accounts.max_fields":                 at(":instance", ":max_account_fields"),
	"accounts.max_remote_fields":          at(":instance", ":max_remote_account_fields"),
	"accounts.field_name_length":          at(":instance", ":account_field_name_length"),
	"accounts.field_value_length":         at(":instance", ":account_field_value_length"),
	"accounts.registration_reason_length": at(":instance", ":registration_reason_length"),
	"accounts.extended_nickname_format":   at(":instance", ":extended_nickname_format"),
	"accounts.profile_directory":          at(":instance", ":profile_directory"),
	"accounts.password_reset_lifetime":    at(":instance", ":password_reset_token_validity").as(durationForm(time.Second)),
	"accounts.birthday_required":          at(":instance", ":birthday_required"),
	"accounts.birthday_min_age":           at(":instance", ":birthday_min_age").as(integerForm(365)),
	"accounts.autofollow":                 at(":instance", ":autofollowed_nicknames"),
	"accounts.autofollowed_by":            at(":instance", ":autofollowing_nicknames"),
	"federation.enabled":                  at(":instance", ":federating"),
	"federation.allow_relay":              at(":instance", ":allow_relay"),
	"federation.quarantined_instances":    at(":instance", ":quarantined_instances").as(hostsForm),
	"federation.rejected_instances":       at(":instance", ":rejected_instances").as(hostsForm),
	"search.anonymous_remote": at(":instance", ":limit_to_local_content").as(form{[]any{"dropdown", "atom"},
		func(v any) Value {
			if v == true {
				return false
			}
			return Atom("unauthenticated")
		},
		func(v Value) (any, error) {
			switch v {
			case Atom("unauthenticated"):
				return false, nil
			case false:
				return true, nil
			}
			return nil, expected(`":unauthenticated" or false`, v)
		}}),

	"accounts.restricted_nicknames": at("Svc.User", ":restricted_nicknames"),
	"accounts.email_blacklist":      at("Svc.User", ":email_blacklist"),
	"accounts.backup_lifetime":      at("Svc.User.Backup", ":purge_after_days").as(durationForm(24 * time.Hour)),
	"accounts.backup_interval":      at("Svc.User.Backup", ":limit_days").as(durationForm(24 * time.Hour)),
	"accounts.blockers_visible":     at(":activitypub", ":blockers_visible"),
	"federation.send_blocks":        at(":activitypub", ":outgoing_blocks"),
	"federation.authorized_fetch":   at(":activitypub", ":authorized_fetch_mode"),
	"oauth.token_lifetime":          at(":oauth2", ":token_expires_in").as(durationForm(time.Second)),
	"captcha.enabled":               at("Svc.Captcha", ":enabled"),
	"captcha.provider": at("Svc.Captcha", ":method").as(namesForm("module", map[string]Value{
		config.CaptchaNative: Module("Svc.Captcha.Native"), config.CaptchaKocaptcha: Module("Svc.Captcha.Kocaptcha"),
	})),
	"captcha.seconds_valid":    at("Svc.Captcha", ":seconds_valid"),
	"captcha.endpoint":         at("Svc.Captcha.Kocaptcha", ":endpoint"),
	"cards.enabled":            at(":rich_media", ":enabled"),
	"cards.ignored_hosts":      at(":rich_media", ":ignore_hosts"),
	"media_proxy.direct_hosts": at(":media_proxy", ":whitelist"),
	"frontends.primary":        at(":frontends", ":primary").as(frontendForm),
	"frontends.admin":          at(":frontends", ":admin").as(frontendForm),
	"frontends.configurations": at(":frontend_configurations", "").as(frontendsForm),

	"emoji.groups": at(":emoji", ":groups").as(keywordForm("name", "patterns", formOf(config.Setting{Kind: config.List}))),

	"rate_limit.enabled":              at(movedSwitch.Key, switchSubkey), // front ends take each subkey of :rate_limit for a limit
	"rate_limit.app_registration":     at(":rate_limit", ":oauth_app_creation"),
	"rate_limit.registration":         at(":rate_limit", ":app_account_creation"),
	"rate_limit.search_anonymous":     at(":rate_limit", ":search").in(anonymous),
	"rate_limit.search":               at(":rate_limit", ":search").in(signedIn),
	"rate_limit.follows":              at(":rate_limit", ":relations_actions"),
	"rate_limit.follows_same_account": at(":rate_limit", ":relation_id_action"),
	"rate_limit.status_actions":       at(":rate_limit", ":statuses_actions"),
	"rate_limit.same_status_action":   at(":rate_limit", ":status_id_action"),
	"rate_limit.federation":           at(":rate_limit", ":ap_routes"),

	"mail.enabled": at("Svc.Emails.Mailer", ":enabled"),
	"mail.adapter": at("Svc.Emails.Mailer", ":adapter").as(namesForm("module", map[string]Value{
		config.MailSMTP: Module("Swoosh.Adapters.SMTP"), config.MailFile: Module("Swoosh.Adapters.Local"),
	})),
	"mail.host":               at("Svc.Emails.Mailer", ":relay"),
	"mail.port":               at("Svc.Emails.Mailer", ":port"),
	"mail.user":               at("Svc.Emails.Mailer", ":username"),
	"mail.password":           at("Svc.Emails.Mailer", ":password"),
	"mail.tls":                at("Svc.Emails.Mailer", ":encryption"),
	"mail.verify_certificate": at("Svc.Emails.Mailer", ":verify_certificate"),

	"mrf.policies":                       at(":mrf", ":policies").as(policies),
	"mrf_subchain.match_actor":           at(":mrf_subchain", ":match_actor").as(mapForm("pattern", "policies", policies)),
	"mrf_antimentionspam.user_age_limit": at(":mrf_antimentionspam", ":user_age_limit").as(durationForm(time.Millisecond)),
	"mrf_object_age.threshold":           at(":mrf_object_age", ":threshold").as(durationForm(time.Second)),
	"mrf_object_age.actions":             at(":mrf_object_age", ":actions").as(atomsForm),
	"mrf_keyword.replace":                at(":mrf_keyword", ":replace").as(tuplesForm("pattern", "replacement")),
	"mrf_user_allowlist.hosts":           at(":mrf_user_allowlist", ":hosts").as(mapForm("host", "actors", formOf(config.Setting{Kind: config.List}))),
	"mrf_normalize_markup.scrub_policy": at(":mrf_normalize_markup", ":scrub_policy").as(namesForm("module", map[string]Value{
		config.ScrubDefault: Module(scrubberPrefix + "Default"), config.ScrubStrict: Module(scrubberPrefix + "Strict"),
	})),
}

// placeOf returns the place of a setting. Settings that other servers do not have are under their own group and key.
func placeOf(s config.Setting) place {
	p, ok := places[s.Name()]
	if !ok {
		p = at(":"+strings.ReplaceAll(s.Group, ".", "_"), ":"+s.Key)
	}
	if p.form.show == nil && (s.Group == "mrf_simple" || s.Name() == "mrf.transparency_exclusions") {
		p.form = hostsForm
	}
	if p.form.show == nil {
		p.form = formOf(s)
	}
	return p
}

// FileOnly returns true if only the settings file can set a setting: what the server needs before it reads the database, and what
// would be dangerous to change remotely.
func FileOnly(group, key string) bool {
	switch group {
	case "server", "server.tls", "data", "api", "cache", "metrics", "replica", "s3", "sftp":
		return true
	}
	switch group + "." + key {
	case "instance.configurable_from_database", "federation.allow_loopback", "log.format", "updates.url", "updates.public_key", "backup.place", "media.storage",
		"media.bucket", "media.redirect":
		return true
	}
	return false
}

// reserved are rows of other servers of this family that only their settings file may have (admin API 7.1).
func reserved(row RowKey) bool {
	switch row.Key {
	case "Svc.Repo", "Svc.Web.Endpoint", ":env", ":configurable_from_database", ":database", ":swarm":
		return row.Group == ":svc"
	}
	return row.Group == ":postgrex" || row.Group == ":tesla"
}

// row is a row of the catalogue: its settings in the order of the registry.
type row struct {
	key      RowKey
	settings []placed
}

// placed is a setting with its place.
type placed struct {
	config.Setting
	place
}

// catalog returns the rows of all settings in the order of the registry, and by their keys.
var catalog = sync.OnceValue(func() (c struct {
	rows  []*row
	byKey map[RowKey]*row
}) {
	c.byKey = make(map[RowKey]*row)
	for _, s := range config.Settings() {
		p := placeOf(s)
		r := c.byKey[p.row]
		if r == nil {
			r = &row{key: p.row}
			c.byKey[p.row] = r
			c.rows = append(c.rows, r)
		}
		r.settings = append(r.settings, placed{s, p})
	}
	return c
})
