package functiontest

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Line is what the handler wrote on one line of its standard output or standard error, with
// the level that the host gives it: it does not look for a level in the text.
type Line struct {
	Level slog.Level
	Text  string
}

type logs struct {
	mu    sync.Mutex
	lines []Line
}

func (l *logs) add(level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, Line{level, text})
}

func (l *logs) all() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

func (l *logs) dump(tb testing.TB) {
	for _, line := range l.all() {
		tb.Logf("handler: %s %s", line.Level, line.Text)
	}
}

// A stream cuts one output of one process into lines.
type stream struct {
	*logs
	level func(line string) slog.Level
	rest  []byte // the beginning of a line that has not ended
}

func stdout(string) slog.Level { return slog.LevelInfo }

func stderr(line string) slog.Level {
	if strings.Contains(strings.ToLower(line), "warn") {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// Write is called by one goroutine only.
func (s *stream) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		line, rest, ok := bytes.Cut(s.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		s.line(line)
		s.rest = rest
	}
}

// flush takes what the process wrote last for a line.
func (s *stream) flush() {
	if len(s.rest) > 0 {
		s.line(s.rest)
		s.rest = nil
	}
}

func (s *stream) line(b []byte) {
	text := strings.TrimSuffix(string(b), "\r")
	s.add(s.level(text), text)
}
