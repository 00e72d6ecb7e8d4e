package results

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// A vocabulary is what queries may be made of: the values of each key, of names of benchmarks as
// .name, .fullname and /key, and of units as .unit.
type vocabulary map[string][]string

// dotted are the keys that every result has.
var dotted = []string{".name", ".fullname", ".unit", ".file"}

func vocabularyOf(names []string) vocabulary {
	v := vocabulary{}
	for _, name := range names {
		base, parts := benchfmt.Name(name).Parts()
		v[".name"] = append(v[".name"], string(base))
		v[".fullname"] = append(v[".fullname"], name)
		for _, part := range parts {
			if key, value, ok := bytes.Cut(part, []byte("=")); ok {
				v[string(key)] = append(v[string(key)], string(value))
			}
		}
	}
	for _, u := range Units {
		v[".unit"] = append(v[".unit"], u.Name)
	}
	for key, values := range v {
		slices.Sort(values)
		v[key] = slices.Compact(values)
	}
	return v
}

// looseTerm is a term of a query, also as other languages write it: what negates it, its key, and
// its value.
var looseTerm = compiled(`^([-!]?)([./]?[\pL\pN_.-]+)\s*([:=])\s*(.+)$`)

// looseWord is a term, a parenthesis, or what else stands between spaces.
var looseWord = compiled(`[-!]?[./]?[\pL\pN_.-]+\s*[:=]\s*(?:\([^()]*\)|/(?:[^/\\]|\\.)*/|"(?:[^"\\]|\\.)*"|[^\s()]+)|[()]|[^\s()]+`)

// joinedTerms is where a comma stands between terms, and between the values of one.
var joinedTerms, joinedValues = compiled(`,\s*([-!]?[./]?[\pL\pN_]+[:=])`),
	compiled(`\s+OR\s+|[|,]|\s+`)

// sizes are those of a shape, with commas.
var sizes = compiled(`^[0-9]+(,[0-9]+)+$`)

// suggested is a query as it was meant, "" where that cannot be told: one that is another and, if
// the vocabulary of names is known, selects some.
func suggested(query string, v vocabulary, names []string) string {
	if len(query) > 1000 { // nobody typed it
		return ""
	}
	var words []string
	not := ""
	text := joinedTerms().ReplaceAllString(strings.Trim(query, "'"), " $1")
	for _, word := range looseWord().FindAllString(text, -1) {
		switch bare := strings.Trim(word, ":"); word {
		case "&&", "AND", "and", "&", "+":
		case "||", "OR", "or", "|":
			words = append(words, "OR")
		case "NOT", "not", "!":
			not = "-"
		case "(", ")":
			words = append(words, not+word)
			not = ""
		default:
			if term := looseTerm().FindStringSubmatch(word); term != nil {
				words = append(words, v.term(not, term)...)
			} else if quoted := strings.Trim(bare, "/"); bareWord().MatchString(quoted) &&
				(bare == quoted || bare == "/"+quoted+"/") {
				words = append(words, not+".name:"+v.value(".name", bare))
			} else {
				words = append(words, not+word)
			}
			not = ""
		}
	}
	candidates := []string{strings.NewReplacer("( ", "(", " )", ")", "-( ",
		"-(").Replace(strings.Join(words, " ")), strings.Join(joinedByKey(words), " ")}
	for _, candidate := range candidates {
		filter, err := benchproc.NewFilter(candidate)
		if err == nil && candidate != query &&
			(v == nil || selects(&Filter{candidate, filter}, names)) {
			return candidate
		}
	}
	return ""
}

// selects reports whether a filter selects one of the names.
func selects(f *Filter, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		match, err := f.Match(name)
		return match && err == nil
	})
}

// term is a term as the language has it, or more than one where a value is a name with keys.
func (v vocabulary) term(not string, term []string) []string {
	if term[1] != "" {
		not = "-"
	}
	key, value := v.key(term[2], term[3], term[4]), term[4]
	if base, keys, ok := strings.Cut(value, "/"); ok && (key == ".name" || key == ".fullname" &&
		!slices.Contains(v[key], value)) && base != "" && strings.Contains(keys, "=") && not == "" {
		words := []string{".name:" + v.value(".name", base)}
		for part := range strings.SplitSeq(keys, "/") {
			if key, value, ok := strings.Cut(part, "="); ok {
				words = append(words, "/"+key+":"+v.value("/"+key, value))
			}
		}
		return words
	}
	return []string{not + key + ":" + v.values(key, value)}
}

// key is a key as the language has it: with a dot or a slash before it, or as it is, of a head's
// lines.
func (v vocabulary) key(typed, separator, value string) string {
	bare := strings.TrimLeft(typed, "./")
	if slices.Contains(dotted, typed) || v[typed] != nil {
		return typed
	}
	if v == nil {
		switch {
		case slices.Contains(dotted, "."+bare):
			return "." + bare
		case separator == "=" && bare == typed:
			return "/" + typed
		}
		return typed
	}
	switch of := v["/"+bare]; {
	case slices.Contains(of, value), of != nil && !slices.Contains(dotted, "."+bare):
		return "/" + bare
	case slices.Contains(dotted, "."+bare):
		return "." + bare
	}
	all := append(slices.Clone(dotted), slices.Sorted(maps.Keys(v))...)
	slices.Sort(all)
	all = slices.Compact(all)
	alike := slices.DeleteFunc(slices.Clone(all), func(key string) bool {
		return key[0] != typed[0]
	})
	for _, all := range [][]string{alike, all} { // of its kind, if it says which
		if i := nearest(bare, all, func(key string) string { return key[1:] }); i >= 0 {
			return all[i]
		}
	}
	return typed
}

