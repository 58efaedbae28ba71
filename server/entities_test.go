package server_test

import (
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server"
)

// readable are all GET endpoints that return entities, with the paths to request and the shapes of the responses. ACCOUNT,
// LIST and so on stand for ids; STATUSES stands for each status in turn. The tests of the instance check the entities of the
// instance.
var readable = map[string]struct{ path, shape string }{
	"/api/oauth_tokens":                       {"", "[]Session"},
	"/api/v1/accounts/:id":                    {"/api/v1/accounts/ACCOUNT?with_relationships=true", "Account"},
	"/api/v1/accounts/:id/featured_tags":      {"/api/v1/accounts/ACCOUNT/featured_tags", "[]FeaturedTag"},
	"/api/v1/accounts/:id/followers":          {"/api/v1/accounts/ACCOUNT/followers?with_relationships=true", "[]Account"},
	"/api/v1/accounts/:id/following":          {"/api/v1/accounts/ACCOUNT/following", "[]Account"},
	"/api/v1/accounts/:id/identity_proofs":    {"/api/v1/accounts/ACCOUNT/identity_proofs", "[]null"},
	"/api/v1/accounts/:id/lists":              {"/api/v1/accounts/ACCOUNT/lists", "[]List"},
	"/api/v1/accounts/:id/statuses":           {"/api/v1/accounts/ACCOUNT/statuses?limit=40", "[]Status"},
	"/api/v1/accounts/lookup":                 {"/api/v1/accounts/lookup?acct=rich", "Account"},
	"/api/v1/accounts/relationships":          {"/api/v1/accounts/relationships?id[]=ACCOUNT&id[]=SELF", "[]Relationship"},
	"/api/v1/accounts/search":                 {"/api/v1/accounts/search?q=r", "[]Account"},
	"/api/v1/accounts/verify_credentials":     {"", "CredentialAccount"},
	"/api/v1/announcements":                   {"/api/v1/announcements?with_dismissed=true", "[]Announcement"},
	"/api/v1/apps/verify_credentials":         {"", "App"},
	"/api/v1/blocks":                          {"", "[]Account"},
	"/api/v1/bookmarks":                       {"", "[]Status"},
	"/api/v1/conversations":                   {"", "[]Conversation"},
	"/api/v1/custom_emojis":                   {"", "[]Emoji"},
	"/api/v1/domain_blocks":                   {"", "[]text"},
	"/api/v1/directory":                       {"", "[]Account"},
	"/api/v1/accounts":                        {"/api/v1/accounts?id[]=ACCOUNT", "[]Account"},
	"/api/v1/accounts/:id/endorsements":       {"/api/v1/accounts/ACCOUNT/endorsements", "[]Account"},
	"/api/v1/endorsements":                    {"", "[]Account"},
	"/api/v1/featured_tags":                   {"", "[]FeaturedTag"},
	"/api/v1/featured_tags/suggestions":       {"", "[]FoundTag"},
	"/api/v1/favourites":                      {"", "[]Status"},
	"/api/v1/filters":                         {"", "[]Phrase"},
	"/api/v1/filters/:id":                     {"/api/v1/filters/KEYWORD", "Phrase"},
	"/api/v2/filters":                         {"", "[]Filter"},
	"/api/v2/filters/:id":                     {"/api/v2/filters/FILTER", "Filter"},
	"/api/v2/filters/:id/keywords":            {"/api/v2/filters/FILTER/keywords", "[]FilterKeyword"},
	"/api/v2/filters/keywords/:id":            {"/api/v2/filters/keywords/KEYWORD", "FilterKeyword"},
	"/api/v2/filters/:id/statuses":            {"/api/v2/filters/FILTER/statuses", "[]FilterStatus"},
	"/api/v2/filters/statuses/:id":            {"/api/v2/filters/statuses/NAMED", "FilterStatus"},
	"/api/v1/follow_requests":                 {"", "[]Account"},
	"/api/v1/follow_requests/outgoing":        {"", "[]Account"},
	"/api/v1/svc/outgoing_follow_requests":    {"", "[]Account"},
	"/api/v1/followed_tags":                   {"", "[]FoundTag"},
	"/api/v1/identity_proofs":                 {"", "[]null"},
	"/api/v1/instance":                        {"", "object"},
	"/api/v1/instance/activity":               {"", "[]Week"},
	"/api/v1/instance/peers":                  {"", "[]text"},
	"/api/v1/instance/extended_description":   {"", "object"},
	"/api/v1/instance/languages":              {"", "[]object"},
	"/api/v1/instance/privacy_policy":         {"", "404 Record not found"}, // the operator has written none
	"/api/v1/instance/terms_of_service":       {"", "404 Record not found"},
	"/api/v1/instance/terms_of_service/:date": {"/api/v1/instance/terms_of_service/2024-05-06", "404 Record not found"},
	"/api/v1/svc/federation_status":           {"", "FederationStatus"},
	"/api/v1/svc/admin/relay":                 {"", "[]Relay"},
	"/api/v1/svc/admin/moderation_log":        {"", "[]LogEntry"},
	"/api/v1/svc/admin/users":                 {"/api/v1/svc/admin/users?filters=local", "AdminUsers"},
	"/api/v1/svc/admin/users/invites":         {"", "Invites"},
	"/api/v1/svc/admin/media_proxy_caches":    {"", "MediaProxyCaches"},
	"/api/v1/svc/admin/rules":                 {"", "[]AdminRule"},
	"/api/v1/svc/admin/oauth_app":             {"", "AdminApps"},

	"/api/v1/svc/admin/users/:nickname_or_id":                              {"/api/v1/svc/admin/users/rich", "AdminUser"},
	"/api/v1/svc/admin/users/:nickname/credentials":                        {"/api/v1/svc/admin/users/rich/credentials", "AdminCredentials"},
	"/api/v1/svc/admin/users/:nickname/permission_group":                   {"/api/v1/svc/admin/users/rich/permission_group", "PermissionGroups"},
	"/api/v1/svc/admin/users/:nickname/permission_group/:permission_group": {"/api/v1/svc/admin/users/rich/permission_group/admin", "PermissionGroups"},

	"/api/v1/profile":                             {"", "Profile"},
	"/api/v1/annual_reports":                      {"", "object"},
	"/api/v1/annual_reports/:year":                {"/api/v1/annual_reports/2025", "404 Record not found"},
	"/api/v1/annual_reports/:year/state":          {"/api/v1/annual_reports/2025/state", "object"},
	"/api/v1/instance/domain_blocks":              {"", "[]null"}, // TestPublicDomainBlocks has some
	"/api/v1/timelines/bubble":                    {"", "[]Status"},
	"/api/v1/timelines/link":                      {"/api/v1/timelines/link?url=https://none.example/", "404 Record not found"},
	"/api/v1/statuses/:id/translations/:language": {"/api/v1/statuses/STATUSES/translations/de", "404 Translations are off on this server"}, // translation is off
	"/api/v1/svc/translation/languages":           {"", "404 Translations are off on this server"},

	"/api/v1/instance/rules":                 {"", "[]null"},
	"/api/v1/lists":                          {"", "[]List"},
	"/api/v1/lists/:id":                      {"/api/v1/lists/LIST", "List"},
	"/api/v1/lists/:id/accounts":             {"/api/v1/lists/LIST/accounts", "[]Account"},
	"/api/v1/markers":                        {"/api/v1/markers?timeline[]=home&timeline[]=notifications", "Markers"},
	"/api/v1/media/:id":                      {"/api/v1/media/MEDIA", "Attachment"},
	"/api/v1/mutes":                          {"/api/v1/mutes?with_relationships=true", "[]Account"},
	"/api/v1/notifications":                  {"/api/v1/notifications?with_muted=true", "[]Notification"},
	"/api/v1/notifications/:id":              {"/api/v1/notifications/NOTIFICATION", "Notification"},
	"/api/v1/polls/:id":                      {"/api/v1/polls/POLL", "Poll"},
	"/api/v1/preferences":                    {"", "Preferences"},
	"/api/v1/search":                         {"/api/v1/search?q=rich", "ResultsV1"},
	"/api/v1/push/subscription":              {"", "PushSubscription"},
	"/api/v1/scheduled_statuses":             {"", "[]ScheduledStatus"},
	"/api/v1/scheduled_statuses/:id":         {"/api/v1/scheduled_statuses/SCHEDULED", "ScheduledStatus"},
	"/api/v1/statuses":                       {"/api/v1/statuses?ids[]=STATUSES", "[]Status"},
	"/api/v1/statuses/:id":                   {"/api/v1/statuses/STATUSES", "Status"},
	"/api/v1/statuses/:id/card":              {"/api/v1/statuses/STATUSES/card", "Card|empty"},
	"/api/v1/statuses/:id/context":           {"/api/v1/statuses/STATUSES/context", "Context"},
	"/api/v1/statuses/:id/favourited_by":     {"/api/v1/statuses/STATUSES/favourited_by", "[]Account"},
	"/api/v1/statuses/:id/history":           {"/api/v1/statuses/STATUSES/history", "[]StatusEdit"},
	"/api/v1/statuses/:id/reblogged_by":      {"/api/v1/statuses/STATUSES/reblogged_by", "[]Account"},
	"/api/v1/statuses/:id/source":            {"/api/v1/statuses/STATUSES/source", "StatusSource"},
	"/api/v1/suggestions":                    {"", "[]null"},
	"/api/v1/tags/:name":                     {"/api/v1/tags/rich", "FoundTag"},
	"/api/v1/timelines/direct":               {"", "[]Status"},
	"/api/v1/timelines/home":                 {"/api/v1/timelines/home?limit=40&with_muted=true", "[]Status"},
	"/api/v1/timelines/list/:list_id":        {"/api/v1/timelines/list/LIST", "[]Status"},
	"/api/v1/timelines/public":               {"/api/v1/timelines/public?limit=40", "[]Status"},
	"/api/v1/timelines/tag/:hashtag":         {"/api/v1/timelines/tag/rich", "[]Status"},
	"/api/v1/trends":                         {"", "[]null"},
	"/api/v1/trends/links":                   {"", "[]null"},
	"/api/v1/trends/statuses":                {"", "[]null"},
	"/api/v1/trends/tags":                    {"", "[]null"},
	"/api/v1/svc/accounts/mfa":               {"", "object"},
	"/api/v1/svc/accounts/mfa/setup/:method": {"/api/v1/svc/accounts/mfa/setup/totp", "object"},
	"/api/v1/svc/accounts/mfa/backup_codes":  {"", "object"},
	"/api/v1/svc/aliases":                    {"", "object"},
	"/api/v1/svc/statuses/:id/reactions":     {"/api/v1/svc/statuses/STATUSES/reactions", "[]Reaction"},
	"/api/v1/statuses/:id/quotes":            {"/api/v1/statuses/STATUSES/quotes", "[]Status"},
	"/api/v1/svc/statuses/:id/quotes":        {"/api/v1/svc/statuses/STATUSES/quotes", "[]Status"},
	"/api/v1/accounts/familiar_followers":    {"/api/v1/accounts/familiar_followers?id[]=ACCOUNT", "[]FamiliarFollowers"},
	"/api/v1/svc/accounts/:id/endorsements":  {"/api/v1/svc/accounts/ACCOUNT/endorsements", "[]Account"},
	"/api/v1/svc/accounts/:id/favourites":    {"/api/v1/svc/accounts/ACCOUNT/favourites", "[]Status"},
	"/api/v1/svc/apps":                       {"", "[]App"},
	"/api/v1/svc/birthdays":                  {"/api/v1/svc/birthdays?day=29&month=2", "[]Account"},
	"/api/v1/instance/translation_languages": {"", "empty"}, // translation is off
	"/api/v1/svc/backups":                    {"", "[]Backup"},
	"/api/v1/svc/imports":                    {"", "[]Import"},
	"/api/v1/svc/imports/:id":                {"/api/v1/svc/imports/IMPORT", "Import"},
	"/api/v1/svc/imports/:id/skipped":        {"/api/v1/svc/imports/IMPORT/skipped", "[]SkippedEntry"},
	"/api/v1/svc/archives":                   {"", "[]Archive"},
	"/api/v1/svc/archives/:id":               {"/api/v1/svc/archives/ARCHIVE", "Archive"},
	"/api/v1/svc/archives/:id/skipped":       {"/api/v1/svc/archives/ARCHIVE/skipped", "[]ArchiveSkip"},
	"/api/v1/svc/bookmark_folders":           {"", "[]BookmarkFolder"},
	"/api/v1/svc/chats":                      {"/api/v1/svc/chats?with_muted=true", "[]Chat"},
	"/api/v1/svc/chats/:id":                  {"/api/v1/svc/chats/CHAT", "Chat"},
	"/api/v1/svc/chats/:id/messages":         {"/api/v1/svc/chats/CHAT/messages", "[]ChatMessage"},
	"/api/v1/svc/emoji":                      {"", "object"},
	"/api/v1/svc/admin/frontends":            {"", "[]Frontend"},
	"/api/v1/svc/admin/need_reboot":          {"", "object"},
	"/api/v1/svc/healthcheck":                {"", "object"},
	"/api/v1/svc/captcha":                    {"", "object"},
	"/api/v1/svc/mascot":                     {"", "Mascot"},
	"/api/v1/svc/accounts/:id/scrobbles":     {"/api/v1/svc/accounts/ACCOUNT/scrobbles", "[]Scrobble"},
	"/api/v1/svc/settings/:app":              {"/api/v1/svc/settings/fe", "object"},
	"/api/v1/svc/frontend_configurations":    {"", "object"},
	"/api/v2/svc/chats":                      {"", "[]Chat"},
	"/api/v2/instance":                       {"", "object"},
	"/api/v2/search":                         {"/api/v2/search?q=rich&with_relationships=true", "Results"},
	"/api/v2/suggestions":                    {"", "[]Suggestion"},

	"/api/v1/notifications/unread_count":        {"", "Count"},
	"/api/v1/notifications/policy":              {"", "NotificationPolicyV1"},
	"/api/v2/notifications/policy":              {"", "NotificationPolicy"},
	"/api/v1/notifications/requests":            {"", "[]NotificationRequest"},
	"/api/v1/interaction_policies/defaults":     {"", "InteractionPolicies"},
	"/api/v1/interaction_requests":              {"", "[]InteractionRequest"},
	"/api/v1/interaction_requests/:id":          {"/api/v1/interaction_requests/x", "404 Record not found"}, // TestInteractionRequests has some
	"/api/v1/notifications/requests/merged":     {"", "Merged"},
	"/api/v1/notifications/requests/:id":        {"/api/v1/notifications/requests/1", "404 Record not found"}, // TestNotificationRequests has some
	"/api/v2/notifications":                     {"/api/v2/notifications?with_muted=true", "GroupedNotifications"},
	"/api/v2/notifications/unread_count":        {"", "Count"},
	"/api/v2/notifications/:group_key":          {"/api/v2/notifications/ungrouped-NOTIFICATION", "NotificationGroups"},
	"/api/v2/notifications/:group_key/accounts": {"/api/v2/notifications/ungrouped-NOTIFICATION/accounts", "[]Account"},

	"/api/v1/svc/statuses/:id/reactions/:emoji": {"/api/v1/svc/statuses/STATUSES/reactions/%F0%9F%94%A5?with_muted=true", "[]Reaction"},

	"/api/v1/svc/conversations/:id":          {"/api/v1/svc/conversations/CONVERSATION", "Conversation"},
	"/api/v1/svc/conversations/:id/statuses": {"/api/v1/svc/conversations/CONVERSATION/statuses", "[]Status"},
	"/api/openapi":                           {"", "object"},
	"/api/oembed":                            {"/api/oembed?url=ADDRESS", "404 Record not found"},
}

