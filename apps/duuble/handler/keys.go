package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"prompthub/apps/duuble/internal/keyring"
	"prompthub/internal/host/command"
)

// keysFile is where "local" keeps the keys that no setting gives. It is apart from the file of the
// store, so that a copy of that file opens nothing.
const keysFile = "duuble.keys"

// keys are those of the settings, and for "local" those of the file where a setting gives none.
type keys struct{ secret, vote keyring.Ring }

// read reads the keys that settings give.
func readKeys(s settings) (k keys, err error) {
	for _, one := range []struct {
		setting, text string
		into          *keyring.Ring
	}{{"SECRET_KEYS", s.SecretKeys, &k.secret}, {"VOTE_KEYS", s.VoteKeys, &k.vote}} {
		switch {
		case one.text != "":
			if *one.into, err = keyring.Parse(one.text); err != nil {
				return keys{}, refusal(one.setting, err.Error())
			}
		case s.underHost():
			return keys{}, refusal(one.setting, "is not set: it holds the keys by which data is sealed; make one with openssl rand -base64 32, and keep it apart from the data")
		}
	}
	return k, nil
}

// complete takes the keys that settings do not give from the file in a directory, which it makes
// once if it may.
func (k keys) complete(dir string, mayMake bool) (keys, error) {
	if k.secret != nil && k.vote != nil {
		return k, nil
	}
	path := filepath.Join(dir, keysFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !mayMake {
		return keys{}, fmt.Errorf("there are no keys: set SECRET_KEYS and VOTE_KEYS, or put the %s of the data into %s",
			keysFile, dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = makeKeys(dir, path); err != nil {
			return keys{}, fmt.Errorf("make keys: %w", err)
		}
	}
	if err != nil {
		return keys{}, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		into := map[string]*keyring.Ring{"SECRET_KEYS": &k.secret, "VOTE_KEYS": &k.vote}[name]
		if into == nil || *into != nil {
			continue
		}
		if *into, err = keyring.Parse(value); err != nil {
			return keys{}, fmt.Errorf("%s: %s %w", path, name, err)
		}
	}
	if k.secret == nil || k.vote == nil {
		return keys{},
			fmt.Errorf("%s has no keys; without them the data cannot be read: put the file back, or begin in another directory", path)
	}
	return k, nil
}

// makeKeys writes new keys. Another process may do it at the same time: the first file counts.
func makeKeys(dir, path string) ([]byte, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, name := range []string{"SECRET_KEYS", "VOTE_KEYS"} {
		key := make([]byte, keyring.KeyBytes)
		rand.Read(key) // it never fails
		fmt.Fprintf(&text, "%s=%s\n", name, base64.StdEncoding.EncodeToString(key))
	}
	file, err := os.CreateTemp(dir, keysFile+".*.tmp") // readable by its owner alone
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text.Bytes())
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := command.SyncDir(dir); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
