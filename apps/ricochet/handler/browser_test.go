package main

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/api"
	"prompthub/apps/ricochet/internal/board"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/testing/browsertest"
)

// desktop and phone are the windows of players.
var (
	desktop = browsertest.Variant{Name: "desktop", Width: 1280, Height: 1400, Script: true}
	phone   = browsertest.Variant{Name: "phone", Width: 390, Height: 1800, Phone: true, Script: true}
)

// TestBrowser is the story of a host and two players: one at a keyboard, one with a phone.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	url, _ := local(t, t.TempDir())
	h := create(t, url, 1) // which also waits until the service is ready

	ann := b.Visit(t, url, desktop).GoTo("/").Sees("location.pathname === '/play'")
	ann.Reads("Today’s puzzle").Shot("new game")
	browsertest.Accessible(ann, axe, "new game")
	ann.Write("[name=gameName]", "Friday Night Puzzle").Write("[name=seed]", "8")
	browsertest.Eval[bool](ann, "(document.querySelector('#create [name=duration]').value = 300000) > 0")
	ann.Click("#create button")
	ann.Reads("You are the host").Reads("No round yet")
	h.game = strings.TrimPrefix(browsertest.Eval[string](ann, "location.pathname"), "/play/")
	h.url = url + api.Prefix + "/games/" + h.game
	h.key = browsertest.Eval[string](ann, "localStorage.getItem(`ricochet ${location.pathname.split('/')[2]} host`)")
	require.Equal(t, browsertest.Eval[string](ann, "document.querySelector('#share').value"), url+"/play/"+h.game)
	ann.Shot("before the first round")
	require.Equal(t, "300000", browsertest.Eval[string](ann, "document.querySelector('#start [name=duration]').value"),
		"as long as the game says")
	ann.Click("#start button").Reads("Round 1 ·").Reads("Bring ")
	require.True(t, browsertest.Eval[bool](ann, "document.querySelector('#submit button').disabled"),
		"nothing is solved yet")

	// Ann plays with keys.
	r := ask[api.Round](t, 200, http.MethodGet, h.url+"/rounds/1", "", nil)
	best := h.solution(r)
	keyed(ann, best)
	ann.Reads(fmt.Sprintf("Solved in %d move", len(best))).Shot("solved by keys")
	require.False(t, browsertest.Eval[bool](ann, "document.querySelector('#submit button').disabled"))
	ann.Press("u").Reads("The last move is undone").Press(kb.Escape).Reads(
		"All robots are back at the start").Reads("No moves yet")
	keyed(ann, best)
	ann.Write("[name=playerName]", "Ann").Click("#submit button").Reads("Accepted: ").Shot("accepted")
	ann.Reads(fmt.Sprintf("You submitted %d move", len(best))).Sees("document.querySelector('#submit button').disabled")
	ann.Click("#tell").Sees("/Copied: paste it|does not let this page copy. Send this: Ricochet/.test(document.querySelector('#solo .told').textContent)")

	// Bob plays with a finger, and then with the buttons.
	bob := b.Visit(t, url, phone).GoTo("/play/" + h.game).Reads("Round 1 ·")
	require.False(t, browsertest.Eval[bool](bob, "!document.querySelector('#host').hidden"), "Bob is no host")
	bob.Shot("a phone")
	browsertest.Accessible(bob, axe, "active")
	for n, m := range best {
		swipe(bob, m)
		bob.Reads(fmt.Sprintf("%d move", n+1))
	}
	bob.Reads("Solved in").Click("#reset").Reads("No moves yet")
	for _, m := range best {
		bob.Click("#robots [value=" + m.Robot + "]").Click("[data-direction=" + m.Direction + "]")
	}
	bob.Reads("Solved in").Write("[name=playerName]", "ann").Click("#submit button").Reads(
		"Somebody else plays under this name")
	bob.Shot("a name that is taken")
	bob.Write("[name=playerName]", "Bob").Click("#submit button").Reads("Accepted: ").Reads("rank 1")
	require.False(t, browsertest.Eval[bool](bob, "document.body.innerText.includes('Replay what')"))
	browsertest.Accessible(ann, axe, "host")

	// The mouse sends a robot where it points.
	first := best[0]
	ann.Press(kb.Escape)
	drag(ann, first)
	ann.Reads("1 move: " + first.Robot + " " + map[string]string{
		"up": "↑", "down": "↓", "left": "←",
		"right": "→",
	}[first.Direction])

	// The host closes the round: Ann was earlier, and everybody sees how.
	ann.Click("#close").Reads("Close the round?").Shot("sure")
	ann.Click("#sure [value='']").Reads("left ·").Click("#close").Click("#yes").Reads(
		"Round 1 is completed").Reads("Ann")
	bob.GoTo("/play/" + h.game).Reads("Round 1 is completed").Reads("The shortest solution has")
	bob.Click("#leaderboard button").Reads("Round 1, Ann: move 0 of").Shot("replay")
	for range best {
		bob.Click("#next")
	}
	bob.Reads(fmt.Sprintf("move %d of %[1]d", len(best))).Shot("replayed")
	browsertest.Accessible(bob, axe, "replay")
	bob.Click("#leave").Sees("document.querySelector('#replay').hidden")

	// The host skips some goals, which come again; the solver plays till all are won.
	const skipped = 5
	for n := 2; n < 2+skipped; n++ {
		ask[api.Round](t, 201, http.MethodPost, h.url+"/rounds", h.key, api.StartRound{})
		ask[api.Round](t, 200, http.MethodPost, fmt.Sprintf("%s/rounds/%d/close", h.url, n), h.key,
			api.CloseRound{SkipGoal: true})
	}
	for n := 2 + skipped; n <= board.GoalCount+skipped; n++ {
		h.round(n)
	}
	ann.GoTo("/play/" + h.game).Reads("The game is complete. 17 of 17 goals won.").Shot("complete")
	ann.Sees("document.querySelectorAll('#rounds tr').length === 21").Click("#rounds > button").Sees(
		"document.querySelectorAll('#rounds tr').length === 23")
	browsertest.Accessible(ann, axe, "complete")
	ann.Calm()
	bob.Calm()
}

