// Command sizes prints what each module takes in the binary, as a table of Markdown: go run ./.ci/sizes
//
// It adds up the symbols of a binary that is not stripped, without what a release leaves out: code and data of a package belong to its module.
// The table of functions, which tracebacks need, is shared out by the size of code. What no package owns is in lines of its own.
package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// smallest is the size, in bytes, from which a module has a line of its own.
const smallest = 20 << 10

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "sizes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "svc")
	if _, err := output("go", "build", "-trimpath", "-buildvcs=false", "-o", file, "."); err != nil {
		return err
	}
	list, err := output("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{else}}Go library{{end}}", ".")
	if err != nil {
		return err
	}
	modules := map[string]string{"main": "svc"}
	for line := range strings.Lines(string(list)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		modules[path] = module
	}
	sizes, err := sizesOf(file, modules)
	if err != nil {
		return err
	}
	print(sizes)
	return nil
}

func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

// sizesOf returns bytes of the file by module. They add up to the size of all sections that are loaded from the file.
func sizesOf(file string, modules map[string]string) (map[string]float64, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	sizes, code := make(map[string]float64), make(map[string]float64)
	rest := make(map[string]float64) // of sections, without the symbols of packages
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			rest[s.Name] = float64(s.Size)
		}
	}
	var text float64
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || int(s.Section) >= len(f.Sections) {
			continue
		}
		section := f.Sections[s.Section].Name
		module := modules[packageOf(s.Name)]
		if _, inFile := rest[section]; !inFile || module == "" || section == ".gopclntab" || section == ".rodata" && strings.HasPrefix(s.Name, "runtime.") {
			continue
		}
		sizes[module] += float64(s.Size)
		rest[section] -= float64(s.Size)
		if section == ".text" {
			code[module] += float64(s.Size)
			text += float64(s.Size)
		}
	}
	for module, size := range code {
		sizes[module] += rest[".gopclntab"] * size / text
	}
	delete(rest, ".gopclntab")
	for section, size := range rest {
		switch section {
		case ".rodata":
			sizes["types, texts, embedded files (.rodata)"] = size
		default:
			sizes["other sections and symbols"] += max(0, size)
		}
	}
	return sizes, nil
}

// packageOf returns the package of a symbol, which ends at the first dot after the last slash. Type parameters may have slashes, too.
func packageOf(symbol string) string {
	name, _, _ := strings.Cut(symbol, "[")
	name, _, _ = strings.Cut(name, "(")
	slash := strings.LastIndexByte(name, '/') + 1
	last, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + strings.ReplaceAll(last, "%2e", ".")
}

// print prints the largest first.
func print(sizes map[string]float64) {
	var all, small float64
	var out bytes.Buffer
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	for _, name := range names {
		all += sizes[name]
		if sizes[name] < smallest {
			small += sizes[name]
			continue
		}
		fmt.Fprintf(&out, "| %s | %.2f |\n", name, sizes[name]/(1<<20))
	}
	fmt.Printf("| module | MiB |\n|---|---|\n%s| %s | %.2f |\n| together | %.2f |\n", out.Bytes(), "all others, each below 0.02", small/(1<<20), all/(1<<20))
}
