package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
)

// TestMoments: a time of clocks is one instant, none where they are put forward over it, or two
// where they are put back.
func TestMoments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, clock string
		want        []string
	}{
		{"Europe/Moscow", "2026-12-31T23:00", []string{"2026-12-31T20:00:00Z"}},
		{"Europe/Moscow", " 2026-12-31T23:00:30 ", []string{"2026-12-31T20:00:30Z"}},
		{"UTC", "2026-12-31T23:00", []string{"2026-12-31T23:00:00Z"}},
		{"Europe/Berlin", "2026-03-29T01:59", []string{"2026-03-29T00:59:00Z"}},
		{"Europe/Berlin", "2026-03-29T02:00", nil},
		{"Europe/Berlin", "2026-03-29T02:59", nil},
		{"Europe/Berlin", "2026-03-29T03:00", []string{"2026-03-29T01:00:00Z"}},
		{"Europe/Berlin", "2026-10-25T01:59", []string{"2026-10-24T23:59:00Z"}},
		{"Europe/Berlin", "2026-10-25T02:30", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"}},
		{"Europe/Berlin", "2026-10-25T03:00", []string{"2026-10-25T02:00:00Z"}},
		{"America/New_York", "2026-11-01T01:30", []string{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"}},
		// by half an hour
		{"Australia/Lord_Howe", "2026-04-05T01:45", []string{"2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"}},
		// a day that was left out
		{"Pacific/Apia", "2011-12-30T12:00", nil},
		{"Pacific/Kiritimati", "2026-12-31T23:00", []string{"2026-12-31T09:00:00Z"}},
		{"Africa/Casablanca", "2026-02-15T02:30", []string{"2026-02-15T01:30:00Z", "2026-02-15T02:30:00Z"}},
	} {
		all, ok := rules.Moments(c.clock, rules.FindZone(c.zone))
		require.True(t, ok, c)
		var got []string
		for _, at := range all {
			got = append(got, at.UTC().Format(time.RFC3339))
		}
		require.Equal(t, c.want, got, "%s %s", c.zone, c.clock)
	}
	for _, wrong := range []string{
		"", "2026-12-31", "2026-12-31T20:00:00Z", "2026-02-30T20:00",
		"2026-12-31 20:00", "2026-12-31T24:00",
	} {
		_, ok := rules.Moments(wrong, time.UTC)
		require.False(t, ok, wrong)
	}
	for _, wrong := range []string{
		"", "Local", "local", "Europe/Mosco", "../etc/passwd", "Europe/../UTC", "/UTC",
		"UTC+3", "MSK", "europe/moscow",
	} {
		require.Nil(t, rules.FindZone(wrong), wrong)
	}
}

// TestMoment: an instant with its offset stays what it is; a time of clocks that is none or two is
// refused with a code of its own.
func TestMoment(t *testing.T) {
	t.Parallel()
	berlin := rules.FindZone("Europe/Berlin")
	for text, want := range map[string]fault.Code{
		"2026-10-25T02:30:00+02:00": "", "2026-10-25T02:30:00Z": "", "2026-10-25T04:30": "",
		"2026-10-25T02:30": rules.TimeTwice, "2026-03-29T02:30": rules.TimeSkipped, "soon": rules.DateForm,
		"1812-09-07T05:00": rules.DateForm,
	} {
		var b rules.Broken
		at := b.Moment("startDate", text, berlin)
		require.Equal(t, want == "", !at.IsZero(), text)
		if want != "" {
			require.Equal(t, want, b[0].Code, text)
			require.Equal(t, "body.startDate", b[0].Name)
		}
	}
	var b rules.Broken
	b.Moment("startDate", "2026-10-25T02:30", berlin)
	require.Equal(t, "the clocks of Europe/Berlin show this time twice; give 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00", b[0].Message)
	b.Moment("publishedAt", "2026-10-25T04:30", nil)
	require.Equal(t, rules.DateForm, b[1].Code, "without a zone")
}
