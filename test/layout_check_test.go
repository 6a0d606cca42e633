package test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A house is a set of rules for a tree of Go packages.
type house struct {
	module    string
	mayImport map[string][]string
	pure      []string
	edge      []string
	embed     []string
	vague     []string

	fileLines, fileLimit, funcLines int
	longFiles, longFuncs            map[string]string
}

// A source is one parsed file. Paths are slashed and relative to the root.
type source struct {
	path, dir string
	test      bool // a _test.go file
	lines     int
	tree      *ast.File
	positions *token.FileSet
}

// load parses every Go file below root, but for testdata and hidden folders.
func load(root string) ([]source, error) {
	var files []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != root && (base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		tree, err := parser.ParseFile(positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(rel)
		files = append(files, source{
			path: slashed, dir: path.Dir(slashed), test: strings.HasSuffix(base, "_test.go"),
			lines: bytes.Count(text, []byte("\n")), tree: tree, positions: positions,
		})
		return nil
	})
	return files, err
}

// check gives every violation of the house, one line each, sorted.
func (h house) check(files []source) []string {
	var all []string
	for _, f := range files {
		all = append(all, h.checkName(f)...)
		if f.test {
			continue // tests may import more, and wait
		}
		all = append(all, h.checkImports(f)...)
		all = append(all, h.checkPure(f)...)
		all = append(all, h.checkLengths(f)...)
		all = append(all, checkDocs(f)...)
	}
	all = append(all, h.checkArguments(files)...)
	all = append(all, h.checkPresence(files)...)
	all = append(all, checkPackageComments(files)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// at is a report about a place in a file.
func (f source) at(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: ", f.path, f.positions.Position(pos).Line) + fmt.Sprintf(format, args...)
}

// imported are the import paths of a file, with their places.
func (f source) imported() map[string]token.Pos {
	m := map[string]token.Pos{}
	for _, spec := range f.tree.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			m[p] = spec.Pos()
		}
	}
	return m
}

// within reports whether a folder is named by one of the patterns.
func within(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		below, tree := strings.CutSuffix(p, "...")
		return dir == strings.TrimSuffix(below, "/") || (tree && strings.HasPrefix(dir, below))
	})
}

// checkName refuses folders and packages whose names say nothing.
func (h house) checkName(f source) []string {
	name := strings.TrimSuffix(f.tree.Name.Name, "_test")
	for _, n := range []string{name, path.Base(f.dir), strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test")} {
		if slices.Contains(h.vague, n) {
			return []string{f.at(f.tree.Name.Pos(), "the name %s says nothing of what is inside", n)}
		}
	}
	return nil
}

// checkImports holds a file to the import table and to who may speak NATS.
func (h house) checkImports(f source) []string {
	var all []string
	row := ""
	for pattern := range h.mayImport {
		if within(f.dir, []string{pattern}) && len(pattern) > len(row) {
			row = pattern
		}
	}
	if row == "" {
		all = append(all, f.at(f.tree.Name.Pos(), "the folder %s stands in no row of the import table", f.dir))
	}
	for imported, pos := range f.imported() {
		dir, ours := strings.CutPrefix(imported, h.module+"/")
		switch {
		case ours && row != "" && !within(dir, h.mayImport[row]):
			all = append(all, f.at(pos, "%s may not import %s", f.dir, dir))
		case ours && within(f.dir, h.pure) && !within(dir, h.pure):
			all = append(all, f.at(pos, "%s is pure and may not import %s, which is not", f.dir, dir))
		case isServer(imported) && !within(f.dir, h.embed):
			all = append(all, f.at(pos, "%s may not embed a server: %s", f.dir, imported))
		case isNATS(imported) && f.tree.Name.Name != "main" && !within(f.dir, h.edge):
			all = append(all, f.at(pos, "%s is no edge and may not import %s", f.dir, imported))
		}
	}
	return all
}

func isServer(imported string) bool {
	return strings.HasPrefix(imported, "github.com/nats-io/nats-server/")
}

