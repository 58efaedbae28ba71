// Package doctor checks a server as its operator and other servers see it: its name, certificate, reverse proxy, clock, mail, disk, database,
// keys and backups. It knows neither the database nor the accounts: the caller passes functions that look at them.
//
// Two rules. A check says what it saw and what to do, and never prints a secret. It changes nothing but a file of a few bytes that it
// removes again.
//
// Limits: 10 seconds a check, all at the same time; 32 MiB for the check of large bodies.
package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
)

// Status is the result of a check.
type Status string

const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failure Status = "failure"
)

// Result is what a check found.
type Result struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Seen   string `json:"seen"`
	Advice string `json:"advice,omitempty"` // what to do

	NotChecked bool `json:"not_checked,omitempty"` // another check reports why
}

// Report has the results in the order of the table of checks.
type Report struct {
	Results []Result `json:"results"`
	Failed  bool     `json:"failed"` // at least one check
}

// Config is what the checks look at. The functions that are nil have the standard of the system.
type Config struct {
	Settings *config.Config
	Now      func() time.Time
	Deadline time.Duration // of a check; 0: 10 seconds
	ClockURL string        // whose Date header is compared with the clock; "": the public address

	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Roots   *x509.CertPool
	Disk    func(dir string) (free, total uint64, err error)
	MaxOpen func() uint64 // open files of the process

	ProxyUsers func() []SocketUser // of this machine
	GoVersion  string              // that built the program; "": runtime.Version

	Secret     []byte                                                        // of the tokens for the probe
	Sign       func(ctx context.Context, r *http.Request, body []byte) error // as the instance actor; nil: the server does not federate
	CheckKeys  func(ctx context.Context) error                               // compares the keys on disk with the database
	Unusable   error                                                         // why this program cannot use the database; nil: it can
	Closed     error                                                         // why the data directory cannot be opened; nil: it is open
	LostKeys   error                                                         // Closed, if the keys are the reason
	Condition  func() error                                                  // why nothing is written; nil: something is
	QuickCheck func(ctx context.Context) (problem string, err error)         // of the database
	CheckMail  func(ctx context.Context) error                               // connects to the mail server and signs in
	Backups    func(ctx context.Context) (*Backups, error)                   // in the folder of backups
	Lease      func(ctx context.Context) (seen, problem string, err error)   // at the place of the replica; nil: there is no replica
	Replica    func(ctx context.Context) (*Replica, error)                   // state of the continuous copy; nil: not known
	Bucket     func(ctx context.Context) error                               // lists media.bucket; nil: there is none
	Parked     func(ctx context.Context) (*Parked, error)                    // jobs and deliveries after their last attempt; nil: not known
}

// Parked counts the jobs and deliveries that are kept after their last attempt.
type Parked struct {
	Jobs       int
	Deliveries int
	Hosts      int // of these deliveries
}

// Backups are the complete backups of a server.
type Backups struct {
	Dir     string
	Newest  time.Time
	File    string // name of the newest
	Count   int
	Problem string // of the scheduled ones; "": none
}

// checks are all checks. Those that concern the public address share one probe.
var checks = []struct {
	name string
	run  func(context.Context, *doctor) Result
}{
	{"url", checkURL},
	{"dns", checkDNS},
	{"port", checkPort},
	{"certificate", checkCertificate},
	{"address", checkAddress},
	{"proxy", checkProxy},
	{"websocket", checkWebSocket},
	{"body size", checkBodySize},
	{"handles", checkHandles},
	{"federation", checkFederation},
	{"clock", checkClock},
	{"mail", checkMail},
	{"disk", checkDisk},
	{"database", checkDatabase},
	{"wal", checkWAL},
	{"keys", checkKeys},
	{"backups", checkBackups},
	{"lease", checkLease},
	{"replica", checkReplica},
	{"rehearsal", checkRehearsal},
	{"bucket", checkBucket},
	{"jobs", checkParked},
	{"open files", checkOpenFiles},
	{"socket", checkSocket},
	{"go", checkGo},
}

// doctor is one run.
type doctor struct {
	Config
	url    *url.URL
	client *http.Client
	probe  func() (*probed, error) // runs once
}

const (
	defaultDeadline = 10 * time.Second
	continueTimeout = 2 * time.Second // before an upload is sent without an answer to Expect
)

// Run runs all checks at the same time.
func Run(ctx context.Context, c Config) *Report {
	c.setDefaults()
	d := &doctor{Config: c, url: c.Settings.URL()}
	transport := &http.Transport{DialContext: c.Dial, TLSClientConfig: &tls.Config{RootCAs: c.Roots}, DisableKeepAlives: true, ExpectContinueTimeout: continueTimeout}
	defer transport.CloseIdleConnections()
	d.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	probing, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	d.probe = sync.OnceValues(func() (*probed, error) { return d.sendProbe(probing) })

	report := &Report{Results: make([]Result, len(checks))}
	var running sync.WaitGroup
	for i, check := range checks {
		running.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, c.Deadline)
			defer cancel()
			var r Result
			if err := errs.CatchPanic(func() error { r = check.run(ctx, d); return nil }); err != nil {
				r = failure("", "the check itself failed: %v", err)
			}
			r.Name = check.name
			report.Results[i] = r
		})
	}
	running.Wait()
	for _, r := range report.Results {
		report.Failed = report.Failed || r.Status == Failure
	}
	return report
}

func (c *Config) setDefaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Deadline == 0 {
		c.Deadline = defaultDeadline
	}
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.Dial == nil { // not that of internal/fetch, because the public address may well be on this machine
		c.Dial = new(net.Dialer).DialContext
	}
	if c.Disk == nil {
		c.Disk = diskSpace
	}
	if c.Condition == nil {
		c.Condition = func() error { return nil }
	}
	if c.MaxOpen == nil {
		c.MaxOpen = maxOpenFiles
	}
	if c.ProxyUsers == nil {
		c.ProxyUsers = systemProxyUsers
	}
	c.GoVersion = cmp.Or(c.GoVersion, runtime.Version())
}

func ok(format string, args ...any) Result {
	return Result{Status: OK, Seen: fmt.Sprintf(format, args...)}
}

func warning(advice, format string, args ...any) Result {
	return Result{Status: Warning, Seen: fmt.Sprintf(format, args...), Advice: advice}
}

func failure(advice, format string, args ...any) Result {
	return Result{Status: Failure, Seen: fmt.Sprintf(format, args...), Advice: advice}
}

// notChecked is the result of a check whose precondition is missing, which another check reports.
func notChecked(because string) Result {
	r := warning("", "not checked: %s", because)
	r.NotChecked = true
	return r
}
