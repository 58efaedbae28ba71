package emoji

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/text"
)

// Loose emoji are those of folders without a pack.json, and of files in no folder (admin API 10.2).
const (
	listFile      = "emoji.txt" // lists the emoji of a folder
	maxListFile   = 1 << 20     // bytes
	maxLooseFiles = 20_000      // of a folder, also those that are no emoji
)

// looseRules are the settings of loose emoji.
type looseRules struct {
	groups     []group
	extensions []string
	globs      []pathPattern
}

type group struct {
	name     string
	patterns []pathPattern
}

func newLooseRules(c config.Emoji) looseRules {
	rules := looseRules{extensions: c.PackExtensions}
	for _, g := range c.Groups {
		rules.groups = append(rules.groups, group{g.Name, newPathPatterns(g.Patterns)})
	}
	rules.globs = newPathPatterns(c.ShortcodeGlobs)
	return rules
}

// readFolder reads a pack, or a folder without a pack.json.
func (r *looseRules) readFolder(root *disk.Root, name string) *Pack {
	pack := &Pack{Name: name, Files: make(map[string]string), Loose: true}
	if name != "" {
		pack = readPack(root, name)
	}
	if pack.Loose {
		if err := r.read(root, pack); err != nil {
			return &Pack{Name: name, Loose: true, err: err}
		}
	}
	return pack
}

// tags returns the first group that a path belongs to.
func (r *looseRules) tags(path string) []string {
	for _, g := range r.groups {
		if slices.ContainsFunc(g.patterns, func(p pathPattern) bool { return p.match(path) }) {
			return []string{g.name}
		}
	}
	return []string{}
}

// read fills a folder without a pack.json: from its emoji.txt, else with all pictures that have one of the extensions. The files that are
// in no folder are a folder without a name; they become emoji only if a glob matches.
func (r *looseRules) read(root *disk.Root, pack *Pack) error {
	pack.tags = make(map[string][]string)
	list, err := root.Open(path.Join(pack.Name, listFile))
	switch {
	case err == nil:
		defer list.Close()
		return r.readList(list, pack)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	seen := 0
	return fs.WalkDir(root.FS(), path.Join(pack.Name, "."), func(name string, d fs.DirEntry, err error) error {
		file := strings.TrimPrefix(name, pack.Name+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (pack.Name == "" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case seen == maxLooseFiles:
			return fmt.Errorf("more than %d files", maxLooseFiles)
		}
		seen++
		extension := path.Ext(file)
		byExtension := pack.Name != "" && slices.Contains(r.extensions, strings.ToLower(extension))
		if !byExtension && !slices.ContainsFunc(r.globs, func(p pathPattern) bool { return p.match("/emoji/" + name) }) {
			return nil
		}
		return r.add(pack, strings.TrimSuffix(path.Base(file), extension), file, nil)
	})
}

// readList reads an emoji.txt: lines of a shortcode, a path and tags, separated by commas.
func (r *looseRules) readList(list io.Reader, pack *Pack) error {
	lines := bufio.NewScanner(io.LimitReader(list, maxListFile))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		file := strings.TrimPrefix(fields[1], "/emoji/"+pack.Name+"/")
		if err := r.add(pack, fields[0], strings.TrimPrefix(file, "/"), fields[2:]); err != nil {
			return err
		}
	}
	return lines.Err()
}

// add adds an emoji to a loose pack, unless its names are not valid. The first file with a shortcode has it.
func (r *looseRules) add(pack *Pack, code, file string, tags []string) error {
	if !text.ValidShortcode(code) || !validFile(file) || pack.Files[code] != "" {
		return nil
	}
	if len(pack.Files) == maxEntries {
		return fmt.Errorf("more than %d emoji", maxEntries)
	}
	if len(tags) == 0 {
		tags = r.tags(path.Join("/emoji", pack.Name, file))
	}
	pack.Files[code], pack.tags[code] = file, tags
	return nil
}

// ImportLoose writes a pack.json into each folder without one. It returns their names.
func (p *Packs) ImportLoose() ([]string, error) {
	names := []string{}
	err := p.edit("Error: emoji pack directory must be writable.", func(root folder) error {
		if err := p.reload(); err != nil {
			return errs.New(500, "Error accessing emoji pack directory")
		}
		for _, loose := range p.current.Load().packs {
			if !loose.Loose || loose.Name == "" || loose.err != nil {
				continue
			}
			pack := &Pack{Name: loose.Name, Files: loose.Files, Metadata: make(Metadata)}
			if err := root.writePackFile(pack); err != nil {
				return err
			}
			p.replace(pack.Name, pack)
			names = append(names, pack.Name)
		}
		return nil
	})
	return names, err
}

// pathPattern is a pattern of paths below /emoji/: * stands for any characters, /**/ for any folders.
type pathPattern []string

func newPathPatterns(patterns []string) []pathPattern {
	var list []pathPattern
	for _, s := range patterns {
		// Alternatives of /**/: no folder or some.
		list = append(list, strings.Split(strings.ReplaceAll(s, "**", "*"), "*"))
		if strings.Contains(s, "/**/") {
			list = append(list, strings.Split(strings.ReplaceAll(s, "/**/", "/"), "*"))
		}
	}
	return list
}

// match returns whether the pieces between the asterisks occur in order, the first at the start and the last at the end.
func (p pathPattern) match(s string) bool {
	last := len(p) - 1
	s, ok := strings.CutPrefix(s, p[0])
	if !ok || last == 0 {
		return ok && s == ""
	}
	for _, piece := range p[1:last] {
		at := strings.Index(s, piece)
		if at < 0 {
			return false
		}
		s = s[at+len(piece):]
	}
	return strings.HasSuffix(s, p[last])
}
