package blocked

// Padded returns the shape with its padding.
func (l Layout) Padded() []int { return l.padded() }