// testedElsewhere are routes that have tests of their own, because their answers are no JSON or need packs or settings of the server, or
// because tests of server/staff name every field.
var testedElsewhere = []string{
	"/api/v1/streaming", "/api/v1_alpha/async_refreshes", "/api/v1/collections/", "/api/v1/accounts/:id/collections", "/api/v1/accounts/:id/in_collections", "/api/v1/svc/emoji/pack", "/api/v1/svc/admin/config", "/api/v1/svc/admin/restart",
	"/api/v1/svc/admin/announcements", "/api/v1/svc/admin/instance_document",
	"/api/v1/svc/admin/statuses", "/api/v1/svc/admin/users/:nickname_or_id/statuses", "/api/v1/svc/admin/instances/:instance/statuses",
	"/api/v1/svc/admin/chats", "/api/v1/svc/admin/users/:nickname/chats", "/api/v1/svc/admin/stats",
	"/api/v1/svc/admin/reports", "/api/v1/svc/admin/grouped_reports", "/api/v1/admin/", "/api/v2/admin/",
	"/api/v1/svc/admin/jobs", "/api/v1/svc/admin/federation/", "/api/v1/svc/admin/storage", "/api/v1/svc/admin/update", "/api/v1/svc/admin/domain_blocks/preview", "/api/v1/svc/admin/settings", "/api/v1/svc/admin/users/:nickname_or_id/overview",
}

