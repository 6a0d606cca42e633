package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// natsCLI is the version of the nats command line tool that tests talk to.
const natsCLI = "github.com/nats-io/natscli/nats@v0.5.0"

var binDir string // of this test process

// Main runs a package's tests with a folder for built executables.
func Main(m *testing.M) {
	dir, err := os.MkdirTemp("", "datastream-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
	binDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var buildDS = sync.OnceValues(func() (string, error) {
	out := filepath.Join(binDir, exe("ds"))
	root, err := Root()
	if err != nil {
		return "", err
	}
	args := []string{"build", "-o", out}
	if raceEnabled {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "./ds")...)
	cmd.Dir = root
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ds: %w\n%s", err, b)
	}
	return out, nil
})

// DS is the path of the ds executable, built with the race detector when the
// test is.
func DS(t testing.TB) string {
	t.Helper()
	path, err := buildDS()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var installNATS = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "datastream", strings.ReplaceAll(filepath.Base(natsCLI), "@", "-"))
	path := filepath.Join(dir, exe("nats"))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.Command("go", "install", natsCLI)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod")
	cmd.Dir = os.TempDir()
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s: %w\n%s", natsCLI, err, b)
	}
	return path, nil
})

// NATSTool is the path of the nats command line tool, installed once per
// user into the cache.
func NATSTool(t testing.TB) string {
	t.Helper()
	path, err := installNATS()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Root is the project's folder.
func Root() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", fmt.Errorf("find the project's folder: no caller")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file))), nil
}

func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
