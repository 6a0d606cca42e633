// Package twice has two comments.
package twice
