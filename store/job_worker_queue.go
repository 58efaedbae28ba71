package store

import (
	"context"
	"time"

	"svc/internal/limit"
)

// Slots of the jobs that wait for other servers. Other jobs have slots of their own, which NewWorker names.
const (
	remoteJobs          = 8
	remoteJobsPerDomain = 2 // of them, for one registered domain
	demotedJobs         = 4 // more of them, for domains that were slow
	fewRemoteJobs       = 64
	domainBatch         = 32
)

// runningJob is a job that runs.
type runningJob struct {
	kind  string
	share *limit.Share[string] // nil if it waits for no other server
}

// due returns jobs that are due at a time and not running, and marks them as running: up to local ones that wait for no other server, and up to
// remote others.
func (w *Worker) due(ctx context.Context, now time.Time, local, remote int) ([]*Job, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs, err := w.dueLocal(ctx, now, local)
	if err != nil || w.db.Condition().State == DiskFull { // jobs that wait for other servers could not even record that they have run
		return jobs, err
	}
	others, err := w.dueRemote(ctx, now, remote)
	return append(jobs, others...), err
}

func (w *Worker) dueLocal(ctx context.Context, now time.Time, n int) ([]*Job, error) {
	var jobs []*Job
	for skipped := true; skipped && len(jobs) < n; {
		running, full := w.capacity()
		rows, err := list[*Job](ctx, w.db.reader, "due jobs", `
			SELECT *
			FROM jobs
			WHERE parked = 0 AND domain = '' AND run_at <= ? AND kind NOT IN (SELECT value FROM json_each(?))
			ORDER BY run_at
			LIMIT ?`, At(now), JSON[[]string]{full}, n+len(w.running))
		if err != nil {
			return jobs, err
		}
		skipped = false // jobs of a kind at its limit: jobs of other kinds may stand behind them
		for _, j := range rows {
			most := w.handlers[j.Kind].kind.Parallel
			switch {
			case len(jobs) == n || w.running[j.ID] != nil:
			case most > 0 && running[j.Kind] >= most:
				skipped = true
			default:
				running[j.Kind]++
				w.running[j.ID] = &runningJob{kind: j.Kind}
				jobs = append(jobs, j)
			}
		}
	}
	return jobs, nil
}

// capacity returns how many jobs of each kind are running, and the kinds of which none may start.
func (w *Worker) capacity() (running map[string]int, full []string) {
	running, full = make(map[string]int), []string{}
	for _, job := range w.running {
		running[job.kind]++
	}
	diskFull := w.db.Condition().State == DiskFull // jobs that do not delete could not even record that they have run
	for name, h := range w.handlers {
		if h.kind.Parallel > 0 && running[name] >= h.kind.Parallel || diskFull && !h.kind.Deletes {
			full = append(full, name)
		}
	}
	return running, full
}

// dueRemote returns jobs that wait for other servers. If there are few, the oldest run first; else domains take turns, so that many jobs of one
// do not keep those of others waiting.
func (w *Worker) dueRemote(ctx context.Context, now time.Time, n int) ([]*Job, error) {
	var jobs []*Job
	if free, freeDemoted := w.shares.Free(); n <= 0 || free+freeDemoted == 0 {
		return nil, nil
	}
	oldest, err := list[*Job](ctx, w.db.reader, "due jobs of other servers", `
		SELECT *
		FROM jobs INDEXED BY jobs_remote
		WHERE parked = 0 AND domain <> '' AND run_at <= ?
		ORDER BY run_at
		LIMIT ?`, At(now), fewRemoteJobs)
	if err != nil || len(oldest) < fewRemoteJobs {
		return w.startRemote(jobs, oldest, n, now), err
	}
	for begin, wrapped := w.turn, false; len(jobs) < n; {
		domains, err := w.dueDomains(ctx, now)
		if err != nil {
			return jobs, err
		}
		for _, domain := range domains {
			if wrapped && domain > begin || len(jobs) == n {
				return jobs, nil
			}
			w.turn = domain
			if w.shares.Full(domain) {
				continue
			}
			rows, err := list[*Job](ctx, w.db.reader, "due jobs of a domain", `
				SELECT *
				FROM jobs INDEXED BY jobs_due
				WHERE parked = 0 AND domain = ? AND run_at <= ?
				ORDER BY run_at
				LIMIT ?`, domain, At(now), 2*remoteJobsPerDomain)
			if err != nil {
				return jobs, err
			}
			jobs = w.startRemote(jobs, rows, n, now)
		}
		if len(domains) == domainBatch {
			continue
		}
		if wrapped {
			break
		}
		w.turn, wrapped = "", true
	}
	return jobs, nil
}

// dueDomains returns the next domains with due jobs, after that of w.turn.
func (w *Worker) dueDomains(ctx context.Context, now time.Time) ([]string, error) {
	return list[string](ctx, w.db.reader, "domains with due jobs", `
		WITH RECURSIVE domains(domain) AS (
			SELECT min(domain) FROM jobs INDEXED BY jobs_due WHERE parked = 0 AND domain > ?1
			UNION ALL
			SELECT (SELECT min(domain) FROM jobs INDEXED BY jobs_due WHERE parked = 0 AND domain > d.domain)
			FROM domains d
			WHERE d.domain IS NOT NULL)
		SELECT d.domain
		FROM domains d
		WHERE d.domain IS NOT NULL
			AND EXISTS (SELECT 1 FROM jobs j INDEXED BY jobs_due WHERE j.parked = 0 AND j.domain = d.domain AND j.run_at <= ?2)
		LIMIT ?3`, w.turn, At(now), domainBatch)
}

// startRemote adds those of rows to jobs, up to n, that do not run and for which there is a slot.
func (w *Worker) startRemote(jobs, rows []*Job, n int, now time.Time) []*Job {
	for _, j := range rows {
		if len(jobs) == n {
			break
		}
		if w.running[j.ID] != nil {
			continue
		}
		if share := w.shares.Start(j.Domain, now); share != nil {
			w.running[j.ID] = &runningJob{j.Kind, share}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// freeSlots returns how many more jobs may run that wait for no other server.
func (w *Worker) freeSlots() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	free := w.parallel
	for _, job := range w.running {
		if job.share == nil {
			free--
		}
	}
	return free
}

// Running returns how many jobs of each kind are running. Kinds without any are missing.
func (w *Worker) Running() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	running, _ := w.capacity()
	return running
}

func (w *Worker) release(id JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if job := w.running[id]; job != nil && job.share != nil {
		job.share.End()
	}
	delete(w.running, id)
}

// shareOf returns the share of a running job, nil if it waits for no other server.
func (w *Worker) shareOf(id JobID) *limit.Share[string] {
	w.mu.Lock()
	defer w.mu.Unlock()
	if job := w.running[id]; job != nil {
		return job.share
	}
	return nil
}

// untilNext returns how long to sleep unless a job is enqueued: until the first job that becomes due after now.
func (w *Worker) untilNext(ctx context.Context, now time.Time) time.Duration {
	next, err := w.db.nextJobAt(ctx, At(now))
	if err != nil || next == nil {
		return maxPoll
	}
	return min(max(next.Time().Sub(w.db.now()), time.Millisecond), maxPoll)
}
