package searchindex

// edits returns by how many edits two words differ, and most+1 if by more.
func edits(a, b []rune, most int) int {
	// rows of the table of distances between beginnings: the one before the last, the last, this one
	older, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		least := row[0]
		for j := range b {
			n := last[j]
			if a[i] != b[j] {
				n = min(n, last[j+1], row[j]) + 1
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				n = min(n, older[j-1]+1)
			}
			row[j+1] = n
			least = min(least, n)
		}
		if least > most {
			return most + 1
		}
		older, last, row = last, row, older
	}
	return min(last[len(b)], most+1)
}
