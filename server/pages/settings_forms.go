package pages

import (
	"cmp"
	"fmt"
	"strings"

	"svc/server/web"
	"svc/store"
)

const ownAccount = "/api/v1/accounts/verify_credentials"

// settingsForms are the pages of settings with one form.
var settingsForms = []*settingsForm{
	{
		SettingsForm: web.SettingsForm{
			Title: "settings.profile.title", Method: "PATCH", Files: true, Submit: "settings.save",
		},
		path: "/web/settings/profile", endpoint: "/api/v1/accounts/update_credentials", present: ownAccount, done: "saved", groups: (*page).profileInputs,
	},
	{
		SettingsForm: web.SettingsForm{
			Title: "settings.privacy.title", Method: "PATCH", Submit: "settings.save", Links: []web.Link{{Title: "settings.interactions.title", URL: interactionsPath}, {Title: "collections.own", URL: "/web/collections"}, {Title: "collections.title", URL: inCollectionsPath}},
		},
		path: "/web/settings/privacy", endpoint: "/api/v1/accounts/update_credentials", present: ownAccount, done: "saved", groups: (*page).privacyInputs,
	},
	{
		SettingsForm: web.SettingsForm{
			Title: "settings.notifications.title", Intro: "settings.notifications.intro", Method: "PATCH", Submit: "settings.save",
			Links: []web.Link{{Title: "settings.push.title", URL: "/web/settings/push"}},
		},
		path: "/web/settings/notifications", endpoint: "/api/v2/notifications/policy", present: "/api/v2/notifications/policy", done: "saved",
		groups: (*page).notificationInputs,
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.push.title", Method: "PUT", Submit: "settings.save"},
		path:         "/web/settings/push", endpoint: "/api/v1/svc/notification_settings", present: ownAccount, done: "saved", push: true,
		groups: func(*page) []web.InputGroup {
			return one(
				checkbox("block_from_strangers", "svc.notification_settings.block_from_strangers", "push.block_from_strangers"),
				checkbox("hide_notification_contents", "svc.notification_settings.hide_notification_contents", "push.hide_contents"),
			)
		},
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.appearance.title", Method: "PATCH", Submit: "settings.save"},
		path:         "/web/settings/appearance", endpoint: appearancePath, present: appearancePath, done: "saved", groups: (*page).appearanceInputs, check: (*page).checkAppearance,
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.reading.title", Method: "PATCH", Submit: "settings.save", Links: []web.Link{{Title: "shortcuts.title", URL: shortcutsPath}}},
		path:         "/web/settings/reading", endpoint: appearancePath, present: appearancePath, done: "saved", groups: (*page).readingInputs,
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.password.title", Intro: "settings.password.intro", Method: "POST", Submit: "settings.password.submit"},
		path:         "/web/settings/password", endpoint: "/api/v1/svc/change_password", done: "password", leaveTo: "/web/sign_in", // the browser is signed out, too
		groups: func(*page) []web.InputGroup {
			return one(
				secret("password", "password.present", "current-password"),
				secret("new_password", "password.new", "new-password"),
				secret("new_password_confirmation", "password.again", "new-password"),
			)
		},
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.email.title", Intro: "settings.email.intro", Method: "POST", Submit: "settings.email.submit"},
		path:         "/web/settings/email", endpoint: "/api/v1/svc/change_email", present: ownAccount, done: "email", groups: func(*page) []web.InputGroup {
			return one(
				web.Input{Name: "email", Kind: "email", From: "svc.email", Label: "settings.email.address", MaxLength: 254, Autocomplete: "email"},
				secret("password", "password.present", "current-password"),
			)
		},
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.move.title", Intro: "settings.move.intro", Method: "POST", Submit: "settings.move.submit", Danger: true},
		path:         "/web/settings/move", endpoint: "/api/v1/svc/move_account", done: "moved", groups: func(*page) []web.InputGroup {
			return one(
				web.Input{Name: "target_account", Kind: "text", Label: "settings.move.target", Required: true, MaxLength: 500},
				secret("password", "password.present", "current-password"),
			)
		},
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.disable.title", Intro: "settings.disable.intro", Method: "POST", Submit: "settings.disable.submit", Danger: true},
		path:         "/web/settings/disable", endpoint: "/api/v1/svc/disable_account", leaveTo: "/", groups: passwordInput,
	},
	{
		SettingsForm: web.SettingsForm{Title: "settings.delete.title", Intro: "settings.delete.intro", Method: "POST", Submit: "settings.delete.submit", Danger: true},
		path:         "/web/settings/delete", endpoint: "/api/v1/svc/delete_account", leaveTo: "/", groups: passwordInput,
	},
}

