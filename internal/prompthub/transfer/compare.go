package transfer

import (
	"cmp"
	"context"
	"path"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
)

// Files are those of a prompt at two versions of it. Both are "" where the contents and
// descriptions of the versions say all that differs.
type Files struct {
	Name     string // what the file is called
	From, To string
}

// CompareFiles returns the files of a prompt at two of its versions, in the format of the file that
// the later was made of.
func CompareFiles(ctx context.Context, s *library.Service, a, b library.View) (Files, error) {
	if a.ShownVersion.FileHash == b.ShownVersion.FileHash || len(a.ShownVersion.Files)+len(b.ShownVersion.Files) > 0 {
		return Files{}, nil // the files of a skill are compared one by one
	}
	var p, q stored
	g, reading := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		p, err = storedOf(reading, s, a)
		return err
	})
	g.Go(func() (err error) {
		q, err = storedOf(reading, s, b)
		return err
	})
	err := g.Wait()
	made := cmp.Or(q.made, p.made)
	if err != nil || made == nil {
		return Files{}, err
	}
	f := format.Format(made.Format)
	from, to := p.fileIn(f), q.fileIn(f)
	p.View, p.doc = q.View, q.doc
	if written, _, err := p.encode(f, format.Library); err == nil && format.SameLines(written, to) {
		return Files{}, nil // the file before, with what the later version says
	}
	return Files{path.Base(made.File), string(from), string(to)}, nil
}

// fileIn returns the file of a version in a format, with the text as it is; nil if there is none.
func (p stored) fileIn(f format.Format) []byte {
	if m := p.made; m != nil && m.Version == p.Version && format.Format(m.Format) == f && format.Kept(&m.Source) {
		return m.Bytes
	}
	file, _, err := p.encode(f, format.Library)
	if err != nil {
		return nil // the format cannot hold the prompt
	}
	return file
}
