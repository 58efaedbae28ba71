package command_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
)

// unloggedCommands are commands that add no entry to the moderation log, and why.
var unloggedCommands = map[string]string{
	"access blocks": "reads", "announcement list": "reads", "app list": "reads", "chat list": "reads", "chat messages": "reads", "config check": "reads",
	"config example": "reads", "config export": "reads", "config get": "reads", "config show": "reads", "db check": "reads", "db stats": "reads", "doctor": "reads", "export": "writes a copy",
	"emoji check": "reads", "emoji export": "reads", "emoji list": "reads", "federation blocks": "reads", "federation deliveries": "reads",
	"federation explain": "reads", "federation export-blocks": "reads", "federation peers": "reads", "federation purges": "reads", "frontend list": "reads",
	"instance document show": "reads", "instance stats": "reads", "job list": "reads", "lease": "reads", "log moderation export": "reads", "log moderation list": "reads",
	"media bans": "reads", "media usage": "reads", "media verify": "reads", "relay list": "reads", "report list": "reads", "report show": "reads",
	"routes": "reads", "rule list": "reads", "status list": "reads", "status show": "reads", "user export": "reads", "user invites": "reads",
	"user list": "reads", "user show": "reads", "user tokens": "reads", "verify": "reads a backup or the data", "version": "reads", "help": "reads", "health": "reads", "licenses": "reads",

	"backup": "writes a copy", "restore": "makes the data directory, and the log with it", "takeover": "makes the data directory, and the log with it", "serve": "runs the server", "standby": "runs the server on another machine", "setup": "makes the data directory",
	"completion bash": "prints a script", "completion fish": "prints a script", "completion powershell": "prints a script", "completion zsh": "prints a script",
	"db salvage": "works without the server", "update": "replaces the program", "db prune": "does what the server does daily", "db vacuum": "changes no content", "media prune": "does what the server does daily", "media move": "changes no content",
	"federation fetch": "stores what the other server says", "federation retry": "TestDeliveries checks its entry", "federation drop": "TestDeliveries checks its entry", "log level": "changes no data",
	"mail test": "changes no data", "user rebuild-home": "repairs what derives from other rows",

	"federation goodbye": "TestGoodbyeQuestions checks its entry",

	"emoji get": "installs packs as emoji import does", "emoji steal": "TestEmojiSteal checks its entry",
}

// TestCommandsAreLogged runs each command that changes something, as the command line lists them, and checks that it added an entry to the
// moderation log.
func TestCommandsAreLogged(t *testing.T) {
	address, _ := startRelay(t)
	p := newWorkspace(t, "[federation]", "allow_loopback = true", "[instance]", "configurable_from_database = true", "invites_enabled = true", "registrations_open = false",
		"[mail]", "enabled = true", `adapter = "file"`)
	for _, nick := range []string{"alice", "bob", "emil", "fred"} {
		p.run("user", "create", nick, "--email", nick+"@example.org", "--password", "long enough").ok()
		p.addToken(nick, nick)
	}
	p.exec(`UPDATE users SET approved_at = NULL, confirmed_at = NULL WHERE account_id IN (SELECT id FROM accounts WHERE nickname IN ('emil', 'fred'))`)
	p.exec(`UPDATE users SET totp_secret = 'x' WHERE account_id IN (SELECT id FROM accounts WHERE nickname = 'alice')`)
	p.addParkedJob(1, "import", "failed")
	p.addParkedJob(2, "import", "failed")
	p.serve()
	l := &logWalk{p: p, values: map[string]string{"relay": address, "host": strings.TrimPrefix(p.url, "http://")}}
	l.prepare()
	entries := func() int { return strings.Count(p.run("log", "moderation", "list", "--limit", "1000").ok(), "\n") }
	before, logged := entries(), make(map[string]bool)
	for _, line := range loggedCommands {
		args := strings.Fields(l.fill(line))
		out := p.run(args...).ok()
		now := entries()
		name := commandName(args)
		if now == before && !logged[name] {
			t.Errorf("svc %s added no entry to the moderation log", line)
		}
		before, logged[name] = now, true
		l.keep(name, out)
	}
	for _, name := range commandNames(t) {
		if reason := unloggedCommands[name]; (reason != "") == logged[name] {
			t.Errorf("svc %s: add a line to loggedCommands, or a reason to unloggedCommands", name)
		}
	}
}

