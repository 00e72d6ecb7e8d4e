package reports

// RaceDetector tells that the tests run under it, which makes drawing slow.
const RaceDetector = raceDetector
