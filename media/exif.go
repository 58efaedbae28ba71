package media

import "encoding/binary"

const exifHeader = "Exif\x00\x00"

// exifOrientation returns the orientation in a TIFF structure, the body of EXIF metadata: 1 to 8, or 0 if there is none or it is
// malformed.
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0
	}
	start := int64(order.Uint32(tiff[4:]))
	if start < 8 || start > int64(len(tiff))-2 {
		return 0
	}
	dir := tiff[start:]
	count := int(order.Uint16(dir))
	entries := dir[2:]
	if len(entries) < count*12+4 { // the link to the next directory is not optional
		return 0
	}
	for i := range count {
		entry := entries[i*12:][:12]
		const tagOrientation, typeShort = 0x0112, 3
		if order.Uint16(entry) != tagOrientation {
			continue
		}
		value := order.Uint16(entry[8:])
		if order.Uint16(entry[2:]) != typeShort || order.Uint32(entry[4:]) != 1 || value < 1 || value > 8 {
			return 0
		}
		return int(value)
	}
	return 0
}

// orientationTIFF returns the smallest TIFF structure with an orientation. No other EXIF metadata is kept.
func orientationTIFF(orientation int) []byte {
	return []byte{
		'M', 'M', 0, '*', 0, 0, 0, 8, // big-endian, directory at 8
		0, 1, // one entry
		0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(orientation), 0, 0,
		0, 0, 0, 0, // no further directory
	}
}