// values is the value of a term, or a list of them.
func (v vocabulary) values(key, text string) string {
	switch {
	case strings.HasPrefix(text, `"`), len(text) > 1 && strings.HasPrefix(text, "/") &&
		strings.HasSuffix(text, "/"):
		return text
	case key == "/shape" && sizes().MatchString(text):
		return v.value(key, strings.ReplaceAll(text, ",", "x"))
	}
	text = strings.Trim(text, "()'")
	var all []string
	for _, value := range joinedValues().Split(text, -1) {
		if value != "" {
			all = append(all, v.value(key, value))
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return "(" + strings.Join(all, " OR ") + ")"
}

// value is one that there is, of a key, or as it was typed.
func (v vocabulary) value(key, typed string) string {
	if len(typed) > 1 && strings.HasPrefix(typed, "/") && strings.HasSuffix(typed, "/") {
		return typed
	}
	value, known := strings.TrimPrefix(typed, "/"), v[key]
	if key == ".name" && !slices.Contains(known, value) {
		value = strings.TrimPrefix(value, "Benchmark")
	}
	if i := nearest(value, known, func(s string) string { return s }); i >= 0 {
		value = known[i]
	}
	if strings.Contains(value, "*") && !slices.Contains(known, value) {
		return "/^" + strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*") + "$/"
	}
	if !plainQueryValue().MatchString(value) {
		return strconv.Quote(value)
	}
	return value
}

// plainQueryValue is a value that needs no quotes.
var plainQueryValue = compiled(`^[\pL\pN_.][\pL\pN_./+%=-]*$`)

// nearest is the word that was meant by one that was typed, -1 for none: the same, in other
// letters, the only one that begins so, or the only one that differs in a letter, or in two of more
// than four.
func nearest(typed string, words []string, of func(string) string) int {
	typed = strings.ToLower(typed)
	far := 1
	if len(typed) > 4 {
		far = 2
	}
	for _, alike := range []func(word string) bool{
		func(word string) bool { return word == typed },
		func(word string) bool { return len(typed) > 2 && strings.HasPrefix(word, typed) },
		func(word string) bool {
			return !strings.ContainsAny(typed, "0123456789") && distance(typed, word) <= far
		},
	} {
		is := func(word string) bool { return alike(strings.ToLower(of(word))) }
		if first := slices.IndexFunc(words, is); first >= 0 {
			if slices.ContainsFunc(words[first+1:], is) {
				return -1
			}
			return first
		}
	}
	return -1
}

// distance is how many letters are to be put in, taken out, changed, or exchanged with the next, to
// make one word of another.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// joinedByKey joins terms of one key, of which no benchmark has all, into one with a list of
// values.
func joinedByKey(words []string) (joined []string) {
	at := map[string]int{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, ":")
		before, again := at[key]
		if !ok || strings.ContainsAny(word, `()"`) || strings.HasPrefix(word, "-") {
			joined = append(joined, word)
			continue
		}
		if !again {
			at[key] = len(joined)
			joined = append(joined, word)
			continue
		}
		joined[before] = strings.TrimSuffix(strings.Replace(joined[before], ":(", ":", 1), ")")
		_, values, _ := strings.Cut(joined[before], ":")
		joined[before] = key + ":(" + values + " OR " + value + ")"
	}
	return joined
}

// apart says why a query selects nothing of the names, "" where that cannot be told: the values
// that a key has where none is one that is asked for, or that each term selects some.
func (v vocabulary) apart(query string, names []string) (why string) {
	words := looseWord().FindAllString(query, -1)
	for _, word := range words {
		term := looseTerm().FindStringSubmatch(word)
		if term == nil {
			return ""
		}
		key := v.key(term[2], term[3], term[4])
		switch {
		case strings.HasPrefix(key, "/") && v[key] == nil:
			return "; no name has the key " + key
		case !strings.HasPrefix(key, ".") && v[key] == nil:
			return "; keys of names begin with a slash, and others, such as " + key +
				", are lines of a file's head"
		}
		f, err := NewFilter(key + ":" + term[4])
		if err != nil {
			return ""
		}
		if known := v[key]; known != nil && key != ".name" && key != ".fullname" &&
			!selects(f, names) {
			return fmt.Sprintf("; values of %s: %s", key, some(slices.Clone(known)))
		}
		if f, err = NewFilter(word); err != nil || !selects(f, names) {
			return ""
		}
	}
	if len(words) > 1 {
		return "; each of its terms selects some, and none has all"
	}
	return ""
}

// withUnits is a result of a name that has not run yet and may have all [Units], as files and as
// benchstat has them.
func withUnits(name string) *benchfmt.Result {
	r := &benchfmt.Result{Name: benchfmt.Name(name)}
	for _, u := range Units { // or a filter would match no measurement
		_, tidy := benchunit.Tidy(1, u.Name)
		r.Values = append(r.Values, benchfmt.Value{Unit: tidy, OrigUnit: u.Name})
	}
	return r
}