// TestBrowserPages: more players than a page of a leaderboard shows are a click away, and stay
// there when the page asks again.
func TestBrowserPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	url, _ := local(t, t.TempDir())
	h := create(t, url, 8)
	r := ask[api.Round](t, 201, http.MethodPost, h.url+"/rounds", h.key, api.StartRound{})
	moves := h.solution(r)
	for n := 101; n <= 202; n++ {
		ask[api.Accepted](t, 201, http.MethodPost, h.url+"/rounds/1/solutions", "",
			api.Submission{PlayerName: fmt.Sprint("Player ", n), Moves: moves})
	}
	eve := b.Visit(t, url, phone).GoTo("/play/" + h.game).Reads("Player 200")
	eve.Sees("!document.body.innerText.includes('Player 201')")
	eve.Click("#leaderboard > button").Reads("Player 202").Sees("!document.body.innerText.includes('Player 200')")
	browsertest.Accessible(eve, axe, "next players")
	ask[api.Accepted](t, 201, http.MethodPost, h.url+"/rounds/1/solutions", "",
		api.Submission{PlayerName: "Player 203", Moves: moves})
	eve.Reads("Player 203").Click("#leaderboard > button").Reads("Player 101").Sees(
		"!document.body.innerText.includes('Player 203')")
	eve.Calm()
}

// handheld is the window of a player whose phone shows no more than phones do.
var handheld = browsertest.Variant{Name: "handheld", Width: 390, Height: 844, Phone: true, Script: true}

// TestBrowserToday is the story of a player alone with the puzzle of today: after every move the
// buttons stay where the thumb is.
func TestBrowserToday(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	url, _ := local(t, t.TempDir())
	h := create(t, url, 8)
	eve := b.Visit(t, url, handheld).GoTo("/play").Reads("Today’s puzzle").Sees(
		"document.querySelector('#board .robot')")
	browsertest.Accessible(eve, axe, "today")
	today := ask[api.Today](t, 200, http.MethodGet, url+api.Prefix+"/today", "", nil)
	d, err := today.BoardData.Board()
	require.NoError(t, err)
	best, err := game.Search(t.Context(), d.Walls.Slides(), d.Robots, d.Goals[today.GoalIndex])
	require.NoError(t, err)
	require.Len(t, best, today.MoveCount)
	arrows := func() float64 {
		return browsertest.Eval[float64](eve,
			"document.querySelector('[data-direction=left]').getBoundingClientRect().y")
	}
	require.Equal(t, "none", browsertest.Eval[string](eve,
		"document.querySelector('#tell').checkVisibility() ? 'shown' : 'none'"))
	at := arrows()
	for _, m := range best {
		eve.Click("#robots [value=" + m.Robot.String() + "]").Click("[data-direction=" + m.Direction.String() + "]")
		require.InDelta(t, at, arrows(), 0, "the arrows moved away under the thumb")
	}
	eve.Reads("there is no shorter way!").Reads(fmt.Sprintf("your best: %d", len(best)))
	require.True(t, inWindow(eve, "#tell"))
	browsertest.Accessible(eve, axe, "solved today")
	eve.Click("#tell").Sees("/Copied: paste it|does not let this page copy. Send this: Ricochet/.test(document.querySelector('#solo .told').textContent)")
	eve.GoTo("/play").Reads(fmt.Sprintf("your best: %d", len(best))).Reads("No moves yet").Reads(
		fmt.Sprintf("You have solved it in %d move", len(best)))
	require.True(t, inWindow(eve, "#tell"), "it can still be shared")
	scrolls(eve)

	ask[api.Round](t, 201, http.MethodPost, h.url+"/rounds", h.key, api.StartRound{})
	eve.GoTo("/play/" + h.game).Reads("You can submit once")
	require.True(t, inWindow(eve, "#submit button"))
	eve.Calm()
}

