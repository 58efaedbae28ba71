package app_test

import (
	"encoding/gob"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// How many times TestPowerCuts cuts the power, and with which numbers:
//
//	go test ./app -run PowerCuts -v -timeout 0 -cuts 200 -first-cut 1
//
// A cut that loses something leaves its record in a file, from which it can be made again:
//
//	go test ./app -run PowerCuts -v -record FILE -cuts 1 -first-cut 17
var (
	powerCuts   = flag.Int("cuts", 20, "how many times TestPowerCuts cuts the power")
	powerFirst  = flag.Uint64("first-cut", 1, "number of the first cut")
	powerRecord = flag.String("record", "", "make the cuts in a record that an earlier run has left")
	powerOnly   = flag.String("scenario", "", "only cuts in one scenario: load, setup, restore, start, new-keys, migration, import, purge, salvage")
	powerSyncs  = flag.String("ignore-syncs", "", "also make the cuts with each of these synchronisations ignored, and print which of them lose something: a regular expression")
)

// cutsOfRecord is how many cuts are made in one record: making one takes longer than a cut.
const cutsOfRecord = 20

// powerScenario is something that the server or a command does with its data directory.
type powerScenario struct {
	name string
	// run records what it does. The folder has the settings file and the data directory, "data".
	run func(t *testing.T, r *powerRun)
	// check returns the problems of a folder that a power failure has left. It may change the folder.
	check func(t *testing.T, r *powerRun, dir string, facts *chaosModel) []string
}

// powerRun is a record with its facts.
type powerRun struct {
	scenario *powerScenario
	rand     *rand.Rand
	dir      string
	url      string
	model    *chaosModel
	disk     *apptest.RecordedDisk
	before   []string // what svc verify finds because of rows that the test has added
}

// record begins to record.
func (r *powerRun) record(t *testing.T) {
	t.Helper()
	r.disk = apptest.RecordDisk(t, r.dir)
	r.model.note = func(n chaosNote) { r.disk.Note(n) }
}

// powerScenarios are chosen by the number of a cut. The first one has many moments.
var powerScenarios = []*powerScenario{
	&powerLoad, &powerImport, &powerSetup, &powerPurge, &powerRestore, &powerStart, &powerNewKeys, &powerSalvage, &powerMigration, &powerLoad,
}

// TestPowerCuts records the changes that a server under load and its commands make to the disk. Then it cuts the power at random moments: changes that
// were not synchronised are lost, in part or as a whole. After each cut the server starts, the verification finds nothing, everything acknowledged is there, nothing deleted is
// back, and no file is served that no row names.
func TestPowerCuts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	gob.Register(chaosNote{})
	groups := make(map[string][]uint64)
	var order []string
	for n := range uint64(*powerCuts) {
		n += *powerFirst
		scenario := scenarioOf(n)
		key := fmt.Sprintf("%s %d", scenario.name, n/cutsOfRecord)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], n)
	}
	for _, key := range order {
		cuts := groups[key]
		t.Run(strings.ReplaceAll(key, " ", "-"), func(t *testing.T) {
			r := newPowerRun(t, cuts[0])
			r.cut(t, cuts)
			if *powerSyncs != "" {
				r.ignoreSyncs(t, cuts, regexp.MustCompile(*powerSyncs))
			}
		})
	}
}

func scenarioOf(number uint64) *powerScenario {
	for _, s := range powerScenarios {
		if s.name == *powerOnly {
			return s
		}
	}
	return powerScenarios[number%uint64(len(powerScenarios))]
}

// newPowerRun makes the record of a cut, or reads that of -record.
func newPowerRun(t *testing.T, number uint64) *powerRun {
	t.Helper()
	r := &powerRun{
		scenario: scenarioOf(number), rand: rand.New(rand.NewPCG(number/cutsOfRecord, 1)), dir: t.TempDir(), model: newChaosModel(),
	}
	if *powerRecord == "" {
		r.scenario.run(t, r)
		r.disk.Stop()
		return r
	}
	file, err := os.Open(*powerRecord)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if r.disk, err = apptest.LoadRecord(file); err != nil {
		t.Fatal(err)
	}
	return r
}

// cut makes the cuts with these numbers.
func (r *powerRun) cut(t *testing.T, numbers []uint64) {
	t.Helper()
	for number, problems := range r.problems(t, numbers, "") {
		for _, p := range problems {
			t.Errorf("cut %d: %s", number, p)
		}
	}
	if t.Failed() {
		file, err := os.CreateTemp("", "svc-power-*.record")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := r.disk.Save(file); err != nil {
			t.Fatal(err)
		}
		t.Logf("the record is in %s", file.Name())
	}
}

// problems makes cuts, and returns what each has lost. Synchronisations from a place of the program are ignored.
func (r *powerRun) problems(t *testing.T, numbers []uint64, ignored string) map[uint64][]string {
	t.Helper()
	type cut struct {
		number uint64
		at     int
		rand   *rand.Rand
	}
	var cuts []cut
	moments := r.disk.Moments()
	for _, n := range numbers {
		random := rand.New(rand.NewPCG(n, 2))
		at := 1 + random.IntN(r.disk.Len())
		if random.IntN(3) > 0 {
			at = moments[random.IntN(len(moments))]
		}
		cuts = append(cuts, cut{n, at, random})
	}
	slices.SortFunc(cuts, func(a, b cut) int { return a.at - b.at })
	replay, known := r.disk.Replay(ignored), newChaosModel()
	found := make(map[uint64][]string)
	for _, c := range cuts {
		if err := replay.Until(c.at, func(note any) { known.apply(note.(chaosNote)) }); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "cut")
		if err := replay.WriteTo(dir, c.rand); err != nil {
			t.Fatal(err)
		}
		facts := newChaosModel()
		facts.facts = known.snapshot()
		if problems := r.scenario.check(t, r, dir, facts); len(problems) > 0 {
			found[c.number] = problems
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// ignoreSyncs makes the cuts once for each place that synchronises, as on a disk that ignores it.
func (r *powerRun) ignoreSyncs(t *testing.T, numbers []uint64, which *regexp.Regexp) {
	t.Helper()
	for _, site := range r.disk.SyncSites() {
		if !which.MatchString(site) {
			continue
		}
		found := r.problems(t, numbers, site)
		example := ""
		for _, problems := range found {
			example = problems[0]
			break
		}
		t.Logf("%-60s %3d of %d cuts: %s", site, len(found), len(numbers), example)
	}
}
