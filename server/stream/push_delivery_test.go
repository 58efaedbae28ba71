package stream_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
)

// queuedJobs returns the number of queued jobs of a kind.
func queuedJobs(a *apptest.Server, kind string) int {
	a.T.Helper()
	counts, err := a.DB.JobCounts(a.T.Context())
	if err != nil {
		a.T.Fatal(err)
	}
	for _, c := range counts {
		if c.Kind == kind {
			return c.N
		}
	}
	return 0
}

// TestPushFailures checks which statuses of a push service delete the subscription and which cause a retry.
func TestPushFailures(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	bob := srv.SignUp("bob")
	for _, tt := range []struct {
		status int
		gone   bool
	}{
		{404, true}, {410, true}, {400, true}, {403, true}, {413, true},
		{302, false}, {408, false}, {429, false}, {500, false}, {503, false},
	} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			service := apptest.StartPushService(t)
			alice := srv.SignUp(fmt.Sprint("alice", tt.status))
			d := alice.SubscribePush(service)
			service.Fail(tt.status, "Location", service.URL+"/other")
			bob.Publish("@" + alice.Nickname + " hello")
			srv.RunJobs()
			if got := d.Tries(); got != 1 {
				t.Errorf("tried %d times at once, want 1", got)
			}
			a := alice.Get(pushPath)
			if tt.gone {
				a.WantError(404, "Record not found")
				return
			}
			a.Want(200)
			service.Fail(0)
			srv.SetClock(time.Minute)
			srv.RunJobs()
			if got := d.Messages(); len(got) != 1 {
				t.Errorf("got %d messages when the service worked again, want 1", len(got))
			}
			srv.SetClock(0)
		})
	}
}

// TestPushRetries follows messages to a failing service until they are abandoned.
func TestPushRetries(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	service, other := apptest.StartPushService(t), apptest.StartPushService(t)
	d := alice.SubscribePush(service)
	service.Fail(503)
	for i := range 3 {
		bob.Publish(fmt.Sprint("@alice ", i))
	}
	srv.RunJobs()
	if got := d.Tries(); got != 1 {
		t.Errorf("a failing host was tried %d times, want once", got)
	}
	carol := srv.SignUp("carol")
	e := carol.SubscribePush(other)
	bob.Publish("@carol hello")
	srv.RunJobs()
	if got := e.Messages(); len(got) != 1 {
		t.Errorf("%d messages on the working host, want 1", len(got))
	}
	tries := 1
	for after := time.Minute; queuedJobs(srv, "push") > 0; after += 5 * time.Minute {
		if after > 24*time.Hour {
			t.Fatal("the messages are not abandoned after a day")
		}
		srv.SetClock(after)
		srv.RunJobs()
		if got := d.Tries(); got > tries+1 {
			t.Errorf("after %v: %d tries at once", after, got-tries)
		}
		tries = d.Tries()
	}
	if tries < 5 || tries > 40 {
		t.Errorf("tried %d times in all", tries)
	}
	alice.Get(pushPath).Want(200)
}

// TestPushRetryAfter checks that Retry-After of a push service delays the retry, within bounds.
func TestPushRetryAfter(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	service := apptest.StartPushService(t)
	d := alice.SubscribePush(service)
	for _, tt := range []struct {
		name, header string
		pause        time.Duration
	}{
		{"seconds", "900", 15 * time.Minute},
		{"a date", time.Now().Add(20 * time.Minute).UTC().Format(http.TimeFormat), 20 * time.Minute},
		{"much too long", "999999999999", time.Hour},
		{"a date much too late", "Fri, 31 Dec 9999 23:59:59 GMT", time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service.Fail(429, "Retry-After", tt.header)
			bob.Publish("@alice " + tt.name)
			srv.RunJobs()
			tried := d.Tries()
			srv.SetClock(tt.pause - 5*time.Second)
			srv.RunJobs()
			if d.Tries() != tried {
				t.Error("tried too early")
			}
			service.Fail(0)
			srv.SetClock(tt.pause + 5*time.Second)
			srv.RunJobs()
			if got := d.Messages(); len(got) != 1 {
				t.Errorf("got %d messages in the end, want 1", len(got))
			}
			srv.SetClock(0)
		})
	}
}

