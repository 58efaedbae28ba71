package admin

import "golang.org/x/sys/unix"

// lowerPriority makes this thread wait for all others, on the processor and on the disk. It is no error if that is not permitted.
func lowerPriority() {
	const (
		lowest     = 19
		whoProcess = 1       // a thread
		idleClass  = 3 << 13 // only when nobody else uses the disk
	)
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), lowest)
	unix.Syscall(unix.SYS_IOPRIO_SET, whoProcess, uintptr(unix.Gettid()), idleClass)
}
