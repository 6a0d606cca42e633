package source

import "io/fs"

// inode names the file behind a name; this system does not say it of a
// FileInfo, so that a file is known by its bytes alone.
func inode(fs.FileInfo) string { return "" }
