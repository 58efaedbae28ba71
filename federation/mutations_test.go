package federation_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

var (
	mutationCount = flag.Int("mutations", 250, "how many mutations TestMutations makes besides those of testdata/mutations/found; 0: all")
	mutationSeed  = flag.Uint64("mutation-seed", 1, "which mutations these are")
)

// mutationsPerServer is small, so that what a document breaks does not pile up.
const mutationsPerServer = 40

// mutation is one change of one member of a document in a replay.
type mutation struct {
	replay  string // the name of its file
	path    string // of the member in the replay, as in inbox.2.activity.object.tag.0.href
	change  string // a key of changes
	fetched bool   // the object of the activity is fetched in place of the delivery
}

func (m mutation) String() string {
	way := "delivered"
	if m.fetched {
		way = "fetched"
	}
	return strings.Join([]string{m.replay, m.path, m.change, way}, " ")
}

// TestMutations replaces each member of the documents of other servers (testdata/peers, testdata/mutations) by values of other kinds and
// sizes. The server must answer, log no fault, go on, change nothing of others, and show nothing that is invalid. testdata/mutations/found
// lists mutations that found a fault once.
func TestMutations(t *testing.T) {
	apptest.SkipIfShort(t)
	sources := replaySources(t)
	for name, list := range selectMutations(t, sources) {
		for i, part := range slices.Collect(slices.Chunk(list, mutationsPerServer)) {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				w := startMutations(t, sources[name])
				for _, m := range part {
					w.run(m)
				}
				w.finish()
			})
		}
	}
}

// replaySources returns the replays by the name of their file.
func replaySources(t *testing.T) map[string]string {
	t.Helper()
	sources := make(map[string]string)
	for _, pattern := range []string{"testdata/peers/*.json", "testdata/mutations/*.json"} {
		for name, file := range replayFiles(t, pattern) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources[name] = string(source)
		}
	}
	return sources
}

// selectMutations returns the mutations to make, by replay.
func selectMutations(t *testing.T, sources map[string]string) map[string][]mutation {
	t.Helper()
	var all []mutation
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		all = append(all, mutationsOf(t, name, sources[name])...)
	}
	known := make(map[string]mutation)
	for _, m := range all {
		known[m.String()] = m
	}
	found, err := os.ReadFile("testdata/mutations/found")
	if err != nil {
		t.Fatal(err)
	}
	var list []mutation
	for line := range strings.Lines(string(found)) {
		m, ok := known[strings.TrimSpace(line)]
		if !ok {
			t.Errorf("testdata/mutations/found: there is no mutation %q", line)
			continue
		}
		list = append(list, m)
	}
	rand.New(rand.NewPCG(*mutationSeed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	count := *mutationCount
	if count == 0 {
		count = len(all)
	}
	list = append(list, all[:min(count, len(all))]...)
	t.Logf("%d of %d mutations, -mutation-seed %d", len(list), len(all), *mutationSeed)
	byReplay := make(map[string][]mutation)
	for _, m := range list {
		byReplay[m.replay] = append(byReplay[m.replay], m)
	}
	return byReplay
}

// mutationsOf returns all mutations of a replay. Documents of one type and items of one list have the same members; one of each is mutated.
func mutationsOf(t *testing.T, name, source string) (list []mutation) {
	t.Helper()
	var script struct {
		Served []any
		Inbox  []struct {
			Activity any
			Serve    []any
		}
	}
	if err := json.Unmarshal([]byte(source), &script); err != nil {
		t.Fatal(err)
	}
	taken := make(map[string]bool)
	add := func(d any, path string, fetchable bool) {
		visitMembers(d, path, func(path string) {
			same := fmt.Sprint(typeOf(d), indexes.ReplaceAllString(path, ""))
			if taken[same] {
				return
			}
			taken[same] = true
			for _, change := range slices.Sorted(maps.Keys(changes)) {
				list = append(list, mutation{replay: name, path: path, change: change})
				if fetchable && strings.Contains(path, ".activity.object.") {
					list = append(list, mutation{replay: name, path: path, change: change, fetched: true})
				}
			}
		})
	}
	for i, d := range script.Served {
		add(d, fmt.Sprintf("served.%d", i), false)
	}
	for i, in := range script.Inbox {
		object, _ := in.Activity.(apptest.Doc)["object"].(apptest.Doc)
		_, isObject := object["attributedTo"]
		add(in.Activity, fmt.Sprintf("inbox.%d.activity", i), isObject)
		for j, d := range in.Serve {
			add(d, fmt.Sprintf("inbox.%d.serve.%d", i, j), false)
		}
	}
	return list
}

var indexes = regexp.MustCompile(`\.\d+`)

// typeOf returns the types of a document and of its objects.
func typeOf(v any) string {
	d, _ := v.(apptest.Doc)
	if d == nil {
		return ""
	}
	return fmt.Sprint(d["type"], " ", typeOf(d["object"]))
}

// visitMembers calls visit for each member of a document, at all depths except in contexts.
func visitMembers(v any, path string, visit func(path string)) {
	switch v := v.(type) {
	case apptest.Doc:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(path + "." + key)
			if key != "@context" {
				visitMembers(v[key], path+"."+key, visit)
			}
		}
	case []any:
		for i, item := range v {
			visit(fmt.Sprintf("%s.%d", path, i))
			visitMembers(item, fmt.Sprintf("%s.%d", path, i), visit)
		}
	}
}

