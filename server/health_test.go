package server_test

import (
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

func TestHealth(t *testing.T) {
	srv := apptest.Start(t)
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.EnqueueAt(t.Context(), time.Now().Add(time.Hour), store.ExpireStatus{StatusID: 2}); err != nil {
			return err
		}
		return tx.EnqueueAt(t.Context(), time.Now().Add(time.Hour), store.ExpireStatus{StatusID: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Exec(`UPDATE jobs SET parked = 1 WHERE id = (SELECT max(id) FROM jobs)`)
	var wg sync.WaitGroup
	for _, path := range []string{"/api/v1/svc/healthcheck", "/api/svc/healthcheck", "/api/v1/svc/healthcheck/", "/api/v1/svc/healthcheck"} {
		wg.Go(func() {
			o := srv.As(nil).Get(path).Want(200).Object()
			WantShape(t, o, true, map[string]string{
				"pool_size": "number", "active": "number", "idle": "number", "memory_used": "number", "healthy": "boolean", "job_queue_stats": "object", "parked_jobs": "number", "storage": "object", "database": "object",
			})
			if !o.Bool("healthy") || o.Int("memory_used") < 1 || o.Int("pool_size") < 1 || o.Int("pool_size") != o.Int("active")+o.Int("idle") {
				t.Errorf("got %v", o.Fields)
			}
			if o.Int("job_queue_stats.expire_status.queued") != 1 || o.Int("job_queue_stats.expire_status.parked") != 1 || o.Int("parked_jobs") != 1 {
				t.Errorf("the queue is %v", o.At("job_queue_stats"))
			}
		})
	}
	wg.Wait()
	storage := srv.As(nil).Get("/api/v1/svc/healthcheck").Want(200).Object()
	if storage.Int("storage.total") < 100_000 || storage.Bool("storage.full") {
		t.Errorf("the storage is %v", storage.At("storage"))
	}
	plain := srv.As(nil).Get("/health").Want(200)
	if string(plain.Body) != "OK" || plain.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("/health is %q, %s", plain.Body, plain.Header.Get("Content-Type"))
	}
}

// TestUnhealthy checks that the server is unhealthy if its database cannot be written.
func TestUnhealthy(t *testing.T) {
	srv := apptest.Start(t)
	if err := srv.DB.Close(); err != nil {
		t.Fatal(err)
	}
	srv.As(nil).Get("/health").Want(503)
	o := srv.As(nil).Get("/api/v1/svc/healthcheck").Want(503).Object()
	if o.Bool("healthy") {
		t.Errorf("got %v", o.Fields)
	}
	WantShape(t, o, false, map[string]string{"pool_size": "number", "job_queue_stats": "object", "parked_jobs": "number"})
}
