// Command image writes a container image as an OCI archive, without a daemon:
//
//	go run ./.ci/image -version V -commit C -date RFC3339 -roots bundle.der -out FILE amd64=BINARY arm64=BINARY
//
// The image has one layer: the binary, the root certificates of a bundle in DER, the settings of a container, and a user without a shell. All
// times are the date of the commit. The archive has one index with a manifest for each processor.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// User and group of the server in the image.
const userID = 65532

// settings are those of a container; others replace the file.
const settings = `# Settings of the image. Mount your own file here: docs/releases.md.
[server]
listen = ":4000"
[data]
dir = "/var/lib/svc"
`

// Media types of the OCI image specification 1.1.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type builder struct {
	version, commit, roots string
	date                   time.Time
	blobs                  map[string][]byte // by the SHA-256
}

func main() {
	b := &builder{blobs: make(map[string][]byte)}
	flag.StringVar(&b.version, "version", "", "version")
	flag.StringVar(&b.commit, "commit", "", "commit")
	flag.StringVar(&b.roots, "roots", "", "root certificates in DER, one after the other")
	date := flag.String("date", "", "date of the commit")
	out := flag.String("out", "", "file to write")
	flag.Parse()
	var err error
	if b.date, err = time.Parse(time.RFC3339, *date); err == nil {
		err = b.build(*out, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func (b *builder) build(out string, binaries []string) error {
	if len(binaries) == 0 {
		return errors.New("no binary")
	}
	var manifests []descriptor
	for _, arg := range binaries {
		arch, file, _ := strings.Cut(arg, "=")
		m, err := b.manifest(arch, file)
		if err != nil {
			return err
		}
		manifests = append(manifests, m)
	}
	index := b.addJSON(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": manifests, "annotations": b.labels()})
	index.Annotations = map[string]string{"org.opencontainers.image.ref.name": b.version}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(b.write(f, index), f.Close())
}

// labels are the same in the index, the manifests and the configurations.
func (b *builder) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "svc",
		"org.opencontainers.image.description": "Federated microblogging server in one binary",
		"org.opencontainers.image.version":     b.version,
		"org.opencontainers.image.revision":    b.commit,
		"org.opencontainers.image.created":     b.date.UTC().Format(time.RFC3339),
		"org.opencontainers.image.licenses":    "AGPL-3.0-or-later",
	}
}

// manifest adds the image of one processor.
func (b *builder) manifest(arch, binary string) (descriptor, error) {
	plain, err := b.layer(binary)
	if err != nil {
		return descriptor{}, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return descriptor{}, err
	}
	if _, err := w.Write(plain); err != nil {
		return descriptor{}, err
	}
	if err := w.Close(); err != nil {
		return descriptor{}, err
	}
	created := b.date.UTC().Format(time.RFC3339)
	config := b.addJSON(configType, map[string]any{
		"created": created, "architecture": arch, "os": "linux",
		"config": map[string]any{
			"User":         fmt.Sprintf("%d:%d", userID, userID),
			"ExposedPorts": map[string]any{"4000/tcp": map[string]any{}},
			"Env":          []string{"PATH=/usr/bin", "SVC_CONFIG=/etc/svc/config.toml"},
			"Entrypoint":   []string{"/usr/bin/svc"},
			"Cmd":          []string{"serve"},
			"Volumes":      map[string]any{"/var/lib/svc": map[string]any{}},
			"WorkingDir":   "/var/lib/svc",
			"Labels":       b.labels(),
			"StopSignal":   "SIGTERM",
			// Not in the specification of OCI; Docker and Podman read it from here. Times are in nanoseconds.
			"Healthcheck": map[string]any{
				"Test": []string{"CMD", "/usr/bin/svc", "health"}, "Interval": 30 * time.Second, "Timeout": 15 * time.Second, "StartPeriod": 2 * time.Minute, "Retries": 3,
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{digest(plain)}},
		"history": []map[string]any{{"created": created, "created_by": ".ci/image"}},
	})
	layer := b.add(layerType, packed.Bytes())
	m := b.addJSON(manifestType, map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer}, "annotations": b.labels()})
	m.Platform = &platform{arch, "linux"}
	return m, nil
}

// layer returns the archive of all files of the image.
func (b *builder) layer(binary string) ([]byte, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	certificates, err := pemOf(b.roots)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name  string // a folder if it ends with a slash
		mode  int64
		owner int
		body  []byte
	}{
		{"etc/", 0o755, 0, nil},
		{"etc/group", 0o644, 0, fmt.Appendf(nil, "root:x:0:\nsvc:x:%d:\n", userID)},
		{"etc/passwd", 0o644, 0, fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nsvc:x:%d:%d:svc:/var/lib/svc:/sbin/nologin\n", userID, userID)},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, certificates},
		{"etc/svc/", 0o755, 0, nil},
		{"etc/svc/config.toml", 0o644, 0, []byte(settings)},
		{"tmp/", 0o1777, 0, nil},
		{"usr/", 0o755, 0, nil},
		{"usr/bin/", 0o755, 0, nil},
		{"usr/bin/svc", 0o755, 0, program},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{"var/lib/svc/", 0o700, userID, nil},
	} {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.body)), ModTime: b.date, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

// pemOf returns certificates in the form that programs read from /etc/ssl/certs.
func pemOf(file string) ([]byte, error) {
	der, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	list, err := x509.ParseCertificates(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out bytes.Buffer
	for _, c := range list {
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func digest(blob []byte) string {
	sum := sha256.Sum256(blob)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (b *builder) add(mediaType string, blob []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(blob), Size: len(blob)}
	b.blobs[strings.TrimPrefix(d.Digest, "sha256:")] = blob
	return d
}

// addJSON adds a document. Its maps are written in the order of their keys.
func (b *builder) addJSON(mediaType string, document any) descriptor {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // it is made of maps and texts
	}
	return b.add(mediaType, text)
}

// write writes the archive.
func (b *builder) write(out io.Writer, index descriptor) error {
	top, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{index}})
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	put := func(name string, body []byte) error {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(body)), ModTime: b.date, Format: tar.FormatUSTAR})
		if err == nil {
			_, err = w.Write(body)
		}
		return err
	}
	err = errors.Join(put("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)), put("index.json", top))
	var names []string
	for name := range b.blobs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		err = errors.Join(err, put("blobs/sha256/"+name, b.blobs[name]))
	}
	return errors.Join(err, w.Close())
}