// TestPushUnreachable checks that messages to an unreachable push service stay queued.
func TestPushUnreachable(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	service := apptest.StartPushService(t)
	alice.SubscribePush(service)
	service.Close()
	bob.Publish("@alice hello")
	srv.RunJobs()
	if queuedJobs(srv, "push") != 1 {
		t.Error("the message is lost")
	}
	if srv.Count(`SELECT count(*) FROM jobs WHERE last_error LIKE '%/device/%'`) != 0 {
		t.Error("the address of the subscription is in the job's error")
	}
}

// TestSlowPushServices has an account with many devices on slow push services, each on its own host. Only that account's messages are
// delayed.
func TestSlowPushServices(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	const pause = 50 * time.Millisecond
	srv.HTTP.Push.SetSlow(pause)
	var slow []*apptest.Device
	for i := range 5 {
		service := apptest.StartPushService(t)
		service.RespondFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(pause)
			w.WriteHeader(http.StatusCreated)
		})
		slow = append(slow, srv.NewToken(alice, fmt.Sprint("push read s", i)).SubscribePush(service, "mention"))
	}
	tried := func() (n int) {
		for _, d := range slow {
			n += d.Tries()
		}
		return n
	}
	quick := carol.SubscribePush(apptest.StartPushService(t))
	bob.Publish("@alice @carol hello")
	srv.RunJobs()
	if got := tried(); got != 1 {
		t.Errorf("%d messages to slow services at once, want 1", got)
	}
	if got := quick.Messages(); len(got) != 1 {
		t.Errorf("%d messages to another account, want 1", len(got))
	}
	for after := time.Minute; queuedJobs(srv, "push") > 0; after += 3 * time.Minute {
		if after > time.Hour {
			t.Fatalf("after an hour, %d of 5 have been sent", tried())
		}
		srv.SetClock(after)
		srv.RunJobs()
	}
	if got := tried(); got != 5 {
		t.Errorf("%d messages in the end, want 5", got)
	}
}

// TestConcurrentPush sends messages to many devices of many accounts, several jobs at once.
func TestConcurrentPush(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	bob := srv.SignUp("bob")
	var users []*apptest.User
	var devices []*apptest.Device
	var mentions strings.Builder
	for i := range 8 {
		m := srv.SignUp(fmt.Sprint("m", i))
		users = append(users, m)
		devices = append(devices, m.SubscribePush(service), srv.NewToken(m, "push read").SubscribePush(service, "mention"))
		mentions.WriteString(" @" + m.Nickname)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		srv.Worker.Run(ctx)
		close(done)
	}()
	defer func() {
		stop()
		<-done
	}()
	for i := range 5 {
		bob.Publish(fmt.Sprint(i, mentions.String()))
	}
	for deadline := time.Now().Add(30 * time.Second); queuedJobs(srv, "push") > 0; {
		if time.Now().After(deadline) {
			t.Fatal("jobs are still queued after 30 s")
		}
	}
	for i, d := range devices {
		if got := d.Messages(); len(got) != 5 {
			t.Errorf("device %d of %s got %d messages, want 5", i, users[i/2].Nickname, len(got))
		}
	}
}

// TestPushAfterRefresh checks that messages contain the current token after a refresh.
func TestPushAfterRefresh(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	srv.SignUp("alice")
	bob := srv.SignUp("bob")
	app := srv.RegisterApp()
	grant := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(200).Object()
	d := (&apptest.Client{Server: srv, Token: grant.Str("access_token")}).SubscribePush(service)
	renewed := srv.Grant(app, "refresh_token", "refresh_token", grant.Str("refresh_token")).Want(200).Object().Str("access_token")
	bob.Publish("@alice hello")
	srv.RunJobs()
	got := d.Messages()
	if len(got) != 1 || got[0].Str("access_token") != renewed || renewed == grant.Str("access_token") {
		t.Fatalf("got %v, want the token %q", got, renewed)
	}
	if srv.Count(`SELECT count(*) FROM push_subscriptions WHERE instr(token, CAST(? AS BLOB))`, renewed) != 0 {
		t.Error("the database contains the token in plain text")
	}
}
