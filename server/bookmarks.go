package server

import (
	"strings"

	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// bookmarks serves bookmarks and their folders.
type bookmarks struct{ *parts }

func (h *bookmarks) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/bookmark":      {rest.User("write:bookmarks").Answers("Status"), h.bookmarkStatus},
		"POST /api/v1/statuses/:id/unbookmark":    {rest.User("write:bookmarks").Deletes().Answers("Status"), h.render.statusAction(h.Social.Unbookmark)},
		"GET /api/v1/bookmarks":                   {rest.User("read:bookmarks").Answers("[]Status"), h.listBookmarks},
		"GET /api/v1/svc/bookmark_folders":        {rest.User("read:bookmarks").Answers("[]BookmarkFolder"), h.listBookmarkFolders},
		"POST /api/v1/svc/bookmark_folders":       {rest.User("write:bookmarks").Written().Answers("BookmarkFolder"), h.createBookmarkFolder},
		"PATCH /api/v1/svc/bookmark_folders/:id":  {rest.User("write:bookmarks").Answers("BookmarkFolder"), h.updateBookmarkFolder},
		"DELETE /api/v1/svc/bookmark_folders/:id": {rest.User("write:bookmarks").Answers("BookmarkFolder"), h.deleteBookmarkFolder},
	}
}

// bookmarkStatus bookmarks a status, in a folder if folder_id is sent. A bookmark that exists is moved; a folder_id of null removes it
// from its folder.
func (h *bookmarks) bookmarkStatus(r *rest.Request) (any, error) {
	var p struct {
		FolderID *string `param:"folder_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.FolderID == nil && !r.IsNull("folder_id") {
		st, err := h.Social.Bookmark(r.Context(), r.Viewer, statusParam(r))
		return h.render.status(r, st, err)
	}
	var folder *store.BookmarkFolderID
	if p.FolderID != nil && *p.FolderID != "" {
		id := folderID(*p.FolderID)
		folder = &id
	}
	st, err := h.Social.BookmarkInFolder(r.Context(), r.Viewer, statusParam(r), folder)
	return h.render.status(r, st, err)
}

// listBookmarks lists the viewer's bookmarks, all or those of one folder.
func (h *bookmarks) listBookmarks(r *rest.Request) (any, error) {
	page := r.Page(20, 40)
	id := r.Query("folder_id")
	if id == "" {
		part, err := h.DB.Bookmarks(r.Context(), r.Viewer.ID, 0, page.Page)
		return h.render.statusEntries(r, page, part, err)
	}
	folder, err := h.DB.OwnBookmarkFolder(r.Context(), r.Viewer.ID, folderID(id))
	if err != nil {
		return nil, err
	}
	part, err := h.DB.Bookmarks(r.Context(), r.Viewer.ID, folder.ID, page.Page)
	return h.render.statusEntries(r, page, part, err)
}

func folderID(text string) store.BookmarkFolderID { return store.ParseID[store.BookmarkFolderID](text) }

// listBookmarkFolders returns the viewer's bookmark folders.
func (h *bookmarks) listBookmarkFolders(r *rest.Request) (any, error) {
	rows, err := h.DB.BookmarkFolders(r.Context(), r.Viewer.ID)
	return answerList(rows, err, h.Entities.BookmarkFolder)
}

// folderForm are the parameters of a folder. Nil leaves a member unchanged.
type folderForm struct {
	Name  *string `param:"name"`
	Emoji *string `param:"emoji"`
}

// bindFolder binds the parameters of a folder. A custom emoji must exist, and is stored between colons.
func (h *bookmarks) bindFolder(r *rest.Request) (func(*store.BookmarkFolder), error) {
	var p folderForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if r.IsNull("emoji") {
		p.Emoji = new(string)
	}
	if p.Emoji != nil {
		code := strings.Trim(*p.Emoji, ":")
		switch {
		case h.Emojis.Find(code) != nil:
			code = ":" + code + ":"
			p.Emoji = &code
		case strings.HasPrefix(*p.Emoji, ":"):
			return nil, social.ErrInvalidEmoji
		}
	}
	return func(f *store.BookmarkFolder) {
		if p.Name != nil {
			f.Name = *p.Name
		}
		if p.Emoji != nil {
			f.Emoji = *p.Emoji
		}
	}, nil
}

// createBookmarkFolder creates an empty folder.
func (h *bookmarks) createBookmarkFolder(r *rest.Request) (any, error) {
	set, err := h.bindFolder(r)
	if err != nil {
		return nil, err
	}
	var f store.BookmarkFolder
	set(&f)
	if err := h.Social.CreateBookmarkFolder(r.Context(), r.Viewer, &f); err != nil {
		return nil, err
	}
	return h.Entities.BookmarkFolder(&f), nil
}

// updateBookmarkFolder changes the name and the emoji of a folder.
func (h *bookmarks) updateBookmarkFolder(r *rest.Request) (any, error) {
	set, err := h.bindFolder(r)
	if err != nil {
		return nil, err
	}
	f, err := h.Social.UpdateBookmarkFolder(r.Context(), r.Viewer, folderID(r.Param("id")), set)
	return answer(f, err, h.Entities.BookmarkFolder)
}

// deleteBookmarkFolder deletes a folder and returns it. Its bookmarks stay.
func (h *bookmarks) deleteBookmarkFolder(r *rest.Request) (any, error) {
	f, err := h.Social.DeleteBookmarkFolder(r.Context(), r.Viewer, folderID(r.Param("id")))
	return answer(f, err, h.Entities.BookmarkFolder)
}
