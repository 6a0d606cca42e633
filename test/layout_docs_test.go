package test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// checkPackageComments wants one package comment a package: in doc.go, in a
// main's main.go, or anywhere in a package that is tests alone.
func checkPackageComments(files []source) []string {
	type pkg struct {
		main, code bool
		comments   []string // the files that bear one
	}
	packages := map[string]*pkg{}
	for _, f := range files {
		p := packages[f.dir]
		if p == nil {
			p = &pkg{}
			packages[f.dir] = p
		}
		if !f.test {
			p.code = true
			p.main = p.main || f.tree.Name.Name == "main"
		}
		if f.tree.Doc != nil {
			p.comments = append(p.comments, path.Base(f.path))
		}
	}
	var all []string
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p := packages[dir]
		place := "doc.go"
		if p.main {
			place = "main.go"
		}
		switch {
		case len(p.comments) == 0 && p.code:
			all = append(all, fmt.Sprintf("%s: no package comment; write it in %s", dir, place))
		case len(p.comments) == 0 && dir != ".":
			all = append(all, fmt.Sprintf("%s: no package comment", dir))
		case len(p.comments) > 1:
			all = append(all, fmt.Sprintf("%s: %d package comments, in %s; one is enough", dir, len(p.comments), strings.Join(p.comments, ", ")))
		case p.code && p.comments[0] != place:
			all = append(all, fmt.Sprintf("%s: the package comment is in %s; it belongs in %s", dir, p.comments[0], place))
		}
	}
	return all
}

// checkDocs wants a doc comment for every exported function, method of an
// exported type, type, constant and variable. One above a group of constants
// or variables is enough for the group.
func checkDocs(f source) []string {
	var all []string
	missing := func(id *ast.Ident, kind string) {
		all = append(all, f.at(id.Pos(), "%s %s has no doc comment", kind, id.Name))
	}
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			r := receiver(d)
			if d.Name.IsExported() && d.Doc == nil && (r == "" || ast.IsExported(r)) {
				missing(d.Name, "function")
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT || d.Doc != nil && d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
						missing(s.Name, "type")
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if id.IsExported() && s.Doc == nil && s.Comment == nil {
							missing(id, d.Tok.String())
						}
					}
				}
			}
		}
	}
	return all
}

// receiver is the name of a method's type, "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	for t := fn.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
