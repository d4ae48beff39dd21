package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/api"
	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/browsertest"
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
	ann.Reads("A board, a goal, four robots").Shot("new game")
	browsertest.Accessible(ann, axe, "new game")
	ann.Write("[name=gameName]", "Friday Night Puzzle").Write("[name=seed]", "8").Click("#create button")
	ann.Reads("You are the host").Reads("No round yet")
	h.game = strings.TrimPrefix(browsertest.Eval[string](ann, "location.pathname"), "/play/")
	h.url = url + api.Prefix + "/games/" + h.game
	h.key = browsertest.Eval[string](ann, "localStorage.getItem(`ricochet ${location.pathname.split('/')[2]} host`)")
	require.Equal(t, browsertest.Eval[string](ann, "document.querySelector('#share').value"), url+"/play/"+h.game)
	ann.Shot("before the first round")
	ann.Click("#start button").Reads("Round 1: bring")

	// Ann plays with keys.
	r := ask[api.Round](t, 200, http.MethodGet, h.url+"/rounds/1", "", nil)
	best := h.solution(r)
	keyed(ann, best)
	ann.Reads(fmt.Sprintf("Solved in %d move", len(best))).Shot("solved by keys")
	ann.Press("u").Reads("The last move is undone").Press(kb.Escape).Reads("All robots are back at the start").Reads("No moves yet")
	keyed(ann, best)
	ann.Write("[name=playerName]", "Ann").Click("#submit button").Reads("Accepted: ").Shot("accepted")

	// Bob plays by touch, with the buttons.
	bob := b.Visit(t, url, phone).GoTo("/play/" + h.game).Reads("Round 1: bring")
	require.False(t, browsertest.Eval[bool](bob, "!document.querySelector('#host').hidden"), "Bob is no host")
	bob.Shot("a phone")
	browsertest.Accessible(bob, axe, "active")
	for _, m := range best {
		bob.Click("#robots [value=" + m.Robot + "]").Click("[data-direction=" + m.Direction + "]")
	}
	bob.Reads("Solved in").Write("[name=playerName]", "ann").Click("#submit button").Reads("somebody else plays under this name")
	bob.Shot("a name that is taken")
	bob.Write("[name=playerName]", "Bob").Click("#submit button").Reads("Accepted: ").Reads("rank 1")
	require.False(t, browsertest.Eval[bool](bob, "document.body.innerText.includes('Replay what')"))
	browsertest.Accessible(ann, axe, "host")

	// The mouse sends a robot where it points.
	first := best[0]
	ann.Press(kb.Escape)
	drag(ann, first)
	ann.Reads("1 move: " + first.Robot + " " + first.Direction)

	// The host closes the round: Ann was earlier, and everybody sees how.
	ann.Click("#close").Reads("Round 1 is completed").Reads("Ann")
	bob.GoTo("/play/" + h.game).Reads("Round 1 is completed").Reads("The shortest solution has")
	bob.Click("#leaderboard button").Reads("Round 1, Ann: move 0 of").Shot("replay")
	for range best {
		bob.Click("#next")
	}
	bob.Reads(fmt.Sprintf("move %d of %[1]d", len(best))).Shot("replayed")
	browsertest.Accessible(bob, axe, "replay")
	bob.Click("#leave").Sees("document.querySelector('#replay').hidden")

	// The next rounds, till all goals are won: the solver plays them.
	for n := 2; n <= board.GoalCount; n++ {
		h.round(n)
	}
	ann.GoTo("/play/" + h.game).Reads("The game is complete. 17 of 17 goals are won.").Shot("complete")
	browsertest.Accessible(ann, axe, "complete")
	ann.Calm()
	bob.Calm()
}

// keyed makes moves by keys.
func keyed(p *browsertest.Tab, moves []api.Move) {
	p.T.Helper()
	arrows := map[string]string{"up": kb.ArrowUp, "down": kb.ArrowDown, "left": kb.ArrowLeft, "right": kb.ArrowRight}
	for _, m := range moves {
		p.Press(m.Robot[:1]).Press(arrows[m.Direction])
	}
}

// drag moves a robot by the mouse.
func drag(p *browsertest.Tab, m api.Move) {
	p.T.Helper()
	browsertest.Eval[bool](p, fmt.Sprintf(`(() => {
		const robot = document.querySelector("[data-robot=%s] circle").getBoundingClientRect();
		const [dx, dy] = {up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0]}[%q];
		const at = (kind, x, y, to) => to.dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: x, clientY: y}));
		const [x, y] = [robot.x + robot.width / 2, robot.y + robot.height / 2];
		at("pointerdown", x, y, document.querySelector("svg.board"));
		at("pointerup", x + 2 * dx * robot.width, y + 2 * dy * robot.height, window);
		return true;
	})()`, m.Robot, m.Direction))
}
