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
	zipLocatorLength = 20
	zip64EndLength   = 56
	maxEntryHeader   = 4096 // bytes of an entry in the list, on the average
	maxZipComment    = 1<<16 - 1
	zipEndMark       = "PK\x05\x06"
	zipDirectoryMark = "PK\x01\x02"
	zipFileMark      = "PK\x03\x04"
	zipLocatorMark   = "PK\x06\x07"
	zip64EndMark     = "PK\x06\x06"
)

// checkDirectory checks the list of entries at the end of an archive before package zip loads it. That package believes neither the
// number of entries nor the size of the list, so that a small archive could take hundreds of megabytes.
//
// Nothing may stand before the first entry, between the list and the end, or behind the end: such a file could be of two kinds at once.
func checkDirectory(r io.ReaderAt, size int64, maxEntries int, large bool) error {
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
	d := directory{
		count:  uint64(binary.LittleEndian.Uint16(end[10:])),
		length: uint64(binary.LittleEndian.Uint32(end[12:])), offset: uint64(binary.LittleEndian.Uint32(end[16:])), end: size - int64(len(end)),
	}
	if d.count == 1<<16-1 || d.length == 1<<32-1 || d.offset == 1<<32-1 {
		if !large {
			return errs.Invalid("zip64 archives are not accepted")
		}
		var err error
		if d, err = readLargeEnd(r, d.end); err != nil {
			return err
		}
	}
	switch {
	case d.count == 0:
		return errs.Invalid("the archive is empty")
	case d.count > uint64(maxEntries):
		return errs.Invalid("the archive has %d entries, more than %d", d.count, maxEntries)
	case d.offset > uint64(size) || d.length > uint64(size) || int64(d.offset)+int64(d.length) != d.end:
		return errs.Invalid("the list of entries is not at the end of the archive, or other data precedes the archive")
	case large && d.length > uint64(maxEntries)*maxEntryHeader: // countEntries finds it in the others
		return errs.Invalid("the list of entries of the archive has %d bytes", d.length)
	}
	mark := make([]byte, len(zipFileMark))
	if _, err := r.ReadAt(mark, 0); err != nil {
		return err
	}
	if string(mark) != zipFileMark {
		return errs.Invalid("other data precedes the archive")
	}
	return countEntries(io.NewSectionReader(r, int64(d.offset), int64(d.length)), int(d.count))
}

// directory is the list of entries at the end of an archive.
type directory struct {
	count, length, offset uint64
	end                   int64 // where it must end
}

// readLargeEnd returns the list of entries as the zip64 records before the end of an archive say it (APPNOTE 4.3.14, 4.3.15).
func readLargeEnd(r io.ReaderAt, end int64) (directory, error) {
	damaged := errs.Invalid("the archive is damaged: its zip64 records are missing")
	locator := make([]byte, zipLocatorLength)
	if end < zipLocatorLength+zip64EndLength {
		return directory{}, damaged
	}
	if _, err := r.ReadAt(locator, end-zipLocatorLength); err != nil {
		return directory{}, err
	}
	at := binary.LittleEndian.Uint64(locator[8:])
	if string(locator[:4]) != zipLocatorMark || at != uint64(end)-zipLocatorLength-zip64EndLength {
		return directory{}, damaged
	}
	record := make([]byte, zip64EndLength)
	if _, err := r.ReadAt(record, int64(at)); err != nil {
		return directory{}, err
	}
	if string(record[:4]) != zip64EndMark || binary.LittleEndian.Uint64(record[24:]) != binary.LittleEndian.Uint64(record[32:]) {
		return directory{}, damaged
	}
	return directory{
		count: binary.LittleEndian.Uint64(record[32:]), length: binary.LittleEndian.Uint64(record[40:]), offset: binary.LittleEndian.Uint64(record[48:]), end: int64(at),
	}, nil
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
