package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

const (
	// program is the name of PromptHub in an archive.
	program = "prompthub"
	// sums is the file with the digests of all others, as sha256sum checks them.
	sums = "SHA256SUMS"
)

// released are the platforms of a release.
var released = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// accompanying are the files that each archive has with the program, under the same names.
var accompanying = []string{
	"LICENSE", "docs/self-host.md", "deploy/Caddyfile", "deploy/compose.yml",
	"deploy/prompthub.env.example", "deploy/prompthub.service",
}

// versions are those of semantic versioning, as a tag has them. None has a character that would end
// the linker's flag.
var versions = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z][0-9A-Za-z.-]*)?$`)

func runRelease(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("stage release", flag.ContinueOnError)
	version := flags.String("version", "", "`version` of the release, such as v1.2.3")
	dir := flags.String("out", "dist/release", "`directory` to make anew")
	only := flags.String("platforms", "", "`list` of platforms such as linux/amd64,windows/arm64, instead of all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if !versions.MatchString(*version) {
		return fmt.Errorf("-version %q: want one such as v1.2.3 or v1.2.3-rc.1", *version)
	}
	wanted := released
	if *only != "" {
		wanted = nil
		for name := range strings.SplitSeq(*only, ",") {
			goos, arch, _ := strings.Cut(name, "/")
			if !slices.Contains(released, platform{goos, arch}) {
				return fmt.Errorf("-platforms: no release is built for %q", name)
			}
			wanted = append(wanted, platform{goos, arch})
		}
	}
	commit, err := head(ctx, ".")
	if err != nil {
		return err
	}
	if err := empty(*dir, sums); err != nil {
		return err
	}
	// First, so that a release that was interrupted can be made anew.
	if err := os.WriteFile(filepath.Join(*dir, sums), nil, 0o644); err != nil {
		return err
	}
	for _, p := range wanted {
		if err := releaseFor(ctx, ".", *dir, *version, commit, p); err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
	}
	if err := sum(*dir); err != nil {
		return err
	}
	fmt.Fprintln(out, "released in", *dir)
	return nil
}

// head returns the commit that a release is built from, and whether the source has changes.
func head(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=40",
		"--exclude=*", "--dirty= with changes")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the commit: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// releaseFor makes the archive for one platform, and next to it the list of its modules.
func releaseFor(ctx context.Context, root, out, version, commit string, p platform) error {
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	name := fmt.Sprintf("%s_%s_%s_%s", program, version, p.os, p.arch)
	dir := filepath.Join(work, name)
	for _, file := range accompanying {
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := copyFile(filepath.Join(root, filepath.FromSlash(file)), to); err != nil {
			return err
		}
	}
	built := filepath.Join(dir, program)
	if p.os == "windows" {
		built += ".exe"
	}
	const variable = "-X 'prompthub/internal/host/command."
	if err := build(ctx, root, built, p, variable+"release="+version+"'",
		variable+"releaseCommit="+commit+"'"); err != nil {
		return err
	}
	if err := components(built, filepath.Join(out, name+".cdx.json"), version); err != nil {
		return err
	}
	if p.os == "windows" {
		return zipDir(work, filepath.Join(out, name+".zip"))
	}
	return tarDir(work, filepath.Join(out, name+".tar.gz"))
}

// tarDir is zipDir for a compressed tar archive.
func tarDir(dir, archive string) (err error) {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	// WalkDir goes in the order of the names.
	files := os.DirFS(dir)
	err = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, ModTime: zipped}
		if e.Name() == program {
			header.Mode = 0o755
		}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	return errors.Join(err, w.Close(), z.Close())
}

// components writes the software bill of materials of a built program, in the form of CycloneDX:
// the modules that the linker noted in it, with their digests, and the standard library.
func components(built, out, version string) (err error) {
	info, err := buildinfo.ReadFile(built)
	if err != nil {
		return err
	}
	of := func(module, version string) cdx.Component {
		url := "pkg:golang/" + module + "@" + version
		return cdx.Component{
			BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: module,
			Version: version, PackageURL: url,
		}
	}
	self := of(info.Main.Path, version)
	self.Type = cdx.ComponentTypeApplication
	all := []cdx.Component{of("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := of(m.Path, m.Version)
		// A digest of Go is one of the digests of the files of a module, so it is no hash of CycloneDX.
		c.Properties = &[]cdx.Property{{Name: "cdx:go:mod:sum", Value: m.Sum}}
		all = append(all, c)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &self}
	bom.Components = &all
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// sum writes the digests of all files of dir into one more.
func sum(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range entries {
		if e.Name() == sums {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, sums), []byte(lines.String()), 0o644)
}
