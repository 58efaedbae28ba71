package emoji

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/limit"
)

// Remote exchanges packs with other servers, and copies their emoji. Each call may take long; one archive is fetched at a time.
//
// Limits: 8 MiB and 30 s per document, 128 MiB and 10 minutes per archive.
type Remote struct {
	packs   *Packs
	fetch   *fetch.Client
	apiName string
	slots   *limit.Slots[string] // for archives
}

const (
	maxDocument     = 8 << 20 // bytes
	documentTimeout = 30 * time.Second
	maxWaiting      = 4 // for an archive
)

// NewRemote returns a Remote. apiName is the api.name setting.
func NewRemote(packs *Packs, client *fetch.Client, apiName string) *Remote {
	return &Remote{packs: packs, fetch: client, apiName: apiName, slots: limit.NewSlots[string](1, 1, maxWaiting)}
}

// Errors of packs of other servers (admin API 10.4).
var (
	errNotSharing   = errs.New(http.StatusInternalServerError, "The requested instance does not support sharing emoji packs")
	errWrongHash    = errs.New(http.StatusInternalServerError, "SHA256 for the pack doesn't match the one sent by the server")
	errNotShared    = errs.New(http.StatusInternalServerError, "The pack was not set as shared and there is no fallback src to download from")
	errFallback     = errs.BadRequest("The fallback archive does not have all files specified in pack.json")
	errArchivesBusy = &errs.Error{Status: http.StatusServiceUnavailable, Message: "Other emoji packs are being fetched; try again later", RetryAfter: time.Minute}
)

// because returns a copy of an error for clients with its cause, which is logged.
func because(e *errs.Error, cause error) error {
	c := *e
	c.Err = cause
	return &c
}

// peer is a server that shares packs.
type peer struct {
	*Remote
	api string // base address of the extension API
}

// peer checks that a server shares packs.
func (r *Remote) peer(ctx context.Context, address string) (*peer, error) {
	base, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errs.BadRequest("url - Invalid format. Expected the address of a server such as https://example.org")
	}
	var links struct {
		Links []struct {
			Rel  string `json:"rel"`
			Href string `json:"href"`
		} `json:"links"`
	}
	if err := r.get(ctx, base.JoinPath("/.well-known/nodeinfo").String(), &links); err != nil {
		return nil, because(errNotSharing, err)
	}
	var document string
	for _, link := range links.Links {
		if strings.HasPrefix(link.Rel, "http://nodeinfo.diaspora.software/ns/schema/") {
			document = link.Href
		}
	}
	if document == "" {
		return nil, errNotSharing
	}
	var info struct {
		Metadata struct {
			Features []string `json:"features"`
		} `json:"metadata"`
	}
	if err := r.get(ctx, document, &info); err != nil {
		return nil, because(errNotSharing, err)
	}
	if !slices.Contains(info.Metadata.Features, "shareable_emoji_packs") {
		return nil, errNotSharing
	}
	return &peer{r, base.JoinPath("/api/v1", cmp.Or(peerName(info.Metadata.Features), r.apiName), "emoji").String()}, nil
}

var reactionFeature = regexp.MustCompile(`^([a-z][a-z0-9_]{0,29})_emoji_reactions$`)

// peerName returns the name that a server has in its paths, as one of its features says.
func peerName(features []string) string {
	for _, feature := range features {
		if m := reactionFeature.FindStringSubmatch(feature); m != nil && !strings.HasSuffix(m[1], "_custom") {
			return m[1]
		}
	}
	return ""
}

