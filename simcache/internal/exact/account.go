package exact

// Whether summaries pay shows only later: those of a loop may come again after thousands of
// others were made, or never. So each unit has an account, in touches: of what its entries took
// to make, and spared where they stood for an instance. All that are in debt may owe a small
// part of what all accesses of the program take by runs within lines. Once they owe more, no
// more summaries are made of them, and the others may owe half as much as before: so that all
// that is made in vain is a small part, too.

// owedOf is the part that may be owed, and leastOwed what may be whatever there is.
const (
	owedOf    = 32
	leastOwed = 1 << 21
	// mostSpared is as much as an account has at most: more pays for all that may come.
	mostSpared = 1 << 50
)

// What summaries take, about, in touches: to make one, to apply one, and to extend one.
const (
	toRecord = 4000
	toApply  = 200
	toExtend = 200
)

// work is about what was done, less what is in accounts.
func (m *machine) work() int { return m.did.Touched + toApply*m.did.Applied - m.booked }

// debit takes from a unit's account what was done since then.
func (m *machine) debit(u *unit, since, more int) {
	done := m.work() - since
	m.booked += done
	m.book(u, -done-more)
}

// credit adds what an entry spares of so many iterations of an instance, from one on.
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

// book changes a unit's account.
func (m *machine) book(u *unit, by int) {
	if u.few {
		return
	}
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
	m.did.GivenUp++
}
