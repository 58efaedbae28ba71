//go:build ignore

// Writes licenses.json.gz: go generate ./internal/licenses. It fails for a module without a licence that it knows.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"svc/internal/licenses"
)

const root = "../.."

// targets are the systems whose modules are listed, those of .ci/release.
var targets = []string{"linux/amd64", "linux/arm64", "linux/arm", "linux/riscv64", "freebsd/amd64"}

// data are what the program has of others that is no module. Their licences are in the folder texts, by the first word of the name.
var data = []licenses.Component{
	{Name: "Unicode data (emoji, CLDR names of emoji and languages)", License: "Unicode-3.0"},
	{Name: "emojibase (groups and shortcodes of emoji)", Version: "17.0.0", License: "MIT"},
	{Name: "emoji-picker-element-data (form of these data)", Version: "1.8.0", License: "Apache-2.0"},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	l := &lister{numbers: make(map[string]int)}
	if err := l.add(licenses.Component{Name: "svc", License: "AGPL-3.0-or-later"}, filepath.Join(root, "LICENSE")); err != nil {
		return err
	}
	goRoot, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := l.add(licenses.Component{Name: "Go library", License: "BSD-3-Clause"}, filepath.Join(goRoot, "LICENSE"), filepath.Join(goRoot, "PATENTS")); err != nil {
		return err
	}
	if err := l.modules(); err != nil {
		return err
	}
	if err := l.libraries(); err != nil {
		return err
	}
	for _, c := range data {
		if err := l.add(c, filepath.Join("texts", strings.Fields(c.Name)[0]+".txt")); err != nil {
			return err
		}
	}
	slices.SortStableFunc(l.list.Components[1:], func(a, b licenses.Component) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return l.write("licenses.json.gz")
}

// lister makes the list.
type lister struct {
	list    licenses.List
	numbers map[string]int // of texts
}

// add adds a component whose licence is in the files.
func (l *lister) add(c licenses.Component, files ...string) error {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		l.addText(&c, string(text))
	}
	l.list.Components = append(l.list.Components, c)
	return nil
}

// addText adds a text to a component, and to the list if no other component has it. Line ends and space at the end of lines are no difference.
func (l *lister) addText(c *licenses.Component, text string) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\f")
	}
	text = strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
	n, known := l.numbers[text]
	if !known {
		n = len(l.list.Texts)
		l.numbers[text] = n
		l.list.Texts = append(l.list.Texts, text)
	}
	if !slices.Contains(c.Texts, n) {
		c.Texts = append(c.Texts, n)
	}
}

// linked is a package that the program links.
type linked struct {
	Dir    string
	Module *struct{ Path, Version, Dir string }
}

// modules adds the modules of all targets. The texts of a module are those in its folder, and in the folders of the packages that are linked.
func (l *lister) modules() error {
	type module struct {
		version, dir string
		folders      map[string]bool
	}
	found := make(map[string]*module)
	for _, target := range targets {
		system, processor, _ := strings.Cut(target, "/")
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", ".")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("go list for %s: %w", target, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var p linked
			if err := d.Decode(&p); err != nil {
				return err
			}
			if p.Module == nil || p.Module.Version == "" { // of the Go library, or ours
				continue
			}
			m := found[p.Module.Path]
			if m == nil {
				m = &module{p.Module.Version, p.Module.Dir, make(map[string]bool)}
				found[p.Module.Path] = m
			}
			for dir := p.Dir; len(dir) >= len(m.dir); dir = filepath.Dir(dir) {
				m.folders[dir] = true
			}
		}
	}
	for path, m := range found {
		if err := l.module(path, m.version, m.folders); err != nil {
			return err
		}
	}
	return nil
}

// licenseFile matches the names of files with a licence, or with a notice that a licence requires.
var licenseFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents|copyright)([-._].*)?$`)

func (l *lister) module(path, version string, folders map[string]bool) error {
	c := licenses.Component{Name: path, Version: version}
	var files []string
	for dir := range folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && licenseFile.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	slices.Sort(files)
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, name := range licencesIn(string(text)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s %s: no licence that is known here in %q", path, version, files)
	}
	slices.Sort(names)
	c.License = strings.Join(names, " AND ")
	return l.add(c, files...)
}

// marks are phrases by which a licence is known, in lower case and with single spaces.
var marks = []struct{ name, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software without specific prior written permission"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files"},
	{"blessing", "may you find forgiveness for yourself and forgive others"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
}

const bsdPhrase = "redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met"

// licencesIn returns the SPDX names of the licences in a text.
func licencesIn(text string) (names []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	text = strings.ReplaceAll(text, "license, version", "license version")
	for _, m := range marks {
		if strings.Contains(text, m.phrase) && !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	if strings.Contains(text, bsdPhrase) && !slices.Contains(names, "BSD-3-Clause") {
		names = append(names, "BSD-2-Clause")
	}
	return names
}

// libraryRow is a row of the table of server/web/library/README.md, librarySection the licence of a library there.
var (
	libraryRow     = regexp.MustCompile(`(?m)^\| \S+ \| (\S+) (\S+) \| (\S+) \| [0-9a-f]{64} \|$`)
	librarySection = regexp.MustCompile("(?s)\n## Licence of (\\S+)\n\n```\n(.*?)\n```\n")
)

// libraries adds the libraries of the pages.
func (l *lister) libraries() error {
	readme, err := os.ReadFile(filepath.Join(root, "server/web/library/README.md"))
	if err != nil {
		return err
	}
	texts := make(map[string]string)
	for _, s := range librarySection.FindAllStringSubmatch(string(readme), -1) {
		texts[s[1]] = s[2]
	}
	seen := make(map[string]bool)
	for _, row := range libraryRow.FindAllStringSubmatch(string(readme), -1) {
		name := row[1]
		if seen[name] {
			continue
		}
		seen[name] = true
		if texts[name] == "" {
			return fmt.Errorf("server/web/library/README.md has no licence of %s", name)
		}
		c := licenses.Component{Name: name, Version: row[2], License: row[3]}
		l.addText(&c, texts[name])
		l.list.Components = append(l.list.Components, c)
	}
	return nil
}

// write writes the list, compressed as well as possible, without a time.
func (l *lister) write(file string) error {
	text, err := json.Marshal(l.list)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Printf("%s: %d components, %d texts, %d bytes, %d compressed\n", file, len(l.list.Components), len(l.list.Texts), len(text), b.Len())
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// output runs a command and returns its output without the line end.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
