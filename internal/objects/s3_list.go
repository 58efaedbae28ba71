package objects

import (
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// s3Page is how many objects a server lists in one answer. With names of the usual length that is a third of maxAnswer.
	s3Page = 1000
	// s3UploadsPage is how many uploads are listed in one answer: with the longest names they fit into maxAnswer.
	s3UploadsPage = 200
	// maxSweep is how many uploads are aborted at once. The next Sweep finds the rest.
	maxSweep = 10_000
	// maxEmptyPages is how many answers in a row may have no names: some servers skip deleted objects so.
	maxEmptyPages = 100
)

// listAnswer is a page of objects.
type listAnswer struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key          string
		Size         int64
		LastModified time.Time
		ETag         string
	}
	EncodingType          string
	IsTruncated           bool
	NextContinuationToken string
}

func (s *s3Store) List(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	if err := checkList(prefix, after, limit); err != nil {
		return nil, failed("list", prefix, err)
	}
	l := &s3Lister{store: s, prefix: prefix, after: after, limit: limit, most: s3Page}
	for more := true; more && len(l.page) < limit; {
		var err error
		if more, err = l.next(ctx); err != nil {
			return nil, failed("list", prefix, err)
		}
	}
	return l.page, nil
}

// s3Lister collects a page of List from the pages of a server.
type s3Lister struct {
	store         *s3Store
	prefix, after string
	limit         int
	most          int    // how many objects the next answer may have
	token         string // where the server goes on after an empty page
	empty         int    // how many pages were empty
	page          []Object
}

// next adds the objects of the next answer. It returns false after the last.
func (l *s3Lister) next(ctx context.Context) (more bool, err error) {
	n := min(l.limit-len(l.page), l.most)
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {l.store.prefix + l.prefix}, "max-keys": {strconv.Itoa(n)}}
	switch {
	case l.token != "":
		query.Set("continuation-token", l.token)
	case l.after != "":
		query.Set("start-after", l.store.prefix+l.after)
	}
	var answer listAnswer
	_, err = l.store.call(ctx, s3Request{method: http.MethodGet, query: query}, &answer)
	if errors.Is(err, errLargeAnswer) && n > 1 {
		l.most = max(n/4, 1)
		return true, nil
	}
	if err == nil {
		err = l.add(answer)
	}
	if err != nil || len(answer.Contents) > 0 {
		l.token, l.empty = "", 0
		return answer.IsTruncated || len(answer.Contents) >= n, err
	}
	if !answer.IsTruncated {
		return false, nil
	}
	if l.token = answer.NextContinuationToken; l.token == "" || l.empty == maxEmptyPages {
		return false, errors.New("the server lists no names, but does not end")
	}
	l.empty++
	return true, nil
}

func (l *s3Lister) add(answer listAnswer) error {
	for _, c := range answer.Contents {
		key, err := decodeKey(c.Key, answer.EncodingType)
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(key, l.store.prefix)
		switch {
		case !ok || !strings.HasPrefix(name, l.prefix):
			return errors.New("the server lists names without the prefix")
		case l.after != "" && name <= l.after:
			return errors.New("the server does not list in the order of names")
		}
		l.after = name
		if checkName(name) == nil && len(l.page) < l.limit { // others may have their objects there, too
			l.page = append(l.page, Object{Name: name, Size: c.Size, Modified: c.LastModified, ETag: strings.Trim(c.ETag, `"`)})
		}
	}
	return nil
}

// decodeKey returns the name of an object in a listing. XML cannot have all characters, so that servers encode it like a URL.
func decodeKey(key, encoding string) (string, error) {
	if encoding != "url" {
		return key, nil
	}
	s, err := url.QueryUnescape(key)
	if err != nil {
		return "", errors.New("the server lists a name that is not encoded")
	}
	return s, nil
}

// uploadsAnswer is a page of uploads in parts.
type uploadsAnswer struct {
	XMLName xml.Name `xml:"ListMultipartUploadsResult"`
	Upload  []struct {
		Key       string
		UploadID  string `xml:"UploadId"`
		Initiated time.Time
	}
	EncodingType  string
	IsTruncated   bool
	NextKeyMarker string
}

// Sweep aborts at most maxSweep uploads. After a page without old ones it continues from its last key, because not all servers accept
// the marker of an upload. A later Sweep finds the uploads that are skipped so.
func (s *s3Store) Sweep(ctx context.Context, age time.Duration) (n int, err error) {
	query := url.Values{"uploads": {""}, "encoding-type": {"url"}, "prefix": {s.prefix}, "max-uploads": {strconv.Itoa(s3UploadsPage)}}
	for n < maxSweep {
		var answer uploadsAnswer
		_, err := s.call(ctx, s3Request{method: http.MethodGet, query: query}, &answer)
		aborted := 0
		if err == nil {
			aborted, err = s.abortOld(ctx, answer, age)
			n += aborted
		}
		if err != nil || !answer.IsTruncated {
			return n, failed("sweep", s.prefix, err)
		}
		if aborted > 0 {
			continue // the same request has the next uploads
		}
		marker, err := decodeKey(answer.NextKeyMarker, answer.EncodingType)
		if err == nil && marker <= query.Get("key-marker") {
			err = errors.New("the server does not list uploads in the order of names")
		}
		if err != nil {
			return n, failed("sweep", s.prefix, err)
		}
		query.Set("key-marker", marker)
	}
	return n, nil
}

// abortOld aborts the uploads of a page that are at least so old.
func (s *s3Store) abortOld(ctx context.Context, page uploadsAnswer, age time.Duration) (n int, err error) {
	for _, u := range page.Upload {
		key, err := decodeKey(u.Key, page.EncodingType)
		if err != nil {
			return n, err
		}
		if !strings.HasPrefix(key, s.prefix) || time.Since(u.Initiated) < age {
			continue
		}
		switch err := s.abort(ctx, key, u.UploadID); {
		case err == nil:
			n++
		case !errors.Is(err, fs.ErrNotExist): // it may have been completed meanwhile
			return n, err
		}
	}
	return n, nil
}

// abort removes an upload and its parts.
func (s *s3Store) abort(ctx context.Context, key, id string) error {
	_, err := s.call(ctx, s3Request{method: http.MethodDelete, key: key, query: url.Values{"uploadId": {id}}}, nil)
	return err
}
