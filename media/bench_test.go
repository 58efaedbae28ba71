//go:build unix

package media

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkUploadJPEG stores a photograph of 2 megapixels as an attachment, each time a different file: the cost of an upload below the
// API, syncing included. It reports the CPU time of the whole process.
func BenchmarkUploadJPEG(b *testing.B) {
	plain := encodeJPEG(photo(1632, 1224))
	for _, bb := range []struct {
		name        string
		orientation uint16
	}{{"upright", 1}, {"turned", 6}} {
		b.Run(bb.name, func(b *testing.B) {
			f, _ := openFiles(b, Limits{})
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			start := processorTime(b)
			for i := 0; b.Loop(); i++ {
				mark := segmentOf(markerAPP2, fmt.Appendf([]byte(iccHeader), "%14d", i)) // a segment that is kept
				file := insert(plain, 2, exifSegment(bb.orientation), mark)
				got, err := f.Ingest(b.Context(), 1, bytes.NewReader(file), Attachment, 10<<20)
				if err != nil || got.Thumbnail == "" {
					b.Fatalf("%+v, %v", got, err)
				}
				got.Release()
			}
			b.ReportMetric(float64((processorTime(b)-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCleanJPEG removes the metadata of the same photograph in memory.
func BenchmarkCleanJPEG(b *testing.B) {
	file := insert(encodeJPEG(photo(1632, 1224)), 2, exifSegment(6))
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, _, err := cleaned(file, scanJPEG); err != nil {
			b.Fatal(err)
		}
	}
}
