package unzip

import (
	"bytes"
	"encoding/binary"
	"io"

	"svc/internal/errs"
)

// Records of the zip format (APPNOTE 4.3.12, 4.3.16).
const (
	zipEndLength     = 22
	zipEntryLength   = 46
	maxZipComment    = 1<<16 - 1
	zipEndMark       = "PK\x05\x06"
	zipDirectoryMark = "PK\x01\x02"
	zipFileMark      = "PK\x03\x04"
)

// checkDirectory checks the list of entries at the end of an archive before package zip loads it. That package believes neither the
// number of entries nor the size of the list, so that a small archive could take hundreds of megabytes.
//
// Nothing may stand before the first entry, between the list and the end, or behind the end: such a file could be of two kinds at once.
func checkDirectory(r io.ReaderAt, size int64, maxEntries int) error {
	notZip := errs.Invalid("the file is not a zip archive")
	tail := make([]byte, min(size, zipEndLength+maxZipComment))
	if n, err := r.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return err
	}
	at := bytes.LastIndex(tail, []byte(zipEndMark))
	if at < 0 || len(tail)-at < zipEndLength {
		return notZip
	}
	end := tail[at:]
	if comment := int(binary.LittleEndian.Uint16(end[20:])); len(end) != zipEndLength+comment {
		return errs.Invalid("the archive is cut off, or other data follows it")
	}
	if binary.LittleEndian.Uint32(end[4:]) != 0 || binary.LittleEndian.Uint16(end[8:]) != binary.LittleEndian.Uint16(end[10:]) {
		return errs.Invalid("the archive has several parts")
	}
	count := int(binary.LittleEndian.Uint16(end[10:]))
	length, offset := binary.LittleEndian.Uint32(end[12:]), binary.LittleEndian.Uint32(end[16:])
	switch {
	case count == 1<<16-1 || length == 1<<32-1 || offset == 1<<32-1:
		return errs.Invalid("zip64 archives are not accepted")
	case count == 0:
		return errs.Invalid("the archive is empty")
	case count > maxEntries:
		return errs.Invalid("the archive has %d entries, more than %d", count, maxEntries)
	case int64(offset)+int64(length) != size-int64(len(end)):
		return errs.Invalid("the list of entries is not at the end of the archive, or other data precedes the archive")
	}
	mark := make([]byte, len(zipFileMark))
	if _, err := r.ReadAt(mark, 0); err != nil {
		return err
	}
	if string(mark) != zipFileMark {
		return errs.Invalid("other data precedes the archive")
	}
	return countEntries(io.NewSectionReader(r, int64(offset), int64(length)), count)
}

// countEntries checks that a list of entries has the length that it claims.
func countEntries(list *io.SectionReader, want int) error {
	head := make([]byte, zipEntryLength)
	var found int
	var at int64
	for ; at < list.Size(); found++ {
		if _, err := list.ReadAt(head, at); err != nil || string(head[:4]) != zipDirectoryMark {
			return errs.Invalid("the list of entries of the archive is damaged")
		}
		name, extra, comment := binary.LittleEndian.Uint16(head[28:]), binary.LittleEndian.Uint16(head[30:]), binary.LittleEndian.Uint16(head[32:])
		at += zipEntryLength + int64(name) + int64(extra) + int64(comment)
	}
	if found != want || at != list.Size() {
		return errs.Invalid("the archive claims %d entries and has %d", want, found)
	}
	return nil
}
