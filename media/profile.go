package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// maxProfile is the size of the largest colour profile that is copied to thumbnails: one JPEG segment. Profiles of cameras and screens
// have a few thousand bytes; larger ones are for printing.
const maxProfile = 65533 - len(iccHeader) - 2

// rgbProfile returns a copy of an ICC profile if it is suitable for a thumbnail, else nil (ICC.1 7.2).
func rgbProfile(icc []byte) []byte {
	if len(icc) < 128 || len(icc) > maxProfile || string(icc[16:20]) != "RGB " || string(icc[36:40]) != "acsp" {
		return nil
	}
	return bytes.Clone(icc)
}

// pngProfile reads the profile from the n bytes of an iCCP chunk, without advancing (PNG 11.3.2.3). It ignores a malformed profile.
func pngProfile(w *peekReader, n int64) ([]byte, error) {
	if n > int64(maxProfile) {
		return nil, nil
	}
	b, err := w.peek(int(n))
	if err != nil {
		return nil, err
	}
	_, deflated, _ := bytes.Cut(b, []byte{0})
	if len(deflated) < 1 || deflated[0] != 0 {
		return nil, nil
	}
	z, err := zlib.NewReader(bytes.NewReader(deflated[1:]))
	if err != nil {
		return nil, nil
	}
	icc, err := io.ReadAll(io.LimitReader(z, int64(maxProfile)+1))
	if err != nil {
		return nil, nil
	}
	return rgbProfile(icc), nil
}

// withJPEGProfile adds a profile to a JPEG file of the encoder (ICC.1 B.4).
func withJPEGProfile(file, icc []byte) []byte {
	body := append([]byte(iccHeader), 1, 1) // segment 1 of 1
	segment := segmentOf(markerAPP2, append(body, icc...))
	const soi = 2
	return bytes.Join([][]byte{file[:soi], segment, file[soi:]}, nil)
}

// withPNGProfile adds a profile to a PNG file of the encoder.
func withPNGProfile(file, icc []byte) []byte {
	var body bytes.Buffer
	body.WriteString("iCCPicc\x00\x00")
	z := zlib.NewWriter(&body)
	z.Write(icc) // writing to memory does not fail
	z.Close()
	chunk := binary.BigEndian.AppendUint32(nil, uint32(body.Len()-4))
	chunk = append(chunk, body.Bytes()...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body.Bytes()))
	const header = len(pngHeader) + 8 + 13 + 4
	return bytes.Join([][]byte{file[:header], chunk, file[header:]}, nil)
}
