package board

import (
	"fmt"
)

// Data is a board as it is stored and shown: the boardData of a game. Robots stand where the next
// round begins.
type Data struct {
	Walls                WallLists   `json:"walls" doc:"Where walls stand, by position"`
	Robots               RobotPlaces `json:"robots" doc:"Where the robots are now: at the start of the next round"`
	AllGoals             []GoalPlace `json:"allGoals" nullable:"false" doc:"All 17 goals"`
	CompletedGoalIndices []int       `json:"completedGoalIndices" nullable:"false" doc:"Which of them were won, in that order" example:"[5,0]"`
}

// WallLists say where walls stand: one list for each row, and one for each column.
type WallLists struct {
	Horizontal [][]int `json:"horizontal" nullable:"false" doc:"For each row y the columns x with a wall between (x,y) and (x,y+1)" example:"[[6],[2,14],[]]"`
	Vertical   [][]int `json:"vertical" nullable:"false" doc:"For each column x the rows y with a wall between (x,y) and (x+1,y)" example:"[[],[4,8],[0]]"`
}

// A Place is a cell.
type Place struct {
	X int `json:"x" minimum:"0" maximum:"15" doc:"Column, from the left" example:"2"`
	Y int `json:"y" minimum:"0" maximum:"15" doc:"Row, from the top" example:"3"`
}

// RobotPlaces say where the robots are.
type RobotPlaces struct {
	Red    Place `json:"red" doc:"Where the red robot is"`
	Yellow Place `json:"yellow" doc:"Where the yellow robot is"`
	Green  Place `json:"green" doc:"Where the green robot is"`
	Blue   Place `json:"blue" doc:"Where the blue robot is"`
}

// A GoalPlace is a goal.
type GoalPlace struct {
	Position Place  `json:"position" doc:"Where it is"`
	Color    string `json:"color" enum:"red,yellow,green,blue,multi" doc:"The robot that must get there; multi: any" example:"red"`
}

// DataOf returns a board whose goals are all open.
func DataOf(b Board) Data {
	d := Data{Robots: PlacesOf(b.Robots), CompletedGoalIndices: []int{}}
	for i := range Size {
		d.Walls.Horizontal = append(d.Walls.Horizontal, list(b.Walls.Horizontal[i]))
		d.Walls.Vertical = append(d.Walls.Vertical, list(b.Walls.Vertical[i]))
	}
	for _, g := range b.Goals {
		d.AllGoals = append(d.AllGoals, GoalPlace{PlaceOf(g.Cell), g.Color.String()})
	}
	return d
}

// list returns the bits of a line.
func list(line uint16) []int {
	all := []int{}
	for i := range Size {
		if line>>i&1 == 1 {
			all = append(all, i)
		}
	}
	return all
}

// PlaceOf returns a cell as it is stored.
func PlaceOf(c Cell) Place { return Place{c.X(), c.Y()} }

// PlacesOf returns places of robots as they are stored.
func PlacesOf(r Robots) RobotPlaces {
	return RobotPlaces{PlaceOf(r[Red]), PlaceOf(r[Yellow]), PlaceOf(r[Green]), PlaceOf(r[Blue])}
}

// Cells is the way back.
func (p RobotPlaces) Cells() Robots {
	return Robots{Red: p.Red.cell(), Yellow: p.Yellow.cell(), Green: p.Green.cell(), Blue: p.Blue.cell()}
}

func (p Place) cell() Cell { return At(p.X, p.Y) }

// Goal is the way back.
func (p GoalPlace) Goal() (Goal, error) {
	color, ok := ParseColor(p.Color)
	if !ok {
		return Goal{}, fmt.Errorf("stored goal: the color %q", p.Color)
	}
	return Goal{p.Position.cell(), color}, nil
}

// Board is the way back.
func (d Data) Board() (Board, error) {
	b := Board{Robots: d.Robots.Cells()}
	for i := range Size {
		b.Walls.Horizontal[i], b.Walls.Vertical[i] = line(d.Walls.Horizontal[i]), line(d.Walls.Vertical[i])
	}
	for _, p := range d.AllGoals {
		g, err := p.Goal()
		if err != nil {
			return Board{}, err
		}
		b.Goals = append(b.Goals, g)
	}
	return b, nil
}

func line(list []int) (bits uint16) {
	for _, i := range list {
		bits |= 1 << i
	}
	return bits
}
