// Package loopback knows the names and addresses that lead to this machine alone.
package loopback

import "net"

// IsHost reports whether a host, without a port or brackets, is this machine alone.
func IsHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
