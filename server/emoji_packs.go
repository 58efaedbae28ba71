package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"svc/emoji"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
)

// emojiPacks serves the packs of custom emoji (spec 4.3).
type emojiPacks struct{ *parts }

func (h *emojiPacks) routes() rest.Routes {
	manage := rest.Privileged(config.EmojiManage, "admin:write")
	return rest.Routes{
		"GET /api/v1/svc/emoji/pack":                {rest.Anonymous.Answers("object"), logged(h.show)},
		"POST /api/v1/svc/emoji/pack":               {manage.Answers("string"), logged(h.recorded("emoji_pack_create", "created emoji pack NAME", h.create))},
		"PATCH /api/v1/svc/emoji/pack":              {manage.Answers("object"), logged(h.recorded("emoji_pack_update", "changed the metadata of emoji pack NAME", h.update))},
		"DELETE /api/v1/svc/emoji/pack":             {manage.Answers("string"), logged(h.recorded("emoji_pack_delete", "deleted emoji pack NAME", h.delete))},
		"GET /api/v1/svc/emoji/packs":               {rest.Anonymous.Answers("object"), logged(h.list)},
		"GET /api/v1/svc/emoji/packs/archive":       {rest.Anonymous.Answers("file"), logged(h.archive)},
		"GET /api/v1/svc/emoji/packs/import":        {manage.Changing().Answers("[]text"), logged(h.recorded("emoji_pack_import", "imported emoji packs from the disk", h.importLoose))},
		"GET /api/v1/svc/emoji/packs/remote":        {manage.Answers("RemotePacks|object"), logged(h.listRemote)},
		"POST /api/v1/svc/emoji/packs/download":     {manage.Answers("string"), logged(h.recorded("emoji_pack_download", "downloaded emoji pack NAME from URL", h.download))},
		"POST /api/v1/svc/emoji/packs/download_zip": {manage.Uploads().Answers("string"), logged(h.recorded("emoji_pack_download", "installed emoji pack NAME from an archive", h.installArchive))},
		"POST /api/v1/svc/emoji/packs/files":        {manage.Uploads().Answers("object"), logged(h.recorded("emoji_add", "added an emoji to pack NAME", h.addFile))},
		"PATCH /api/v1/svc/emoji/packs/files":       {manage.Answers("object"), logged(h.recorded("emoji_rename", "renamed emoji SHORTCODE of pack NAME", h.renameFile))},
		"DELETE /api/v1/svc/emoji/packs/files":      {manage.Answers("object"), logged(h.recorded("emoji_delete", "deleted emoji SHORTCODE of pack NAME", h.removeFile))},
	}
}

// recorded adds a successful change to the moderation log. Words in capitals of what stand for parameters.
func (h *emojiPacks) recorded(action, what string, handle rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		value, err := handle(r)
		if err != nil {
			return nil, err
		}
		var p struct {
			Name      string `param:"name"`
			Shortcode string `param:"shortcode"`
			URL       string `param:"url"`
		}
		if err := r.Bind(&p); err != nil {
			return nil, err
		}
		shown := strings.NewReplacer("NAME", text.Truncate(p.Name, maxLogged), "SHORTCODE", text.Truncate(p.Shortcode, maxLogged), "URL", text.Truncate(p.URL, maxLogged))
		return value, h.Admin.As(r.Viewer).RecordEmojiChange(r.Context(), action, shown.Replace(what))
	}
}

// maxLogged bounds a parameter in the moderation log, in characters.
const maxLogged = 200

// logged logs the cause of an error of status 500, which the reference defines for packs, as other internal errors are.
func logged(handle rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		value, err := handle(r)
		if e := new(errs.Error); errors.As(err, &e) && e.Status == http.StatusInternalServerError && e.Err != nil && r.Context().Err() == nil {
			r.LogError(err)
		}
		return value, err
	}
}

// Default sizes of pages (spec 8), and the largest.
const (
	packsPage    = 50
	filesPage    = 30
	maxPacksPage = 200
	maxFilesPage = 5000 // all files of a pack, for other servers
)

// pageOf is the page that a client asks for. The first page is 1; page 0 is the last one (admin API 10.5).
type pageOf struct {
	Number *int `param:"page"`
	Size   *int `param:"page_size"`
}

