package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// terminal is the input and output of a command, interactive or not.
type terminal struct {
	in         io.Reader
	lineReader *bufio.Reader // of in
	out        io.Writer
	errOut     io.Writer
}

func newTerminal(in io.Reader, out, errOut io.Writer) terminal {
	return terminal{in: in, lineReader: bufio.NewReader(in), out: out, errOut: errOut}
}

// isTerminal returns the file descriptor of stream and true if it is a terminal.
func isTerminal(stream any) (fd int, is bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// ask prints a question and returns the answer, or defaultAnswer if that is empty.
func (t *terminal) ask(ctx context.Context, question, defaultAnswer string) (string, error) {
	if defaultAnswer != "" {
		question += " [" + defaultAnswer + "]"
	}
	fmt.Fprint(t.errOut, question+": ")
	line, err := readContext(ctx, t.line)
	if line == "" && err == nil {
		line = defaultAnswer
	}
	return line, err
}

// confirm asks a yes-or-no question. The default is no.
func (t *terminal) confirm(ctx context.Context, question string) (bool, error) {
	return t.confirmOr(ctx, question, false)
}

// confirmOr is confirm with a default.
func (t *terminal) confirmOr(ctx context.Context, question string, byDefault bool) (bool, error) {
	choices := "y/N"
	if byDefault {
		choices = "Y/n"
	}
	answer, err := t.ask(ctx, question, choices)
	if answer == choices {
		return byDefault, err
	}
	yes, ok := parseYesNo(answer)
	return yes && ok, err
}

// askPassword asks for a password, on a terminal twice and without echo. The answer may be empty.
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
		second, err := t.hidden(ctx, fd, "Repeat it")
		if err != nil {
			return "", err
		}
		if first == second {
			return first, nil
		}
		fmt.Fprintln(t.errOut, "The two entries differ. Try again.")
	}
}

// askOnce asks for a password once, on a terminal without echo.
func (t *terminal) askOnce(ctx context.Context, question string) (string, error) {
	if fd, is := isTerminal(t.in); is {
		return t.hidden(ctx, fd, question)
	}
	return t.ask(ctx, question, "")
}

// hidden reads a line without echo. It restores the terminal, also if it is interrupted.
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

// readContext returns the result of read, or the error of ctx if that ends first.
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
			return "", errors.New("no answer on standard input: use the flags of the command instead")
		}
		err = nil
	}
	return strings.TrimSpace(line), err
}

// progress returns a function that draws a progress bar, nil if errOut is not a terminal, and one to call at the end.
func (t *terminal) progress(what string) (report func(done, total int64), end func()) {
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
	return func(done, total int64) {
		bar.ChangeMax64(total)
		bar.Set64(done)
	}, func() { bar.Finish() }
}

// waiting shows that a command works, from its second second on until end is called. It shows nothing if errOut is not a terminal.
func (t *terminal) waiting(what string) (end func()) {
	if _, is := isTerminal(t.errOut); !is {
		return func() {}
	}
	stop := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
		bar := progressbar.NewOptions64(-1,
			progressbar.OptionSetWriter(t.errOut),
			progressbar.OptionSetDescription(what),
			progressbar.OptionClearOnFinish(),
		)
		defer bar.Finish()
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			bar.Add(1)
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
		}
	})
	return func() {
		close(stop)
		drawing.Wait()
	}
}

// steps draws a progress bar for each step of a command in turn.
type steps struct {
	t    *terminal
	what string
	draw func(done, total int64)
	stop func()
}

func (t *terminal) steps() *steps { return &steps{t: t, stop: func() {}} }

// report draws how far a step is.
func (s *steps) report(what string, done, total int64) {
	if s.draw == nil || what != s.what {
		s.end()
		s.what = what
		s.draw, s.stop = s.t.progress(what)
	}
	if s.draw != nil {
		s.draw(done, total)
	}
}

// end removes the bar.
func (s *steps) end() {
	s.stop()
	s.draw, s.stop = nil, func() {}
}