func isNATS(imported string) bool {
	return strings.HasPrefix(imported, "github.com/nats-io/") || strings.HasPrefix(imported, "github.com/synadia-io/")
}

// clock are the names of package time that read or wait for a clock.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// checkPure refuses clocks and goroutines in a pure package.
func (h house) checkPure(f source) []string {
	if !within(f.dir, h.pure) {
		return nil
	}
	timeName := ""
	for _, spec := range f.tree.Imports {
		if spec.Path.Value != `"time"` {
			continue
		}
		if timeName = "time"; spec.Name != nil {
			timeName = spec.Name.Name
		}
		if timeName == "." {
			return []string{f.at(spec.Pos(), "%s is pure: import time by its name", f.dir)}
		}
	}
	var all []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			all = append(all, f.at(n.Pos(), "%s is pure and may start no goroutine", f.dir))
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				all = append(all, f.at(n.Pos(), "%s is pure and may start no goroutine", f.dir))
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && timeName != "" && x.Name == timeName && slices.Contains(clock, n.Sel.Name) {
				all = append(all, f.at(n.Pos(), "%s is pure and may not use time.%s: take the time as an argument", f.dir, n.Sel.Name))
			}
		}
		return true
	})
	return all
}

// checkLengths holds files and functions to their budgets.
func (h house) checkLengths(f source) []string {
	var all []string
	switch {
	case f.lines > h.fileLimit:
		all = append(all, fmt.Sprintf("%s: %d lines, at most %d: split it", f.path, f.lines, h.fileLimit))
	case f.lines > h.fileLines && h.longFiles[f.path] == "":
		all = append(all, fmt.Sprintf("%s: %d lines, over %d: split it, or argue in longFiles", f.path, f.lines, h.fileLines))
	}
	for name, lines := range f.functions() {
		if lines > h.funcLines && h.longFuncs[name] == "" {
			all = append(all, fmt.Sprintf("%s: %d lines, over %d: split it, or argue in longFuncs", name, lines, h.funcLines))
		}
	}
	return all
}

// functions are the lengths of a file's functions, by "path Name" or
// "path Type.Name".
func (f source) functions() map[string]int {
	m := map[string]int{}
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			name := fn.Name.Name
			if r := receiver(fn); r != "" {
				name = r + "." + name
			}
			m[f.path+" "+name] = f.positions.Position(fn.End()).Line - f.positions.Position(fn.Pos()).Line + 1
		}
	}
	return m
}

// checkArguments refuses arguments for what is no longer long, or there.
func (h house) checkArguments(files []source) []string {
	long := map[string]bool{}
	for _, f := range files {
		long[f.path] = f.lines > h.fileLines
		for name, lines := range f.functions() {
			long[name] = lines > h.funcLines
		}
	}
	var all []string
	for _, table := range []map[string]string{h.longFiles, h.longFuncs} {
		for name := range maps.Keys(table) {
			if !long[name] {
				all = append(all, fmt.Sprintf("%s: not long, or not there: strike its argument", name))
			}
		}
	}
	return all
}

// checkPresence refuses rules about nothing: when a stage has its main, the
// folders that the rules name in it must hold code.
func (h house) checkPresence(files []source) []string {
	there := map[string]bool{}
	mains := map[string]bool{}
	for _, f := range files {
		there[f.dir] = there[f.dir] || !f.test
		if f.tree.Name.Name == "main" && !f.test {
			stage, _, _ := strings.Cut(f.dir, "/")
			mains[stage] = true
		}
	}
	var all []string
	for _, pattern := range slices.Concat(h.pure, h.edge, h.embed) {
		stage, _, _ := strings.Cut(pattern, "/")
		if mains[stage] && !strings.HasSuffix(pattern, "...") && !there[pattern] {
			all = append(all, fmt.Sprintf("%s: the rules name this folder and it holds no code", pattern))
		}
	}
	return all
}
