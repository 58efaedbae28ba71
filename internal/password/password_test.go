package password

import (
	"context"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

var cheap = Cost{Memory: 64, Passes: 1, Lanes: 1}

// slot returns a slot for the duration of the test.
func slot(t *testing.T, h *Hasher) Slot {
	t.Helper()
	turn, err := h.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(turn.Release)
	return turn
}

func TestHash(t *testing.T) {
	now := slot(t, New(cheap))
	hash := now.Hash("correct horse")
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Errorf("hash is %s", hash)
	}
	if now.Hash("correct horse") == hash {
		t.Error("two hashes of one password are the same")
	}
	if ok, outdated := now.Verify(hash, "correct horse"); !ok || outdated {
		t.Errorf("the right password: %v, %v", ok, outdated)
	}
	for _, wrong := range []string{"", "Correct horse", "correct horse ", "correct hors"} {
		if ok, _ := now.Verify(hash, wrong); ok {
			t.Errorf("%q is taken for the right password", wrong)
		}
	}
}

func TestVerify(t *testing.T) {
	now := slot(t, New(cheap))
	stronger := slot(t, New(Cost{Memory: 128, Passes: 2, Lanes: 1}))
	old, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name         string
		hash         string
		password     string
		ok, outdated bool
	}{
		// The vector is that of the argon2 command line tool: echo -n password | argon2 somesalt -id -t 2 -k 256 -p 1
		{"another cost", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "password", true, true},
		{"another cost, wrong", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "passwort", false, true},
		{"bcrypt", string(old), "secret", true, true},
		{"bcrypt, wrong", string(old), "secrets", false, true},
		{"bcrypt of a cost that takes days", "$2b$31$" + string(old[7:]), "secret", false, true},
		{"stronger than now", stronger.Hash("x"), "x", true, true},
		{"nobody", "", "", false, false},
		{"nobody with a password", "", "x", false, false},
		{"no hash", "secret", "secret", false, false},
		{"a hash of another kind", "$6$rounds=5000$salt$hash", "x", false, false},
		{"too long a password", now.Hash(strings.Repeat("x", MaxLength+1)), strings.Repeat("x", MaxLength+1), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if ok, outdated := now.Verify(tt.hash, tt.password); ok != tt.ok || outdated != tt.outdated {
				t.Errorf("got %v, %v, want %v, %v", ok, outdated, tt.ok, tt.outdated)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for password, want := range map[string]string{
		"":                                "ERR_BLANK",
		"päßwörd":                         "ERR_TOO_SHORT",
		"päßwörds":                        "",
		"correct horse":                   "",
		"AliceInWonderland":               "ERR_INVALID",
		" alice@example.org ":             "ERR_INVALID",
		"alice@example.org!":              "",
		strings.Repeat("ä", MaxLength):    "",
		strings.Repeat("ä", MaxLength+1):  "ERR_TOO_LONG",
		" \t\n\u00a0":                     "ERR_BLANK",
		strings.Repeat(" ", MaxLength+10): "ERR_BLANK",
	} {
		got, p := "", (*Problem)(nil)
		if errors.As(Check(password, 8, "aliceinwonderland", "alice@example.org", ""), &p) {
			got = p.Code
		}
		if got != want {
			t.Errorf("%.20q: got %q, want %q", password, got, want)
		}
	}
	if err := Check("eleven char", 12); err == nil || err.Error() != "should be at least 12 characters" {
		t.Errorf("got %v", err)
	}
}

// TestBusy takes all slots and fills the queue.
func TestBusy(t *testing.T) {
	h := New(cheap)
	var held []Slot
	for range maxConcurrent {
		now, err := h.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, now)
	}
	results := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range maxWaiting + 10 {
		go func() {
			now, err := h.Acquire(ctx)
			if err == nil {
				now.Release()
			}
			results <- err
		}()
	}
	for range 10 {
		if err := <-results; !errors.Is(err, ErrBusy) {
			t.Fatalf("beyond the queue: got %v, want ErrBusy", err)
		}
	}
	for _, now := range held {
		now.Release()
	}
	for range maxWaiting {
		if err := <-results; err != nil {
			t.Fatalf("in the queue: %v", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("$argon2id$v=19$m=64,t=1,p=1$c29tZSBzYWx0$aGFzaCBvZiBzb21lIGxlbmd0aA")
	f.Add("$argon2id$v=19$m=4294967295,t=4294967295,p=255$AA$AA")
	f.Add("$2b$10$x")
	f.Add("$argon2id$v=19$m=64,t=1,p=1,x=1$$")
	f.Fuzz(func(t *testing.T, hash string) {
		a, err := parseArgon2id(hash)
		if err != nil {
			return
		}
		if a.Memory > maxMemory || a.Passes > maxPasses || a.Lanes > maxLanes || a.Lanes == 0 {
			t.Errorf("%q is accepted", hash)
		}
		if back, err := parseArgon2id(a.String()); err != nil || back.String() != a.String() {
			t.Errorf("%q is written as %q and not read back: %v", hash, a, err)
		}
	})
}

func BenchmarkHash(b *testing.B) {
	h := New(DefaultCost)
	for b.Loop() {
		if _, err := h.Hash(b.Context(), "correct horse"); err != nil {
			b.Fatal(err)
		}
	}
}