func (p pageOf) values(standard, maximum int) (number, size int) {
	number, size = 1, standard
	if p.Number != nil {
		number = *p.Number
	}
	if p.Size != nil {
		size = max(0, min(*p.Size, maximum))
	}
	return number, size
}

var errPackName = errs.BadRequest("pack name cannot be empty")

// packName returns the name of the pack that a request is about.
func packName(r *rest.Request) (string, error) {
	var p struct {
		Name string `param:"name,required"`
	}
	if err := r.Bind(&p); err != nil {
		return "", err
	}
	if strings.TrimSpace(p.Name) == "" {
		return "", errPackName
	}
	return strings.TrimSpace(p.Name), nil
}

// show shows a pack with a page of its files.
func (h *emojiPacks) show(r *rest.Request) (any, error) {
	name, err := packName(r)
	if err != nil {
		return nil, err
	}
	var p pageOf
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	pack, err := h.Emojis.Pack(name)
	if err != nil {
		return nil, err
	}
	number, size := p.values(filesPage, maxFilesPage)
	return h.Emojis.Document(pack, number, size), nil
}

// list lists the packs with all their files.
func (h *emojiPacks) list(r *rest.Request) (any, error) {
	var p pageOf
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	all := h.Emojis.List()
	number, size := p.values(packsPage, maxPacksPage)
	packs := make(map[string]*emoji.Document)
	for _, pack := range emoji.Page(all, number, size) {
		packs[pack.Name] = h.Emojis.Document(pack, 1, maxFilesPage)
	}
	return map[string]any{"packs": packs, "count": len(all)}, nil
}

// create creates an empty pack.
func (h *emojiPacks) create(r *rest.Request) (any, error) {
	name, err := packName(r)
	if err != nil {
		return nil, err
	}
	return "ok", h.Emojis.Create(name)
}

// delete deletes a pack with its files.
func (h *emojiPacks) delete(r *rest.Request) (any, error) {
	name, err := packName(r)
	if err != nil {
		return nil, err
	}
	return "ok", h.Emojis.Delete(name)
}

