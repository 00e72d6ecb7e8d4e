//go:build race

package reports

// raceDetector tells that the tests run under it, which makes drawing slow.
const raceDetector = true
