package markdown

import (
	"regexp"
	"slices"
	"strings"
)

// fenced returns a text with fences of Markdown around parts that look like code: a text that is
// JSON, YAML or XML as a whole, the front matter at its beginning, and JSON between its lines.
// Markdown would take the spaces that such lines begin with, and read front matter as a heading.
func fenced(text string) string {
	head, body := frontMatter(text)
	switch kind := codeOf(strings.TrimSpace(body)); {
	case kind != "":
		body = fence(kind, strings.Trim(body, "\r\n"))
	case strings.Contains(body, "{") || strings.Contains(body, "["):
		body = fencedBlocks(body)
	}
	if head != "" {
		return fence("yaml", head) + "\n" + body
	}
	return body
}

// fence puts a text between fences that are longer than any in it.
func fence(kind, text string) string {
	longest, run := 2, 0
	for _, c := range []byte(text) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	return marks + kind + "\n" + text + "\n" + marks + "\n"
}

var (
	key     = regexp.MustCompile(`^[\s\x{a0}]*(?:- )?["']?[\pL_][\pL\pN_.-]*["']?:(?:\s|$)`)
	listed  = regexp.MustCompile(`^[\s\x{a0}]*- `)
	comment = regexp.MustCompile(`^\s*#`)
	xmlOpen = regexp.MustCompile(`^<([\pL_][\pL\pN_.:-]*)[^<>]*>`)
	xmlLine = regexp.MustCompile(`(?m)^[ \t]+</?[\pL_]`)
)

// frontMatter parts the front matter of a text, with the lines that mark it, from the rest.
func frontMatter(text string) (head, body string) {
	lines := strings.SplitAfter(text, "\n")
	if strings.TrimRight(lines[0], " \r\n") != "---" || len(lines) < 3 || !key.MatchString(lines[1]) {
		return "", text
	}
	for i, line := range lines[1:] {
		if end := strings.TrimRight(line, " \r\n"); end == "---" || end == "..." {
			head = strings.Join(lines[:i+2], "")
			return strings.TrimRight(head, "\r\n"), text[len(head):]
		}
	}
	return "", text
}

// codeOf returns what a trimmed text is as a whole, "" for a text to read.
func codeOf(text string) string {
	switch {
	case isJSON(text):
		return "json"
	case isXML(text):
		return "xml"
	case isYAML(text):
		return "yaml"
	}
	return ""
}

// isJSON reports whether a text looks like JSON: it begins and ends like an object or a list of
// some. It may hold placeholders, and small mistakes.
func isJSON(text string) bool {
	if len(text) < 2 {
		return false
	}
	inside := strings.TrimSpace(text[1:])
	switch text[0] {
	case '{':
		return text[len(text)-1] == '}' && (inside == "}" || inside[0] == '"' && strings.Contains(inside, `":`))
	case '[':
		return text[len(text)-1] == ']' && (inside[0] == '{' || inside[0] == '"' && strings.Contains(inside, `",`)) &&
			inside[:min(2, len(inside))] != "{{"
	}
	return false
}

// isXML reports whether a text is one element with lines of others inside.
func isXML(text string) bool {
	m := xmlOpen.FindStringSubmatch(text)
	return m != nil && strings.HasSuffix(text, "</"+m[1]+">") && xmlLine.MatchString(text)
}

// isYAML reports whether each line of a text is one of YAML, and some of them say by spaces what
// they belong to.
func isYAML(text string) bool {
	nested := false
	for i, line := range strings.Split(text, "\n") {
		isKey := key.MatchString(line)
		if i == 0 && !isKey || !isKey && !listed.MatchString(line) && !comment.MatchString(
			line) && strings.TrimSpace(line) != "" {
			return false
		}
		nested = nested || isKey && strings.IndexAny(line, " \t\u00a0") == 0
	}
	return nested
}

// fencedBlocks puts fences around JSON that begins and ends on lines of its own.
func fencedBlocks(text string) string {
	lines := strings.SplitAfter(text, "\n")
	var out []string
	looks := maxLooks
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			end := closed(lines, i)
			out = append(out, lines[i:end]...)
			i = end - 1
		case line == "{" || line == "[":
			if end := ended(lines, i, &looks); end > 0 {
				block := strings.TrimRight(strings.Join(lines[i:end], ""), "\r\n")
				out = append(out, "\n", fence("json", block), "\n")
				i = end - 1
				continue
			}
			fallthrough
		default:
			out = append(out, lines[i])
		}
	}
	return strings.Join(out, "")
}

// closed returns the line after the fence that closes the one at a line.
func closed(lines []string, at int) int {
	mark := strings.TrimSpace(lines[at])[:3]
	for i := at + 1; i < len(lines); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), mark) {
			return i + 1
		}
	}
	return len(lines)
}

// maxLooks is how many lines of a text are looked at for the ends of blocks.
const maxLooks = 20_000

// ended returns the line after the JSON that begins at a line, 0 where there is none: the first
// line that is a closing brace and stands as far to the right.
func ended(lines []string, at int, looks *int) int {
	closing := map[string][]string{"{": {"}", "},"}, "[": {"]", "],"}}[strings.TrimSpace(lines[at])]
	indent := indentOf(lines[at])
	for i := at + 1; i < len(lines) && *looks > 0; i++ {
		*looks--
		if indentOf(lines[i]) == indent && slices.Contains(closing, strings.TrimSpace(lines[i])) {
			if strings.Contains(strings.Join(lines[at:i], ""), `":`) {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// What of Markdown is no word, in a text that stands in one line.
var (
	links    = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`)
	rules    = regexp.MustCompile(`(^|\s)(?:-{3,}|\*{3,}|_{3,}|={3,})(?:\s|$)`)
	blocks   = regexp.MustCompile(`(^|\s)#{1,6}\s+`)
	first    = regexp.MustCompile(`^(?:[-*+>]|\d+[.)])\s+`)
	strong   = regexp.MustCompile("\\*\\*|~~|`+")
	emphasis = regexp.MustCompile(`(^|[\s(])[*_]([^\s*_](?:[^*_]*[^\s*_])?)[*_]($|[\s).,:;!?])`)
)

// Words returns how a text begins, as a list shows it, without the marks of Markdown and without
// front matter.
func Words(excerpt string) string {
	if rest, ok := strings.CutPrefix(excerpt, "--- "); ok && key.MatchString(rest) {
		if _, body, ok := strings.Cut(rest, " --- "); ok {
			excerpt = body
		}
	}
	if codeOf(excerpt) != "" {
		return excerpt
	}
	s := links.ReplaceAllString(excerpt, "$1")
	s = rules.ReplaceAllString(s, "$1")
	s = blocks.ReplaceAllString(s, "$1")
	s = first.ReplaceAllString(s, "")
	s = strong.ReplaceAllString(s, "")
	s = emphasis.ReplaceAllString(s, "$1$2$3")
	if s = strings.TrimSpace(s); s == "" {
		return excerpt
	}
	return s
}
