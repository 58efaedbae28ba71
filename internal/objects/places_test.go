package objects_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"svc/internal/objects"
	"svc/internal/objects/objectstest"
)

const (
	// patience is long enough for a busy machine.
	patience = time.Minute
	// stall is short, for servers that hang.
	stall = time.Second
)

// place is where a test stores objects.
type place struct {
	name     string
	location string
	options  objects.Options
	server   string // HOST:PORT of its server; empty for a folder
}

// open opens the place, and closes it at the end of the test.
func (p place) open(t *testing.T) objects.Store {
	t.Helper()
	s, err := p.tryOpen(t)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p place) tryOpen(t *testing.T) (objects.Store, error) {
	t.Helper()
	l, err := objects.ParseLocation(p.location)
	if err != nil {
		t.Fatal(err)
	}
	s, err := objects.Open(t.Context(), l, p.options)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// through returns the place with another address of its server.
func (p place) through(address string) place {
	p.location = strings.ReplaceAll(p.location, p.server, address)
	return p
}

// eachPlace runs a test for each kind of place: a folder, SFTP by the library and by OpenSSH, S3 by the server of these tests and by a real one. What
// this machine does not have is skipped.
func eachPlace(t *testing.T, test func(*testing.T, place)) {
	for _, p := range []struct {
		name string
		make func(*testing.T) place
	}{{"folder", folderPlace}, {"sftp", sftpPlace}, {"sftp of OpenSSH", openSSHPlace}, {"s3 of the tests", fakePlace}, {"s3", realPlace}} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel() // they wait for disks and for servers that hang
			test(t, p.make(t))
		})
	}
}

// eachServer is eachPlace without the folder.
func eachServer(t *testing.T, test func(*testing.T, place)) {
	eachPlace(t, func(t *testing.T, p place) {
		if p.server == "" {
			t.Skip("a folder has no server")
		}
		test(t, p)
	})
}

func folderPlace(t *testing.T) place {
	return place{name: "folder", location: t.TempDir()}
}

func sftpPlace(t *testing.T) place {
	return sftpPlaceIn(t, t.TempDir())
}

func openSSHPlace(t *testing.T) place {
	program := objectstest.OpenSSH(t)
	p, s := sftpServerIn(t, t.TempDir())
	s.Program = program
	return p
}

func sftpPlaceIn(t *testing.T, dir string) place {
	p, _ := sftpServerIn(t, dir)
	return p
}

func sftpServerIn(t *testing.T, dir string) (place, *objectstest.SFTPServer) {
	s := objectstest.NewSFTP(t)
	return place{
		name:     "sftp",
		location: "sftp://svc@" + s.Address + dir + "/store?fingerprint=" + s.Fingerprint(0),
		options:  objects.Options{Password: testSecret, Stall: patience},
		server:   s.Address,
	}, s
}

func fakePlace(t *testing.T) place {
	s := objectstest.New(t)
	return s3Place(s.Address)
}

func s3Place(address string) place {
	return place{
		name:     "s3",
		location: "s3://bucket/a/prefix?endpoint=http://" + address,
		options:  objects.Options{AccessKey: testUser, SecretKey: testSecret, Stall: patience},
		server:   address,
	}
}

func realPlace(t *testing.T) place { return realPlaceIn(t, t.TempDir()) }

// testUser and testSecret are the credentials of all servers.
const (
	testUser   = objectstest.User
	testSecret = objectstest.Secret
)

// realPlaceIn starts the S3 server that .ci/s3-server has built, with its files in a folder.
func realPlaceIn(t *testing.T, dir string, flags ...string) place {
	return s3Place(objectstest.StartReal(t, dir, flags...))
}

// uploads returns how many uploads in parts are not complete.
func uploads(t *testing.T, p place) int {
	t.Helper()
	c, err := minio.New(p.server, &minio.Options{Creds: credentials.NewStaticV4(testUser, testSecret, ""), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for u := range c.ListIncompleteUploads(t.Context(), "bucket", "", true) {
		if u.Err != nil {
			t.Fatal(u.Err)
		}
		n++
	}
	return n
}

// waitFor waits for a condition, at most a minute.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s after a minute", what)
		}
	}
}

// proxy forwards connections to a server, until it fails in a way.
type proxy struct {
	address string
	failure atomic.Int32
	refused atomic.Int32 // how many new connections are closed at once
	down    atomic.Int64 // bytes that the client still receives before the failure
	up      atomic.Int64 // bytes that the server still receives before the failure
	opened  atomic.Int32

	mu     sync.Mutex
	open   []net.Conn
	healed chan struct{}
}

const (
	works int32 = iota
	hangs       // forwards nothing more
	cuts        // closes
)

func newProxy(t *testing.T, server string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), healed: make(chan struct{})}
	var running sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		p.heal()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.opened.Add(1)
			if p.refused.Add(-1) >= 0 {
				client.Close()
				continue
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			p.mu.Lock()
			p.open = append(p.open, client, upstream)
			p.mu.Unlock()
			running.Go(func() { p.forward(client, upstream, &p.down) })
			running.Go(func() { p.forward(upstream, client, &p.up) })
		}
	})
	return p
}

// fail makes the proxy fail after some bytes.
func (p *proxy) fail(how int32, up, down int64) {
	p.up.Store(up)
	p.down.Store(down)
	p.failure.Store(how)
}

// heal makes it work again, for new connections.
func (p *proxy) heal() {
	p.failure.Store(works)
	p.closeAll()
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.healed)
	p.healed = make(chan struct{})
}

func (p *proxy) untilHealed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.healed
}

func (p *proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		c.Close()
	}
	p.open = nil
}

func (p *proxy) forward(to, from net.Conn, left *atomic.Int64) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 16<<10)
	healed := p.untilHealed()
	for {
		n, err := from.Read(buffer)
		if how := p.failure.Load(); how != works && left.Add(-int64(n)) < 0 {
			if how == hangs {
				<-healed
			}
			return
		}
		if _, e := to.Write(buffer[:n]); e != nil || err != nil {
			return
		}
	}
}

// put stores a text.
func put(t *testing.T, s objects.Store, name, text string) objects.Object {
	t.Helper()
	o, err := s.Put(t.Context(), name, strings.NewReader(text), int64(len(text)), objects.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// get returns the content of an object.
func get(t *testing.T, s objects.Store, name string) string {
	t.Helper()
	body, _, err := s.Get(t.Context(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	b, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names returns the names of all objects with a prefix.
func names(t *testing.T, s objects.Store, prefix string) []string {
	t.Helper()
	list := []string{}
	for o, err := range objects.All(context.WithoutCancel(t.Context()), s, prefix) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, o.Name)
	}
	return list
}