// get fetches a JSON document.
func (r *Remote) get(ctx context.Context, address string, into any) error {
	resp, err := r.fetch.Get(ctx, address, fetch.Limits{MaxBody: maxDocument, Timeout: documentTimeout, Accept: "application/json"})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// RemotePacks is a page of the packs of another server.
type RemotePacks struct {
	Packs map[string]json.RawMessage `json:"packs"`
	Count int                        `json:"count"`
}

// List returns a page of the packs that another server offers.
func (r *Remote) List(ctx context.Context, address string, page, size int) (*RemotePacks, error) {
	p, err := r.peer(ctx, address)
	if err != nil {
		return nil, err
	}
	list := new(RemotePacks)
	query := url.Values{"page": {strconv.Itoa(page)}, "page_size": {strconv.Itoa(size)}}
	if err := r.get(ctx, p.api+"/packs?"+query.Encode(), list); err != nil {
		return nil, because(errNotSharing, err)
	}
	for name, pack := range list.Packs {
		if !bytes.HasPrefix(pack, []byte("{")) {
			return nil, because(errNotSharing, fmt.Errorf("pack %q is no object", name))
		}
	}
	if list.Packs == nil {
		list.Packs = make(map[string]json.RawMessage)
	}
	return list, nil
}

// Download copies a pack of another server, under the name as, or its own name if that is empty. A pack that has the name is replaced.
func (r *Remote) Download(ctx context.Context, address, name, as string) error {
	name = strings.TrimSpace(name)
	local := cmp.Or(strings.TrimSpace(as), name)
	if local == "" {
		return errNoPackName
	}
	if !validPackName(local) {
		return errs.BadRequest("%q is not a valid pack name", local)
	}
	p, err := r.peer(ctx, address)
	if err != nil {
		return err
	}
	pack, err := p.pack(ctx, name)
	if err != nil {
		return err
	}
	if len(pack.Files) == 0 {
		return errs.Invalid("Pack %s has no emoji", name)
	}
	archive, sum, err := p.source(pack, name)
	if err != nil {
		return err
	}
	in, _, err := r.unpack(ctx, archive, sum, pack.Files)
	if err != nil {
		return err
	}
	in.Metadata = pack.Metadata.stored()
	return errors.Join(r.packs.Install(in, local, true), in.Discard())
}

// pack fetches the document of a pack with all its files.
func (p *peer) pack(ctx context.Context, name string) (*Pack, error) {
	var d struct {
		Files map[string]string `json:"files"`
		Count int               `json:"files_count"`
		Pack  Metadata          `json:"pack"`
	}
	size := 0
	for range 2 {
		query := url.Values{"name": {name}, "page": {"1"}, "page_size": {strconv.Itoa(size)}}
		err := p.get(ctx, p.api+"/pack?"+query.Encode(), &d)
		if status := new(fetch.StatusError); errors.As(err, &status) && status.Status == http.StatusNotFound {
			return nil, errs.NotFound("Pack %s does not exist", name)
		}
		if err != nil {
			return nil, because(errNotSharing, err)
		}
		if d.Count > maxEntries {
			return nil, errs.Invalid("Pack %s has %d emoji, more than %d", name, d.Count, maxEntries)
		}
		size = max(d.Count, 1)
	}
	return &Pack{Name: name, Files: d.Files, Metadata: d.Pack}, nil
}

// source returns the address and the SHA-256 of the archive of a pack.
func (p *peer) source(pack *Pack, name string) (address, sum string, err error) {
	var canDownload bool
	json.Unmarshal(pack.Metadata[keyCanDownload], &canDownload) // else it is false
	sum = pack.Metadata.Text(keyDownloadSHA256)
	fallback := pack.Metadata.Text(KeyFallback)
	switch {
	case pack.Metadata.ShareFiles() && canDownload && sum != "":
		return p.api + "/packs/archive?" + url.Values{"name": {name}}.Encode(), sum, nil
	case fallback != "":
		sum = pack.Metadata.Text(KeyFallbackSHA256)
		if !isSHA256(sum) {
			return "", "", because(errWrongHash, errors.New("the pack has no fallback-src-sha256"))
		}
		return fallback, sum, nil
	}
	return "", "", errNotShared
}

// unpack fetches an archive, verifies its SHA-256 unless that is empty, and unpacks files of it. Without files it only
// returns the SHA-256.
func (r *Remote) unpack(ctx context.Context, address, sum string, files map[string]string) (_ *IncomingPack, got string, err error) {
	release, err := r.slots.Take(ctx, "")
	if errors.Is(err, limit.ErrBusy) {
		return nil, "", errArchivesBusy
	}
	if err != nil {
		return nil, "", err
	}
	defer release()
	u := r.packs.unpacker()
	u.Fetch = r.fetch
	file, err := u.download(ctx, address, "", fetch.NotDocument)
	if err != nil {
		return nil, "", errs.New(http.StatusInternalServerError, "The archive of the pack could not be fetched: %v", err)
	}
	defer file.Close()
	got, size, err := hashFile(file)
	if err != nil {
		return nil, "", err
	}
	if sum != "" && !strings.EqualFold(got, sum) {
		return nil, "", errWrongHash
	}
	if len(files) == 0 {
		return nil, got, nil
	}
	in, err := u.ArchiveFiles(ctx, file, size, files)
	return in, got, err
}

// hashFile returns the SHA-256 of a file, in upper case, and its size.
func hashFile(file *os.File) (sum string, size int64, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = io.Copy(h, file)
	return strings.ToUpper(hex.EncodeToString(h.Sum(nil))), size, err
}

// SetMetadata replaces the metadata of a pack and returns them as they are stored. If there is a new fallback archive, it is fetched,
// must contain all files of the pack, and its SHA-256 is stored.
func (r *Remote) SetMetadata(ctx context.Context, name string, m Metadata) (Metadata, error) {
	name = strings.TrimSpace(name)
	pack, err := r.packs.Pack(name)
	if err != nil {
		return nil, err
	}
	if m, err = m.Clean(); err != nil {
		return nil, err
	}
	if fallback := m.Text(KeyFallback); fallback != "" && fallback != pack.Metadata.Text(KeyFallback) {
		in, sum, err := r.unpack(ctx, fallback, "", pack.Files)
		if err != nil {
			return nil, because(errFallback, err)
		}
		if in != nil {
			if err := in.Discard(); err != nil {
				return nil, err
			}
		}
		m.SetText(KeyFallbackSHA256, sum)
	}
	return m, r.packs.SetMetadata(name, m)
}

// Picture fetches the picture, or the zip archive, at an address. Its content says which of them it is.
func (r *Remote) Picture(ctx context.Context, address string) (*os.File, int64, error) {
	if err := r.packs.CheckAddress(ctx, address); err != nil {
		return nil, 0, err
	}
	u := r.packs.unpacker()
	u.Fetch = r.fetch
	file, err := u.download(ctx, address, "", fetch.NotDocument)
	if err != nil {
		return nil, 0, errs.BadRequest("The file could not be fetched: %v", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// Steal copies a custom emoji of another server into a pack, which is created if necessary. It asks that server for the picture. base is
// the address of the server.
func (r *Remote) Steal(ctx context.Context, shortcode, base, pack string) (*Emoji, error) {
	if r.packs.Has(shortcode) {
		return nil, errTaken(shortcode)
	}
	var list []struct {
		Shortcode string `json:"shortcode"`
		URL       string `json:"url"`
	}
	if err := r.get(ctx, base+"/api/v1/custom_emojis", &list); err != nil {
		return nil, fmt.Errorf("list of emoji: %w", err)
	}
	for _, e := range list {
		if e.Shortcode != shortcode {
			continue
		}
		if err := r.packs.AddRemote(ctx, r.fetch, pack, shortcode, e.URL, DefaultLimits.FileBytes); err != nil {
			return nil, err
		}
		return r.packs.Find(shortcode), nil
	}
	return nil, errs.NotFound("%s has no emoji :%s:", base, shortcode)
}

// Copy copies a custom emoji, whose picture is at an address, into a pack, which is created if necessary.
func (r *Remote) Copy(ctx context.Context, pack, shortcode, address string) error {
	if r.packs.Has(shortcode) {
		return errTaken(shortcode)
	}
	return r.packs.AddRemote(ctx, r.fetch, pack, shortcode, address, DefaultLimits.FileBytes)
}

func errTaken(shortcode string) error {
	return errs.Conflict("An emoji with the %q shortcode already exists", shortcode)
}

// AddRemote adds a custom emoji of another server to a pack, which is created if necessary. Its picture is fetched from an address, and may have
// maxBytes.
func (p *Packs) AddRemote(ctx context.Context, client *fetch.Client, pack, shortcode, address string, maxBytes int64) error {
	if err := p.CheckAddress(ctx, address); err != nil {
		return err
	}
	picture, err := client.Get(ctx, address, fetch.Limits{MaxBody: maxBytes, Timeout: documentTimeout, Accepts: fetch.NotDocument})
	if err != nil {
		return err
	}
	_, err = p.Add(ctx, pack, []NewEmoji{WithContent(shortcode, picture.Body)}, AddOptions{Create: true})
	return err
}
