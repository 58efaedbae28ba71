package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/doctor"
	"svc/internal/objects"
	"svc/internal/replica"
	"svc/store"
)

const (
	rehearsalFile  = "rehearsal.json" // in the data directory
	firstRehearsal = 24 * time.Hour   // after the copy was enabled, and after a rehearsal that failed
	rehearsalCheck = time.Hour
	rehearsalTime  = 12 * time.Hour // that a rehearsal may take
	shownFindings  = 3              // of a rehearsal
)

// rehearsalState says how the last rehearsal of a restoration went.
type rehearsalState struct {
	Since   time.Time `json:"since"`   // when the copy was enabled
	At      time.Time `json:"at"`      // of the last rehearsal; zero: none
	State   time.Time `json:"state"`   // of the database that was restored
	Files   int       `json:"files"`   // that were restored
	Bytes   int64     `json:"bytes"`   // of these
	Seconds int       `json:"seconds"` // that it took
	Problem string    `json:"problem"` // "": all was well
}

// openReplica begins to follow changes of files for the continuous copy, if it is enabled.
func (s *Server) openReplica() (err error) {
	c := s.Settings
	if !c.Replica.Enabled {
		return nil
	}
	location, err := objects.ParseLocation(c.Replica.Place)
	if err != nil {
		return fmt.Errorf("replica.place: %w", err)
	}
	s.replica, s.endReplica, err = replica.New(replica.Config{
		Dir: c.Data.Dir, Folders: copiedFolders(c), PassphraseFile: c.Replica.PassphraseFile, Keep: c.Replica.Keep, HasRow: s.DB.HasStoredFile, Now: s.DB.Now, Log: s.log,
		Open: func(ctx context.Context) (objects.Store, error) { return objects.Open(ctx, location, c.PlaceOptions()) },
	})
	return err
}

// copiedFolders returns the folders of the data directory whose files are copied. Uploads that go to a bucket are not on the disk for long.
func copiedFolders(c *config.Config) []string {
	return slices.DeleteFunc(slices.Clone(admin.FileDirs), func(dir string) bool { return dir == replica.ContentNamed && c.Media.Storage == config.MediaInBucket })
}

// runReplica keeps the continuous copy up to date, and rehearses its restoration, until ctx ends.
func (s *Server) runReplica(ctx context.Context, settingsFile string) {
	if s.replica == nil {
		return
	}
	s.replica.Settings = settingsFile
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.rehearseOften(ctx)
	}()
	s.replica.Run(ctx)
	<-done
}

func (s *Server) rehearseOften(ctx context.Context) {
	for {
		if err := s.RehearseIfDue(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("the rehearsal of a restoration", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rehearsalCheck):
		}
	}
}

// RehearseIfDue restores the continuous copy into a temporary folder, verifies and removes it, if that is due. A failure is stored, and svc doctor and the
// daily mail say so; the error is that of storing it.
func (s *Server) RehearseIfDue(ctx context.Context) error {
	c := s.Settings.Replica
	if !c.Enabled || c.Rehearsal == 0 {
		return nil
	}
	state, err := s.readRehearsal()
	if err != nil {
		return err
	}
	now := s.DB.Now()
	if state.Since.IsZero() {
		state.Since = now.UTC()
		return s.writeRehearsal(state)
	}
	last, every := state.At, c.Rehearsal
	if last.IsZero() {
		last, every = state.Since, min(every, firstRehearsal)
	} else if state.Problem != "" {
		every = min(every, firstRehearsal)
	}
	if !last.After(now) && now.Sub(last) < every {
		return nil
	}
	return s.rehearse(ctx, state)
}

func (s *Server) rehearse(ctx context.Context, state rehearsalState) error {
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, rehearsalTime)
	defer cancel()
	restored, err := s.restoreCopy(limited)
	if ctx.Err() != nil {
		return nil // the server stops: it is due again
	}
	if limited.Err() != nil {
		err = fmt.Errorf("it took longer than %s", rehearsalTime)
	}
	state = rehearsalState{Since: state.Since, At: s.DB.Now().UTC(), Seconds: int(time.Since(begin).Seconds())}
	if restored != nil {
		state.State, state.Files, state.Bytes = restored.At, restored.Files, restored.Bytes
		if restored.Found.Left > 0 {
			var text strings.Builder
			restored.PrintFindings(&text, shownFindings)
			err = fmt.Errorf("missing or damaged are %d: %s", restored.Found.Left, strings.ReplaceAll(strings.TrimSpace(text.String()), "\n", "; "))
		}
	}
	if err != nil {
		state.Problem = err.Error()
		s.log.Error("the rehearsal of a restoration has failed", "err", err, "see", "svc doctor")
	} else {
		s.log.Info("the continuous copy was restored in a rehearsal, and is intact", "state", state.State, "files", state.Files, "bytes", state.Bytes, "seconds", state.Seconds)
	}
	return s.writeRehearsal(state)
}

func (s *Server) restoreCopy(ctx context.Context) (*admin.RestoredReplica, error) {
	passphrase, err := replica.ReadPassphrase(s.Settings.Replica.PassphraseFile)
	if err != nil {
		return nil, err
	}
	r, err := admin.OpenReplica(ctx, s.Settings.Replica.Place, s.Settings.PlaceOptions())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	secrets, err := r.Secrets(ctx, passphrase, time.Time{})
	if err != nil {
		return nil, err
	}
	return s.Admin.Rehearse(ctx, r, s.dataPath("backups"), admin.ReplicaOptions{Secrets: secrets, Bucket: s.bucket})
}

func (s *Server) readRehearsal() (state rehearsalState, err error) {
	text, err := os.ReadFile(s.dataPath(rehearsalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err == nil && json.Unmarshal(text, &state) != nil {
		return rehearsalState{}, nil // it is made again
	}
	return state, err
}

func (s *Server) writeRehearsal(state rehearsalState) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return disk.ReplaceText(s.dataPath(rehearsalFile), string(text))
}

// replicaReport returns what svc doctor looks at.
func (s *Server) replicaReport(ctx context.Context) (*doctor.Replica, error) {
	if s.replica == nil {
		return nil, nil
	}
	r := &doctor.Replica{Status: s.replica.Status(), Running: s.running.Load()}
	r.Overruns, r.OverrunAt = s.DB.LogOverruns()
	if info, err := os.Stat(s.dataPath(store.File + "-wal")); err == nil {
		r.Written = info.ModTime()
	}
	state, err := s.readRehearsal()
	if err != nil {
		return nil, err
	}
	r.Rehearsed, r.Problem = state.At, state.Problem
	location, err := objects.ParseLocation(s.Settings.Replica.Place)
	if err != nil {
		return nil, err
	}
	o := s.Settings.PlaceOptions()
	o.NoCreate = true
	place, err := objects.Open(ctx, location, o)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	defer place.Close()
	r.Database, err = replica.DatabaseTime(ctx, place)
	return r, err
}
