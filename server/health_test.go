package server_test

import (
	"sync"
	"testing"
	"time"

	"svc/store"
)

func TestHealth(t *testing.T) {
	srv := startAPI(t)
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.EnqueueAt(t.Context(), time.Now().Add(time.Hour), store.ExpireStatus{StatusID: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, path := range []string{"/api/v1/svc/healthcheck", "/api/svc/healthcheck", "/api/v1/svc/healthcheck/", "/api/v1/svc/healthcheck"} {
		wg.Go(func() {
			o := srv.as(nil).get(path).want(200).object()
			wantShape(t, o, true, map[string]string{
				"pool_size": "number", "active": "number", "idle": "number", "memory_used": "number", "healthy": "boolean", "job_queue_stats": "object",
			})
			if !o.truth("healthy") || o.num("memory_used") < 1 || o.num("pool_size") < 1 || o.num("pool_size") != o.num("active")+o.num("idle") {
				t.Errorf("got %v", o.m)
			}
			if o.num("job_queue_stats.expire_status.waiting") != 1 || o.num("job_queue_stats.expire_status.failed") != 0 {
				t.Errorf("the queue is %v", o.at("job_queue_stats"))
			}
		})
	}
	wg.Wait()
}

// A database that cannot be written makes the server unhealthy.
func TestUnhealthy(t *testing.T) {
	srv := startAPI(t)
	if err := srv.db.Close(); err != nil {
		t.Fatal(err)
	}
	o := srv.as(nil).get("/api/v1/svc/healthcheck").want(503).object()
	if o.truth("healthy") {
		t.Errorf("got %v", o.m)
	}
	wantShape(t, o, false, map[string]string{"pool_size": "number", "job_queue_stats": "object"})
}
