package board

// reachable reports whether every goal of the draft can be reached from where its robots are.
func (d *draft) reachable() bool {
	s := d.board.Walls.Slides()
	for _, g := range d.board.Goals {
		if !s.reaches(d.board.Robots, g) {
			return false
		}
	}
	return true
}

// reaches reports whether a robot that may gets to a goal, alone or with one other that moves out
// of or into its way. That is less than the rules allow, and takes no more than a bit for each pair
// of places: a board that needs three robots for a goal is not made.
func (s *Slides) reaches(r Robots, g Goal) bool {
	for _, alone := range [2]bool{true, false} {
		for active := Red; active <= Blue; active++ {
			for helper := Red; helper <= Blue; helper++ {
				may := g.Color == active || g.Color == Multi
				if may && (helper == active) == alone && s.reachesWith(r, g.Cell, active, helper) {
					return true
				}
			}
		}
	}
	return false
}

// reachesWith reports whether the active robot gets to a cell while only the helper moves as well.
func (s *Slides) reachesWith(r Robots, goal Cell, active, helper Color) bool {
	var seen [Size * Size][Size * Size / 64]uint64
	todo := []Robots{r}
	seen[r[active]][r[helper]/64] |= 1 << (r[helper] % 64)
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for _, robot := range [2]Color{active, helper} { // the same where it is alone
			for d := Up; d <= Right; d++ {
				next := at
				next[robot] = s.Slide(at, Move{robot, d})
				if next[active] == goal {
					return true
				}
				word, bit := &seen[next[active]][next[helper]/64], uint64(1)<<(next[helper]%64)
				if *word&bit == 0 {
					*word |= bit
					todo = append(todo, next)
				}
			}
		}
	}
	return false
}
