package emoji

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/internal/unzip"
)

// Unpacked is an incoming pack that another process has checked and unpacked in the emoji folder.
type Unpacked struct {
	Folder   string            `json:"folder"` // name of the temporary folder
	Name     string            `json:"name"`   // of the pack
	Replace  bool              `json:"replace"`
	Files    map[string]string `json:"files"`
	Metadata Metadata          `json:"metadata"`
}

// Installed says what became of a pack.
type Installed struct {
	Name   string            `json:"name"`
	Emoji  int               `json:"emoji"`
	Hidden map[string]string `json:"hidden"` // shortcodes that another pack has, with its name
}

// Unpacked describes the pack for the process that installs it.
func (in *IncomingPack) Unpacked(name string, replace bool) Unpacked {
	return Unpacked{Folder: filepath.Base(in.dir), Name: name, Replace: replace, Files: in.Files, Metadata: Metadata(in.Metadata).valid()}
}

// InstallUnpacked is Install for a pack that a command has unpacked.
func (p *Packs) InstallUnpacked(u Unpacked) (*Installed, error) {
	if !strings.HasPrefix(u.Folder, incomingPrefix) || strings.ContainsAny(u.Folder, `/\`) {
		return nil, errs.Invalid("%q is not a folder of an incoming pack", u.Folder)
	}
	for code, file := range u.Files {
		if !text.ValidShortcode(code) || !validFile(file) {
			return nil, unzip.Refuse(file, "not a valid file for the shortcode %q", code)
		}
	}
	in := &IncomingPack{Files: u.Files, Metadata: u.Metadata, dir: filepath.Join(p.dir, u.Folder)}
	for _, file := range slices.Compact(slices.Sorted(maps.Values(u.Files))) {
		info, err := os.Lstat(filepath.Join(in.dir, filepath.FromSlash(file)))
		if err != nil || !info.Mode().IsRegular() {
			return nil, unzip.Refuse(file, "the file is not in the folder of the incoming pack")
		}
		in.Bytes += info.Size()
		if err := p.checkUnpacked(in, file); err != nil {
			return nil, err
		}
	}
	err := p.Install(in, u.Name, u.Replace)
	if e := new(errs.Error); errors.As(err, &e) && e.Status == http.StatusConflict {
		return nil, errs.Conflict("%s: use --force to replace it", e.Message)
	}
	if err != nil {
		return nil, err
	}
	pack, err := p.Pack(strings.TrimSpace(u.Name))
	if err != nil {
		return nil, err
	}
	hidden := p.Hidden(pack)
	if hidden == nil {
		hidden = map[string]string{}
	}
	return &Installed{Name: pack.Name, Emoji: len(pack.Files), Hidden: hidden}, nil
}

// checkUnpacked returns an error if a file of an incoming pack is banned: the command that unpacked it does not read the database.
func (p *Packs) checkUnpacked(in *IncomingPack, name string) error {
	if p.Bans == nil {
		return nil
	}
	file, err := os.Open(filepath.Join(in.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := p.checkContent(file); errors.Is(err, errBanned) {
		return unzip.Refuse(name, "it is banned on this server")
	} else if err != nil {
		return err
	}
	return nil
}

// DeleteAll deletes packs, or none if one does not exist. It returns their names.
func (p *Packs) DeleteAll(names []string) ([]string, error) {
	for _, name := range names {
		if pack := p.current.Load().pack(name); pack == nil || pack.Loose {
			return nil, errNoPack(name)
		}
	}
	for _, name := range names {
		if err := p.Delete(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}
