package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// MaxFile bounds a catalog's file, in bytes.
const MaxFile = 1 << 20

// Parse makes the catalog that a YAML document describes, as Read does.
// Aliases, merges, tags and keys that are no text are refused: a catalog needs
// none, and a few lines of aliases can stand for gigabytes.
func Parse(document []byte) (*Catalog, error) {
	if len(document) > MaxFile {
		return nil, fmt.Errorf("read catalog: %w: the file has %d bytes, at most %d are allowed", ErrCatalog, len(document), MaxFile)
	}
	d := yaml.NewDecoder(bytes.NewReader(document))
	var first, second yaml.Node
	switch err := d.Decode(&first); {
	case errors.Is(err, io.EOF):
		return Read(Node{})
	case err != nil:
		return nil, fmt.Errorf("read catalog: %w: %w", ErrCatalog, err)
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fault(second.Line, "the file holds more than one document")
	}
	n, err := fromYAML(first.Content[0])
	if err != nil {
		return nil, err
	}
	return Read(n)
}

// fromYAML is a node of YAML as a Node. The decoder bounds the depth.
func fromYAML(y *yaml.Node) (n Node, err error) {
	n.Line = y.Line
	switch {
	case y.Kind == yaml.AliasNode:
		return n, fault(y.Line, "*%s is an alias; write out what it stands for, and put a channel that begins with * in quotes", y.Value)
	case y.Anchor != "":
		return n, fault(y.Line, "&%s is an anchor, which a catalog has no use for", y.Anchor)
	case y.Kind == yaml.ScalarNode && y.ShortTag() == "!!null":
		return n, nil
	case y.Kind == yaml.ScalarNode:
		n.Kind, n.Text = Text, y.Value
	case y.Kind == yaml.SequenceNode:
		n.Kind = List
		for _, e := range y.Content {
			if err := add(&n.List, e); err != nil {
				return n, err
			}
		}
	case y.Kind == yaml.MappingNode:
		n.Kind = Map
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i]
			if key.Kind != yaml.ScalarNode {
				return n, fault(key.Line, "a key is a word")
			}
			v, err := fromYAML(y.Content[i+1])
			if err != nil {
				return n, err
			}
			n.Map = append(n.Map, Pair{Line: key.Line, Key: key.Value, Value: v})
		}
	}
	return n, nil
}

func add(list *[]Node, y *yaml.Node) error {
	n, err := fromYAML(y)
	*list = append(*list, n)
	return err
}
