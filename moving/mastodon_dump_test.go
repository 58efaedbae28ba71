package moving_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// dump is a dump of PostgreSQL in the making, in the form of pg_dump 17.
type dump struct {
	t      *testing.T
	names  []string // of tables, in order
	tables map[string]*dumpTable
}

type dumpTable struct {
	columns []string
	rows    []string
}

// table adds a table with columns.
func (d *dump) table(name, columns string) {
	d.names = append(d.names, name)
	d.tables[name] = &dumpTable{columns: strings.Split(columns, " ")}
}

// row adds a row, by column; others are NULL.
func (d *dump) row(table string, values map[string]string) {
	d.t.Helper()
	x := d.tables[table]
	fields := make([]string, len(x.columns))
	for i, c := range x.columns {
		fields[i] = `\N`
		if v, ok := values[c]; ok {
			fields[i] = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(v)
		}
	}
	for c := range values {
		if !slices.Contains(x.columns, c) {
			d.t.Fatalf("the table %s has no column %s", table, c)
		}
	}
	x.rows = append(x.rows, strings.Join(fields, "\t"))
}

func (d *dump) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 17.2\n\nSET statement_timeout = 0;\n\n")
	b.WriteString("CREATE FUNCTION public.timestamp_id(table_name text) RETURNS bigint\n    LANGUAGE plpgsql\n    AS $$\n  BEGIN\n    RETURN 1;\n  END\n$$;\n\n")
	for _, name := range d.names {
		fmt.Fprintf(&b, "CREATE TABLE public.%s (\n    %s text\n);\n\n", name, strings.Join(d.tables[name].columns, " text,\n    "))
	}
	for _, name := range d.names {
		x := d.tables[name]
		fmt.Fprintf(&b, "COPY public.%s (%s) FROM stdin;\n", name, strings.Join(x.columns, ", "))
		for _, r := range x.rows {
			b.WriteString(r + "\n")
		}
		b.WriteString("\\.\n\n\n")
	}
	b.WriteString("SELECT pg_catalog.setval('public.accounts_id_seq', 1, false);\n\n--\n-- PostgreSQL database dump complete\n--\n\n")
	return b.Bytes()
}

// testKeyPEM is a private key that all accounts of a test share.
var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func testKeyPEM() (private, public string) {
	der, err := x509.MarshalPKIXPublicKey(&testKey().PublicKey)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(testKey())})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// testPassword is the password of all users.
const testPassword = "correct horse battery"

var testHash = sync.OnceValue(func() string {
	hash, err := bcrypt.GenerateFromPassword([]byte(testPassword), bcrypt.MinCost)
	if err != nil {
		panic(err)
	}
	return string(hash)
})

const someTime = "2020-01-02 03:04:05.678"

// account adds an account, with its user if it is local.
func (d *dump) account(id, name, domain string) {
	d.t.Helper()
	private, public := testKeyPEM()
	a := map[string]string{
		"id": id, "username": name, "public_key": public, "created_at": someTime, "note": "I am #" + name, "display_name": "The " + name, "locked": "f", "memorial": "f",
		"discoverable": "t", "header_remote_url": "", "inbox_url": "", "outbox_url": "", "shared_inbox_url": "", "followers_url": "", "uri": "", "indexable": "t",
		"fields": `[{"name":"Site","value":"https://example.org"}]`, "also_known_as": "{}", "id_scheme": "0",
	}
	if domain != "" {
		uri := "https://" + domain + "/users/" + name
		a["domain"], a["uri"], a["url"] = domain, uri, "https://"+domain+"/@"+name
		a["inbox_url"], a["shared_inbox_url"], a["followers_url"] = uri+"/inbox", "https://"+domain+"/inbox", uri+"/followers"
	} else {
		a["private_key"] = private
		d.row("users", map[string]string{
			"id": id, "email": name + "." + id + "@example.org", "created_at": someTime, "encrypted_password": testHash(), "confirmed_at": someTime, "account_id": id,
			"otp_required_for_login": "f", "disabled": "f", "approved": "t", "settings": `{"default_privacy":"unlisted","default_language":"de"}`, "locale": "de",
		})
	}
	d.row("accounts", a)
}

