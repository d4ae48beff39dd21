package main

import (
	"fmt"
	"io"
	"strings"
)

// writeCosts writes, in Markdown, the operations of each request and the bills of libraries of
// three sizes and of one team.
func writeCosts(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| request | a user and month | a member of a team and month | table operations | queue operations | jobs |\n|---|---:|---:|---:|---:|---:|\n")
	user, member := activeUser(), memberOfTeam()
	for _, r := range costedRequests() {
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.0f | %.0f |\n", r.Name, user[r.Name],
			member[r.Name], r.Tables, r.Queue, r.Jobs)
	}
	b.WriteString("\n| active users | requests | table operations | queue operations | prompts | data | logs |")
	b.WriteString(" operations $ | data $ | compute $ | logs $ | **month $** | user $ |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, of := range []struct {
		users float64
		who   string
		usage usage
	}{{10, "", user}, {50, ", a team with a workspace", member}, {1_000, "", user}, {100_000, "", user}} {
		c := billFor(of.users, of.usage, listPrices())
		fmt.Fprintf(&b,
			"| %s | %s | %s | %s | %s | %.2f GB | %.1f GB | %.2f | %.2f | %.2f | %.2f | **%.2f** | %.4f |\n",
			rounded(of.users)+of.who, rounded(c.Requests), rounded(c.TableOps), rounded(c.QueueOps),
			rounded(c.Prompts), c.GB, c.LogGB,
			c.Operations, c.Storage, c.Compute, c.Logs, c.Total, c.PerUser)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rounded writes a number as people read it.
func rounded(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0f k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
