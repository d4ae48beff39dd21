package cities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/cities"
	"prompthub/apps/harmony/internal/rules"
)

// TestCities: each city is found by both of its names, and where it is; names are of one city each.
func TestCities(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(cities.All), 400)
	for _, c := range cities.All {
		require.Regexp(t, `^[А-ЯЁ][А-Яа-яёЁ -]+$`, c.Russian)
		for _, name := range []string{c.English, c.Russian} {
			found, ok := cities.Find(name)
			require.True(t, ok)
			require.Equal(t, c, found)
		}
		var b rules.Broken
		_, ok := cities.At(b.Position(c.Lat, c.Lon))
		require.True(t, ok)
		require.NoError(t, b.Err())
	}
	for name, want := range map[string]string{
		" орел ": "Орёл", "санкт петербург": "Санкт-Петербург",
		"MOSCOW": "Москва", "Прага": "Прага", "Nizhniy  Novgorod": "Нижний Новгород",
	} {
		c, ok := cities.Find(name)
		require.True(t, ok, name)
		require.Equal(t, want, c.Name("ru"))
	}
	for _, name := range []string{"", "Моск", "Атлантида"} {
		_, ok := cities.Find(name)
		require.False(t, ok, name)
	}
	moscow, ok := cities.At(rules.Position{Lat: 557, Lon: 376})
	require.True(t, ok)
	require.Equal(t, "Moscow", moscow.Name("en"))
	_, ok = cities.At(rules.Position{})
	require.False(t, ok)
}
