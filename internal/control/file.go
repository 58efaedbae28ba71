package control

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"svc/internal/disk"
)

const (
	maxFile     = 128 << 20 // bytes
	fileTimeout = 2 * time.Minute

	// argumentsHeader has the arguments of a call whose body is a file, as base64 of their JSON.
	argumentsHeader = "Svc-Arguments"
)

// fileKey is the key of the file in a context.
type fileKey struct{}

// WithFile returns a context with a file. Call sends it, and the command that runs finds it in its own context.
func WithFile(ctx context.Context, file *os.File) context.Context {
	return context.WithValue(ctx, fileKey{}, file)
}

// File returns the content of the file of a context, nil if it has none.
func File(ctx context.Context) (*io.SectionReader, error) {
	file, ok := ctx.Value(fileKey{}).(*os.File)
	if !ok {
		return nil, nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(file, 0, info.Size()), nil
}

// newRequest returns the request of a call.
func newRequest(ctx context.Context, command string, args []byte) (*http.Request, error) {
	address := "http://localhost/" + url.PathEscape(command)
	file, err := File(ctx)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(args))
	}
	if file.Size() > maxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, file)
	if err == nil {
		req.ContentLength = file.Size()
		req.Header.Set(argumentsHeader, base64.StdEncoding.EncodeToString(args))
	}
	return req, err
}

// readArguments returns the arguments of a call, and its file, nil without one. The file has no name in dir, so that a crash leaves
// nothing.
func readArguments(w http.ResponseWriter, r *http.Request, dir string) (args []byte, file *os.File, err error) {
	header := r.Header.Get(argumentsHeader)
	if header == "" {
		args, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		return args, nil, err
	}
	if args, err = base64.StdEncoding.DecodeString(header); err != nil {
		return nil, nil, fmt.Errorf("arguments: %w", err)
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(fileTimeout)); err != nil {
		return nil, nil, err
	}
	if file, err = disk.Unnamed(dir); err != nil {
		return nil, nil, err
	}
	if _, err = io.Copy(file, http.MaxBytesReader(w, r.Body, maxFile)); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return args, file, nil
}
