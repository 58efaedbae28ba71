package command_test

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkColdStart measures the time from the start of the program to its first response, with an existing database. It also
// reports the CPU time and the peak memory until its exit.
func BenchmarkColdStart(b *testing.B) {
	p := newWorkspace(b)
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	var cpu time.Duration
	var memory int64
	for b.Loop() {
		s := p.start()
		for {
			if status, _, err := p.request(b.Context(), "GET", "/api/v1/instance", "", nil); err == nil && status == 200 {
				break
			}
			select {
			case <-s.done:
				b.Fatalf("the server ended: %v; the log:\n%s", s.Err, s.log)
			case <-time.After(time.Millisecond):
			}
		}
		b.StopTimer()
		s.stop()
		cpu += s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
		if usage, ok := s.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			memory = max(memory, usage.Maxrss)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(memory)/1024, "MiB-peak")
}
