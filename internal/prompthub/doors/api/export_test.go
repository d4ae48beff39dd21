package api

// Downgraded returns the document in OpenAPI 3.0, for generators that do not know 3.1.
func Downgraded(c Config) ([]byte, error) {
	a, _ := build(c)
	return a.huma.OpenAPI().Downgrade()
}
