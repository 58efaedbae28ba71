package app_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"svc/app/apptest"
)

// How long TestChaos runs, and what its random numbers follow from:
//
//	go test ./app -run Chaos -v -timeout 0 -duration 10m -seed 7
var (
	chaosTime = flag.Duration("duration", 8*time.Second, "how long TestChaos runs")
	chaosSeed = flag.Uint64("seed", 1, "seed of the random numbers of TestChaos")
)

const (
	chaosClients = 6
	chaosDisk    = 192 << 20 // size of the file system, if the test may mount one
)

func chaosNick(n int) string { return fmt.Sprintf("user%d", n) }

// TestChaos runs the program under mixed load by clients and remote servers, and ends it again and again: by kill -9, with a full disk, with a
// clock that jumps, and with damaged pages in the database, after which a backup is restored. Some remote servers are slow or broken. After each
// start all acknowledged data is there with the same content, nothing deleted is back, nothing is there twice, and all counters are right. A server
// on damaged pages has all of it, or says that it is damaged.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	c := newChaos(t)
	faults := []func(){c.kill, c.fillDisk, c.damagePages, c.jumpClock, c.kill, c.stop}
	started := time.Now()
	for n := 0; n < len(faults) || time.Since(started) < *chaosTime; n++ {
		if t.Failed() {
			break
		}
		c.model.count("rounds")
		faults[n%len(faults)]()
	}
	if !t.Failed() {
		c.waitForDeliveries()
	}
	c.report(time.Since(started))
}

// chaos is the server under test, and who uses it.
type chaos struct {
	t       *testing.T
	rand    *rand.Rand
	binary  string
	dir     string // on a file system of its own, if mounted
	mounted bool
	backups string
	url     string
	s       *apptest.Process

	model   *chaosModel
	clients []*chaosClient
	shared  *sharedPosts
	peer    *chaosPeer   // healthy
	peers   []*chaosPeer // slow and broken ones
}

