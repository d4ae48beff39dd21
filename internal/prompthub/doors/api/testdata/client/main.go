// Command client does the main job through a client that was generated from the OpenAPI
// document: create, list, vote, edit, delete. Its argument is where the API is.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// as sends requests under a name.
func as(name string) RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-Dev-User", name)
		return nil
	}
}

// must reports an answer that is not the one wanted.
func must(what string, err error, got, want int, body []byte) error {
	if err == nil && got != want {
		err = fmt.Errorf("status %d, want %d: %s", got, want, body)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

func run(ctx context.Context, url string) error {
	c, err := NewClientWithResponses(url)
	if err != nil {
		return err
	}
	ann, bob := as("Ann"), as("Bob")
	made, err := c.CreatePromptWithResponse(ctx, &CreatePromptParams{IdempotencyKey: ptr("key-1")},
		NewPrompt{
			Title: ptr("Made by a client"), Text: ptr("Text"), Tags: ptr([]string{"text"}),
			Visibility: ptr(NewPromptVisibilityPublic),
		}, ann)
	if err := must("create", err, made.StatusCode(), http.StatusCreated, made.Body); err != nil {
		return err
	}
	id := made.JSON201.Id

	list, err := c.ListPromptsWithResponse(ctx,
		&ListPromptsParams{Tag: ptr([]string{"text"}), Q: ptr("made"), Limit: ptr(int64(5))}, bob)
	if err := must("list", err, list.StatusCode(), http.StatusOK, list.Body); err != nil {
		return err
	}
	if len(list.JSON200.Items) != 1 || list.JSON200.Items[0].Id != id || list.JSON200.Items[0].Text != nil {
		return fmt.Errorf("list: got %s", list.Body)
	}

	vote, err := c.SetVoteWithResponse(ctx, id, Vote{Value: VoteValueLike}, bob)
	if err := must("vote", err, vote.StatusCode(), http.StatusOK, vote.Body); err != nil {
		return err
	}
	if vote.JSON200.Likes != 1 || vote.JSON200.Value != BallotValueLike {
		return fmt.Errorf("vote: got %s", vote.Body)
	}
	if err := edit(ctx, c, id, ann); err != nil {
		return err
	}

	gone, err := c.DeletePromptWithResponse(ctx, id, &DeletePromptParams{IfMatch: ptr("*")}, ann)
	if err := must("delete", err, gone.StatusCode(), http.StatusNoContent, gone.Body); err != nil {
		return err
	}
	after, err := c.GetPromptWithResponse(ctx, id, nil, ann)
	if err := must("get deleted", err, after.StatusCode(), http.StatusNotFound, after.Body); err != nil {
		return err
	}
	if after.ApplicationproblemJSON404.RequestId == nil {
		return fmt.Errorf("get deleted: got %s", after.Body)
	}
	return nil
}

// edit changes the title under the version that it read, and once more under that stale version.
func edit(ctx context.Context, c *ClientWithResponses, id string, ann RequestEditorFn) error {
	read, err := c.GetPromptWithResponse(ctx, id, nil, ann)
	if err := must("get", err, read.StatusCode(), http.StatusOK, read.Body); err != nil {
		return err
	}
	version := read.HTTPResponse.Header.Get("ETag")
	for _, step := range []struct {
		title string
		want  int
	}{{"Edited", http.StatusOK}, {"Edited late", http.StatusPreconditionFailed}} {
		got, err := c.PatchPromptWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, id,
			&PatchPromptParams{IfMatch: &version}, PromptPatch{Title: &step.title}, ann)
		if err := must("edit", err, got.StatusCode(), step.want, got.Body); err != nil {
			return err
		}
		if step.want == http.StatusOK && (got.JSON200.Title != step.title || *got.JSON200.Revision != 2) {
			return fmt.Errorf("edit: got %s", got.Body)
		}
		if step.want != http.StatusOK && got.ApplicationproblemJSON412.Current.Title != "Edited" {
			return fmt.Errorf("late edit: got %s", got.Body)
		}
	}
	return nil
}
