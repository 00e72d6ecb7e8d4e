package exact

// Whether summaries pay shows late, if ever: a loop's summary may first match after thousands of
// others were made. So each unit has an account, in touches. Entries credit it for the instances
// that they replace, and debit it for their making.
//
// All units in debt may owe a small part of the cost of running the program in line runs. Beyond
// that they make no more summaries, and the others may owe half of the former limit. So all wasted
// work stays small, too.

// The allowed debt is 1/owedOf of the program's cost, and at least leastOwed.
const (
	owedOf    = 16
	leastOwed = 1 << 21
	// mostSpared caps an account: more credit pays for all entries that may follow.
	mostSpared = 1 << 50
)

// Approximate costs of making, applying and extending a summary, in touches.
const (
	toRecord = 4000
	toApply  = 200
	toExtend = 200
)

// work is the approximate work done, minus the work booked.
func (m *machine) work() int { return m.did.touched + toApply*m.did.applied - m.booked }

func (m *machine) debit(u *unit, since, more int) {
	done := m.work() - since
	m.booked += done
	m.book(u, -done-more)
}

// credit books the savings of an entry: trips iterations of an instance, from y on.
func (m *machine) credit(n *node, e *entry, y, trips int) {
	saved := m.slots[n.slot]
	m.slots[n.slot] = y + trips/2
	spared := int(min(m.each(n)*float64(trips), mostSpared)) - toApply
	m.slots[n.slot] = saved
	if e.log != nil {
		spared -= e.log.items
	}
	m.book(n.unit, spared)
}

// book changes a unit's account. If debts exceed mayOwe, it closes the accounts in debt.
func (m *machine) book(u *unit, by int) {
	m.owed += min(0, u.account)
	u.account = min(u.account+by, mostSpared)
	if m.owed -= min(0, u.account); m.owed <= m.mayOwe {
		return
	}
	for _, u := range m.tabled {
		if u.account < 0 {
			u.account, u.off = 0, true
		}
	}
	m.owed, m.mayOwe = 0, m.mayOwe/2
}
