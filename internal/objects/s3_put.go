package objects

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// s3Part is the size, in bytes, of a part of an upload, and of its only buffer. With 10 000 parts an object has 117 GiB.
	s3Part     = 12 << 20
	s3MaxParts = 10_000
)

func (s *s3Store) Put(ctx context.Context, name string, body io.Reader, size int64, o PutOptions) (Object, error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("put", name, err)
	}
	if size > int64(s3Part)*s3MaxParts {
		return Object{}, failed("put", name, fmt.Errorf("%w: an object has at most %d bytes", ErrSize, int64(s3Part)*s3MaxParts))
	}
	body = newSized(ctx, body, size)
	var object Object
	var err error
	if o.conditional() {
		object, err = s.putConditional(ctx, name, body, o)
	} else {
		object, err = s.put(ctx, name, body, size, o)
	}
	object.Name = name
	return object, failed("put", name, err)
}

// put sends an object that fits into the buffer in one request, because its whole content can be signed and repeated. A larger one goes in parts.
func (s *s3Store) put(ctx context.Context, name string, body io.Reader, size int64, o PutOptions) (Object, error) {
	buffer, err := firstPart(body, size)
	if err == nil {
		return s.putParts(ctx, name, buffer, body, o)
	}
	if err != io.EOF {
		return Object{}, err
	}
	return s.putBytes(ctx, name, buffer, o)
}

// firstPart reads s3Part bytes. io.EOF: the body has no more than that. The buffer is no larger than needed.
func firstPart(body io.Reader, size int64) ([]byte, error) {
	switch {
	case size == 0:
		_, err := io.ReadFull(body, make([]byte, 1)) // sized returns ErrSize if there is one
		return nil, err
	case size > 0 && size <= s3Part:
		buffer := make([]byte, size)
		if _, err := io.ReadFull(body, buffer); err != nil {
			return nil, err
		}
		return buffer, io.EOF
	case size < 0:
		size = copyBuffer // most are small
	}
	buffer := make([]byte, min(size, s3Part))
	n, err := io.ReadFull(body, buffer)
	if err == nil && len(buffer) < s3Part {
		buffer = append(make([]byte, 0, s3Part), buffer...)[:s3Part]
		var more int
		more, err = io.ReadFull(body, buffer[n:])
		n += more
	}
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return buffer[:n], err
}

// putHeader returns the header of a request that creates an object.
func putHeader(o PutOptions) http.Header {
	h := http.Header{"Content-Type": {cmp.Or(o.ContentType, "application/octet-stream")}}
	if o.IfNone {
		h.Set("If-None-Match", "*")
	}
	if o.IfMatch != "" {
		h.Set("If-Match", `"`+o.IfMatch+`"`)
	}
	return h
}

// putBytes sends an object in one request. With a condition it is not repeated: the second attempt would fail because the first one succeeded.
func (s *s3Store) putBytes(ctx context.Context, name string, b []byte, o PutOptions) (Object, error) {
	etag, err := s.sendBytes(ctx, s3Request{method: http.MethodPut, key: s.prefix + name, header: putHeader(o), body: b, once: o.conditional()})
	return Object{Size: int64(len(b)), Modified: time.Now(), ETag: etag}, err
}

// sendBytes sends an object or a part, and returns its ETag.
func (s *s3Store) sendBytes(ctx context.Context, r s3Request) (etag string, err error) {
	response, err := s.call(ctx, r, nil)
	if err != nil {
		return "", err
	}
	if etag = etagIn(response); etag == "" {
		return "", errors.New("the server sent no ETag")
	}
	return etag, nil
}

// completePart is a part of an upload.
type completePart struct {
	PartNumber int
	ETag       string
}

// putParts sends an object in parts, of which the first is in the buffer. If that fails, it removes them.
func (s *s3Store) putParts(ctx context.Context, name string, buffer []byte, body io.Reader, o PutOptions) (_ Object, err error) {
	key := s.prefix + name
	id, err := s.begin(ctx, key, o)
	if err != nil {
		return Object{}, err
	}
	defer func() {
		if err != nil {
			ctx, cancel := s.options.cleanUp(ctx)
			defer cancel()
			s.abort(ctx, key, id) // on failure, Sweep removes it
		}
	}()
	parts, size, err := s.sendParts(ctx, key, id, buffer, body)
	if err != nil {
		return Object{}, err
	}
	etag, err := s.complete(ctx, key, id, parts, size)
	return Object{Size: size, Modified: time.Now(), ETag: etag}, err
}