func passwordInput(*page) []web.InputGroup {
	return one(secret("password", "password.present", "current-password"))
}

// maxProfileFields is how many fields of a profile the form has.
const maxProfileFields = 4

func (p *page) profileInputs() []web.InputGroup {
	limits := p.Settings.Load().Accounts
	about := []web.Input{
		{Name: "display_name", Kind: "text", From: "display_name", Label: "settings.profile.name", MaxLength: limits.NameLength},
		{Name: "note", Kind: "textarea", From: "source.note", Label: "settings.profile.note", MaxLength: limits.BioLength},
		{Name: "avatar", Kind: "file", Label: "settings.profile.avatar", Hint: "settings.profile.avatar_hint", Accept: "image/*", Picture: p.ownPicture(p.Viewer.AvatarStatic, p.Viewer.Avatar), Remove: "/api/v1/profile/avatar"},
		{Name: "avatar_description", Kind: "text", From: "avatar_description", Label: "settings.profile.avatar_description", Hint: "settings.profile.description_hint", MaxLength: store.MaxPictureDescription},
		{Name: "header", Kind: "file", Label: "settings.profile.header", Hint: "settings.profile.header_hint", Accept: "image/*", Picture: p.ownPicture(p.Viewer.HeaderStatic, p.Viewer.Header), Remove: "/api/v1/profile/header"},
		{Name: "header_description", Kind: "text", From: "header_description", Label: "settings.profile.header_description", Hint: "settings.profile.description_hint", MaxLength: store.MaxPictureDescription},
		{Name: "actor_type", Kind: "select", From: "source.svc.actor_type", Label: "settings.profile.type", Options: p.choices("settings.profile.type_", "Person", "Service", "Group")},
		{Name: "birthday", Kind: "date", From: "svc.birthday", Label: "settings.profile.birthday"},
		checkbox("show_birthday", "source.svc.show_birthday", "profile.show_birthday"),
		checkbox("show_role", "source.svc.show_role", "profile.show_role"),
	}
	var fields []web.Input
	for i := range min(maxProfileFields, limits.MaxFields) {
		fields = append(fields,
			web.Input{
				Name: fmt.Sprintf("fields_attributes[%d][name]", i), Kind: "text", From: fmt.Sprintf("source.fields.%d.name", i), Plain: true,
				Label: p.text("settings.profile.field_name", i+1), MaxLength: limits.FieldNameLength,
			},
			web.Input{
				Name: fmt.Sprintf("fields_attributes[%d][value]", i), Kind: "text", From: fmt.Sprintf("source.fields.%d.value", i), Plain: true,
				Label: p.text("settings.profile.field_value", i+1), MaxLength: limits.FieldValueLength,
			})
	}
	authorship := []web.Input{{
		Name: "attribution_domains", Kind: "textarea", From: "source.attribution_domains",
		Label: "settings.profile.attribution", Hint: "settings.profile.attribution_hint",
	}}
	return []web.InputGroup{
		{Inputs: about}, {Title: "settings.profile.fields", Inputs: fields}, {Title: "settings.profile.authorship", Inputs: authorship},
	}
}

// ownPicture returns the URL of the viewer's avatar or banner, "" if there is none.
func (p *page) ownPicture(still, picture string) string {
	if url := p.Entities.Picture(cmp.Or(still, picture)); url != nil {
		return *url
	}
	return ""
}

