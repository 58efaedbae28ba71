package objects_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/internal/objects"
	"svc/internal/objects/objectstest"
)

const someFingerprint = "SHA256:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"

func TestParseLocation(t *testing.T) {
	for text, want := range map[string]objects.Location{
		"/var/backups":                         {Kind: objects.Folder, Path: "/var/backups"},
		"backups/":                             {Kind: objects.Folder, Path: "backups"},
		"file:///var/backups":                  {Kind: objects.Folder, Path: "/var/backups"},
		"s3://my-bucket":                       {Kind: objects.S3, Bucket: "my-bucket", Endpoint: "https://s3.amazonaws.com", Region: "us-east-1"},
		"s3://my-bucket/a/b/?region=eu-west-1": {Kind: objects.S3, Bucket: "my-bucket", Path: "a/b", Endpoint: "https://s3.amazonaws.com", Region: "eu-west-1"},
		"s3://b.b/p?endpoint=https://s3.example.org:9000/": {
			Kind: objects.S3, Bucket: "b.b", Path: "p", Endpoint: "https://s3.example.org:9000", Region: "us-east-1", PathStyle: true,
		},
		"s3://bucket?endpoint=http://10.0.0.1&path_style=false": {Kind: objects.S3, Bucket: "bucket", Endpoint: "http://10.0.0.1", Region: "us-east-1"},
		"sftp://me@example.org/srv/x":                           {Kind: objects.SFTP, User: "me", Host: "example.org:22", Path: "/srv/x"},
		"sftp://me@[::1]:2222/~/x y?fingerprint=" + someFingerprint: {
			Kind: objects.SFTP, User: "me", Host: "[::1]:2222", Path: "x y", Fingerprint: someFingerprint,
		},
		"sftp://me@example.org/~": {Kind: objects.SFTP, User: "me", Host: "example.org:22", Path: "."},
	} {
		got, err := objects.ParseLocation(text)
		if got != want || err != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := objects.ParseLocation(got.String()); again != want || err != nil {
			t.Errorf("%s: printed as %s, it is %+v, %v", text, got, again, err)
		}
	}
}

func TestInvalidLocations(t *testing.T) {
	for _, text := range []string{
		"", "a\nb", strings.Repeat("x", 3000), "ftp://example.org/x", "https://example.org", "file://host/x", "file://",
		"s3://", "s3://Bucket", "s3://x", "s3://bucket/a//b", "s3://bucket/../b", "s3://bucket/.svc-tmp", "s3://bucket/" + strings.Repeat("a/", 300) + "b",
		"s3://bucket?endpoint=s3.example.org", "s3://bucket?endpoint=https://user:hidden@s3.example.org", "s3://bucket?endpoint=https://s3.example.org/path",
		"s3://bucket?path_style=maybe", "s3://bucket?region=a&region=b", "s3://bucket?region=example.org/", "s3://bucket?secret_key=hidden", "s3://key:hidden@bucket", "s3://bucket#hidden",
		"s3://bucket?a=%zz", "s3://bucket/%zz?key=hidden",
		"sftp://example.org/x", "sftp://me@/x", "sftp://me@example.org", "sftp://me@example.org/", "sftp://me:hidden@example.org/x", "sftp://me@example.org:0/x",
		"sftp://me@example.org:99999/x", "sftp://me:hidden@example.org:port/x", "sftp://me@example.org/x?fingerprint=SHA256:short", "sftp://me@example.org/x?password=hidden",
	} {
		l, err := objects.ParseLocation(text)
		if err == nil {
			t.Errorf("%q is %+v", text, l)
		} else if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: a secret is in the error: %v", text, err)
		}
	}
}

func FuzzParseLocation(f *testing.F) {
	f.Add("s3://bucket/a?endpoint=https://example.org")
	f.Add("sftp://me@example.org:22/~/x?fingerprint=" + someFingerprint)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := objects.ParseLocation(text)
		if err != nil || l.Kind == objects.Folder {
			return
		}
		if again, err := objects.ParseLocation(l.String()); again != l || err != nil {
			t.Errorf("%q is %+v, printed as %q it is %+v, %v", text, l, l, again, err)
		}
	})
}

func TestSecretsAreMasked(t *testing.T) {
	o := objects.Options{SecretKey: "hidden", SessionToken: "hidden", Password: "hidden", KeyPassword: "hidden"}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%s %v %+v %#v %s %q", text, o, o, o, o.Password, o.Password)
	if strings.Contains(all, "hidden") || !strings.Contains(all, "***") {
		t.Error(all)
	}
}

// TestEnvironment takes the credentials of S3 from the environment and from files that it names.
func TestEnvironment(t *testing.T) {
	server := objectstest.New(t)
	p := s3Place(server.Address)
	p.options.AccessKey, p.options.SecretKey = "", ""
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(testUser+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		variables map[string]string
		ok        bool
	}{
		{"nothing", nil, false},
		{"variables", map[string]string{"AWS_ACCESS_KEY_ID": testUser, "AWS_SECRET_ACCESS_KEY": "x"}, true},
		{"a file", map[string]string{"AWS_ACCESS_KEY_ID_FILE": file, "AWS_SECRET_ACCESS_KEY": "x"}, true},
		{"files", map[string]string{"AWS_ACCESS_KEY_ID_FILE": file, "AWS_SECRET_ACCESS_KEY_FILE": file}, true},
		{"half", map[string]string{"AWS_ACCESS_KEY_ID": testUser}, false},
		{"a missing file", map[string]string{"AWS_ACCESS_KEY_ID": testUser, "AWS_SECRET_ACCESS_KEY_FILE": file + "x"}, false},
		{"a large file", map[string]string{"AWS_ACCESS_KEY_ID": testUser, "AWS_SECRET_ACCESS_KEY_FILE": large}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID_FILE", "AWS_SECRET_ACCESS_KEY_FILE"} {
				t.Setenv(name, tt.variables[name])
			}
			if _, err := p.tryOpen(t); (err == nil) != tt.ok || tt.variables == nil && !errors.Is(err, objects.ErrRefused) {
				t.Error(err)
			}
		})
	}
}