// loggedCommands change something. Names in braces stand for what earlier ones printed.
var loggedCommands = strings.Split(strings.TrimSpace(`
user create dora --email dora@example.org
user set dora --moderator
user tag dora mrf_tag:sandbox
user untag dora mrf_tag:sandbox
user suggest dora
user unsuggest dora
user follow dora alice
user unfollow dora alice
user deactivate dora
user activate dora
user confirm emil
user resend-confirmation fred
user approve emil
user reject fred
user force-password-reset dora
user reset-password dora
user reset-mfa alice
user revoke-token bob {token}
user sign-out emil
user rotate-keys dora
user import alice mutes mutes.csv
user import alice archive archive --wait
user backup alice
user invite
user revoke-invite 1
user delete dora --yes
announcement add news
announcement set {announcement} --text more
announcement delete {announcement}
rule add kindness
rule set 1 --text brevity
rule delete 1
app create --name own --redirect-uri https://a.example/x
app set {app} --name renamed
app delete {app}
report note add {report} seen
report note delete {report} {note}
report resolve {report}
report reopen {report}
report close {report}
status set {status} --sensitive
status delete {status} --yes
chat delete {chat} {message} --yes
emoji import own
emoji reload
emoji remove own --yes
relay follow {relay}
relay unfollow {relay}
frontend install fe --ref 1 --file fe.zip
frontend use fe/1
frontend use none
frontend remove fe/1
instance document set terms-of-service terms.html
instance document delete terms-of-service
federation block bad.example
federation unblock bad.example
federation import-blocks blocks.csv
access block mail.example
access unblock mail.example
media ban https://far.example/a.png
media unban https://far.example/a.png
media purge https://far.example/a.png
config set instance.name Renamed
config unset instance.name
config import settings.json
job retry 1
job drop 2
federation purge far.example --yes
config restart
`), "\n")

// logWalk knows the values that commands need.
type logWalk struct {
	p      *workspace
	values map[string]string
}

// prepare makes what commands change, through the API of the running server.
func (l *logWalk) prepare() {
	p := l.p
	p.t.Helper()
	send := func(as, path, form string) map[string]any {
		p.t.Helper()
		status, answer, err := p.request(p.t.Context(), http.MethodPost, path, as, strings.NewReader(form))
		var object map[string]any
		if err == nil {
			err = json.Unmarshal([]byte(answer), &object)
		}
		if err != nil || status != http.StatusOK {
			p.t.Fatalf("%s: %d %s %v", path, status, answer, err)
		}
		return object
	}
	rude := send("bob", "/api/v1/statuses", "status=rude")
	l.values["status"] = rude["id"].(string)
	bob := rude["account"].(map[string]any)["id"].(string)
	l.values["report"] = send("alice", "/api/v1/reports", "account_id="+bob+"&comment=rude")["id"].(string)
	l.values["chat"] = send("alice", "/api/v1/svc/chats/by-account-id/"+bob, "")["id"].(string)
	l.values["message"] = send("alice", "/api/v1/svc/chats/"+l.values["chat"]+"/messages", "content=hi")["id"].(string)
	var tokens []struct{ ID json.Number }
	if err := json.Unmarshal([]byte(p.run("user", "tokens", "bob", "--json").ok()), &tokens); err != nil || len(tokens) == 0 {
		p.t.Fatal(err)
	}
	l.values["token"] = tokens[0].ID.String()
	p.write("mutes.csv", "Account address\nbob@"+l.values["host"]+"\n")
	p.writeOutbox("archive", 1)
	p.write("terms.html", "<p>terms</p>")
	p.write("blocks.csv", "#domain,#severity\nworse.example,suspend\n")
	p.write("settings.json", `{"configs":[{"group":":svc","key":":instance","value":[{"tuple":[":name","imported"]}]}]}`)
	p.write("fe.zip", string(apptest.Zip(p.t, map[string]string{"index.html": "built"})))
	p.writeFile("own/cat.png", string(apptest.PNG(4, 4)))
}

func (l *logWalk) fill(line string) string {
	return regexp.MustCompile(`\{\w+\}`).ReplaceAllStringFunc(line, func(name string) string {
		value, ok := l.values[name[1:len(name)-1]]
		if !ok {
			l.p.t.Fatalf("%s: %s is not known", line, name)
		}
		return value
	})
}

// keep remembers the ids that a command has printed.
func (l *logWalk) keep(name, out string) {
	kept := map[string]string{"announcement add": "announcement", "app create": "app", "report note add": "note"}[name]
	if id := regexp.MustCompile(`\b(\d+|\w{18})\.`).FindStringSubmatch(out); kept != "" && id != nil {
		l.values[kept] = id[1]
	}
}

// commandName returns the words of a command without its arguments.
func commandName(args []string) string {
	words := 2
	if len(args) > 2 && (args[0] == "report" && args[1] == "note" || args[0] == "instance" && args[1] == "document") {
		words = 3
	}
	return strings.Join(args[:words], " ")
}

// commandNames returns the names of all commands that have no subcommands.
func commandNames(t *testing.T, parent ...string) (names []string) {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), binary, append(parent[:len(parent):len(parent)], "--help")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(help), "Available Commands:\n")
	if !ok {
		return []string{strings.Join(parent, " ")}
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		names = append(names, commandNames(t, append(parent[:len(parent):len(parent)], strings.Fields(line)[0])...)...)
	}
	return names
}
