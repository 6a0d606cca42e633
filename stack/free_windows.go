package stack

import "golang.org/x/sys/windows"

// freeBytes is what the folder's disk has free for us, 0 if that is not known.
func freeBytes(dir string) int64 {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(path, &free, nil, nil) != nil {
		return 0
	}
	return int64(min(free, 1<<62))
}
