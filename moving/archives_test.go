package moving_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// files are the files of an archive by path.
type files map[string]string

const (
	oldActor = "https://old.example/users/alice"
	public   = `"https://www.w3.org/ns/activitystreams#Public"`
	toAll    = `"to":[` + public + `],"cc":["` + oldActor + `/followers"]`
	unlisted = `"to":["` + oldActor + `/followers"],"cc":[` + public + `]`
	toFew    = `"to":["` + oldActor + `/followers"],"cc":[]`
	toOne    = `"to":["https://other.example/users/bob"],"cc":[]`
)

// note returns the Create of a note of the old account, as Mastodon writes it into its outbox.json: members are further ones of the note.
func note(id, published, content, audience string, members ...string) string {
	uri := oldActor + "/statuses/" + id
	body, _ := json.Marshal(content)
	object := fmt.Sprintf(`{"id":%q,"type":"Note","summary":null,"inReplyTo":null,"published":%q,"url":"https://old.example/@alice/%s","attributedTo":%q,%s,
		"sensitive":false,"content":%s,"contentMap":{"en":%s},"attachment":[],"tag":[]%s}`, uri, published, id, oldActor, audience, body, body,
		strings.Join(append([]string{""}, members...), ","))
	object = lastMembers(object)
	return fmt.Sprintf(`{"id":"%s/activity","type":"Create","actor":%q,"published":%q,%s,"object":%s}`, uri, oldActor, published, audience, object)
}

// lastMembers removes earlier members of the same name, because a document must not have one twice.
func lastMembers(object string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		panic(err)
	}
	b, _ := json.Marshal(members)
	return string(b)
}

// mastodon returns the files of an archive of Mastodon with the entries of its outbox.
func mastodon(entries ...string) files {
	return files{
		"actor.json": `{"@context":["https://www.w3.org/ns/activitystreams"],"id":"` + oldActor + `","type":"Person","preferredUsername":"alice",
			"inbox":"` + oldActor + `/inbox","outbox":"outbox.json","likes":"likes.json","bookmarks":"bookmarks.json"}`,
		"outbox.json": fmt.Sprintf(`{"@context":"https://www.w3.org/ns/activitystreams","id":"outbox.json","type":"OrderedCollection","totalItems":%d,"orderedItems":[%s]}`,
			len(entries), strings.Join(entries, ",\n")),
	}
}

func (f files) names() []string { return slices.Sorted(maps.Keys(f)) }

// folder writes the files into a folder.
func (f files) folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	for name, content := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zip returns the path of a zip of the files.
func (f files) zip(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range f.names() {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(f[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "archive.zip", b.Bytes())
}

// tar returns the path of a tar.gz of the files.
func (f files) tar(t *testing.T) string {
	t.Helper()
	var headers []*tar.Header
	for _, name := range f.names() {
		headers = append(headers, &tar.Header{Name: name, Mode: 0o600, Typeflag: tar.TypeReg, Size: int64(len(f[name]))})
	}
	return writeTar(t, headers, f)
}

func writeTar(t *testing.T, headers []*tar.Header, f files) string {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, h := range headers {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(f[h.Name])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "archive.tar.gz", b.Bytes())
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// posts returns the texts of a user's posts on the profile as the viewer sees them, newest first, with "visibility date".
func posts(viewer *apptest.Client, of *apptest.User) (list []string) {
	for _, p := range viewer.Get("/api/v1/accounts/"+of.ID+"/statuses", "limit", "40").Want(200).List() {
		list = append(list, p.Str("visibility")+" "+p.Str("created_at")[:10]+" "+p.Str("content"))
	}
	return list
}

// leftovers returns what is in the folder imports of a server.
func leftovers(t *testing.T, srv *apptest.Server) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(srv.Dir, "imports"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
