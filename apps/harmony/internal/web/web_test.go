package web

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/apps/harmony/internal/topic"
)

// asked finds the words that a template or a page of pages.go asks for.
var (
	asked  = regexp.MustCompile(`\.T "([^"]+)"`)
	fields = regexp.MustCompile(`\(field [.$] "([^"]+)" "([^"]+)" "[^"]*"((?: "[^"]+")*)\)`)
	quoted = regexp.MustCompile(`"([^"]+)"`)
)

// TestWords: whatever a page may say has words in both languages.
func TestWords(t *testing.T) {
	t.Parallel()
	for key, both := range catalog {
		for _, text := range both {
			require.NotEmpty(t, text, key)
		}
	}
	shared, err := fs.Glob(files, "templates/shared/*.html")
	require.NoError(t, err)
	own, err := fs.Glob(files, "templates/*.html")
	require.NoError(t, err)
	n := 0
	for _, file := range append(shared, own...) {
		b, err := files.ReadFile(file)
		require.NoError(t, err)
		for _, m := range asked.FindAllStringSubmatch(string(b), -1) {
			require.Contains(t, catalog, m[1], file)
			n++
		}
		for _, m := range fields.FindAllStringSubmatch(string(b), -1) {
			require.Contains(t, catalog, "field."+m[1], file)
			for _, option := range quoted.FindAllStringSubmatch(m[3], -1) {
				require.Contains(t, catalog, "option."+m[1]+"."+option[1], file)
			}
			n++
		}
	}
	require.Greater(t, n, 50)
	for _, code := range slices.Concat(rules.FieldCodes(), events.FieldCodes(), forum.FieldCodes(), reports.FieldCodes(), shop.FieldCodes(), blog.FieldCodes()) {
		require.Contains(t, catalog, "error."+string(code))
	}
	for _, code := range []string{
		string(meet.EmailTaken), string(meet.InvalidCredentials), string(meet.InvalidToken), string(meet.TooManyAttempts),
		string(meet.AccountDeleted), string(meet.NotDeleted), string(meet.AccountSuspended),
		string(events.EventNotFound), string(events.InviteNotFound), string(events.InviteRequired), string(events.InvalidInviteCode), string(events.AttendeesOnly), string(events.EventFull),
		string(events.EventStarted), string(events.EventNotStarted), string(events.CapacityTooSmall), string(events.TooManyEvents), string(events.ChatFull), string(events.CodeTaken), string(meet.RoleRequired),
		string(forum.TooManyTopics), string(forum.SectionNotFound), string(forum.SectionTaken), string(forum.SectionNotEmpty), string(forum.TopicNotFound), string(forum.TopicLocked), string(forum.ReplyNotFound), string(meet.NotYours), string(reports.ReportNotFound), string(shop.ItemNotFound), string(blog.PostNotFound), string(shop.TooManyItems),
	} {
		require.Contains(t, catalog, "error."+code)
	}
}

// TestChoices: a form offers every value that there is.
func TestChoices(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{"gender": rules.Genders, "showMe": rules.ShowMe, "profileVisibility": rules.Visibilities, "category": events.Categories, "visibility": events.Visibilities, "audience": topic.Visibilities, "reportReason": reports.Reasons, "language": rules.Languages} {
		for _, v := range values {
			require.Contains(t, catalog, "option."+name+"."+v)
		}
	}
}

func TestBack(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/app/me": "/app/me", "/app/settings?x=1": "/app/settings?x=1", "": Prefix, "https://example.com/app": Prefix, "//example.com/app": Prefix,
		"/api/v1": Prefix, "/app/sign-in": Prefix, "/app\r\nx": Prefix, `/app\example.com`: Prefix, "/application": Prefix,
	} {
		require.Equal(t, want, build(Config{}).site.Back(address), address)
	}
}
