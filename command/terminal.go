package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// terminal is where a command reads and writes: a person at a terminal, or a script.
type terminal struct {
	in         io.Reader
	lineReader *bufio.Reader // of in
	out        io.Writer
	errOut     io.Writer
}

func newTerminal(in io.Reader, out, errOut io.Writer) terminal {
	return terminal{in: in, lineReader: bufio.NewReader(in), out: out, errOut: errOut}
}

// isTerminal tells whether a person is at the other end.
func isTerminal(stream any) (fd int, is bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// ask puts a question and returns the answer, or the usual one if that is empty.
func (t *terminal) ask(ctx context.Context, question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	fmt.Fprint(t.errOut, question+": ")
	line, err := readContext(ctx, t.line)
	if line == "" && err == nil {
		line = usual
	}
	return line, err
}

// confirm puts a question that is answered with yes or no.
func (t *terminal) confirm(ctx context.Context, question string) (bool, error) {
	answer, err := t.ask(ctx, question, "y/N")
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"), err
}

// askPassword asks for a password without showing it, and on a terminal a second time. Nothing is an answer too.
func (t *terminal) askPassword(ctx context.Context, question string) (string, error) {
	fd, is := isTerminal(t.in)
	if !is {
		return t.ask(ctx, question, "")
	}
	for {
		first, err := t.hidden(ctx, fd, question)
		if err != nil || first == "" {
			return "", err
		}
		second, err := t.hidden(ctx, fd, "The same again")
		if err != nil {
			return "", err
		}
		if first == second {
			return first, nil
		}
		fmt.Fprintln(t.errOut, "These were not the same.")
	}
}

// hidden reads a line that the terminal does not show. Whoever interrupts it finds the terminal as it was.
func (t *terminal) hidden(ctx context.Context, fd int, question string) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	defer term.Restore(fd, before)
	defer fmt.Fprintln(t.errOut)
	fmt.Fprint(t.errOut, question+": ")
	b, err := readContext(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	return string(b), err
}

// readContext returns what read returns, but does not wait for it longer than until ctx ends.
func readContext[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := read()
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (t *terminal) line() (string, error) {
	line, err := t.lineReader.ReadString('\n')
	if errors.Is(err, io.EOF) {
		if line == "" {
			return "", errors.New("there was no answer: give it on the command line")
		}
		err = nil
	}
	return strings.TrimSpace(line), err
}

// progress returns a function that shows how far some work is, if a person is watching, and one to call in the end.
func (t *terminal) progress(what string) (tell func(done, all int64), end func()) {
	if _, is := isTerminal(t.errOut); !is {
		return nil, func() {}
	}
	bar := progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(t.errOut),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	bar.RenderBlank()
	return func(done, all int64) {
		bar.ChangeMax64(all)
		bar.Set64(done)
	}, func() { bar.Finish() }
}