// begin begins an upload. It is not repeated, because that could leave a second one.
func (s *s3Store) begin(ctx context.Context, key string, o PutOptions) (id string, err error) {
	var answer struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		UploadID string   `xml:"UploadId"`
	}
	_, err = s.call(ctx, s3Request{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}, header: putHeader(o), once: true}, &answer)
	if err == nil && answer.UploadID == "" {
		err = errors.New("the server sent no id of an upload")
	}
	return answer.UploadID, err
}

func (s *s3Store) sendParts(ctx context.Context, key, id string, buffer []byte, body io.Reader) ([]completePart, int64, error) {
	var parts []completePart
	var size int64
	for last := false; len(buffer) > 0; {
		number := len(parts) + 1
		if number > s3MaxParts {
			return nil, 0, fmt.Errorf("%w: an object has at most %d bytes", ErrSize, int64(s3Part)*s3MaxParts)
		}
		query := url.Values{"partNumber": {strconv.Itoa(number)}, "uploadId": {id}}
		etag, err := s.sendBytes(ctx, s3Request{method: http.MethodPut, key: key, query: query, body: buffer})
		if err != nil {
			return nil, 0, err
		}
		parts = append(parts, completePart{number, etag})
		size += int64(len(buffer))
		if last {
			break
		}
		n, err := io.ReadFull(body, buffer[:s3Part])
		last = err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return nil, 0, err
		}
		buffer = buffer[:n]
	}
	return parts, size, nil
}

// complete makes an object of the parts.
func (s *s3Store) complete(ctx context.Context, key, id string, parts []completePart, size int64) (etag string, err error) {
	body, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []completePart
	}{Part: parts})
	if err != nil {
		return "", err
	}
	var answer struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
		ETag    string
	}
	r := s3Request{method: http.MethodPost, key: key, query: url.Values{"uploadId": {id}}, body: body, size: size, once: true}
	again := false
	err = repeat(ctx, func() error {
		_, err := s.call(ctx, r, &answer)
		if again && errors.Is(err, fs.ErrNotExist) { // the attempt before may have completed it, and its answer was lost
			return fmt.Errorf("%w: the upload is gone after an attempt to complete it: %v", ErrUnreachable, err)
		}
		again = true
		return err
	})
	return strings.Trim(answer.ETag, `"`), err
}

// putConditional writes an object with a condition.
func (s *s3Store) putConditional(ctx context.Context, name string, body io.Reader, o PutOptions) (Object, error) {
	b, err := readSmall(body)
	if err != nil {
		return Object{}, err
	}
	if err := s.probe(ctx); err != nil {
		return Object{}, err
	}
	object, err := s.putBytes(ctx, name, b, o)
	if o.IfMatch != "" && errors.Is(err, fs.ErrNotExist) {
		err = as(ErrCondition, errors.New("there is no object")) // S3 answers 404
	}
	return object, err
}

// probe makes sure once that the server honours conditions: one that ignores them would let every writer win.
func (s *s3Store) probe(ctx context.Context) error {
	s.probing.Lock()
	defer s.probing.Unlock()
	if s.honoured {
		return nil
	}
	name := reserved + "probe/" + rand.Text()
	defer func() {
		ctx, cancel := s.options.cleanUp(ctx)
		defer cancel()
		s.remove(ctx, name)
	}()
	if _, err := s.putBytes(ctx, name, nil, PutOptions{IfNone: true}); err != nil {
		return fmt.Errorf("probe conditions: %w", err)
	}
	for _, c := range []struct {
		header string
		PutOptions
	}{{"If-None-Match", PutOptions{IfNone: true}}, {"If-Match", PutOptions{IfMatch: "00000000000000000000000000000000"}}} {
		_, err := s.putBytes(ctx, name, nil, c.PutOptions)
		switch {
		case err == nil:
			return as(errors.ErrUnsupported, fmt.Errorf("the S3 server ignores %s", c.header))
		case !errors.Is(err, ErrCondition):
			return fmt.Errorf("probe %s: %w", c.header, err)
		}
	}
	s.honoured = true
	return nil
}
