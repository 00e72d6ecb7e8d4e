package bill
import ("testing";"encoding/json";"os";"fmt";"github.com/stridebench/stridebench/access/operators")
func TestZZ(t *testing.T){
	var groups []struct{ About string; Cases []struct{ call; Inside map[string]operators.Class } }
	load(t,"calls.json",&groups)
	f,_:=os.Create("/tmp/k/B69/table-scratch/actual.jsonl")
	for _,g:=range groups { for _,c:=range g.Cases {
			p := &operators.Profile{Operators: []operators.Operator{c.operator()}}
			for op, class := range c.Inside {
				callers := []operators.Caller{{Chain: c.Op, Calls: 1}}
				p.Operators = append(p.Operators, operators.Operator{Op: op, Class: class, Calls: 1, Callers: callers})
			}
			i := find(t, priceOf(t, p), func(i Item) bool { return i.Op == c.Op })
			b,_:=json.Marshal(outcomeOf(i)); fmt.Fprintln(f,string(b))
	}}
}
