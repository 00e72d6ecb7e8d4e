//go:build race

package csource_test

// raceDetector tells whether the race detector is on, which is slow.
const raceDetector = true