func (p *page) privacyInputs() []web.InputGroup {
	return []web.InputGroup{
		{Title: "settings.privacy.others", Inputs: []web.Input{
			checkbox("locked", "locked", "privacy.locked"),
			checkbox("discoverable", "source.svc.discoverable", "privacy.discoverable"),
			checkbox("indexable", "source.indexable", "privacy.indexable"),
			checkbox("hide_followers", "svc.hide_followers", "privacy.hide_followers"),
			checkbox("hide_follows", "svc.hide_follows", "privacy.hide_follows"),
			checkbox("hide_followers_count", "svc.hide_followers_count", "privacy.hide_followers_count"),
			checkbox("hide_follows_count", "svc.hide_follows_count", "privacy.hide_follows_count"),
			checkbox("hide_favorites", "svc.hide_favorites", "privacy.hide_favourites"),
			checkbox("accepts_chat_messages", "svc.accepts_chat_messages", "privacy.chats"),
			checkbox("allow_following_move", "svc.allow_following_move", "privacy.follow_move"),
		}},
		{Title: "settings.privacy.posts", Inputs: []web.Input{
			{Name: "source[privacy]", Kind: "select", From: "source.privacy", Label: "settings.privacy.visibility", Options: p.choices("visibility.", "public", "unlisted", "private", "direct", "local")},
			{Name: "source[quote_policy]", Kind: "select", From: "source.quote_policy", Label: "settings.privacy.quotes", Options: p.choices("settings.privacy.quotes_", "public", "followers", "nobody")},
			{Name: "source[feature_policy]", Kind: "select", From: "source.feature_policy", Label: "settings.privacy.featured", Hint: "settings.privacy.featured_hint", Options: p.choices("settings.privacy.featured_", "default", "public", "followers", "nobody")},
			{Name: "source[language]", Kind: "text", From: "source.language", Label: "settings.privacy.language", Hint: "settings.privacy.language_hint", MaxLength: 10},
			checkbox("source[sensitive]", "source.sensitive", "privacy.sensitive"),
		}},
	}
}

func (p *page) notificationInputs() []web.InputGroup {
	var inputs []web.Input
	for _, name := range []string{"for_not_following", "for_not_followers", "for_new_accounts", "for_private_mentions", "for_limited_accounts"} {
		inputs = append(inputs, web.Input{
			Name: name, Kind: "select", From: name, Label: "settings.notifications." + name, Options: p.choices("settings.notifications.", "accept", "filter", "drop"),
		})
	}
	return one(inputs...)
}

const appearancePath = "/api/v1/svc/settings/" + web.SettingsClient

func (p *page) appearanceInputs() []web.InputGroup {
	return one(
		web.Input{
			Name: "language", Kind: "select", From: "language", Label: "settings.appearance.language",
			Options: append(p.choices("settings.appearance.language_", ""), languageChoices()...),
		},
		web.Input{Name: "theme", Kind: "select", From: "theme", Label: "settings.appearance.theme", Options: p.choices("settings.appearance.theme_", "", "light", "dark", "contrast")},
		web.Input{Name: "describe", Kind: "select", From: "describe", Label: "settings.appearance.describe", Options: p.choices("settings.appearance.describe_", "", "no")},
		web.Input{Name: "time_zone", Kind: "select", From: "time_zone", Label: "settings.appearance.zone", Hint: "settings.appearance.zone_hint", Options: p.zoneChoices()},
	)
}

func (p *page) readingInputs() []web.InputGroup {
	return one(
		web.Input{Name: "text_size", Kind: "select", From: "text_size", Label: "settings.reading.size", Options: p.choices("settings.reading.size_", "", "small", "large", "larger")},
		web.Input{Name: "width", Kind: "select", From: "width", Label: "settings.reading.width", Options: p.choices("settings.reading.width_", "", "narrow", "wide")},
		web.Input{Name: "media", Kind: "select", From: "media", Label: "settings.reading.media", Options: p.choices("settings.reading.media_", "", web.ShowMedia, web.HideMedia)},
		web.Input{Name: "warnings", Kind: "select", From: "warnings", Label: "settings.reading.warnings", Options: p.choices("settings.reading.warnings_", "", "open")},
		web.Input{Name: "keys", Kind: "select", From: "keys", Label: "settings.reading.keys", Hint: "settings.reading.keys_hint", Options: p.choices("settings.reading.keys_", "", "off")},
	)
}

// zoneChoices returns the time zones. Without a choice it is that of the browser.
func (p *page) zoneChoices() []web.Choice {
	list := p.choices("settings.appearance.zone_", "")
	for _, name := range web.ZoneNames() {
		list = append(list, web.Choice{Value: name, Label: strings.ReplaceAll(name, "_", " ")})
	}
	return list
}

// checkAppearance refuses a time zone that is not known, because the endpoint stores any.
func (p *page) checkAppearance() error {
	name, ok := p.Entered("time_zone")
	if !ok || name == "" {
		return nil
	}
	_, err := web.Zone(name)
	return err
}
