package marketplace

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors"
	zip "prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	packages = "/packages/"
	ending   = ".zip"
)

// The codes of addresses that no longer lead to a package. Reading the catalogue again helps.
const (
	addressExpired fault.Code = "ADDRESS_EXPIRED"
	packageChanged fault.Code = "PACKAGE_CHANGED"
)

// An address says where a package is: that of a version of a prompt, with its SHA-256 in hex.
type address struct {
	id      prompt.ID
	version int64
	digest  string
}

func (a address) path() string {
	return fmt.Sprintf("%s%s%s/%d/%s%s", Prefix, packages, strings.ToLower(string(a.id)), a.version, a.digest, ending)
}

// addressOf returns the address that a request is for.
func addressOf(r *http.Request) (a address, err error) {
	id, isID := prompt.ParseID(r.PathValue("id"))
	version, err := strconv.ParseInt(r.PathValue("version"), 10, 64)
	digest, isZIP := strings.CutSuffix(r.PathValue("package"), ending)
	if !isID || err != nil || version < 1 || !isZIP {
		return a, errNoPackage()
	}
	return address{id, version, digest}, nil
}

// Installers send an access token to a catalogue, and none to the packages of other hosts. So the
// catalogue of a token has addresses that the token has signed, good to the end of the next day.
const (
	tokenParam     = "token"
	untilParam     = "until"
	signatureParam = "signature"
)

// signed returns the address of a package for those who hold a catalogue of the caller.
func (d *handler) signed(ctx context.Context, who auth.User, path, origin string) (string, error) {
	until := d.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	signature, err := d.Service.Sign(ctx, who, signs(path, until))
	if err != nil {
		return "", err
	}
	query := url.Values{tokenParam: {who.Grant.TokenID}, untilParam: {until}, signatureParam: {signature}}
	return origin + path + "?" + query.Encode(), nil
}

// signs returns the text that a signature of an address is of.
func signs(path, until string) string { return "package\n" + path + "\n" + until }

// signer returns the caller that the signature of an address stands for.
func (d *handler) signer(r *http.Request, path string, q url.Values) (auth.User, error) {
	until := q.Get(untilParam)
	if day, err := time.Parse(time.DateOnly, until); err != nil || !d.Now().Before(day.AddDate(0, 0, 1)) {
		return auth.User{}, fault.Coded(fault.Forbidden, addressExpired,
			"this address of a package has expired: update the marketplace, whose catalogue has new ones, and install again")
	}
	return auth.Guess(d.Admission.Guess).Counted(r, func(look func() error) (auth.User, error) {
		return d.Service.Signer(r.Context(), q.Get(tokenParam), signs(path, until),
			q.Get(signatureParam), d.Claimed, look)
	})
}

// admit lets a request for the package at a path in: of the bearer of a token, of the holder of a
// signed address, or of an anonymous caller.
func (d *handler) admit(w http.ResponseWriter, r *http.Request, path string) (c doors.Caller, leave func(), err error) {
	door := d.Door
	if q := r.URL.Query(); q.Has(signatureParam) {
		door.Identify = func(r *http.Request) (auth.User, error) { return d.signer(r, path, q) }
	}
	if c, err = door.Admit(w, r, doors.Need{Scope: auth.ScopeRead}); err != nil {
		return c, nil, err
	}
	leave, err = door.AwaitPlace(r.Context(), c.Key)
	return c, leave, err
}

// pack answers with the package of a version.
func (d *handler) pack(w http.ResponseWriter, r *http.Request) error {
	a, err := addressOf(r)
	if err != nil {
		return err
	}
	c, leave, err := d.admit(w, r, a.path())
	if err != nil {
		return err
	}
	defer leave()
	v, err := d.Service.GetVersion(r.Context(), c.User, a.id, library.WantedVersion{Number: a.version})
	if err != nil {
		return err
	}
	folder, err := d.Service.FolderOf(r.Context(), v, "")
	if err != nil {
		return err
	}
	return d.send(w, r, c, zip.Write(skill.Plugin(v.Prompt, folder.Contents)), a.digest, v)
}

// send answers with a package, if it has the digest, and notes that the caller fetched versions.
func (d *handler) send(w http.ResponseWriter, r *http.Request, c doors.Caller, b []byte,
	digest string, of ...library.View,
) error {
	if skill.Sum(b) != digest {
		return fault.Coded(fault.NotFound, packageChanged,
			"the package has changed since the catalogue was read: update the marketplace, and install again")
	}
	for _, v := range of {
		d.Service.Fetched(r.Context(), c.User, v)
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("ETag", `"`+digest+`"`)
	_, _ = w.Write(b) //nolint:gosec // an archive, and the header says so; the client may have gone away
	return nil
}