// inWindow reports whether the window shows all of an element, without scrolling.
func inWindow(p *browsertest.Tab, selector string) bool {
	p.T.Helper()
	r := browsertest.Eval[struct{ Top, Bottom float64 }](p,
		fmt.Sprintf(`(r => ({Top: r.top, Bottom: r.bottom}))(document.querySelector(%q).getBoundingClientRect())`,
			selector))
	return r.Top >= 0 && math.Ceil(r.Bottom) <= float64(p.V.Height)
}

// keyed makes moves by keys.
func keyed(p *browsertest.Tab, moves []api.Move) {
	p.T.Helper()
	arrows := map[string]string{"up": kb.ArrowUp, "down": kb.ArrowDown, "left": kb.ArrowLeft, "right": kb.ArrowRight}
	for _, m := range moves {
		p.Press(m.Robot[:1]).Press(arrows[m.Direction])
	}
}

// A spot is where somebody points in a window.
type spot struct{ X, Y float64 }

// reach returns where a robot is in the window, and where one points to send it in a direction.
func reach(p *browsertest.Tab, m api.Move) (from, to spot) {
	p.T.Helper()
	p.Sees("!document.getAnimations().some(a => a instanceof CSSTransition)") // the robots are at rest
	robot := browsertest.Eval[struct{ X, Y, Width float64 }](p, fmt.Sprintf(`(() => {
		const {x, y, width, height} = document.querySelector("[data-robot=%s] .body").getBoundingClientRect();
		return {X: x + width / 2, Y: y + height / 2, Width: width};
	})()`, m.Robot))
	far := map[string]spot{"up": {0, -1}, "down": {0, 1}, "left": {-1, 0}, "right": {1, 0}}[m.Direction]
	return spot{robot.X, robot.Y}, spot{robot.X + 2*robot.Width*far.X, robot.Y + 2*robot.Width*far.Y}
}

// drag moves a robot by the mouse.
func drag(p *browsertest.Tab, m api.Move) {
	p.T.Helper()
	from, to := reach(p, m)
	for _, e := range []struct {
		kind input.DispatchMouseEventType
		at   spot
	}{
		{input.DispatchMouseEventTypeMousePressed, from},
		{input.DispatchMouseEventTypeMouseMoved, to},
		{input.DispatchMouseEventTypeMouseReleased, to},
	} {
		browsertest.Call(p, input.DispatchMouseEvent,
			input.DispatchMouseEventParams{
				Type: e.kind, X: e.at.X, Y: e.at.Y,
				Button: input.MouseButtonLeft, ClickCount: 1,
			})
	}
}

// swipe moves a robot by a finger.
func swipe(p *browsertest.Tab, m api.Move) {
	p.T.Helper()
	from, to := reach(p, m)
	for _, e := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: from.X, Y: from.Y}}},
		{Type: input.DispatchTouchEventTypeTouchMove, TouchPoints: []*input.TouchPoint{{X: to.X, Y: to.Y}}},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		browsertest.Call(p, input.DispatchTouchEvent, e)
	}
}

// scrolls drags what is no robot: the page scrolls, and no robot moves.
func scrolls(p *browsertest.Tab) {
	p.T.Helper()
	at := browsertest.Eval[struct{ X, Y float64 }](p, `(() => {
		const { left, top, width } = document.querySelector("svg.board").getBoundingClientRect(), taken = [...document.querySelectorAll(".robot")].map(g => g.getBoundingClientRect());
		for (let n = 40; ; n += 9) {
			const x = left + width * (0.1 + (n % 80) / 100), y = top + width * 0.8;
			if (!taken.some(r => x > r.left && x < r.right && y > r.top && y < r.bottom)) return {X: x, Y: y};
		}
	})()`)
	browsertest.Call(p, input.DispatchTouchEvent,
		input.DispatchTouchEventParams{
			Type:        input.DispatchTouchEventTypeTouchStart,
			TouchPoints: []*input.TouchPoint{{X: at.X, Y: at.Y}},
		})
	for y := at.Y; y > at.Y-300; y -= 30 {
		browsertest.Call(p, input.DispatchTouchEvent,
			input.DispatchTouchEventParams{
				Type:        input.DispatchTouchEventTypeTouchMove,
				TouchPoints: []*input.TouchPoint{{X: at.X, Y: y}},
			})
	}
	browsertest.Call(p, input.DispatchTouchEvent,
		input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
	p.Sees("scrollY > 50").Reads("No moves yet")
}
