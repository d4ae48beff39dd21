package prompt

import "prompthub/internal/legible"

// Invisible returns how many characters of the texts of the content cannot be seen.
func (c Content) Invisible() int {
	n := 0
	for _, text := range c.texts() {
		n += legible.Count(text)
	}
	return n
}

// readable checks that a line says what its readers see.
func (c *checker) readable(location, s string) {
	if code, message := legible.Line(s); code != "" {
		c.coded(code, location, s, "%s", message)
	}
}
