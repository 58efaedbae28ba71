package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// terminal is where a command reads and writes: a person at a terminal, or a script.
type terminal struct {
	in     io.Reader
	lines  *bufio.Reader // of in
	out    io.Writer
	errOut io.Writer
}

func newTerminal(in io.Reader, out, errOut io.Writer) terminal {
	return terminal{in: in, lines: bufio.NewReader(in), out: out, errOut: errOut}
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
func (t *terminal) ask(question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	fmt.Fprint(t.errOut, question+": ")
	line, err := t.line()
	if line == "" && err == nil {
		line = usual
	}
	return line, err
}

// confirm puts a question that is answered with yes or no.
func (t *terminal) confirm(question string) (bool, error) {
	answer, err := t.ask(question, "y/N")
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"), err
}

// askPassword asks for a password without showing it, and on a terminal a second time. Nothing is an answer too.
func (t *terminal) askPassword(question string) (string, error) {
	fd, is := isTerminal(t.in)
	if !is {
		return t.ask(question, "")
	}
	for {
		first, err := t.hidden(fd, question)
		if err != nil || first == "" {
			return "", err
		}
		second, err := t.hidden(fd, "The same again")
		if err != nil {
			return "", err
		}
		if first == second {
			return first, nil
		}
		fmt.Fprintln(t.errOut, "These were not the same.")
	}
}

func (t *terminal) hidden(fd int, question string) (string, error) {
	fmt.Fprint(t.errOut, question+": ")
	b, err := term.ReadPassword(fd)
	fmt.Fprintln(t.errOut)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return string(b), nil
}

func (t *terminal) line() (string, error) {
	line, err := t.lines.ReadString('\n')
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
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(t.errOut),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)
	return func(done, all int64) {
		bar.ChangeMax64(all)
		bar.Set64(done)
	}, func() { bar.Finish() }
}
