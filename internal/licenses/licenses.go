// Package licenses knows the licences of all that is linked into the program, or served by it: this program's own, the Go library, modules,
// libraries of the pages, and data of Unicode.
//
// The list is made from the module cache by generate.go and embedded compressed, each text once. A test compares it with what the program links,
// so that it is made again when a dependency changes: go generate ./internal/licenses
package licenses

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"svc/internal/packed"
)

//go:generate go run generate.go

//go:embed licenses.json.gz
var compressed []byte

// Component is a part of the program by others, or the program itself.
type Component struct {
	Name    string `json:"name"`    // a module path, or what people call it
	Version string `json:"version"` // "": that of the program
	License string `json:"license"` // SPDX expression
	Texts   []int  `json:"texts"`   // indexes of List.Texts
}

// List has all components, sorted by name, the program first.
type List struct {
	Components []Component `json:"components"`
	Texts      []string    `json:"texts"`
}

// All returns the list. It is read once.
var All = sync.OnceValue(func() *List {
	list, err := read()
	if err != nil {
		panic(fmt.Sprintf("licenses.json.gz: %v", err)) // the file is part of the program
	}
	return list
})

func read() (*List, error) {
	list := new(List)
	return list, json.Unmarshal(packed.Text(compressed), list)
}
