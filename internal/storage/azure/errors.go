package azure

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"prompthub/internal/storage/table"
)

// A failure is an answer of the service that is no success. It takes the place of the SDK's
// error, whose text runs over many lines.
type failure struct {
	status  int
	code    string
	request string // by which the service's support finds it
}

func (f *failure) Error() string {
	text := fmt.Sprintf("storage answered %d %s", f.status, f.code)
	if f.request != "" {
		text += " to request " + f.request
	}
	return text
}

// describe returns the failure in err, or err where there was no answer. What net/http adds to that
// is the URL, which has the key of the row.
func describe(err error) error {
	var re *azcore.ResponseError
	if !errors.As(err, &re) {
		if ue := (*url.Error)(nil); errors.As(err, &ue) {
			return ue.Err
		}
		return err
	}
	f := &failure{status: re.StatusCode, code: re.ErrorCode}
	if re.RawResponse != nil {
		f.request = re.RawResponse.Header.Get("x-ms-request-id")
	}
	return f
}

// sentinel returns the error of package table that the failure amounts to, or nil.
func (f *failure) sentinel() error {
	switch {
	case f.status == http.StatusNotFound:
		return table.ErrNotFound
	case f.status == http.StatusConflict && f.code == "EntityAlreadyExists":
		return table.ErrExists
	case f.status == http.StatusPreconditionFailed:
		return table.ErrConflict
	case f.busy():
		return table.ErrBusy
	case f.invalid():
		return table.ErrInvalid
	}
	return nil
}

// busy reports whether the request was refused before it did anything.
func (f *failure) busy() bool {
	return f.status == http.StatusServiceUnavailable && f.code == "ServerBusy" || f.status == http.StatusTooManyRequests
}

// invalid reports whether the request breaks a limit.
func (f *failure) invalid() bool {
	return f.status == http.StatusBadRequest && f.code != "InvalidAuthenticationInfo" ||
		f.status == http.StatusRequestEntityTooLarge
}

// tableError returns what err says of a request to a table, in the words of package table.
func tableError(name string, err error) error {
	err = describe(err)
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if f.code == "TableNotFound" {
		return fmt.Errorf("%w: %w", table.NoTableError(name), f)
	}
	if s := f.sentinel(); s != nil {
		return fmt.Errorf("%w: %w", s, f)
	}
	return f
}

// opError returns err as the failed condition of an operation, if it is one.
func opError(err error, index int, op table.Op) error {
	for _, s := range []error{table.ErrExists, table.ErrNotFound, table.ErrConflict} {
		if errors.Is(err, s) {
			return &table.OpError{Index: index, Key: op.Row.Key, Err: s}
		}
	}
	return err
}

// Forbidden reports whether the account refused what its caller may not do.
func Forbidden(err error) bool {
	var f *failure
	return errors.As(err, &f) && (f.status == http.StatusForbidden || f.status == http.StatusUnauthorized)
}

// Unentered reports whether the account refused a caller whose roles it did not look at: one with a
// wrong key or a token of another tenant, or from a network that its firewall keeps out.
func Unentered(err error) bool {
	var f *failure
	return errors.As(err, &f) && Forbidden(err) && f.code != "AuthorizationPermissionMismatch"
}

// A NoTokenError is that an identity got no token, so that nothing was sent.
type NoTokenError struct{ Err error }

// Error returns the text of the identity's library in one line.
func (e *NoTokenError) Error() string {
	return "no token of an identity: " +
		strings.Join(strings.FieldsFunc(strings.ReplaceAll(e.Err.Error(), strings.Repeat("-", 80), ""),
			unicode.IsSpace), " ")
}

// Unwrap returns the error of the identity's library.
func (e *NoTokenError) Unwrap() error { return e.Err }