func newChaos(t *testing.T) *chaos {
	t.Helper()
	t.Logf("seed %d", *chaosSeed)
	binary, err := apptest.BuildProgram(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	address := apptest.FreeAddress(t)
	c := &chaos{t: t, rand: rand.New(rand.NewPCG(*chaosSeed, 0)), binary: binary, dir: t.TempDir(), backups: t.TempDir(), url: "http://" + address, model: newChaosModel(), shared: &sharedPosts{}}
	if err := syscall.Mount("tmpfs", c.dir, "tmpfs", 0, fmt.Sprintf("size=%d", chaosDisk)); err == nil {
		c.mounted = true
		t.Cleanup(func() {
			if err := syscall.Unmount(c.dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	} else {
		t.Logf("the disk is never full in this run: %v", err)
	}
	settings := fmt.Sprintf("[server]\nlisten = %q\nurl = %q\n[rate_limit]\nenabled = false\n[federation]\nallow_loopback = true\n[storage]\nmin_free = 0\n", address, c.url)
	if err := os.WriteFile(filepath.Join(c.dir, "config.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	apptest.CreateData(t, c.dir)
	for i := range chaosClients {
		c.mustRun("user", "create", chaosNick(i), "--email", chaosNick(i)+"@example.org")
	}
	c.peer = startChaosPeer(t, c.model, c.url, nil)
	c.peers = []*chaosPeer{
		startChaosPeer(t, c.model, c.url, func(w http.ResponseWriter) {
			time.Sleep(300 * time.Millisecond) // this server is slow
			w.WriteHeader(http.StatusAccepted)
		}),
		startChaosPeer(t, c.model, c.url, func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }),
	}
	c.addRows()
	c.serve()
	for i := range chaosClients {
		var account struct{ ID string }
		client := &chaosClient{model: c.model, http: newChaosHTTP(t), url: c.url, nick: chaosNick(i), token: chaosNick(i), rand: rand.New(rand.NewPCG(*chaosSeed, uint64(i+1))), shared: c.shared}
		if !client.send("GET", "/api/v1/accounts/lookup?acct="+client.nick, "", nil, &account) {
			t.Fatal("no account")
		}
		c.clients, c.shared.accounts = append(c.clients, client), append(c.shared.accounts, account.ID)
	}
	return c
}

// addRows adds tokens of the clients, and a follower on each of the remote servers to the first account.
func (c *chaos) addRows() {
	c.t.Helper()
	c.database(func(db *sql.DB) error { return addChaosRows(db, append([]*chaosPeer{c.peer}, c.peers...)) })
}

func addChaosRows(db *sql.DB, peers []*chaosPeer) error {
	for i := range chaosClients {
		hash := sha256.Sum256([]byte(chaosNick(i)))
		if _, err := db.Exec(`
			INSERT INTO oauth_tokens (hash, account_id, scopes, created_at, last_used_at)
			SELECT ?, id, 'read write follow', 0, 0
			FROM accounts
			WHERE nickname = ?`, hash[:], chaosNick(i)); err != nil {
			return err
		}
	}
	for i, peer := range peers {
		id, uri := i+1000, peer.srv.URL+"/users/follower"
		for _, q := range []struct {
			text string
			args []any
		}{
			{`INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at) VALUES (?, 'follower', 'follower', ?, ?, ?, 0)`,
				[]any{id, strings.TrimPrefix(peer.srv.URL, "http://"), uri, uri}},
			{`INSERT INTO actors (account_id, inbox, fetched_at, attempted_at) VALUES (?, ?, ?, ?)`, []any{id, uri + "/inbox", time.Now().UnixMilli(), time.Now().UnixMilli()}},
			{`INSERT INTO follows (id, follower_id, target_id, follower_local) SELECT ?1, ?1, id, 0 FROM accounts WHERE nickname = 'user0'`, []any{id}},
			{`UPDATE accounts SET followers_count = followers_count + 1 WHERE nickname = 'user0'`, nil},
		} {
			if _, err := db.Exec(q.text, q.args...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *chaos) database(fn func(*sql.DB) error) {
	c.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.dir, "data", "svc.db")+"?_pragma=busy_timeout(20000)")
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	if err := fn(db); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chaos) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), c.binary, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "SVC_CONFIG=")
	return cmd
}

// mustRun runs a command, which must succeed.
func (c *chaos) mustRun(args ...string) {
	c.t.Helper()
	if out, err := c.command(args...).CombinedOutput(); err != nil {
		c.t.Fatalf("svc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (c *chaos) serve() {
	c.t.Helper()
	c.s = apptest.StartProcess(c.t, c.command("serve"))
	c.s.WaitForLog("svc is running")
}

// load runs all clients until something was done. It returns a function that ends them.
func (c *chaos) load(operations int, whileRefused bool) (end func()) {
	c.t.Helper()
	stop := make(chan struct{})
	var users sync.WaitGroup
	for _, client := range c.clients {
		users.Go(func() { client.run(stop, whileRefused) })
	}
	r := rand.New(rand.NewPCG(c.rand.Uint64(), 0))
	recipient := c.url + "/users/" + c.shared.accounts[1]
	users.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if !c.peer.step(r, recipient) && !whileRefused {
				return
			}
		}
	})
	want := c.model.acknowledged() + operations
	c.s.WaitUntil("operations to be acknowledged", func() bool { return c.model.acknowledged() >= want })
	return func() {
		close(stop)
		users.Wait()
	}
}

// kill ends the server in the middle of requests.
func (c *chaos) kill() {
	c.t.Helper()
	end := c.load(50+c.rand.IntN(250), false)
	c.s.Kill()
	c.model.count("kills")
	end()
	c.startAndCheck()
}

// stop ends the server in good order.
func (c *chaos) stop() {
	c.t.Helper()
	end := c.load(50+c.rand.IntN(250), false)
	c.s.Signal(syscall.SIGTERM)
	c.s.WaitExit(0)
	end()
	c.startAndCheck()
}

// startAndCheck starts the server, waits until it has processed what it had accepted, and compares.
func (c *chaos) startAndCheck() {
	c.t.Helper()
	c.serve()
	c.check()
}

func (c *chaos) check() {
	c.t.Helper()
	names := make(map[string]string) // of files, by their SHA-256
	c.database(func(db *sql.DB) error {
		c.s.WaitUntil("the inbox to be empty", func() bool {
			left, err := texts(db, `SELECT id FROM queued_activities WHERE parked = 0`)
			return err == nil && len(left) == 0
		})
		o, err := observe(db)
		if err != nil {
			return err
		}
		lost, extra := c.model.compare(o)
		for _, text := range append(lost, extra...) {
			c.t.Error(text)
		}
		found, err := damage(db)
		for _, text := range found {
			c.t.Error(text)
		}
		if err != nil {
			return err
		}
		files, err := texts(db, `SELECT sha256 || name FROM stored_files`)
		for _, f := range files {
			names[f[:2*sha256.Size]] = f[2*sha256.Size:]
		}
		return err
	})
	c.checkFiles(names)
	c.checkOrder()
}

// checkFiles fetches some of the acknowledged files, and posts as clients see them.
func (c *chaos) checkFiles(names map[string]string) {
	c.t.Helper()
	for key, values := range c.model.snapshot() {
		file, ok := strings.CutPrefix(key, "upload ")
		if !ok || values[0] == "" || c.rand.IntN(10) > 0 {
			continue
		}
		if status, b := c.fetch("/media/" + names[file]); status != 200 || hexSum(b) != file {
			c.t.Errorf("%s: %d, %d bytes", file, status, len(b))
		}
	}
	for _, client := range c.clients {
		for _, p := range client.posts[max(0, len(client.posts)-3):] {
			text := c.model.value("post " + p.tag)
			var st struct{ Content string }
			if status, b := c.fetch("/api/v1/statuses/" + p.id); status != 200 || json.Unmarshal(b, &st) != nil || !strings.Contains(st.Content, text) {
				c.t.Errorf("post %s: %d %s, want %q", p.id, status, st.Content, text)
			}
		}
	}
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// waitForDeliveries waits until the healthy remote server has each post of the account that it follows.
func (c *chaos) waitForDeliveries() {
	c.t.Helper()
	for _, p := range c.clients[0].posts {
		uri := c.url + "/objects/" + p.id
		c.s.WaitUntil("delivery of "+uri, func() bool { return c.peer.has(uri) })
	}
	list, repeated := c.peer.duplicates()
	for _, text := range list {
		c.t.Error(text)
	}
	c.model.counts["duplicates"] += len(list)
	c.model.counts["deliveries repeated after a crash, same id"] = repeated
	c.s.Signal(syscall.SIGTERM)
	c.s.WaitExit(0)
}

// report prints the figures.
func (c *chaos) report(took time.Duration) {
	m := c.model.counts
	c.t.Logf("%v, seed %d: %d rounds, %d kills, %d full disks, %d jumps of the clock, %d damaged databases restored; %d requests and %d activities, %d acknowledged; %d losses, %d duplicates",
		took.Round(time.Second), *chaosSeed, m["rounds"], m["kills"], m["full disks"], m["clock jumps"], m["restored"], m["requests"], m["activities sent"], m["acknowledged"], m["losses"], m["duplicates"])
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(key, "unexpected") {
			c.t.Errorf("%d times %s", m[key], key)
		} else {
			c.t.Logf("%8d %s", m[key], key)
		}
	}
}
