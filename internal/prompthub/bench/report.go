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

// A report writes what was measured, in Markdown.
type report struct {
	w     io.Writer
	sizes []int
	first map[string]map[int]time.Duration // median with one connection, by kind and size of the library
	size  int
}

func newReport(w io.Writer) *report {
	return &report{w: w, first: make(map[string]map[int]time.Duration)}
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r.w, format, args...) }

func (r *report) machine() {
	load, _ := os.ReadFile("/proc/loadavg") // not everywhere, and only told
	r.printf("%s, %s/%s, %d cores, which the load generator shares; load before: %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.TrimSpace(string(load)))
}

func (r *report) library(l library, data string) {
	r.size = l.Prompts
	r.sizes = append(r.sizes, l.Prompts)
	size := 0.0
	if info, err := os.Stat(data + "/prompthub.db"); err == nil {
		size = float64(info.Size()) / 1e6
	}
	r.printf("\n### %d prompts\n\n%d rows, a file of %.0f MB, filled in %.1f s: %.0f rows a second.\n\n",
		l.Prompts, l.Rows, size, l.Took.Seconds(), float64(l.Rows)/l.Took.Seconds())
}

func (r *report) loads(results []result) {
	r.printf("The processor time of votes, and what they leave for others, includes their jobs, which begin a second later.\n\n")
	r.printf("| request | connections, or rate | a second | p50 ms | p90 ms | p99 ms | handler CPU ms | failed |\n|---|---:|---:|---:|---:|---:|---:|---|\n")
	for _, one := range results {
		if one.load == "1" {
			if r.first[one.kind] == nil {
				r.first[one.kind] = make(map[int]time.Duration)
			}
			r.first[one.kind][r.size] = one.at(50)
		}
		r.printf("| %s | %s | %.0f | %s | %s | %s | %.3f | %s |\n", one.kind, one.load, one.perSecond(),
			ms(one.at(50)), ms(one.at(90)), ms(one.at(99)), one.cpu.Seconds()*1000/float64(max(one.requests, 1)), failures(one))
	}
}

func (r *report) votes(results []result) {
	r.printf("\n| 64 connections | a second | p50 ms | p99 ms | votes | failed |\n|---|---:|---:|---:|---:|---|\n")
	for _, one := range results {
		r.printf("| %s | %.0f | %s | %s | %d | %s |\n", one.kind, one.perSecond(), ms(one.at(50)), ms(one.at(99)), one.requests, failures(one))
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

func failures(one result) string {
	if len(one.failed) == 0 {
		return "none"
	}
	var all []string
	for _, status := range slices.Sorted(maps.Keys(one.failed)) {
		all = append(all, fmt.Sprintf("%d × %d", one.failed[status], status))
	}
	return strings.Join(all, ", ")
}

func (r *report) program(start time.Duration, idle, after footprint) {
	r.printf("\nStart to first answer, a page of prompts: %s ms. Idle memory: %.1f MB, and %.1f MB of mapped files. After the load: %.1f and %.1f MB; at most %.1f MB together.\n",
		ms(start), idle.own, idle.file, after.own, after.file, after.most)
}

// growth says how the time of a request grows with the library.
func (r *report) growth() {
	if len(r.sizes) < 2 {
		return
	}
	small, large := slices.Min(r.sizes), slices.Max(r.sizes)
	r.printf("\n### Growth\n\nMedian time of a request on one connection:\n\n| request | %d prompts, ms | %d prompts, ms | ratio |\n|---|---:|---:|---:|\n", small, large)
	for _, kind := range slices.Sorted(maps.Keys(r.first)) {
		a, b := r.first[kind][small], r.first[kind][large]
		r.printf("| %s | %s | %s | %.2f |\n", kind, ms(a), ms(b), b.Seconds()/a.Seconds())
	}
}
