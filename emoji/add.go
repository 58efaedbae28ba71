package emoji

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"svc/internal/text"
)

// extensionByType are the file extensions of pictures that can be emoji.
var extensionByType = map[string]string{"image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/jpeg": ".jpg"}

// Has returns whether there is an emoji with a shortcode.
func (p *Packs) Has(shortcode string) bool { return p.Find(shortcode) != nil }

// Add adds a picture to a pack, which it creates if necessary, and reloads the packs. It fails if the shortcode is taken, the content
// is not a picture, or the pack is full.
func (p *Packs) Add(pack, shortcode string, picture []byte) error {
	p.addMu.Lock()
	defer p.addMu.Unlock()
	extension := extensionByType[http.DetectContentType(picture)]
	switch {
	case !validName(pack):
		return fmt.Errorf("%q is not a valid pack name", pack)
	case !text.ValidShortcode(shortcode):
		return fmt.Errorf("%q is not a valid shortcode", shortcode)
	case p.Has(shortcode):
		return fmt.Errorf("emoji :%s: exists already", shortcode)
	case extension == "":
		return errors.New("content is not a PNG, GIF, WebP or JPEG picture")
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(pack, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("emoji pack: %w", err)
	}
	doc, files, err := readPackFile(root, pack)
	if err != nil {
		return err
	}
	if len(files) >= maxEntries {
		return fmt.Errorf("pack %s is full", pack)
	}
	if err := writeFileAtomic(root, filepath.Join(pack, shortcode+extension), picture); err != nil {
		return err
	}
	files[shortcode] = shortcode + extension
	if doc["files"], err = json.Marshal(files); err != nil {
		return fmt.Errorf("pack.json: %w", err)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("pack.json: %w", err)
	}
	if err := writeFileAtomic(root, filepath.Join(pack, "pack.json"), text); err != nil {
		return err
	}
	return p.Reload()
}

// readPackFile returns the members of a pack.json, and its files. A missing pack.json is empty.
func readPackFile(root *os.Root, pack string) (doc map[string]json.RawMessage, files map[string]string, err error) {
	doc, files = make(map[string]json.RawMessage), make(map[string]string)
	f, err := root.Open(filepath.Join(pack, "pack.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return doc, files, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("pack.json: %w", err)
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, maxPackFile)).Decode(&doc); err != nil {
		return nil, nil, fmt.Errorf("pack.json: %w", err)
	}
	if doc["files"] != nil {
		if err := json.Unmarshal(doc["files"], &files); err != nil {
			return nil, nil, fmt.Errorf("pack.json: files: %w", err)
		}
	}
	if doc == nil || files == nil {
		return nil, nil, errors.New("pack.json: document or files is null")
	}
	return doc, files, nil
}

// writeFileAtomic writes a file so that it is either complete or unchanged.
func writeFileAtomic(root *os.Root, name string, content []byte) error {
	dir, base := filepath.Split(name)
	temporary := dir + ".new-" + base
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write emoji: %w", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write emoji: %w", err), root.Remove(temporary))
	}
	return nil
}
