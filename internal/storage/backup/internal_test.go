package backup

// WithParts has parts end after some bytes.
func (s *Sealer) WithParts(bytes int) *Sealer {
	s.most = bytes
	return s
}
