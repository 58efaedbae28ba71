package moving

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/media"
	"svc/social"
	"svc/store"
)

// batch is a part of an archive that is stored in one transaction.
type batch struct {
	*Importer
	account  *store.Account
	row      *store.Archive
	archive  *Archive
	posts    []*Post
	skipped  []store.ArchiveSkip
	position int

	mu sync.Mutex // while files are stored
}

func (b *batch) skip(item, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.skipped = append(b.skipped, store.ArchiveSkip{Item: item, Reason: reason})
}

// store stores the posts that the account does not have yet: first their files, then everything else in a transaction.
func (b *batch) store(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.position == b.row.Position && len(b.posts) == 0 {
		return nil
	}
	uris := make([]string, 0, len(b.posts))
	for _, p := range b.posts {
		uris = append(uris, p.URI)
	}
	known, err := b.db.KnownOriginals(ctx, b.account.ID, uris)
	if err != nil {
		return err
	}
	removed, err := b.db.RemovedOriginals(ctx, b.account.ID, uris)
	if err != nil {
		return err
	}
	out := social.ImportedBatch{Position: b.position}
	var posts []*Post
	for _, p := range b.posts {
		switch {
		case slices.Contains(removed, p.URI):
			b.skip(p.URI, "the post was deleted here")
		case known[p.URI] == 0:
			posts = append(posts, p)
		}
	}
	err = b.storeFiles(ctx, posts)
	defer release(posts)
	if err != nil {
		return err
	}
	for _, p := range posts {
		if p.Visibility == store.Public && !b.row.Public {
			p.Visibility = store.Unlisted
		}
		out.Posts = append(out.Posts, p.ImportedPost)
	}
	out.Skipped = b.skipped
	started := time.Now()
	if err := b.social.ImportPosts(ctx, b.row.ID, out); err != nil {
		return err
	}
	b.posts, b.skipped = nil, nil
	return pause(ctx, time.Since(started))
}

// storeFiles stores the attachments of posts as uploads: without metadata, and bounded. Files that are missing or not accepted are skipped.
func (b *batch) storeFiles(ctx context.Context, posts []*Post) error {
	type task struct {
		post *Post
		at   int
	}
	var tasks []task
	for _, p := range posts {
		p.Media = make([]social.ImportedFile, len(p.Attachments))
		for i, a := range p.Attachments {
			if a.Path == "" {
				b.skip(a.Address, "the file is not in the archive")
				continue
			}
			tasks = append(tasks, task{p, i})
		}
	}
	queue := make(chan task, len(tasks))
	for _, t := range tasks {
		queue <- t
	}
	close(queue)
	var group sync.WaitGroup
	failures := make([]error, batchWorkers)
	for i := range failures {
		group.Go(func() {
			for t := range queue {
				if failures[i] = errs.CatchPanic(func() error { return b.storeFile(ctx, t.post, t.at) }); failures[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	for _, p := range posts {
		kept := p.Media[:0:0]
		for _, m := range p.Media {
			if m.File != nil {
				kept = append(kept, m)
			}
		}
		p.Media = kept
	}
	return errors.Join(failures...)
}

// storeFile stores an attachment. An error is one that ends the import.
func (b *batch) storeFile(ctx context.Context, p *Post, at int) error {
	a := p.Attachments[at]
	content, err := b.archive.Open(a.Path)
	if err != nil {
		return err
	}
	defer content.Close()
	f, err := b.files.Ingest(ctx, b.account.ID, content, media.Attachment, b.Settings.Load().Media.UploadLimit)
	refusal := (*errs.Error)(nil)
	switch {
	case err == nil:
		p.Media[at] = social.ImportedFile{File: f, Description: a.Description, Focus: a.Focus}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refusal) && refusal.Status < 500:
		b.skip(a.Path, refusal.Message)
		return nil
	}
	return err
}

// release ends the claims on files that are stored: their rows are, too, or never will be.
func release(posts []*Post) {
	for _, p := range posts {
		for _, m := range p.Media {
			m.File.Release()
		}
	}
}

// namedOrigin returns the account that an operator names as a handle or as the id of its actor, nil if none.
func namedOrigin(name string) *Origin {
	if strings.Contains(name, "://") {
		return &Origin{ActorURI: name, Handle: handleOf(path.Base(name), name, true)}
	}
	nick, domain, ok := text.SplitHandle(strings.TrimPrefix(name, "@"))
	if !ok || domain == "" {
		return nil
	}
	if _, err := activity.Host("https://"+domain+"/", true); err != nil {
		return nil
	}
	return &Origin{ActorURI: "https://" + domain + "/@" + nick, Handle: nick + "@" + domain}
}
