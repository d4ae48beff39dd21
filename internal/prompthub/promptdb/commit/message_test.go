package commit

import "testing"

func FuzzMessage(f *testing.F) {
	f.Add(`{"v":1,"author":"a","prompt":"01ARZ3NDEKTSV4RRFFQ69G5FAV","voter":"b"}`)
	f.Fuzz(func(t *testing.T, s string) {
		m, err := parseMessage(s)
		if err != nil {
			return
		}
		again, err := parseMessage(m.text())
		if m.Version = messageVersion; err != nil || again != m {
			t.Fatalf("%q reads as %+v, then %+v, %v", s, m, again, err)
		}
	})
}
