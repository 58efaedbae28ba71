package keys

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func mustOpen(t *testing.T, dir string) *Keys {
	t.Helper()
	k, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "keys")
	k := mustOpen(t, dir)
	again := mustOpen(t, dir)
	if !bytes.Equal(k.Secret("a"), again.Secret("a")) || k.VAPIDPublic() != again.VAPIDPublic() || k.VAPIDPrivate() != again.VAPIDPrivate() {
		t.Error("the keys are others after the second opening")
	}
	if len(k.Secret("a")) != 32 || bytes.Equal(k.Secret("a"), k.Secret("b")) {
		t.Error("the keys for two purposes are not two keys of 32 bytes")
	}
	other := mustOpen(t, t.TempDir())
	if bytes.Equal(k.Secret("a"), other.Secret("a")) || k.VAPIDPublic() == other.VAPIDPublic() {
		t.Error("two servers have the same keys")
	}
	point, err := base64.RawURLEncoding.DecodeString(k.VAPIDPublic())
	if err != nil || len(point) != 65 || point[0] != 4 {
		t.Errorf("%q is no uncompressed point of P-256: %v", k.VAPIDPublic(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestDamagedFilesAreKept(t *testing.T) {
	for name, content := range map[string]string{
		"secret":     "short",
		"vapid.json": `{"public":"x","private":"y"}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mustOpen(t, dir)
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir); err == nil {
				t.Error("no error")
			}
			if now, _ := os.ReadFile(path); string(now) != content {
				t.Errorf("the file was replaced by %q", now)
			}
		})
	}
	t.Run("a pair that does not match", func(t *testing.T) {
		dir := t.TempDir()
		a, b := mustOpen(t, dir), mustOpen(t, t.TempDir())
		text := `{"public":"` + a.VAPIDPublic() + `","private":"` + b.VAPIDPrivate() + `"}`
		if err := os.WriteFile(filepath.Join(dir, "vapid.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil {
			t.Error("no error")
		}
	})
}

func TestOpenAtOnce(t *testing.T) {
	dir := t.TempDir()
	keys := make([]*Keys, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			k, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = k
		})
	}
	wg.Wait()
	for _, k := range keys[1:] {
		if k == nil || !bytes.Equal(k.Secret("a"), keys[0].Secret("a")) || k.VAPIDPublic() != keys[0].VAPIDPublic() {
			t.Fatal("not all have the same keys")
		}
	}
}

func TestSign(t *testing.T) {
	k, other := mustOpen(t, t.TempDir()), mustOpen(t, t.TempDir())
	until := time.Unix(1700000000, 0)
	token := k.Sign("chat", "alice", until)
	if token != k.Sign("chat", "alice", until) {
		t.Error("the token of the same subject and time is another one")
	}
	mac := hmac.New(sha256.New, k.Secret("chat"))
	mac.Write([]byte("alice.1700000000"))
	if want := "alice.1700000000." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)); token != want {
		t.Errorf("got %s, want %s", token, want)
	}
	for what, another := range map[string]string{
		"another server": other.Sign("chat", "alice", until), "another purpose": k.Sign("mail", "alice", until),
		"another subject": k.Sign("chat", "bob", until), "a later time": k.Sign("chat", "alice", until.Add(time.Second)),
	} {
		if another == token {
			t.Errorf("%s has the same token", what)
		}
	}
}
