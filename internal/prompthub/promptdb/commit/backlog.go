package commit

import (
	"prompthub/internal/prompthub/prompt"
)

// The rows of the text index are many, so no answer waits for them. A commit after which they
// differ says so in the truth row, and its repair message is brought forward: that job writes them,
// under a lease of its own like all index rows. Until then a search may miss the prompt or look at
// it in vain; it shows none without having read the truth.

// textJobs is how many texts an instance writes the rows of at once, and textParallel how many of
// their rows, which are all of a text. More jobs with fewer rows each have as many rows under way
// and take turns with the writes that somebody waits for (docs/performance.md has the figures).
// Where a text is one call, the storage sees to that, and more of them come to lie side by side.
const (
	textJobs      = 2
	textJobsWhole = 8
	textParallel  = prompt.MaxTextWords
)
