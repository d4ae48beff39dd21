package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// printReport writes what was measured, in Markdown.
func printReport(w io.Writer, all []measured) {
	load, _ := os.ReadFile("/proc/loadavg") // not everywhere, and only told
	fmt.Fprintf(w, "%s, %s/%s, %d cores, which the load generator shares; load at the end: %s\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.TrimSpace(string(load)))
	libraries(w, all)
	growth(w, all)
	for _, m := range all {
		m.report(w)
	}
}

func (m measured) title() string {
	if m.azure != "" {
		return fmt.Sprintf("%d, on Azurite", m.Prompts)
	}
	return fmt.Sprint(m.Prompts)
}

func libraries(w io.Writer, all []measured) {
	fmt.Fprint(w, "\n| prompts | rows | file, MB | filled in s | start to first answer: median and slowest of 5, ms | idle memory, MB | and mapped files | after the load | and mapped | most of both |\n")
	fmt.Fprint(w, "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, m := range all {
		if len(m.starts) == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s | %d | %.0f | %.1f | %s, %s | %.1f | %.1f | %.1f | %.1f | %.1f |\n", m.title(), m.Rows,
			float64(m.size)/1e6, m.Took.Seconds(),
			ms(m.starts[len(m.starts)/2]), ms(slices.Max(m.starts)), m.idle.Own, m.idle.File,
			m.after.Own, m.after.File, m.after.Most)
	}
}

// growth says how the time of a request grows with the library.
func growth(w io.Writer, all []measured) {
	all = slices.DeleteFunc(slices.Clone(all), func(m measured) bool { return m.azure != "" })
	if len(all) < 2 {
		return
	}
	small, large := all[0], all[len(all)-1]
	fmt.Fprintf(w, "\n| request, %s connection, median ms |%s %d : %d |\n|---|%s---:|\n", small.connections(),
		column(all, func(m measured) string { return m.title() }), large.Prompts, small.Prompts,
		strings.Repeat("---:|", len(all)))
	for i, l := range small.loads {
		if i >= len(large.loads) {
			break // the report of a run that ended early
		}
		of := func(m measured) time.Duration { return m.loads[i].closed[0].At(50) }
		fmt.Fprintf(w, "| %s |%s %.2f |\n", l.kind, column(all, func(m measured) string { return ms(of(m)) }),
			of(large).Seconds()/of(small).Seconds())
	}
}

// connections returns how many the first loop had.
func (m measured) connections() string {
	if len(m.loads) == 0 {
		return "one"
	}
	return m.loads[0].closed[0].Load
}

func column(all []measured, cell func(measured) string) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, " %s |", cell(m))
	}
	return b.String()
}

func (m measured) report(w io.Writer) {
	fmt.Fprintf(w, "\n### Prompts: %s\n", m.title())
	m.reportLoads(w)
	if len(m.votes) > 0 {
		fmt.Fprintf(w, "\n| %s connections | votes a second | p50 ms | p99 ms | votes | failed |\n|---|---:|---:|---:|---:|---|\n", m.votes[0].Load)
	}
	for _, one := range m.votes {
		fmt.Fprintf(w, "| %s | %.0f | %s | %s | %d | %s |\n", one.Kind, one.PerSecond(), ms(one.At(50)),
			ms(one.At(99)), one.Requests, failures(one))
	}
	if len(m.minutes) > 0 {
		fmt.Fprintf(w, "\n| minute, %s connections, all kinds | requests a second | p50 ms | p99 ms | memory at most, MB | mapped files | failed |\n|---:|---:|---:|---:|---:|---:|---|\n", m.minutes[0].Load)
	}
	for i, one := range m.minutes {
		fmt.Fprintf(w, "| %d | %.0f | %s | %s | %.1f | %.1f | %s |\n", i+1, one.PerSecond(), ms(one.At(50)),
			ms(one.At(99)), one.memory.Own, one.memory.File, failures(one.result))
	}
	if len(m.tops) > 0 {
		fmt.Fprint(w,
			"\n| request | ten functions that take most of the processor themselves | failed |\n|---|---|---|\n")
	}
	for _, t := range m.tops {
		fmt.Fprintf(w, "| %s | %s | %s |\n", t.Kind, strings.Join(t.lines, ", "), failures(t.result))
	}
	if len(m.restless) > 0 {
		fmt.Fprintf(w, "\nStill busy with jobs of what went before: %s.\n", strings.Join(m.restless, ", "))
	}
}

func (m measured) reportLoads(w io.Writer) {
	if len(m.loads) == 0 || len(m.loads[0].closed) == 0 {
		return
	}
	most := m.loads[0].closed[len(m.loads[0].closed)-1].Load
	fmt.Fprint(w, "\n| request |")
	for _, c := range m.loads[0].closed {
		fmt.Fprintf(w, " %s: a second, p99 ms |", c.Load)
	}
	fmt.Fprintf(w, " %s: p50 / p90 / p99 ms | handler CPU at %s, ms | open loop: a second, p50 / p99 ms | failed |\n|---|%s---:|---:|---:|---|\n", most, most, strings.Repeat("---:|", len(m.loads[0].closed)))
	for _, l := range m.loads {
		last := l.closed[len(l.closed)-1]
		fmt.Fprintf(w, "| %s |", l.kind)
		for _, c := range l.closed {
			fmt.Fprintf(w, " %.0f, %s |", c.PerSecond(), ms(c.At(99)))
		}
		fmt.Fprintf(w, " %s / %s / %s | %.3f |", ms(last.At(50)), ms(last.At(90)), ms(last.At(99)),
			last.CPU.Seconds()*1000/float64(max(last.Requests, 1)))
		for _, c := range l.open {
			fmt.Fprintf(w, " %.0f, %s / %s", c.PerSecond(), ms(c.At(50)), ms(c.At(99)))
		}
		fmt.Fprintf(w, " | %s |\n", failures(slices.Concat(l.closed, l.open)...))
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

// failures says how many requests failed, by status; 0 is no answer.
func failures(results ...result) string {
	sum := make(map[int]int64)
	for _, r := range results {
		for status, n := range r.Failed {
			sum[status] += n
		}
	}
	var all []string
	for _, status := range slices.Sorted(maps.Keys(sum)) {
		all = append(all, fmt.Sprintf("%d × %d", sum[status], status))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
