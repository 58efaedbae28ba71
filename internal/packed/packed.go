// Package packed reads files that are embedded compressed, so that the binary stays small. Each has its readable form beside it in the repository, which a
// test compares.
package packed

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Text returns the text of an embedded file in the form of gzip. It panics if the file is damaged, which a test finds.
func Text(compressed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil {
			return text
		}
	}
	panic(fmt.Sprintf("embedded file: %v", err))
}
