package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"svc/command"
)

// listArguments are the arguments of the commands that list something of one account or chat. CHAT is the id of a chat.
var listArguments = map[string]string{
	"chat list": "alice", "chat messages": "CHAT", "user tokens": "alice", "user import": "alice --status",
}

// objectLists are the list commands whose JSON is an object, and why.
var objectLists = map[string]string{
	"federation deliveries": "several lists",
	"licenses":              "components and texts",
	"media usage":           "classes and sums",
}

// listCommands are the commands that list something, without "svc".
func listCommands() (names []string, tree map[string]*cobra.Command) {
	tree = make(map[string]*cobra.Command)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "svc ")
		if cmd.Name() == "list" || strings.HasPrefix(cmd.Short, "List ") || listArguments[name] != "" || objectLists[name] != "" {
			names, tree[name] = append(names, name), cmd
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(command.Tree())
	return names, tree
}

// TestListsAsJSON runs every command that lists something with --json, first while there is nothing to list. It finds new commands itself.
func TestListsAsJSON(t *testing.T) {
	names, tree := listCommands()
	if len(names) < 20 {
		t.Fatalf("the list commands are %v", names)
	}
	p := newWorkspace(t)
	for _, nick := range []string{"alice", "bob"} {
		p.run("user", "create", nick, "--email", nick+"@example.org").ok()
	}
	p.addToken("alice", "alice")
	s := p.serve()
	chat := p.openChat("alice", "bob")
	s.stop()
	var filled bool
	check := func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				if tree[name].Flags().Lookup("json") == nil {
					t.Fatal("has no --json")
				}
				args := strings.Fields(name + " " + strings.ReplaceAll(listArguments[name], "CHAT", chat) + " --json")
				out := []byte(p.run(args...).ok())
				if objectLists[name] != "" {
					if err := json.Unmarshal(out, new(map[string]any)); err != nil {
						t.Errorf("%v in %s", err, out)
					}
					return
				}
				var list []map[string]any
				if err := json.Unmarshal(out, &list); err != nil || list == nil {
					t.Fatalf("no list of objects: %v in %s", err, out)
				}
				if filled && len(list) == 0 && mustBeFilled[name] {
					t.Error("the list is empty")
				}
				for _, entry := range list {
					for key := range entry {
						if key != strings.ToLower(key) || strings.Contains(key, "secret") || strings.Contains(key, "password") || strings.Contains(key, "token_hash") {
							t.Errorf("%s is not a name of the API, or a secret", key)
						}
					}
				}
			})
		}
	}
	t.Run("empty", check)
	for _, args := range []string{
		"announcement add text", "rule add text", "user invite", "app create --name a --redirect-uri https://a.example/x",
		"federation block spam.example", "access block trash.example", "media ban https://a.example/x.png",
	} {
		p.run(strings.Fields(args)...).ok()
	}
	filled = true
	p.serve()
	t.Run("filled, with a server", check)
}

// mustBeFilled are the lists for which TestListsAsJSON adds something.
var mustBeFilled = map[string]bool{
	"announcement list": true, "rule list": true, "user invites": true, "app list": true, "federation blocks": true, "access blocks": true,
	"media bans": true, "user list": true, "log moderation list": true, "chat list": true, "routes": true,
}

// openChat opens a chat with an account by the token of another one, and returns its id.
func (p *workspace) openChat(token, nick string) string {
	p.t.Helper()
	var with struct {
		PublicID string `json:"public_id"`
	}
	if err := json.Unmarshal([]byte(p.run("user", "show", nick, "--json").ok()), &with); err != nil {
		p.t.Fatal(err)
	}
	var chat struct{ ID string }
	_, body, err := p.request(p.t.Context(), "POST", "/api/v1/svc/chats/by-account-id/"+with.PublicID, token, nil)
	if err == nil {
		err = json.Unmarshal([]byte(body), &chat)
	}
	if err != nil || chat.ID == "" {
		p.t.Fatalf("chat: %v, %s", err, body)
	}
	return chat.ID
}
