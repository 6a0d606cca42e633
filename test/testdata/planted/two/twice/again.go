// Package twice has two comments, this being the other.
package twice
