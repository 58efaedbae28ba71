package oauth_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/password"
)

// TestPasswordHashingBusy fills the queue of those who wait to hash a password. Who needs a hash then is answered 503, and nothing changes.
func TestPasswordHashingBusy(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.RegistrationsOpen = true })
	alice := srv.SignUp("alice")
	app, newcomer := srv.RegisterApp(), appClient(srv)
	free := takeAllHashing(t, srv.Social.Passwords)
	const busy = "The server is busy, try again in a moment"
	const another = "another long password"
	requests := map[string]func() *apptest.Response{
		"sign in": func() *apptest.Response {
			return srv.Grant(app, "password", "username", "alice", "password", apptest.Password)
		},
		"sign in as nobody": func() *apptest.Response {
			return srv.Grant(app, "password", "username", "nobody", "password", apptest.Password)
		},
		"change the password": func() *apptest.Response {
			return alice.Post("/api/v1/svc/change_password", "password", apptest.Password, "new_password", another, "new_password_confirmation", another)
		},
		"delete the account": func() *apptest.Response {
			return alice.Post("/api/v1/svc/delete_account", "password", apptest.Password)
		},
		"register": func() *apptest.Response {
			return newcomer.Post("/api/v1/accounts", "username", "bob", "email", "bob@example.org", "password", apptest.Password, "agreement", "true")
		},
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) { request().WantBusy(503, busy) })
	}
	free()
	requests["sign in"]().Want(200)
	srv.Grant(app, "password", "username", "alice", "password", another).Want(400)
	alice.Get("/api/v1/accounts/verify_credentials").Want(200)
	requests["register"]().Want(200)
}

// takeAllHashing takes all slots of a hasher and all places of those who wait for one. The returned function gives them back.
func takeAllHashing(t *testing.T, h *password.Hasher) (free func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	free = sync.OnceFunc(func() {
		cancel()
		waiting.Wait()
	})
	t.Cleanup(free)
	ended, end := context.WithCancel(t.Context())
	end()
	isFull := func() bool {
		slot, err := h.Acquire(ended) // it does not wait
		if err == nil {
			slot.Release()
		}
		return errors.Is(err, password.ErrBusy)
	}
	for deadline := time.Now().Add(10 * time.Second); !isFull(); {
		if time.Now().After(deadline) {
			t.Fatal("hashing passwords never gets busy")
		}
		waiting.Go(func() {
			slot, err := h.Acquire(ctx)
			if err == nil {
				<-ctx.Done()
				slot.Release()
			}
		})
	}
	return free
}
