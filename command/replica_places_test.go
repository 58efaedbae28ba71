package command_test

import (
	"fmt"
	"path/filepath"
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

// eachCopyPlace runs a test with each kind of place.
func eachCopyPlace(t *testing.T, test func(*testing.T, *copyPlace)) {
	for name, place := range map[string]func(*testing.T) *copyPlace{"folder": folderPlace, "s3": s3Place, "sftp": sftpPlace} {
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
