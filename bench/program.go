package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"prompthub/internal/testing/load"
)

// build compiles the handler.
func build(ctx context.Context) (binary string, clean func(), err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return "", nil, err
	}
	binary = filepath.Join(dir, "handler")
	return binary, func() { os.RemoveAll(dir) }, load.Build(ctx, ".", "prompthub/handler", binary)
}

// A program is a handler at work, or a program that it is compared with.
type program struct {
	*load.Program
	start time.Duration // until its first answer
}

// start runs a handler on a store and waits for its first answer, a page of prompts.
func start(ctx context.Context, binary string, s store, args ...string) (*program, error) {
	return startWith(ctx, binary, s, io.Discard, nil, args...)
}

// startWith does so with settings of its own, and says where what the handler logs goes.
func startWith(ctx context.Context, binary string, s store, log io.Writer, env []string,
	args ...string,
) (*program, error) {
	addr, err := load.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, append([]string{"local", "--addr", addr, "--data", s.data}, args...)...)
	cmd.Env = append(os.Environ(), "AzureWebJobsStorage="+s.azure, "PUBLIC_READ=true",
		"LOG_LEVEL=warn", "AUTH_MODE=dev")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = log
	began := time.Now()
	p, err := load.Start(addr, cmd)
	if err != nil {
		return nil, err
	}
	if err := p.Answers(ctx, "/api/v1/prompts?limit=20"); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return &program{p, time.Since(began)}, nil
}
