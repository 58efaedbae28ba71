package emoji

import (
	"archive/zip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"svc/internal/disk"
	"svc/internal/errs"
)

// The archive of a shared pack is a zip file with the pack.json and the pictures, without compression, in order of name and with fixed
// times: the same pack always has the same archive, because other servers compare its SHA-256 with the one in the pack's document.
//
// It is kept in a file PACK-STATE-SHA256.zip: the hash of the pack's name, the hash of the names, sizes and times of its files when the
// archive was built, and the hash of the archive. So a restart does not build it again. Changing the pack makes the file obsolete.

// Archive is the archive of a shared pack.
type Archive struct {
	SHA256 string // hexadecimal, in upper case

	path string
}

// sharedArchive describes the archive of a pack.
type sharedArchive struct{ current atomic.Pointer[archiveState] }

// archiveState is an archive, or nil if the pack cannot be downloaded.
type archiveState struct{ archive *Archive }

// Open opens the archive.
func (a *Archive) Open() (*os.File, error) { return os.Open(a.path) }

// Archive returns the archive of a pack, and builds it if necessary. It returns nil if the pack is not shared or files are missing. Of
// concurrent calls, one builds it; only one archive is built at a time.
func (p *Packs) Archive(pack *Pack) (*Archive, error) {
	if !pack.Metadata.ShareFiles() {
		return nil, nil
	}
	if s := pack.shared.current.Load(); s != nil && s.exists() {
		return s.archive, nil
	}
	p.building.Lock()
	defer p.building.Unlock()
	if s := pack.shared.current.Load(); s != nil && s.exists() {
		return s.archive, nil
	}
	root, err := p.openFolder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	archive, err := p.findOrBuild(root, pack)
	if err != nil {
		return nil, fileError(fmt.Sprintf("The archive of the `%s` pack could not be made.", pack.Name), err)
	}
	pack.shared.current.Store(&archiveState{archive})
	return archive, nil
}

// exists returns false if the archive was removed.
func (s *archiveState) exists() bool {
	if s.archive == nil {
		return true
	}
	_, err := os.Stat(s.archive.path)
	return err == nil
}

func (p *Packs) findOrBuild(root folder, pack *Pack) (*Archive, error) {
	state, err := pack.state(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	earlier, err := p.archiveFiles(pack.Name)
	if err != nil {
		return nil, err
	}
	for _, name := range earlier {
		if _, hashes, _ := strings.Cut(name, "-"); strings.HasPrefix(hashes, state+"-") {
			sum := strings.TrimSuffix(strings.TrimPrefix(hashes, state+"-"), ".zip")
			return &Archive{SHA256: strings.ToUpper(sum), path: filepath.Join(p.Archives, name)}, nil
		}
	}
	archive, err := p.build(root, pack, state)
	if err != nil {
		return nil, err
	}
	for _, name := range earlier {
		disk.Remove(filepath.Join(p.Archives, name)) // else the next reload removes it
	}
	return archive, nil
}

const hashLength = 32 // of the hexadecimal digits of a name and a state

func shortHash(sum []byte) string { return hex.EncodeToString(sum)[:hashLength] }

func archiveKey(pack string) string {
	sum := sha256.Sum256([]byte(pack))
	return shortHash(sum[:])
}

// archiveFiles returns the names of archives of a pack.
func (p *Packs) archiveFiles(pack string) ([]string, error) {
	entries, err := os.ReadDir(p.Archives)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), archiveKey(pack)+"-") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// pruneArchives removes the archives of packs that are not shared any more, and those that an interrupted process left incomplete.
func (p *Packs) pruneArchives(packs []*Pack) error {
	p.building.Lock()
	defer p.building.Unlock()
	shared := make(map[string]bool)
	for _, pack := range packs {
		if pack.Metadata.ShareFiles() {
			shared[archiveKey(pack.Name)] = true
		}
	}
	entries, err := os.ReadDir(p.Archives)
	for _, e := range entries {
		if key, _, _ := strings.Cut(e.Name(), "-"); !shared[key] {
			err = errors.Join(err, disk.Remove(filepath.Join(p.Archives, e.Name())))
		}
	}
	return err
}

// removeArchives removes the archives of a pack that is not shared any more. If that fails, the next reload does.
func (p *Packs) removeArchives(pack string) {
	names, _ := p.archiveFiles(pack)
	for _, name := range names {
		disk.Remove(filepath.Join(p.Archives, name))
	}
}

