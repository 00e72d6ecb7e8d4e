package nest

// Holds reports whether the condition holds at vars.
func (c Condition) Holds(vars []int) bool { return c.holds(vars) }
