package command_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"svc/internal/objects/objectstest"
)

// copyPlace is a place for a continuous copy.
type copyPlace struct {
	location   string // as svc has it
	folder     string // where its files are on this machine
	settings   string // for access
	litestream string // the lines of its settings file that name the place
}

// folderPlace returns a folder.
func folderPlace(t *testing.T) *copyPlace {
	dir := filepath.Join(t.TempDir(), "copy")
	return &copyPlace{location: dir, folder: dir, litestream: "url: file://" + dir + "/db"}
}

// s3Place returns a place in a real S3 server, or skips the test.
func s3Place(t *testing.T) *copyPlace {
	dir := t.TempDir()
	address := objectstest.StartReal(t, dir)
	return &copyPlace{
		location: "s3://bucket/svc?endpoint=http://" + address, folder: filepath.Join(dir, "files", "bucket", "svc"),
		settings:   fmt.Sprintf("[s3]\naccess_key = %q\nsecret_key = %q\n", objectstest.User, objectstest.Secret),
		litestream: "url: s3://bucket/svc/db?endpoint=http://" + address,
	}
}

// sftpPlace returns a folder of an SFTP server.
func sftpPlace(t *testing.T) *copyPlace {
	dir := filepath.Join(t.TempDir(), "copy")
	s := objectstest.NewSFTP(t)
	return &copyPlace{
		location: "sftp://svc@" + s.Address + dir + "?fingerprint=" + s.Fingerprint(0), folder: dir,
		settings: "[sftp]\npassword_file = \"sftp-password\"\n",
		litestream: fmt.Sprintf("url: sftp://svc:%s@%s%s/db\n      host-key: %q", objectstest.Secret, s.Address, dir,
			ssh.MarshalAuthorizedKey(s.Keys[0].PublicKey())),
	}
}

// openSSHPlace returns a folder that OpenSSH's SFTP server serves. It is reached with a key, by the lines of the example for SFTP.
func openSSHPlace(t *testing.T) *copyPlace {
	program := objectstest.OpenSSH(t)
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	s := objectstest.NewSFTP(t)
	s.Program = program
	if s.User, err = ssh.NewPublicKey(public); err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(t.TempDir(), "replica-key")
	if err := os.WriteFile(private, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	return &copyPlace{
		location: "sftp://svc@" + s.Address + dir + "?fingerprint=" + s.Fingerprint(1), folder: dir,
		settings: fmt.Sprintf("[sftp]\nkey_file = %q\n", private),
		litestream: sftpExample(t, map[string]string{
			"svc@backup.example.org:22/srv/svc/db": fmt.Sprintf("svc@%s%s/db", s.Address, dir),
			"/etc/svc/replica-key":                 private,
			"ecdsa-sha2-nistp256 AAAA…":            strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.Keys[0].PublicKey()))),
		}),
	}
}

// sftpExample returns the lines for an SFTP server of the example of Litestream's settings, with other values.
func sftpExample(t *testing.T, values map[string]string) string {
	t.Helper()
	example, err := os.ReadFile("../docs/examples/litestream.yml")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(example)) {
		line, commented := strings.CutPrefix(strings.TrimSpace(line), "#")
		if commented && !strings.HasPrefix(line, " ") {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n      ")
	for from, to := range values {
		if strings.Count(text, from) != 1 {
			t.Fatalf("the lines for SFTP have not one %q: %s", from, text)
		}
		text = strings.Replace(text, from, to, 1)
	}
	return text
}

// eachCopyPlace runs a test with each kind of place.
func eachCopyPlace(t *testing.T, test func(*testing.T, *copyPlace)) {
	for name, place := range map[string]func(*testing.T) *copyPlace{"folder": folderPlace, "s3": s3Place, "sftp": sftpPlace, "sftp of OpenSSH": openSSHPlace} {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

// workspace returns a workspace with an account and its token "t", whose continuous copy goes to the place.
func (c *copyPlace) workspace(t *testing.T) *workspace {
	t.Helper()
	p := newWorkspace(t, c.replica())
	c.writeSecrets(p)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	return p
}

// replica returns the settings of a server that is copied to the place.
func (c *copyPlace) replica() string {
	return fmt.Sprintf("[rate_limit]\nenabled = false\n[replica]\nenabled = true\npassphrase_file = \"passphrase\"\nplace = %q\n%s", c.location, c.settings)
}

// writeSecrets writes the files that the settings name.
func (c *copyPlace) writeSecrets(p *workspace) {
	p.write("passphrase", "correct horse battery\n")
	p.write("sftp-password", objectstest.Secret+"\n")
}
