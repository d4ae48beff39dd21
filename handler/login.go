package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/doors/web"
)

// loginWait is how long a person may take to sign in in the browser.
const loginWait = 10 * time.Minute

func loginCommand() command.Command {
	return command.Command{
		Name: "login", Args: []string{"URL"}, Short: "sign this command line in to the service at an address",
		Long: "Opens a page of the service in the browser of this machine, where you allow it, and asks whether you are who has allowed it. Where there is no browser, as over ssh, make an\n" +
			"access token at URL/app/me/tokens and give it on standard input with --paste. Address and token are kept in the file that\n" +
			"\"get -h\" tells of, readable by you alone. The token is in your list under the name of this machine; \"logout\" revokes it.",
		Setup: func(flags *flag.FlagSet) command.Action {
			var how loginOptions
			flags.BoolVar(&how.paste, "paste", false, "read an access token from standard input")
			flags.BoolVar(&how.yes, "yes", false, "keep the token without asking whose it is")
			flags.BoolVar(&how.insecure, "insecure", false,
				"send the token over http to another machine, where others may read it")
			return func(ctx context.Context, std command.Streams, args []string) error {
				return login(ctx, std, args[0], how)
			}
		},
	}
}

func logoutCommand() command.Command {
	return command.Command{
		Name: "logout", Short: "revoke the access token of login, and forget it",
		Long: "The token is revoked at the service, and removed from the file.",
		Setup: func(*flag.FlagSet) command.Action {
			return func(ctx context.Context, std command.Streams, _ []string) error { return logout(ctx, std) }
		},
	}
}

type loginOptions struct{ paste, yes, insecure bool }

func login(ctx context.Context, std command.Streams, address string, how loginOptions) error {
	remote, err := client.New(client.Config{URL: address})
	if err != nil {
		return command.UsageError("login: " + err.Error())
	}
	if strings.HasPrefix(remote.URL(), "http://") && !command.IsLoopback(remote.URL()) && !how.insecure {
		return command.UsageError("login: over http others between here and there can read the token: use the https address of the service, or --insecure")
	}
	var token string
	if how.paste {
		fmt.Fprintf(std.Err, "Paste an access token of %s%s/me/tokens:\n", remote.URL(), web.Prefix)
		line, err := bufio.NewReader(io.LimitReader(std.In, 1000)).ReadString('\n')
		if token = strings.TrimSpace(line); token == "" {
			return fmt.Errorf("login: no token on standard input: %w", err)
		}
	} else if token, err = loginByBrowser(ctx, std, remote); err != nil {
		return fmt.Errorf("login: %w", err)
	}
	signed, err := client.New(client.Config{URL: remote.URL(), Token: token})
	if err != nil {
		return err
	}
	name, err := signed.Name(ctx)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if !how.paste && !how.yes && !asks(ctx, std, fmt.Sprintf("Sign in to %s as %q? [y/N] ", remote.URL(), name)) {
		if err := signed.RevokeMine(ctx); err != nil {
			return fmt.Errorf("login: not signed in, and the token of %q is not revoked at the service: %w", name, err)
		}
		return fmt.Errorf("login: not signed in as %q: the token is revoked; --yes skips the question", name)
	}
	path, err := writeClientConfig(clientConfig{URL: remote.URL(), Token: token})
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	fmt.Fprintf(std.Err, "Signed in to %s as %q. The token is in %s.\n", remote.URL(), name, path)
	return nil
}

// asks reports whether a person says yes to a question. Another user of this machine sees the
// address that the browser is given, and could allow it first, as themselves.
func asks(ctx context.Context, std command.Streams, question string) bool {
	fmt.Fprint(std.Err, question)
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(std.In, 100)).ReadString('\n') // "" is no
		said <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case s := <-said:
		return s == "y" || s == "yes"
	case <-ctx.Done():
		return false
	}
}

// loginByBrowser returns the access token that a person allows in a browser on this machine. What
// comes from another page has not the state, and a code that was made for another command line does
// not fit the secret.
func loginByBrowser(ctx context.Context, std command.Streams, remote *client.Client) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	state, secret := rand.Text(), rand.Text()+rand.Text()
	sum := sha256.Sum256([]byte(secret))
	machine, _ := os.Hostname() // "" is as good
	code := make(chan string, 1)
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: receiver(l.Addr().String(), state, code)}
	go func() { _ = srv.Serve(l) }() // it ends with Close
	defer func() { _ = srv.Close() }()
	page := remote.URL() + web.Prefix + "/login?" + url.Values{
		"port": {fmt.Sprint(l.Addr().(*net.TCPAddr).Port)}, "state": {state},
		"challenge": {hex.EncodeToString(sum[:])}, "name": {machine},
	}.Encode()
	fmt.Fprintf(std.Err, "Allow it in a browser on this machine:\n\n  %s\n\n", page)
	openBrowser(ctx, page)
	select {
	case c := <-code:
		return remote.TakeLogin(ctx, c, secret)
	case <-ctx.Done():
		return "", errors.New("nobody allowed it in time; where this machine has no browser, use --paste")
	}
}

// receiver takes the code that the browser brings to an address of this machine.
func receiver(address, state string, code chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if r.Method != http.MethodGet || r.Host != address ||
			subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 || q.Get("code") == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		select {
		case code <- q.Get("code"):
		default: // it came twice
		}
		_, _ = io.WriteString(w, "Done: go back to the command line.\n")
		_ = http.NewResponseController(w).Flush() // before the server ends
	})
}

// openBrowser opens an address where it can. The person has it in the terminal, too.
func openBrowser(ctx context.Context, address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	if os.Getenv("PROMPTHUB_NO_BROWSER") == "" {
		_ = exec.CommandContext(ctx, name, args...).Start()
	}
}

func logout(ctx context.Context, std command.Streams) error {
	file, err := readClientConfig()
	if err != nil {
		return err
	}
	if file.Token == "" {
		return errors.New("logout: no login is kept")
	}
	remote, err := client.New(client.Config{URL: file.URL, Token: file.Token})
	if err != nil {
		return err
	}
	revoked := remote.RevokeMine(ctx)
	file.Token = ""
	if _, err := writeClientConfig(file); err != nil {
		return fmt.Errorf("logout: %w", err)
	}
	if revoked != nil && !client.IsRefused(revoked) {
		return fmt.Errorf("logout: the token is forgotten here, and not revoked at the service: %w", revoked)
	}
	fmt.Fprintln(std.Err, "Signed out.")
	return nil
}

// writeClientConfig writes the file, readable by its owner alone, whole or not at all.
func writeClientConfig(c clientConfig) (path string, err error) {
	path, err = configPath()
	if err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "config-*.json") // of mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return path, err
}
