package media

import (
	"bytes"
	"image"
	"image/gif"
	"image/png"
	"io"

	"github.com/gabriel-vasile/mimetype"
)

// sniffLength is the number of bytes at the start of a file by which its type is detected.
const sniffLength = 3072

// format is an accepted file format. All others are rejected.
type format struct {
	mime, ext string
	scan      scanFunc
	decode    decodeFunc // nil: never decoded
}

// decodeFunc decodes a picture, reduced by a number that fileInfo.reduction has returned.
type decodeFunc func(src *io.SectionReader, f fileInfo, reduction int) (image.Image, error)

var (
	formatPNG  = &format{"image/png", "png", scanPNG, decodeBy(png.Decode)}
	formatJPEG = &format{"image/jpeg", "jpg", scanJPEG, decodeJPEG}
	formatGIF  = &format{"image/gif", "gif", scanGIF, decodeBy(gif.Decode)}
	formatWebP = &format{"image/webp", "webp", scanWebP, decodeWebP}
	formatAVIF = &format{"image/avif", "avif", scanHEIF, nil}
	formatHEIC = &format{"image/heic", "heic", scanHEIF, nil}
	formatHEIF = &format{"image/heif", "heif", scanHEIF, nil}
	formatMP4  = &format{"video/mp4", "mp4", scanMovie, nil}
	formatMOV  = &format{"video/quicktime", "mov", scanMovie, nil}
	formatWebM = &format{"video/webm", "webm", scanWebM, nil}
	formatM4A  = &format{"audio/mp4", "m4a", scanMovie, nil}
	formatWebA = &format{"audio/webm", "weba", scanWebM, nil}
	formatMP3  = &format{"audio/mpeg", "mp3", scanMP3, nil}
	formatOGG  = &format{"audio/ogg", "ogg", scanOGG, nil}
	formatFLAC = &format{"audio/flac", "flac", scanFLAC, nil}
	formatWAV  = &format{"audio/wav", "wav", scanWAV, nil}
)

var formats = []*format{
	formatPNG, formatJPEG, formatGIF, formatWebP, formatAVIF, formatHEIC, formatHEIF,
	formatMP4, formatMOV, formatWebM,
	formatM4A, formatWebA, formatMP3, formatOGG, formatFLAC, formatWAV,
}

// formatByType maps the types of mimetype to formats.
var formatByType = map[string]*format{
	"image/png":       formatPNG,
	"image/apng":      formatPNG,
	"image/jpeg":      formatJPEG,
	"image/gif":       formatGIF,
	"image/webp":      formatWebP,
	"image/avif":      formatAVIF,
	"image/heic":      formatHEIC,
	"image/heif":      formatHEIF,
	"video/mp4":       formatMP4,
	"video/x-m4v":     formatMP4,
	"audio/mp4":       formatMP4, // also used by cameras; refine looks at the tracks
	"video/quicktime": formatMOV,
	"video/webm":      formatWebM,
	"audio/x-m4a":     formatM4A,
	"audio/mpeg":      formatMP3,
	"audio/ogg":       formatOGG,
	"audio/flac":      formatFLAC,
	"audio/wav":       formatWAV,
}

// mimeByExt maps the extension of a stored name to the content type that is served. No other types are served.
var mimeByExt = func() map[string]string {
	m := make(map[string]string, len(formats))
	for _, f := range formats {
		m[f.ext] = f.mime
	}
	return m
}()

// MIMETypes returns the types of attachments, pictures first.
func MIMETypes() []string {
	list := make([]string, len(formats))
	for i, f := range formats {
		list[i] = f.mime
	}
	return list
}

// sniff detects the format of a file by its first bytes. The declared type is not used.
func sniff(head []byte, kind Kind) (*format, error) {
	f := detect(head)
	if pictures := kindRules[kind].pictures; pictures && (f == nil || f.decode == nil) {
		return nil, ErrNotPicture
	}
	if f == nil {
		return nil, ErrUnsupported
	}
	return f, nil
}

// detect returns the format of a file by its first bytes, nil if it is not supported.
func detect(head []byte) *format {
	f := formatByType[mimetype.Detect(head).String()]
	if hasPrefix(head, "fLaC\x80\x00\x00\x22") { // its only metadata block is the stream information
		return formatFLAC
	}
	if f == formatMP3 && !bytes.HasPrefix(head, []byte("ID3")) && (head[0] != 0xff || head[1]&0xe0 != 0xe0) {
		return nil // an MP3 frame further on does not make a file MP3
	}
	return f
}

// refine corrects the format by the content: a movie without a video track is a sound file.
func (f *format) refine(found fileInfo) *format {
	if !found.video {
		return f.soundOnly()
	}
	return f
}

// soundOnly returns the format of a file without pictures. Only containers that can have them have another one. QuickTime is the older form of MP4,
// has no type of its own for sound, and is played by what plays MP4.
func (f *format) soundOnly() *format {
	switch f {
	case formatMP4, formatMOV:
		return formatM4A
	case formatWebM:
		return formatWebA
	}
	return f
}

func decodeBy(decode func(io.Reader) (image.Image, error)) decodeFunc {
	return func(src *io.SectionReader, _ fileInfo, _ int) (image.Image, error) { return decode(src) }
}