// update replaces the metadata of a pack.
func (h *emojiPacks) update(r *rest.Request) (any, error) {
	name, err := packName(r)
	if err != nil {
		return nil, err
	}
	var p struct {
		Metadata json.RawMessage `param:"metadata,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	var m emoji.Metadata
	if err := json.Unmarshal(p.Metadata, &m); err != nil || m == nil {
		return nil, errs.BadRequest("metadata - Invalid object.")
	}
	return h.EmojiPeers.SetMetadata(r.Context(), name, m)
}

// archive sends the archive of a shared pack.
func (h *emojiPacks) archive(r *rest.Request) (any, error) {
	name, err := packName(r)
	if err != nil {
		return nil, err
	}
	archive, err := h.Emojis.SharedArchive(name)
	if err != nil {
		return nil, err
	}
	file, err := archive.Open()
	if err != nil {
		return nil, fmt.Errorf("archive of pack %s: %w", name, err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer file.Close()
		h := w.Header()
		h.Set("Content-Type", "application/zip")
		h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(name)+".zip")
		h.Set("ETag", `"`+archive.SHA256+`"`)
		h.Set("Cache-Control", "public, no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, file)
	}), nil
}

// importLoose makes packs of the folders that have no pack.json.
func (h *emojiPacks) importLoose(*rest.Request) (any, error) { return h.Emojis.ImportLoose() }

// listRemote lists packs of another server: by name, or with envelope also how many it has.
func (h *emojiPacks) listRemote(r *rest.Request) (any, error) {
	var p struct {
		URL      string `param:"url,required"`
		Envelope bool   `param:"envelope"`
	}
	var page pageOf
	if err := errors.Join(r.Bind(&p), r.Bind(&page)); err != nil {
		return nil, err
	}
	number, size := page.values(packsPage, maxPacksPage)
	list, err := h.EmojiPeers.List(r.Context(), p.URL, number, size)
	if err != nil || p.Envelope {
		return list, err
	}
	return list.Packs, nil
}

// download copies a pack of another server.
func (h *emojiPacks) download(r *rest.Request) (any, error) {
	var p struct {
		URL  string `param:"url,required"`
		Name string `param:"name,required"`
		As   string `param:"as"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return "ok", h.EmojiPeers.Download(r.Context(), p.URL, p.Name, p.As)
}

// installArchive makes a zip archive, uploaded or at a URL, a new pack.
func (h *emojiPacks) installArchive(r *rest.Request) (any, error) {
	var p struct {
		Name   string       `param:"name,required"`
		Upload *rest.Upload `param:"file"`
		URL    string       `param:"url"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if err := h.Emojis.CheckNew(p.Name); err != nil {
		return nil, err
	}
	if p.Upload != nil && !p.Upload.Empty {
		return "ok", h.Emojis.InstallArchive(r.Context(), p.Name, p.Upload.Open(), p.Upload.Size)
	}
	if p.URL == "" {
		return nil, errs.BadRequest("Missing field: file or url.")
	}
	file, size, err := h.EmojiPeers.Picture(r.Context(), p.URL)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return "ok", h.Emojis.InstallArchive(r.Context(), p.Name, file, size)
}

// addFile adds an upload, or the file at a URL, to a pack: a picture, or all pictures of a zip archive. It returns the files of the pack.
func (h *emojiPacks) addFile(r *rest.Request) (any, error) {
	var p struct {
		Name      string       `param:"name,required"`
		Upload    *rest.Upload `param:"file"`
		Shortcode string       `param:"shortcode"`
		Filename  string       `param:"filename"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if _, err := h.Emojis.Pack(strings.TrimSpace(p.Name)); err != nil {
		if strings.TrimSpace(p.Name) == "" {
			return nil, errs.Invalid("pack name, shortcode or filename cannot be empty")
		}
		if errs.IsNotFound(err) {
			err = errs.NotFound("pack %q is not found", p.Name)
		}
		return nil, err
	}
	file, err := h.source(r, p.Upload)
	if err != nil {
		return nil, err
	}
	if file.close != nil {
		defer file.close()
	}
	pack, err := h.Emojis.AddFile(r.Context(), p.Name, emoji.NewFile{
		Content: file.content, Size: file.size, Name: file.name, Shortcode: p.Shortcode, Filename: p.Filename,
	})
	if err != nil {
		return nil, err
	}
	return pack.Files, nil
}

// sourceFile is a file that is added to a pack.
type sourceFile struct {
	content io.ReaderAt
	size    int64
	name    string // base name, untrusted
	close   func() error
}

// source returns the upload of a request, or fetches the file at its URL.
func (h *emojiPacks) source(r *rest.Request, upload *rest.Upload) (*sourceFile, error) {
	if upload != nil && !upload.Empty {
		return &sourceFile{content: upload.Open(), size: upload.Size, name: upload.Filename}, nil
	}
	var p struct {
		URL string `param:"file"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	u, err := url.Parse(p.URL)
	switch {
	case p.URL == "":
		return nil, errs.BadRequest("Missing field: file.")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, errs.BadRequest("file is neither an upload nor a URL")
	}
	var file *os.File
	file, size, err := h.EmojiPeers.Picture(r.Context(), p.URL)
	if err != nil {
		return nil, err
	}
	return &sourceFile{content: file, size: size, name: path.Base(u.Path), close: file.Close}, nil
}

// renameFile gives an emoji of a pack a new shortcode and file name. It returns the files of the pack.
func (h *emojiPacks) renameFile(r *rest.Request) (any, error) {
	var p struct {
		Name         string `param:"name,required"`
		Shortcode    string `param:"shortcode,required"`
		NewShortcode string `param:"new_shortcode,required"`
		NewFilename  string `param:"new_filename,required"`
		Force        bool   `param:"force"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	pack, err := h.Emojis.Rename(p.Name, emoji.Rename{Shortcode: p.Shortcode, NewShortcode: p.NewShortcode, NewFile: p.NewFilename, Force: p.Force})
	if err != nil {
		return nil, err
	}
	return pack.Files, nil
}

// removeFile removes an emoji from a pack. It returns the files of the pack.
func (h *emojiPacks) removeFile(r *rest.Request) (any, error) {
	var p struct {
		Name      string `param:"name,required"`
		Shortcode string `param:"shortcode,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	pack, err := h.Emojis.Remove(p.Name, p.Shortcode)
	if err != nil {
		return nil, err
	}
	return pack.Files, nil
}
