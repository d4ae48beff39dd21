package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

func TestSlugOfOtherScripts(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Переводчик": "perevodchik", "翻译助手": "fan-yi-zhu-shou", "Ærlig": "aerlig", "Größe": "grosse",
		"Łódź": "lodz", "ガイド": "gaido",
		"مترجم": "mtrjm", "מתרגם": "mtrgm", "Résumé": "resume", "R&D": "r-d", "don't": "dont", "🎲": "", "2²": "22",
	} {
		require.Equal(t, want, prompt.Slug(title), title)
	}
	require.NotEmpty(t, prompt.Slug("ผู้แปล"))
}
