package server_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// strictValue is a parameter with a fixed set of values. The path of the parameter is that of a JSON body: context.0 is an element.
type strictValue struct {
	request string // with placeholders
	param   string
	body    apptest.Doc // valid without the parameter
	valid   string
	list    string // of the permitted values in the error
	status  int    // of the error; 0: 422
	error   string // "": that of rest.Request.Bind
	staff   bool
}

const (
	quotePolicies   = "public, followers or nobody"
	featurePolicies = "default, public, followers or nobody"
	interactors     = "public, followers, following, mentioned, author or me"
	filterContexts  = "home, notifications, public, thread or account"
	actions         = "accept, filter or drop"
	scopes          = "public, unlisted, local, private or direct"
)

// strictValues are all parameters with a fixed set of values, except those that only select rows. TestStrictParameters fails for one that is
// missing here.
var strictValues = []strictValue{
	{request: "POST /api/v1/statuses", param: "visibility", body: apptest.Doc{"status": "x"}, valid: "private", list: "public, unlisted, local, private, direct or list:ID"},
	{request: "POST /api/v1/statuses", param: "visibility", body: apptest.Doc{"status": "x", "scheduled_at": apptest.FromNow(time.Hour)}, valid: "private", list: "public, unlisted, local, private, direct or list:ID"},
	{request: "POST /api/v1/statuses", param: "visibility", body: apptest.Doc{"status": "x", "preview": true}, valid: "private", list: "public, unlisted, local, private, direct or list:ID"},
	{request: "POST /api/v1/statuses", param: "quote_approval_policy", body: apptest.Doc{"status": "x"}, valid: "nobody", list: quotePolicies},
	{request: "POST /api/v1/statuses", param: "interaction_policy.can_reply.always.0", body: apptest.Doc{"status": "x"}, valid: "followers", list: interactors},
	{request: "POST /api/v1/statuses", param: "interaction_policy.can_favourite.automatic_approval.0", body: apptest.Doc{"status": "x"}, valid: "me", list: interactors},
	{request: "POST /api/v1/statuses", param: "interaction_policy.can_reblog.with_approval.0", body: apptest.Doc{"status": "x"}, valid: "mentioned", list: interactors},
	{request: "POST /api/v1/statuses", param: "interaction_policy.can_reblog.manual_approval.0", body: apptest.Doc{"status": "x"}, valid: "following", list: interactors},
	{request: "PUT /api/v1/statuses/{own}", param: "quote_approval_policy", body: apptest.Doc{"status": "y"}, valid: "nobody", list: quotePolicies},
	{request: "PUT /api/v1/statuses/{own}", param: "interaction_policy.can_reply.always.0", body: apptest.Doc{"status": "y"}, valid: "followers", list: interactors},
	{request: "PUT /api/v1/statuses/{own}/interaction_policy", param: "quote_approval_policy", valid: "nobody", list: quotePolicies},
	{request: "POST /api/v1/statuses/{other}/reblog", param: "visibility", valid: "private", list: "public, unlisted, local or private"},
	{request: "PATCH /api/v1/interaction_policies/defaults", param: "public.can_reply.always.0", valid: "followers", list: interactors},
	{request: "PATCH /api/v1/accounts/update_credentials", param: "default_scope", valid: "direct", list: scopes},
	{request: "PATCH /api/v1/accounts/update_credentials", param: "source.privacy", valid: "private", list: scopes},
	{request: "PATCH /api/v1/accounts/update_credentials", param: "source.quote_policy", valid: "nobody", list: quotePolicies},
	{request: "PATCH /api/v1/accounts/update_credentials", param: "source.feature_policy", valid: "nobody", list: featurePolicies},
	{request: "PATCH /api/v1/accounts/update_credentials", param: "feature_policy", valid: "nobody", list: featurePolicies},
	{request: "PATCH /api/v1/accounts/update_credentials", param: "actor_type", valid: "Service", list: "Person, Service or Group"},
	{request: "POST /api/v2/filters", param: "filter_action", body: apptest.Doc{"title": "x", "context": []string{"home"}}, valid: "hide", list: "warn, hide or blur"},
	{request: "POST /api/v2/filters", param: "context.1", body: apptest.Doc{"title": "x", "context": []string{"home"}}, valid: "public", list: filterContexts},
	{request: "PUT /api/v2/filters/{filter}", param: "filter_action", valid: "hide", list: "warn, hide or blur"},
	{request: "PUT /api/v2/filters/{filter}", param: "context.0", valid: "account", list: filterContexts},
	{request: "POST /api/v1/filters", param: "context.0", body: apptest.Doc{"phrase": "x"}, valid: "thread", list: filterContexts},
	{request: "PATCH /api/v2/notifications/policy", param: "for_not_following", valid: "drop", list: actions},
	{request: "PATCH /api/v2/notifications/policy", param: "for_not_followers", valid: "filter", list: actions},
	{request: "PATCH /api/v2/notifications/policy", param: "for_new_accounts", valid: "filter", list: actions},
	{request: "PATCH /api/v2/notifications/policy", param: "for_private_mentions", valid: "filter", list: actions},
	{request: "PATCH /api/v2/notifications/policy", param: "for_limited_accounts", valid: "drop", list: actions},
	{request: "POST /api/v1/lists", param: "replies_policy", body: apptest.Doc{"title": "x"}, valid: "none", list: "followed, list or none"},
	{request: "PUT /api/v1/lists/{list}", param: "replies_policy", body: apptest.Doc{"title": "x"}, valid: "none", list: "followed, list or none"},
	{request: "POST /api/v1/push/subscription", param: "data.policy", body: pushBody, valid: "none", list: "all, followed, follower or none"},
	{request: "POST /api/v1/push/subscription", param: "policy", body: pushBody, valid: "followed", list: "all, followed, follower or none"},
	{request: "PUT /api/v1/push/subscription", param: "data.policy", valid: "none", list: "all, followed, follower or none"},
	{request: "POST /api/v1/svc/scrobble", param: "visibility", body: apptest.Doc{"title": "x"}, valid: "direct", status: 400, error: "Invalid visibility"},

	{request: "POST /api/v1/admin/domain_blocks", param: "severity", body: apptest.Doc{"domain": "bad.example"}, valid: "suspend", error: "Validation failed: Severity is not one of suspend, silence, noop", staff: true},
	{request: "POST /api/v1/admin/ip_blocks", param: "severity", body: apptest.Doc{"ip": "192.0.2.0/24"}, valid: "no_access", error: "Validation failed: Severity is not one of sign_up_requires_approval, sign_up_block, no_access", staff: true},
	{request: "PATCH /api/v1/svc/admin/users/other/credentials", param: "default_scope", valid: "private", status: 400, error: "default_scope", staff: true},
	{request: "PATCH /api/v1/svc/admin/users/other/credentials", param: "actor_type", valid: "Service", status: 400, error: "actor_type", staff: true},
	{request: "PUT /api/v1/svc/admin/statuses/{other}", param: "visibility", valid: "unlisted", status: 400, error: "Unsupported visibility", staff: true},
	{request: "PATCH /api/v1/svc/admin/reports", param: "reports.0.state", body: apptest.Doc{"reports": []apptest.Doc{{"id": "{report}"}}}, valid: "resolved", status: 400, error: "Unsupported state", staff: true},
	{request: "PUT /api/v1/admin/reports/{report}", param: "category", valid: "spam", error: "ategory", staff: true},
	{request: "POST /api/v1/admin/accounts/{otherID}/action", param: "type", valid: "silence", error: "", status: 422, staff: true},
}

