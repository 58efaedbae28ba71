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

// extensionByType are those of the pictures that can be emoji, by their types.
var extensionByType = map[string]string{"image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/jpeg": ".jpg"}

// Has tells whether there is an emoji of a shortcode.
func (p *Packs) Has(shortcode string) bool { return p.Find(shortcode) != nil }

// Add puts a picture into a pack, which is made if it is not there, and reads the packs again. A shortcode that is taken, a picture that
// is none by its content, and a full pack are errors.
func (p *Packs) Add(pack, shortcode string, picture []byte) error {
	p.addMu.Lock()
	defer p.addMu.Unlock()
	extension := extensionByType[http.DetectContentType(picture)]
	switch {
	case !validName(pack):
		return fmt.Errorf("%q is no name of a pack", pack)
	case !text.ValidShortcode(shortcode):
		return fmt.Errorf("%q is no shortcode", shortcode)
	case p.Has(shortcode):
		return fmt.Errorf("there is an emoji :%s: already", shortcode)
	case extension == "":
		return errors.New("it is no picture that can be an emoji")
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
		return fmt.Errorf("the pack %s is full", pack)
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

// readPackFile returns the members of a pack.json, of which only files are known here; that of a new pack has none.
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
		return nil, nil, errors.New("pack.json has null where its files should be")
	}
	return doc, files, nil
}

// writeFileAtomic writes a file so that it is there wholly or not at all.
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
