package theme_test

import (
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web/theme"
)

// TestLight: pictures have the colours of light pages, not those of dark ones.
func TestLight(t *testing.T) {
	t.Parallel()
	require.Equal(t, color.RGBA{0x23, 0x60, 0x4f, 0xff}, theme.Light("accent"))
	require.Equal(t, color.RGBA{0xff, 0xff, 0xff, 0xff}, theme.Light("accent-ink"))
	require.Panics(t, func() { theme.Light("nosuch") })
}
