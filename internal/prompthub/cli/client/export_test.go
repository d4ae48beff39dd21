package client

import "net/http"

// Through has requests answered without a network.
func (l *Langfuse) Through(t http.RoundTripper) { l.http.Transport = t }
