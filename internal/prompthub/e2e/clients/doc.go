// Package clients holds tests only: programs of others, as their makers publish them, against the
// built program. What they do stands in internal/tools/clients, a file for each client; here the
// program is started, and each file gets a user of its own. Clients of the Model Context Protocol
// and of Agent Skills are commands, most of them, and are run from here.
package clients
