//go:build !windows

package stack

import "golang.org/x/sys/unix"

// freeBytes is what the folder's disk has free for us, 0 if that is not known.
func freeBytes(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