// TestEntities requests all readable endpoints: as an account with all kinds of data, as an account without any, as an admin and
// anonymously. All responses must have the documented shape.
func TestEntities(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png", "dog": "dog.gif"})
	rich, other, empty := srv.SignUp("rich"), srv.SignUp("other"), srv.SignUp("empty")
	statuses, attachment, list := addRichEntities(srv, rich, other)
	notification := rich.Get("/api/v1/notifications").Want(200).IDs()[0]
	talk, othersTalk := listConversations(rich)[0].ID(), listConversations(other)[0].ID()
	poll, scheduled := addRichPolls(srv, rich, other, &statuses)
	rich.Post("/api/v1/svc/mutes_import", "list", "nobody").Want(200)
	rich.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	imported := rich.Get("/api/v1/svc/imports").Want(200).IDs()[0]
	archive := rich.Post("/api/v1/svc/archives", "size", "1000").Want(200).Object().ID()
	srv.Exec(`INSERT INTO archive_skips (archive_id, item, reason) SELECT id, 'a.png', 'the file is damaged' FROM archives`)
	service := apptest.StartPushService(t)
	for _, m := range []*apptest.User{rich, other, empty} { // without a subscription the response is 404
		m.SubscribePush(service)
	}
	viewers := []struct {
		name string
		*apptest.Client
		ids []string // pairs of a placeholder and an id; placeholders without an id are not requested
	}{
		{"rich", rich.Client, []string{"SELF", rich.ID, "ACCOUNT", other.ID, "LIST", list, "MEDIA", attachment, "NOTIFICATION", notification, "CONVERSATION", talk, "POLL", poll, "SCHEDULED", scheduled}},
		{"other", other.Client, []string{"SELF", other.ID, "ACCOUNT", rich.ID, "LIST", "", "MEDIA", "", "NOTIFICATION", "", "CONVERSATION", othersTalk, "POLL", poll, "SCHEDULED", ""}},
		{"empty", empty.Client, []string{"SELF", empty.ID, "ACCOUNT", rich.ID, "LIST", "", "MEDIA", "", "NOTIFICATION", "", "CONVERSATION", "", "POLL", poll, "SCHEDULED", ""}},
		{"admin", srv.SignUpAdmin().Client, nil},
		{"an anonymous client", srv.As(nil), []string{"SELF", "", "ACCOUNT", empty.ID, "LIST", "", "MEDIA", "", "NOTIFICATION", "", "CONVERSATION", "", "POLL", poll, "SCHEDULED", ""}},
	}
	for i := range viewers {
		viewers[i].ids = append(viewers[i].ids, "IMPORT", map[bool]string{true: imported}[i == 0], "ARCHIVE", map[bool]string{true: archive}[i == 0])
	}
	for i, chat := range append(addRichChats(srv, rich, other), "", "") {
		viewers[i].ids = append(viewers[i].ids, "CHAT", chat)
	}
	filters := addRichFilters(srv, rich, statuses)
	for i := range viewers {
		for j := 0; j < len(filters); j += 2 {
			viewers[i].ids = append(viewers[i].ids, filters[j], map[bool]string{true: filters[j+1]}[i == 0])
		}
	}
	for _, route := range server.Routes() {
		if route.Method != "GET" || !strings.HasPrefix(route.Path, "/api/") || strings.Contains(route.Path, "password_reset") ||
			strings.Contains(route.Path, "confirm_email") { // pages
			continue
		}
		if slices.ContainsFunc(testedElsewhere, func(prefix string) bool { return strings.HasPrefix(route.Path, prefix) }) || strings.HasSuffix(route.Path, ".csv") {
			continue
		}
		read, known := readable[route.Path]
		if !known {
			t.Errorf("the shape of %s is not listed", route.Path)
			continue
		}
		path := read.path
		if path == "" {
			path = route.Path
		}
		for _, viewer := range viewers {
			if viewer.Token == "" && !strings.HasPrefix(route.Access, "anyone") {
				continue
			}
			if forStaff := strings.HasPrefix(route.Access, "admin") || strings.HasPrefix(route.Access, "staff"); forStaff != (viewer.name == "admin") {
				continue
			}
			for _, target := range expandPath(path, viewer.ids, statuses) {
				a := viewer.Get(target)
				if message, none := strings.CutPrefix(read.shape, "404 "); none { // documented as not implemented, or off by default
					a.WantError(404, message)
					continue
				}
				if a.Status == 404 && strings.Contains(path, "STATUSES") { // not all statuses are visible to all viewers
					continue
				}
				if a.Status == 403 && strings.HasSuffix(path, "/favourites") { // only rich shows its favourites
					continue
				}
				WantEntity(t, viewer.name, a, read.shape)
			}
		}
	}
}

// expandPath replaces the placeholders of a path by ids, once for each status.
func expandPath(path string, ids, statuses []string) []string {
	for i := 0; i < len(ids); i += 2 {
		if ids[i+1] == "" && strings.Contains(path, ids[i]) {
			return nil
		}
	}
	if !strings.Contains(path, "STATUSES") {
		return []string{strings.NewReplacer(ids...).Replace(path)}
	}
	var paths []string
	for _, id := range statuses {
		paths = append(paths, strings.ReplaceAll(path, "STATUSES", id))
	}
	return paths
}
