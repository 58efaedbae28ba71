package media

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/gabriel-vasile/mimetype"

	"svc/internal/errs"
)

// sniffLength is how much of a file's beginning decides on its type.
const sniffLength = 3072

// format is a kind of file that is accepted. Everything else is refused.
type format struct {
	mime, ext string
	scan      scanFunc                                                     // nil: kept as it came
	decode    func(src *io.SectionReader, f fileInfo) (image.Image, error) // nil: not a picture that is ever decoded
}

var (
	formatPNG  = &format{"image/png", "png", scanPNG, decodeBy(png.Decode)}
	formatJPEG = &format{"image/jpeg", "jpg", scanJPEG, decodeBy(jpeg.Decode)}
	formatGIF  = &format{"image/gif", "gif", scanGIF, decodeBy(gif.Decode)}
	formatWebP = &format{"image/webp", "webp", scanWebP, decodeWebP}
	formatAVIF = &format{"image/avif", "avif", scanHEIF, nil}
	formatHEIC = &format{"image/heic", "heic", scanHEIF, nil}
	formatHEIF = &format{"image/heif", "heif", scanHEIF, nil}
	formatMP4  = &format{"video/mp4", "mp4", scanMovie, nil}
	formatMOV  = &format{"video/quicktime", "mov", scanMovie, nil}
	formatWebM = &format{"video/webm", "webm", nil, nil}
	formatM4A  = &format{"audio/mp4", "m4a", scanMovie, nil}
	formatMP3  = &format{"audio/mpeg", "mp3", nil, nil}
	formatOGG  = &format{"audio/ogg", "ogg", nil, nil}
	formatFLAC = &format{"audio/flac", "flac", nil, nil}
	formatWAV  = &format{"audio/wav", "wav", nil, nil}
)

var formats = []*format{
	formatPNG, formatJPEG, formatGIF, formatWebP, formatAVIF, formatHEIC, formatHEIF,
	formatMP4, formatMOV, formatWebM,
	formatM4A, formatMP3, formatOGG, formatFLAC, formatWAV,
}

// formatByType leads from the types that mimetype tells apart to the formats that are told apart here.
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
	"audio/mp4":       formatMP4, // brands that cameras use as well; the tracks decide
	"video/quicktime": formatMOV,
	"video/webm":      formatWebM,
	"audio/x-m4a":     formatM4A,
	"audio/mpeg":      formatMP3,
	"audio/ogg":       formatOGG,
	"audio/flac":      formatFLAC,
	"audio/wav":       formatWAV,
}

// mimeByExt is the type a file is served with, by the extension of its name. It is the whole list of what is ever served.
var mimeByExt = func() map[string]string {
	m := make(map[string]string, len(formats))
	for _, f := range formats {
		m[f.ext] = f.mime
	}
	return m
}()

// MIMETypes lists the types that attachments can have, pictures first.
func MIMETypes() []string {
	list := make([]string, len(formats))
	for i, f := range formats {
		list[i] = f.mime
	}
	return list
}

// sniff tells the format of a file by its first bytes. What the client claims it to be plays no part.
func sniff(head []byte, kind Kind) (*format, error) {
	f := detect(head)
	if pictures := kindRules[kind].pictures; pictures && (f == nil || f.decode == nil) {
		return nil, errs.Invalid("Only PNG, JPEG, GIF and WebP pictures can be used here")
	}
	if f == nil {
		return nil, errs.Invalid("Files of this type are not accepted")
	}
	return f, nil
}

// detect returns the format that the first bytes of a file are of, nil if it is none of ours.
func detect(head []byte) *format {
	f := formatByType[mimetype.Detect(head).String()]
	if f == formatMP3 && !bytes.HasPrefix(head, []byte("ID3")) && (head[0] != 0xff || head[1]&0xe0 != 0xe0) {
		return nil // something in which a frame of sound was found further on, by chance or by design
	}
	return f
}

// refine corrects the format by what the file turned out to hold: an MP4 without a picture track is a sound recording.
func (f *format) refine(found fileInfo) *format {
	if f == formatMP4 && !found.video {
		return formatM4A
	}
	return f
}

func decodeBy(decode func(io.Reader) (image.Image, error)) func(*io.SectionReader, fileInfo) (image.Image, error) {
	return func(src *io.SectionReader, _ fileInfo) (image.Image, error) { return decode(src) }
}