// mutatedText stands in a mutated document for a text that json.Marshal does not write.
const mutatedText = "MUTATED"

// rawJSON replaces mutatedText, with its quotes.
type rawJSON string

// changes return the new value of a member. nil removes the member, and a string is one as in the replays.
var changes = map[string]func(old any) any{
	"removed":       func(any) any { return nil },
	"null":          func(any) any { return rawJSON("null") },
	"true":          func(any) any { return true },
	"number":        func(any) any { return -7.5 },
	"hugeNumber":    func(any) any { return rawJSON("1e999") },
	"text":          func(any) any { return "x" },
	"empty":         func(any) any { return "" },
	"list":          func(old any) any { return []any{old} },
	"emptyList":     func(any) any { return []any{} },
	"object":        func(old any) any { return apptest.Doc{"id": old, "type": old, "name": old} },
	"emptyObject":   func(any) any { return apptest.Doc{} },
	"nested":        func(old any) any { return nested(old, 50) },
	"hugeText":      func(any) any { return strings.Repeat("ab ", 100<<10/3) },
	"hugeList":      func(old any) any { return repeated(old, 10_000) },
	"halfCharacter": func(old any) any { return broken(old, `\ud83d`) },
	"NUL":           func(old any) any { return broken(old, `\u0000`) },
	"invalidUTF8":   func(old any) any { return broken(old, "\xff\xfe") },
	"script":        func(any) any { return "javascript:alert(1)" },
	"markup":        func(any) any { return `"><script>alert(1)</script><p onclick="x"><b><a href="javascript:x()">` },
	"otherActor":    func(any) any { return "https://other.example/users/victim" },
	"otherPost":     func(any) any { return "https://other.example/notes/victim" },
	"localActor":    func(any) any { return "https://social.example/users/alice" },
	"localPost":     func(any) any { return "https://social.example/objects/hello" },
	"public":        func(any) any { return apptest.Public },
}

func nested(v any, depth int) any {
	for range depth {
		v = []any{v}
	}
	return v
}

// repeated returns a list of many items: the value or its first item if that is short.
func repeated(v any, count int) any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	if len(apptest.MustJSON(v)) > 90 { // the whole would be larger than a delivery may be
		v = "x"
	}
	return slices.Repeat([]any{v}, count)
}

// broken returns a text with broken JSON or UTF-8 at its end.
func broken(v any, text string) any {
	s, _ := v.(string)
	quoted := string(apptest.MustJSON(cmp.Or(s, "x")))
	return rawJSON(strings.TrimSuffix(quoted, `"`) + text + `"`)
}
