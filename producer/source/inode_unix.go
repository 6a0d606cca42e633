//go:build unix

package source

import (
	"fmt"
	"io/fs"
	"syscall"
)

// inode names the file behind a name, or is empty where the system does not
// say.
func inode(fi fs.FileInfo) string {
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}
