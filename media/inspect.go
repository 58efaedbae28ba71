package media

import (
	"errors"
	"image"
	"io"
)

// InspectPicture returns the content type and stored dimensions of a PNG, JPEG, GIF or WebP picture, and where it ends in the file. It
// reads the structure and decodes nothing. Other content, and a picture that is damaged or incomplete, is an error.
func InspectPicture(file io.ReaderAt, size int64) (mime string, dimensions image.Point, end int64, err error) {
	head := make([]byte, min(size, sniffLength))
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", image.Point{}, 0, err
	}
	if len(head) == 0 {
		return "", image.Point{}, 0, ErrNotPicture
	}
	format, err := sniff(head, Emoji)
	if err != nil {
		return "", image.Point{}, 0, err
	}
	found, _, err := format.scan(newPeekReader(file, size))
	if err != nil {
		return "", image.Point{}, 0, err
	}
	return format.mime, image.Pt(found.width, found.height), found.end, nil
}
