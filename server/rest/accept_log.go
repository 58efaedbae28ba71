package rest

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
)

// acceptLogger logs why connections cannot be accepted. net/http tries again.
type acceptLogger struct {
	net.Listener
	log *slog.Logger
}

func (l *acceptLogger) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		l.log.Error("new connections have to wait: too many files are open; raise the limit (LimitNOFILE in systemd)", "err", err)
	}
	return c, err
}
