package emoji

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"svc/internal/disk"
)

// imageTypes are the content types of pictures by extension. Files with other extensions are not served.
var imageTypes = map[string]string{
	".png":  "image/png",
	".apng": "image/apng",
	".gif":  "image/gif",
	".jpg":  "image/jpeg",
	".jpeg": "image/jpeg",
	".webp": "image/webp",
	".avif": "image/avif",
}

// Handler serves the pictures of packs below /emoji/, with headers that keep a file from running scripts or loading resources.
func (p *Packs) Handler() http.Handler {
	return http.StripPrefix("/emoji/", http.HandlerFunc(p.serve))
}

func (p *Packs) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	file, info, err := p.open(r.URL.Path)
	if err != nil {
		http.Error(w, "Not found", http.StatusNotFound)
		return
	}
	defer file.Close()
	h.Set("Content-Type", imageTypes[strings.ToLower(path.Ext(r.URL.Path))])
	h.Set("Cache-Control", "public, max-age=604800")
	h.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size())) // a picture may be replaced by another of the same name
	http.ServeContent(w, r, "", info.ModTime(), file)
}

var errNotImage = errors.New("not a picture")

// open opens the picture PACK/FILE.
func (p *Packs) open(name string) (*os.File, fs.FileInfo, error) {
	if !fs.ValidPath(name) || strings.Contains("/"+name, "/.") || imageTypes[strings.ToLower(path.Ext(name))] == "" {
		return nil, nil, errNotImage
	}
	root, err := disk.OpenRoot(p.dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errNotImage
	}
	file, err := root.Open(name)
	return file, info, err
}
