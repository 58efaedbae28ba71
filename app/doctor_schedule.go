package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"svc/internal/disk"
	"svc/internal/doctor"
	"svc/internal/fetch"
	"svc/store"
)

const (
	doctorFile      = "doctor.json"
	doctorCheckEach = time.Hour
	doctorFirst     = 10 * time.Minute // after the start, when proxy and name are certainly there
)

// doctorState is what the last scheduled run of svc doctor saw. It is a file of the data directory, so that a restart does not tell it again.
type doctorState struct {
	At    time.Time                `json:"at"`
	Found map[string]doctor.Status `json:"found"` // checks that were not well
}

// runDoctor runs the checks whenever doctor.schedule asks for it, until ctx ends.
func (s *Server) runDoctor(ctx context.Context) {
	timer := time.NewTimer(doctorFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := s.RunDueDoctor(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("the scheduled checks of svc doctor", "err", err)
		}
		timer.Reset(doctorCheckEach)
	}
}

// RunDueDoctor runs all checks if they are due, and sends the results that are new since the last time to the log, to staff by mail, and to the webhook. If
// the webhook fails, the next call does all again.
func (s *Server) RunDueDoctor(ctx context.Context) error {
	c := s.Live.Load().Doctor
	last, err := s.readDoctorState()
	if err != nil {
		return err
	}
	if s.doctorLast.At.After(last.At) {
		last = s.doctorLast
	}
	now := s.DB.Now()
	if c.Schedule == 0 || !last.At.IsZero() && !last.At.After(now) && now.Sub(last.At) < c.Schedule {
		return nil
	}
	n := compareChecks(last.Found, s.examine(ctx))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.passOn(ctx, n); err != nil {
		return err
	}
	state := doctorState{now.UTC(), n.found}
	if err := s.writeDoctorState(state); err != nil {
		s.doctorLast = state // or a full disk would be news every hour
		return err
	}
	return nil
}

func (s *Server) writeDoctorState(state doctorState) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return disk.ReplaceText(s.dataPath(doctorFile), string(text))
}

// readDoctorState returns the state of the last run, an empty one if there is none or it cannot be read.
func (s *Server) readDoctorState() (state doctorState, err error) {
	text, err := os.ReadFile(s.dataPath(doctorFile))
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	if err := json.Unmarshal(text, &state); err != nil {
		s.log.Warn("the state of the last checks cannot be read: all are new", "file", doctorFile, "err", err)
		return doctorState{}, nil
	}
	return state, nil
}

// doctorNews is what checks saw that they had not seen before.
type doctorNews struct {
	found map[string]doctor.Status
	Worse []doctor.Result `json:"worse"` // a new warning, or a new failure
	Well  []string        `json:"well"`  // the names of checks that are well again
}

func compareChecks(before map[string]doctor.Status, report *doctor.Report) *doctorNews {
	n := &doctorNews{found: make(map[string]doctor.Status), Worse: []doctor.Result{}, Well: []string{}}
	for _, r := range report.Results {
		was, known := before[r.Name]
		if r.Status == doctor.OK || r.NotChecked {
			if known && !r.NotChecked {
				n.Well = append(n.Well, r.Name)
			}
			continue
		}
		n.found[r.Name] = r.Status
		if r.Status != was && was != doctor.Failure {
			n.Worse = append(n.Worse, r)
		}
	}
	return n
}

// text returns lines for people.
func (n *doctorNews) text() string {
	var lines strings.Builder
	for _, r := range n.Worse {
		fmt.Fprintf(&lines, "%s: %s: %s\n", r.Name, r.Status, r.Seen)
		if r.Advice != "" {
			fmt.Fprintf(&lines, "  %s\n", r.Advice)
		}
	}
	return strings.TrimSuffix(lines.String(), "\n")
}

// passOn sends new results to the log, the webhook and staff.
func (s *Server) passOn(ctx context.Context, n *doctorNews) error {
	for _, r := range n.Worse {
		s.log.Warn("a check of svc doctor", "check", r.Name, "status", r.Status, "seen", r.Seen, "advice", r.Advice)
	}
	for _, name := range n.Well {
		s.log.Info("a check of svc doctor is well again", "check", name)
	}
	if len(n.Worse)+len(n.Well) == 0 {
		return nil
	}
	c := s.Live.Load().Doctor
	if c.Webhook != "" {
		if err := s.postNews(ctx, c.Webhook, n); err != nil {
			return fmt.Errorf("doctor.webhook: %w", err)
		}
	}
	if !c.Mail {
		return nil
	}
	err := s.DB.Update(ctx, func(tx *store.Tx) error { return s.Social.MailDoctorIn(ctx, tx, n.text(), strings.Join(n.Well, ", ")) })
	if err != nil { // such as a full disk: the log and the webhook have it
		s.log.Error("the mail about checks of svc doctor", "err", err)
	}
	return nil
}

// postNews sends the news to the service that the operator named, which may have a private address.
func (s *Server) postNews(ctx context.Context, address string, n *doctorNews) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("it is no URL") // without the URL, which may have a token
	}
	lines := n.text()
	if len(n.Well) > 0 {
		lines = strings.TrimPrefix(lines+"\nwell again: "+strings.Join(n.Well, ", "), "\n")
	}
	body, err := json.Marshal(struct {
		Text   string `json:"text"`
		Server string `json:"server"`
		*doctorNews
	}{s.Settings.Host() + "\n" + lines, s.Settings.URL().String(), n})
	if err != nil {
		return err
	}
	client := fetch.New(fetch.Options{UserAgent: s.userAgent(), Service: u, MaxRequests: 1})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("it is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		var withURL *url.Error
		if errors.As(err, &withURL) {
			err = withURL.Err
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return &fetch.StatusError{Status: resp.StatusCode}
	}
	return nil
}
