package federation_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest/peers"
)

// functionTests are tests of single functions that go further than TestFromPeers and TestToPeers.
var functionTests = map[string]string{
	"follow": "TestIncomingFollow", "accept": "TestIncomingAcceptAndReject", "reject": "TestRemoveRemoteFollower", "block": "TestIncomingBlock", "public": "TestIncomingVisibility", "media": "TestIncomingShapes", "poll": "TestPollBetweenServers",
	"vote": "TestIncomingVotes", "reply": "TestIncomingThread", "edit": "TestIncomingUpdate", "quote": "TestRequestQuote", "move": "TestIncomingMove",
	"report": "TestIncomingReport", "rotation": "TestKeyRotation", "thread": "TestRepliesOfOthers",
	"chat": "TestIncomingChatMessage", "synchronization": "TestFollowersSynchronization",
}

// peersTable returns the table of docs/federation.md.
func peersTable() string {
	var b strings.Builder
	b.WriteString("| Function |")
	line := "|---|"
	for _, p := range peers.All {
		b.WriteString(" " + p.Name + " |")
		line += "---|"
	}
	b.WriteString(" Test |\n" + line + "---|\n")
	for _, f := range peers.Functions {
		b.WriteString("| " + f.About + " |")
		var tests []string
		in, out := false, false
		for _, p := range peers.All {
			sends, reads := p.DoesSend(f.Name), p.DoesRead(f.Name)
			in, out = in || sends, out || reads
			b.WriteString(map[[2]bool]string{{true, true}: " ↔ |", {true, false}: " ← |", {false, true}: " → |", {false, false}: "  |"}[[2]bool{sends, reads}])
		}
		if in {
			tests = append(tests, "`TestFromPeers/*/"+f.Name+"`")
		}
		if out {
			tests = append(tests, "`TestToPeers/*/"+f.Name+"`")
		}
		if more := functionTests[f.Name]; more != "" {
			tests = append(tests, "`"+more+"`")
		}
		b.WriteString(" " + strings.Join(tests, ", ") + " |\n")
	}
	return b.String()
}

// TestPeersTable checks the table of docs/federation.md: it has what the profiles of other software say, and the tests that it names exist.
func TestPeersTable(t *testing.T) {
	for _, p := range peers.All {
		known := " "
		for _, f := range peers.Functions {
			known += f.Name + " "
			if p.DoesSend(f.Name) && fromPeers[f.Name] == nil || p.DoesRead(f.Name) && toPeers[f.Name] == nil {
				t.Errorf("%s: %s has no test", p.Name, f.Name)
			}
		}
		for _, name := range strings.Fields(p.Sends + " " + p.Reads) {
			if !strings.Contains(known, " "+name+" ") {
				t.Errorf("%s: there is no function %s", p.Name, name)
			}
		}
	}
	declared := make(map[string]bool)
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			declared[string(m[1])] = true
		}
	}
	const file = "../docs/federation.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	table := peersTable()
	for _, m := range regexp.MustCompile("`(Test\\w+)[/`]").FindAllStringSubmatch(table, -1) {
		if !declared[m[1]] {
			t.Errorf("there is no test %s", m[1])
		}
	}
	found := regexp.MustCompile(`(?s)\| Function \|.*?\n\n`)
	if *update {
		text = found.ReplaceAllLiteral(text, []byte(table+"\n"))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(found.Find(text)); got != table+"\n" {
		t.Errorf("the table of %s is another (-update rewrites it)", file)
	}
}
