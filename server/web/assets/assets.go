// Package assets holds the pictures and small files that come with the server, under the paths at which they are served. The
// artwork is the project's own: draw.go makes it.
package assets

import "embed"

//go:generate go run draw.go

// FS has the files.
//
//go:embed images instance static favicon.ico favicon.png robots.txt
var FS embed.FS
