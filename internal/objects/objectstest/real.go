package objectstest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"svc/internal/disk"
)

// StartReal starts the S3 server that .ci/s3-server has built and $SVC_TEST_S3_SERVER names, with its files in a folder. It skips the test if there is
// none. The server has one bucket: bucket.
func StartReal(t testing.TB, dir string, flags ...string) (address string) {
	t.Helper()
	program := os.Getenv("SVC_TEST_S3_SERVER")
	if program == "" {
		t.Skip("SVC_TEST_S3_SERVER names no S3 server; .ci/s3-server DIR builds one")
	}
	files := filepath.Join(dir, "files")
	if err := disk.MakeFolder(filepath.Join(files, "bucket")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	flags = append(flags, "--port", address, "--access", User, "--secret", Secret, "--quiet", "posix", files)
	server := exec.Command(program, flags...)
	server.Dir = t.TempDir()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return address
		}
		if time.Now().After(end) {
			t.Fatal("the S3 server does not listen after a minute")
		}
	}
}