// state returns a hash of what the archive depends on. The error is fs.ErrNotExist if a file is missing or
// the pack is too large.
func (p *Pack) state(root folder) (string, error) {
	content, err := p.archiveDocument()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write(content)
	var total int64
	for _, file := range slices.Sorted(maps.Values(p.Files)) {
		info, err := root.Stat(path.Join(p.Name, file))
		if err != nil {
			return "", err
		}
		if total += info.Size(); !info.Mode().IsRegular() || total > DefaultLimits.TotalBytes {
			return "", fs.ErrNotExist
		}
		fmt.Fprintf(h, "%q %d %d\n", file, info.Size(), info.ModTime().UnixNano())
	}
	return shortHash(h.Sum(nil)), nil
}

// archiveDocument returns the pack.json of the archive, which has only the defined keys.
func (p *Pack) archiveDocument() ([]byte, error) {
	return (&Pack{Files: p.Files, Metadata: p.Metadata}).encode()
}

// archiveTime is the time of all entries, the first one that zip can express.
var archiveTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// build writes the archive.
func (p *Packs) build(root folder, pack *Pack, state string) (_ *Archive, err error) {
	temp := filepath.Join(p.Archives, tempPrefix+rand.Text())
	file, err := disk.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			disk.Remove(temp)
		}
	}()
	h := sha256.New()
	err = writeArchive(io.MultiWriter(file, h), root, pack)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return nil, err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	a := &Archive{SHA256: strings.ToUpper(sum), path: filepath.Join(p.Archives, archiveKey(pack.Name)+"-"+state+"-"+sum+".zip")}
	return a, disk.Rename(temp, a.path)
}

func writeArchive(w io.Writer, root folder, pack *Pack) error {
	z := zip.NewWriter(w)
	document, err := pack.archiveDocument()
	if err != nil {
		return err
	}
	entry, err := z.CreateHeader(&zip.FileHeader{Name: packFile, Method: zip.Store, Modified: archiveTime})
	if err == nil {
		_, err = entry.Write(document)
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(pack.Files))) {
		if entry, err = z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: archiveTime}); err != nil {
			return err
		}
		file, err := root.Open(path.Join(pack.Name, name))
		if err != nil {
			return err
		}
		_, err = io.Copy(entry, file)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return z.Close()
}

// Document is a pack as the API shows it (spec 2.2).
type Document struct {
	Files      map[string]string `json:"files"`
	FilesCount int               `json:"files_count"`
	Pack       Metadata          `json:"pack"`
	Hidden     map[string]string `json:"hidden,omitempty"` // shortcodes that another pack has, with its name
}

// Document returns a pack with a page of its files. The first page is 1; page 0 is the last one. Everything fits on one page of size -1.
func (p *Packs) Document(pack *Pack, page, size int) *Document {
	d := &Document{Files: make(map[string]string), FilesCount: len(pack.Files), Pack: pack.Metadata.stored()}
	codes := pack.Shortcodes()
	if size >= 0 {
		codes = Page(codes, page, size)
	}
	hidden := p.Hidden(pack)
	for _, code := range codes {
		d.Files[code] = pack.Files[code]
		if other, ok := hidden[code]; ok {
			if d.Hidden == nil {
				d.Hidden = make(map[string]string)
			}
			d.Hidden[code] = other
		}
	}
	archive, err := p.Archive(pack)
	if err != nil {
		p.Log.Error("emoji pack cannot be downloaded", "pack", pack.Name, "err", err)
	}
	d.Pack[keyCanDownload] = json.RawMessage(fmt.Sprint(archive != nil))
	if archive != nil {
		d.Pack.SetText(keyDownloadSHA256, archive.SHA256)
	}
	return d
}

// Page returns a page of a list. The first page is 1; page 0 is the last one (admin API 10.5). A page behind the end is empty.
func Page[T any](list []T, page, size int) []T {
	if size <= 0 {
		return nil
	}
	if page <= 0 {
		page = max(1, (len(list)+size-1)/size)
	}
	if page-1 > len(list)/size {
		return nil
	}
	from := min((page-1)*size, len(list))
	return list[from:min(from+size, len(list))]
}

// SharedArchive returns the archive of a pack for a download. The error is a 403 if the pack cannot be downloaded.
func (p *Packs) SharedArchive(name string) (*Archive, error) {
	pack, err := p.Pack(strings.TrimSpace(name))
	if err != nil {
		return nil, err
	}
	archive, err := p.Archive(pack)
	if err == nil && archive == nil {
		err = errs.Forbidden("Pack %s cannot be downloaded from this instance, either pack sharing was disabled for this pack or some files are missing", name)
	}
	return archive, err
}