// status adds a post. more are further columns.
func (d *dump) status(id, account, text string, more map[string]string) {
	d.t.Helper()
	s := map[string]string{
		"id": id, "account_id": account, "text": text, "created_at": "2021-02-03 04:05:" + id[len(id)-2:], "updated_at": someTime, "sensitive": "f", "visibility": "0",
		"spoiler_text": "", "conversation_id": "1" + id, "local": "t", "language": "en",
	}
	for k, v := range more {
		s[k] = v
	}
	d.row("statuses", s)
}

// mastodonDump returns a dump of a server with two local accounts, alice and bob, and carol at remote.example.
func mastodonDump(t *testing.T) *dump {
	d := &dump{t: t, tables: make(map[string]*dumpTable)}
	for name, columns := range map[string]string{
		"accounts": "id username domain private_key public_key created_at updated_at note display_name uri url avatar_file_name header_file_name avatar_remote_url " +
			"locked header_remote_url inbox_url outbox_url shared_inbox_url followers_url memorial moved_to_account_id featured_collection_url fields actor_type " +
			"discoverable also_known_as silenced_at suspended_at hide_collections indexable following_url id_scheme",
		"users":      "id email created_at encrypted_password confirmed_at unconfirmed_email locale otp_required_for_login account_id disabled approved otp_secret role_id settings current_sign_in_at",
		"user_roles": "id name permissions", "follows": "id created_at account_id target_account_id show_reblogs uri notify",
		"follow_requests": "id created_at account_id target_account_id show_reblogs uri notify", "blocks": "id account_id target_account_id uri",
		"mutes": "id account_id target_account_id hide_notifications expires_at", "account_domain_blocks": "id domain account_id",
		"account_notes": "id account_id target_account_id comment", "account_pins": "id account_id target_account_id",
		"statuses": "id uri text created_at updated_at in_reply_to_id reblog_of_id url sensitive visibility spoiler_text language conversation_id local account_id application_id " +
			"in_reply_to_account_id poll_id deleted_at edited_at ordered_media_attachment_ids",
		"mentions": "id status_id account_id silent", "tags": "id name display_name", "statuses_tags": "status_id tag_id",
		"media_attachments": "id status_id file_file_name file_content_type remote_url created_at type file_meta account_id description blurhash thumbnail_file_name",
		"status_edits":      "id status_id text spoiler_text created_at ordered_media_attachment_ids media_descriptions poll_options sensitive",
		"polls":             "id status_id expires_at options cached_tallies multiple hide_totals voters_count", "poll_votes": "id account_id poll_id choice",
		"favourites": "id created_at account_id status_id", "bookmarks": "id created_at account_id status_id", "status_pins": "id created_at account_id status_id",
		"conversation_mutes": "id conversation_id account_id", "account_conversations": "id account_id conversation_id unread", "tag_follows": "id account_id tag_id",
		"featured_tags": "id account_id tag_id", "lists": "id account_id title created_at replies_policy exclusive", "list_accounts": "id list_id account_id",
		"custom_filters": "id account_id expires_at phrase context created_at action", "custom_filter_keywords": "id custom_filter_id keyword whole_word",
		"custom_filter_statuses": "id custom_filter_id status_id", "markers": "id user_id timeline last_read_id updated_at lock_version",
		"oauth_applications":  "id name uid secret redirect_uri scopes created_at website",
		"oauth_access_tokens": "id token refresh_token expires_in revoked_at created_at scopes application_id resource_owner_id last_used_at",
		"reports":             "id status_ids comment created_at account_id action_taken_by_account_id target_account_id assigned_account_id uri forwarded category action_taken_at rule_ids",
		"report_notes":        "id content report_id account_id created_at", "rules": "id priority deleted_at text hint",
		"announcements": "id text published all_day starts_at ends_at created_at updated_at", "invites": "id code expires_at max_uses uses created_at",
		"custom_emojis": "id shortcode domain image_file_name disabled image_remote_url category_id", "domain_blocks": "id domain severity reject_media reject_reports private_comment public_comment",
		"email_domain_blocks": "id domain", "tombstones": "id uri created_at", "account_stats": "id account_id", "preview_cards": "id url",
	} {
		d.table(name, columns)
	}
	slices.Sort(d.names)
	d.account("1", "alice", "")
	d.account("2", "bob", "")
	d.account("3", "carol", "remote.example")
	return d
}