// pushBody is a subscription.
var pushBody = apptest.Doc{}

// setParam returns a copy of a body with a parameter.
func setParam(body apptest.Doc, param string, value any) apptest.Doc {
	text, _ := json.Marshal(body)
	var copied any = map[string]any{}
	json.Unmarshal(text, &copied)
	if copied == nil {
		copied = map[string]any{}
	}
	return put(copied, strings.Split(param, "."), value).(map[string]any)
}

func put(in any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if strings.Trim(path[0], "0123456789") == "" {
		list, _ := in.([]any)
		i := int(path[0][0] - '0')
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = put(list[i], path[1:], value)
		return list
	}
	o, _ := in.(map[string]any)
	if o == nil {
		o = map[string]any{}
	}
	o[path[0]] = put(o[path[0]], path[1:], value)
	return o
}

// rowCounts returns the number of rows of each table.
func rowCounts(t *testing.T, srv *apptest.Server) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(srv.Dir, store.File)+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'statuses_fts%' AND name <> 'active_weeks' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	counts := make(map[string]int)
	for _, name := range names {
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM ` + name).Scan(&n); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		counts[name] = n
	}
	return counts
}

// wantSameRows fails the test if the number of rows of a table has changed.
func wantSameRows(t *testing.T, what string, before, now map[string]int) {
	t.Helper()
	for name, n := range now {
		if n != before[name] {
			t.Errorf("%s: table %s had %d rows and has %d", what, name, before[name], n)
		}
	}
}

// TestStrictValues sends values outside of the set of each parameter of strictValues: nothing is stored, and the error names the parameter, the
// value and the permitted values. An empty value is the default, and a valid one is accepted.
func TestStrictValues(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.StartWithLoopback(t)
	alice, other, root := srv.SignUp("alice"), srv.SignUp("other"), srv.SignUpAdmin()
	placeholders := strings.NewReplacer(
		"{own}", alice.Publish("mine").ID(), "{other}", other.Publish("theirs").ID(), "{otherID}", other.ID, "{list}", alice.AddList("l", nil),
		"{filter}", alice.SendJSON("POST", "/api/v2/filters", apptest.Doc{"title": "f", "context": []string{"home"}}).Want(200).Object().ID(),
		"{report}", alice.Post("/api/v1/reports", "account_id", other.ID).Want(200).Object().ID(),
	)
	maps.Copy(pushBody, apptest.StartPushService(t).NewDevice().SubscribeParams())
	alice.SendJSON("POST", "/api/v1/push/subscription", pushBody).Want(200)
	for _, v := range strictValues {
		t.Run(v.request+" "+v.param, func(t *testing.T) {
			method, path, _ := strings.Cut(placeholders.Replace(v.request), " ")
			by := alice
			if v.staff {
				by = root
			}
			send := func(value any) *apptest.Response {
				text, _ := json.Marshal(setParam(v.body, v.param, value))
				return by.SendJSON(method, path, json.RawMessage(placeholders.Replace(string(text))))
			}
			before := rowCounts(t, srv)
			for _, value := range []string{"nonsense", "mutuals_only", strings.ToUpper(v.valid), " " + v.valid, v.valid + " ", v.valid + "," + v.valid, "0", "\u0000"} {
				if value == v.valid {
					continue
				}
				a := send(value)
				want := v.error
				if want == "" && v.list != "" {
					want = fmt.Sprintf("%s - Invalid value %q: must be %s", formName(v.param), value, v.list)
				}
				status := v.status
				if status == 0 {
					status = 422
				}
				var body struct{ Error any }
				json.Unmarshal(a.Body, &body)
				text := string(a.Body)
				if s, ok := body.Error.(string); ok {
					text = s
				}
				if a.Status != status || !strings.Contains(text, want) {
					t.Errorf("%q: got %d %s, want %d %s", value, a.Status, a.Body, status, want)
				}
			}
			wantSameRows(t, "after invalid values", before, rowCounts(t, srv))
			if a := send(v.valid); a.Status >= 300 {
				t.Errorf("%s: got %d %s", v.valid, a.Status, a.Body)
			}
		})
	}
}

// formName returns a parameter as forms name it, without positions.
func formName(param string) string {
	parts := slices.DeleteFunc(strings.Split(param, "."), func(p string) bool { return strings.Trim(p, "0123456789") == "" })
	name := parts[0]
	for _, p := range parts[1:] {
		name += "[" + p + "]"
	}
	return name
}

// TestEmptyValues checks that an empty, null or absent value is the default.
func TestEmptyValues(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.UpdateProfile(apptest.Doc{"default_scope": "private"})
	for _, value := range []any{"", nil, "undefined"} {
		body := apptest.Doc{"status": "x", "visibility": value, "quote_approval_policy": value, "interaction_policy": nil, "local_only": value, "federated": value, "sensitive": value}
		if value == "undefined" { // of a form
			a := alice.Post("/api/v1/statuses", "status", "x", "visibility", "undefined", "quote_approval_policy", "undefined", "sensitive", "undefined")
			if v := a.Want(200).Object().Str("visibility"); v != "private" {
				t.Errorf("undefined: the visibility is %s", v)
			}
			continue
		}
		if v := alice.SendJSON("POST", "/api/v1/statuses", body).Want(200).Object().Str("visibility"); v != "private" {
			t.Errorf("%v: the visibility is %s", value, v)
		}
	}
	if v := alice.UpdateProfile(apptest.Doc{"default_scope": "", "source": apptest.Doc{"privacy": ""}, "actor_type": ""}).Str("source.privacy"); v != "private" {
		t.Errorf("an empty scope changed the scope to %s", v)
	}
}

// TestStrictBooleans checks that a value other than true and false changes nothing.
func TestStrictBooleans(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for _, tt := range []struct {
		request, param string
		body           apptest.Doc
	}{
		{"POST /api/v1/statuses", "sensitive", apptest.Doc{"status": "x"}},
		{"POST /api/v1/statuses", "local_only", apptest.Doc{"status": "x"}},
		{"POST /api/v1/statuses", "federated", apptest.Doc{"status": "x"}},
		{"POST /api/v1/statuses", "preview", apptest.Doc{"status": "x"}},
		{"POST /api/v1/statuses", "poll.hide_totals", apptest.Doc{"status": "x", "poll": apptest.Doc{"options": []string{"a", "b"}, "expires_in": 3600}}},
		{"PATCH /api/v1/accounts/update_credentials", "locked", nil},
		{"PATCH /api/v1/accounts/update_credentials", "discoverable", nil},
		{"PATCH /api/v1/accounts/update_credentials", "hide_followers", nil},
		{"PATCH /api/v1/accounts/update_credentials", "source.indexable", nil},
		{"POST /api/v1/lists", "exclusive", apptest.Doc{"title": "x"}},
		{"POST /api/v1/filters", "irreversible", apptest.Doc{"phrase": "x", "context": []string{"home"}}},
		{"PATCH /api/v1/notifications/policy", "filter_not_following", nil},
		{"POST /api/v1/accounts/{bob}/mute", "notifications", nil},
		{"POST /api/v1/accounts/{bob}/follow", "reblogs", nil},
		{"POST /api/v1/reports", "forward", apptest.Doc{"account_id": bob.ID}},
	} {
		method, path, _ := strings.Cut(strings.ReplaceAll(tt.request, "{bob}", bob.ID), " ")
		before := rowCounts(t, srv)
		for _, value := range []any{"maybe", "x", "yes?", " true", "falsch", 2, "null"} {
			a := alice.SendJSON(method, path, setParam(tt.body, tt.param, value))
			if want := fmt.Sprintf(`%s - Invalid value "%v": must be true or false`, formName(tt.param), value); a.Status != 422 || !strings.Contains(strings.ReplaceAll(string(a.Body), `\"`, `"`), want) {
				t.Errorf("%s %s=%v: got %d %s, want 422 %s", tt.request, tt.param, value, a.Status, a.Body, want)
			}
		}
		wantSameRows(t, tt.request+" "+tt.param, before, rowCounts(t, srv))
	}
}

// freeTexts are the parameters with texts that are no words of a fixed set: texts, names, ids, addresses, numbers, times and secrets.
var freeTexts = strings.Fields(`
	account_id acct address album alias all also_known_as any ap_id artist as attribution_domains auth avatar avatar_description back banner bio birthday build_dir build_url by_domain
	by_target_domain canonical_email_hash captcha_answer_data captcha_solution captcha_token client_id client_name client_secret code collection_id collection_ids
	code_challenge code_verifier comment content continue date_of_birth description display_name domain edit email emoji
	end_at ends_at endpoint expires_at expires_in externalLink file filename focus folder_id followed follower from frontend fullname group
	header header_description hint host id img in_reply_to_conversation_id in_reply_to_id invited_by ip key keys keyword keyword_ids keywords lang language languages
	last_read_id limit list locale media_descriptions media_ids mentions mfa_token name new_filename new_password new_password_confirmation new_shortcode
	nickname nicknames none note once options p256dh password password_confirmation phrase poll_expires_in poll_options private_comment profile
	public_comment q query quote_id reason redirect_uri redirect_uris ref refresh_token relay_url report_id role_ids rule_ids scheduled_at
	shortcode spoiler_text start_at starts_at status status_ids subkeys svc_background_image tagged tags tag_name target_account
	target_account_id text texts title to token uri url urls username value version warning_preset_id website whole_words preview_url`)

// selections are parameters that only select rows. Unknown words are ignored or refused, as the reference API does.
var selections = strings.Fields(`actor_types exclude_types exclude_visibilities expand_accounts filters grouped_types include_types order origin
	permissions reply_visibility supported_types timeline types format`)

// checkedElsewhere are parameters with a fixed set of values that have an answer of their own, by file.
var checkedElsewhere = map[string]string{
	"server/oauth/mfa_challenges.go challenge_type":   "an unknown factor proves nothing: 400 Invalid code",
	"server/scrobbles.go visibility":                  "400 Invalid visibility",
	"server/reports.go category":                      "an unknown category is other, so that no report is lost",
	"server/oauth/token.go grant_type":                "unsupported_grant_type (RFC 6749)",
	"server/oauth/token.go scope":                     "unknown scopes grant nothing",
	"server/oauth/apps.go scope":                      "unknown scopes grant nothing",
	"server/oauth/apps.go scopes":                     "unknown scopes grant nothing",
	"server/oauth/authorize.go scope":                 "invalid_scope (RFC 6749)",
	"server/oauth/authorize.go scopes":                "invalid_scope (RFC 6749)",
	"server/oauth/authorize.go response_type":         "unsupported_response_type (RFC 6749)",
	"server/oauth/authorize.go code_challenge_method": "invalid_request (RFC 7636)",
	"server/oauth/authorize.go state":                 "returned as it is",
	"server/staff/apps.go scopes":                     "unknown scopes grant nothing",
	"server/statuses.go content_type":                 "text/plain, where everything is escaped",
	"server/edits.go quote_approval_policy":           "a text beside the policy, to tell empty from missing",
	"server/search.go type":                           "only selects rows",
	"server/staff/reference_measures.go frequency":    "only selects rows",
	"server/staff/reference_accounts.go status":       "only selects rows",
	"server/interact.go decision":                     "anything else changes nothing",
	"server/pages/compose.go do":                      "an unknown button shows the form again",
	"server/pages/compose.go visibility":              "passed to POST /api/v1/statuses",
	"server/pages/compose.go content_type":            "passed to POST /api/v1/statuses",
	"server/pages/compose.go quote_approval_policy":   "passed to POST /api/v1/statuses",
	"server/pages/compose.go time_zone":               "422 This time zone is not known.",
	"server/pages/filters.go filter_action":           "passed to the filters of the API",
	"server/pages/filters.go context":                 "passed to the filters of the API",
	"server/pages/account_actions.go category":        "passed to POST /api/v1/reports",
}

// TestStrictParameters checks each parameter of the handlers in the source: a text of a fixed set has a type that refuses other words and is in
// strictValues, or is in one of the lists above with its reason. So a new parameter cannot fall back to a default that is wider than meant.
func TestStrictParameters(t *testing.T) {
	enums := make(map[string]bool)
	type field struct{ file, name, typ string }
	var fields []field
	for _, root := range []string{".", "../store", "../social"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Name.Name == "UnmarshalText" && usesEnum(n.Body) {
						enums[typeName(n.Recv.List[0].Type)] = true
					}
				case *ast.Field:
					if n.Tag == nil {
						break
					}
					tag := reflect.StructTag(strings.Trim(n.Tag.Value, "`")).Get("param")
					if name, _, _ := strings.Cut(tag, ","); name != "" {
						fields = append(fields, field{"server/" + filepath.ToSlash(path), name, typeName(n.Type)})
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(enums) < 12 || len(fields) < 400 {
		t.Fatalf("found %d types and %d parameters only", len(enums), len(fields))
	}
	tested := make(map[string]bool)
	for _, v := range strictValues {
		for _, part := range strings.Split(v.param, ".") {
			tested[part] = true
		}
	}
	var used []string
	for _, f := range fields {
		where := f.file + " " + f.name
		switch {
		case enums[f.typ] && !tested[f.name]:
			t.Errorf("%s has a fixed set of values: add it to strictValues", where)
		case enums[f.typ]:
		case checkedElsewhere[where] != "":
			used = append(used, where)
		case f.typ != "string" && f.typ != "SecondFactor" && f.typ != "ReportCategory":
		case slices.Contains(freeTexts, f.name) || slices.Contains(selections, f.name):
		case strings.HasPrefix(f.file, "server/staff/") && tested[f.name]:
		default:
			t.Errorf("%s is a text: give it a type whose UnmarshalText uses package enum, or add it to freeTexts or selections", where)
		}
	}
	for where := range maps.Keys(checkedElsewhere) {
		if !slices.Contains(used, where) {
			t.Errorf("%s is no parameter any more", where)
		}
	}
}

func usesEnum(body *ast.BlockStmt) (uses bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "enum" {
				uses = true
			}
		}
		return true
	})
	return uses
}

// typeName returns the name of a type without its package, of the element of a pointer or a list.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ArrayType:
		return typeName(e.Elt)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
