package functiontest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Of these no system makes ports of clients, one of which may take a port between the look at it
// and the start of the program that must listen there.
const firstPort, lastPort = 10000, 32767

var taken sync.Map

// UnusedPort returns a port of this machine that no program listens on, never the same twice.
func UnusedPort() (int, error) {
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if _, again := taken.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("a thousand ports were tried, and none is free")
}
