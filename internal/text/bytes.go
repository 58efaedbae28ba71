package text

import "fmt"

// Bytes formats a size in its largest unit, as 1.5 MB.
func Bytes(n int64) string {
	const units = "KMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/1000, 0
	for ; size >= 1000 && unit < len(units)-1; unit++ {
		size /= 1000
	}
	return fmt.Sprintf("%.1f %cB", size, units[unit])
}
