package emoji

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// maxProblems bounds the problems that Check reports.
const maxProblems = 5000

// PackReport describes a pack on disk.
type PackReport struct {
	Name     string    `json:"name"`
	Emoji    int       `json:"emoji"`
	Bytes    int64     `json:"bytes"`  // of the pictures
	Hidden   int       `json:"hidden"` // emoji whose shortcode another pack has
	Shared   bool      `json:"share_files"`
	Loose    bool      `json:"loose"` // a folder without pack.json
	License  string    `json:"license"`
	Homepage string    `json:"homepage"`
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is an error in a pack or one of its files.
type Problem struct {
	Shortcode string `json:"shortcode,omitempty"`
	File      string `json:"file,omitempty"`
	Reason    string `json:"reason"`
}

// Reports describes all packs and folders with emoji.
func (p *Packs) Reports() ([]*PackReport, error) {
	root, err := p.openFolder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list := []*PackReport{}
	for _, pack := range p.current.Load().packs {
		if pack.Name == "" && len(pack.Files) == 0 {
			continue // no emoji stand outside of folders
		}
		r := p.describe(pack)
		if pack.err != nil {
			r.Problems = []Problem{unusable(pack)}
		}
		for _, file := range pack.Files {
			if info, err := root.Lstat(path.Join(pack.Name, file)); err == nil {
				r.Bytes += info.Size()
			}
		}
		list = append(list, r)
	}
	return list, nil
}

func (p *Packs) describe(pack *Pack) *PackReport {
	return &PackReport{
		Name: pack.Name, Emoji: len(pack.Files), Hidden: len(p.Hidden(pack)), Shared: pack.Metadata.ShareFiles(), Loose: pack.Loose,
		License: pack.Metadata.Text(KeyLicense), Homepage: pack.Metadata.Text(KeyHomepage),
	}
}

// Check looks for problems of the packs of the names, or of all if there are none: files that are missing, too large, unlisted
// or not the pictures that their names claim, and shortcodes that another pack has.
func (p *Packs) Check(names []string) ([]*PackReport, error) {
	root, err := p.openFolder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if len(names) == 0 {
		for _, pack := range p.current.Load().packs {
			if pack.Name != "" || len(pack.Files) > 0 {
				names = append(names, pack.Name)
			}
		}
	}
	list := []*PackReport{}
	left := maxProblems
	for _, name := range names {
		pack := p.current.Load().pack(name)
		if pack == nil {
			return nil, errNoPack(name)
		}
		r := p.describe(pack)
		c := packCheck{root: root, packs: p, pack: pack, report: r}
		c.run()
		if r.Problems = r.Problems[:min(left, len(r.Problems))]; r.Problems == nil {
			r.Problems = []Problem{}
		}
		left -= len(r.Problems)
		list = append(list, r)
	}
	return list, nil
}

// packCheck is the check of one pack.
type packCheck struct {
	root   folder
	packs  *Packs
	pack   *Pack
	report *PackReport
}

// unusable is the problem of a pack whose pack.json cannot be used.
func unusable(pack *Pack) Problem {
	return Problem{File: packFile, Reason: strings.TrimPrefix(pack.err.Error(), packFile+": ")}
}

func (c *packCheck) problem(shortcode, file, reason string) {
	if len(c.report.Problems) < maxProblems {
		c.report.Problems = append(c.report.Problems, Problem{shortcode, file, reason})
	}
}

func (c *packCheck) run() {
	if c.pack.err != nil {
		c.report.Problems = []Problem{unusable(c.pack)}
		return
	}
	for _, code := range slices.Sorted(maps.Keys(c.pack.invalid)) {
		c.problem(code, c.pack.invalid[code], "the shortcode or the file name is not valid")
	}
	hidden := c.packs.Hidden(c.pack)
	listed := map[string]bool{packFile: true}
	for _, code := range c.pack.Shortcodes() {
		file := c.pack.Files[code]
		if other := hidden[code]; other != "" {
			c.problem(code, file, fmt.Sprintf("hidden: the pack %q has this shortcode", other))
		}
		if !listed[file] {
			c.checkFile(code, file)
		}
		listed[file] = true
	}
	if c.report.Bytes > DefaultLimits.TotalBytes {
		c.problem("", "", fmt.Sprintf("the pictures have %d bytes, more than %d", c.report.Bytes, DefaultLimits.TotalBytes))
	}
	if !c.pack.Loose {
		c.checkUnlisted(listed)
	}
}

// checkFile checks one picture.
func (c *packCheck) checkFile(code, file string) {
	name := path.Join(c.pack.Name, file)
	info, err := c.root.Lstat(name)
	switch {
	case os.IsNotExist(err):
		c.problem(code, file, "the file is missing")
		return
	case err != nil:
		c.problem(code, file, err.Error())
		return
	case !info.Mode().IsRegular():
		c.problem(code, file, "links and devices are not served")
		return
	}
	c.report.Bytes += info.Size()
	if info.Size() > DefaultLimits.FileBytes {
		c.problem(code, file, fmt.Sprintf("the picture has %d bytes, more than %d", info.Size(), DefaultLimits.FileBytes))
		return
	}
	f, err := c.root.Open(name)
	if err != nil {
		c.problem(code, file, err.Error())
		return
	}
	defer f.Close()
	if err := checkPicture(file, f, info.Size(), c.packs.Inspect, DefaultLimits); err != nil {
		c.problem(code, file, strings.TrimPrefix(err.Error(), fmt.Sprintf("%q: ", file)))
	}
}

// checkUnlisted reports files of the pack that no shortcode shows.
func (c *packCheck) checkUnlisted(listed map[string]bool) {
	sub, err := fs.Sub(c.root.FS(), c.pack.Name)
	if err != nil {
		return
	}
	seen := 0
	fs.WalkDir(sub, ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > DefaultLimits.Entries {
			return fs.SkipAll
		}
		if err != nil {
			c.problem("", name, err.Error())
			return nil
		}
		if !d.IsDir() && !listed[name] && imageTypes[strings.ToLower(path.Ext(name))] != "" {
			c.problem("", name, "no shortcode shows this picture")
		}
		return nil
	})
}
