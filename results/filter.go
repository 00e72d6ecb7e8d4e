package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// A Filter selects benchmarks, in benchproc's filter language.
type Filter struct {
	query  string
	filter *benchproc.Filter
}

// A FilterError says that a query cannot be parsed, or that nothing matches it.
type FilterError struct {
	Query string
	Err   error
}

// Error begins with the query.
func (e *FilterError) Error() string { return fmt.Sprintf("%q: %v", e.Query, e.Err) }

// Unwrap returns Err.
func (e *FilterError) Unwrap() error { return e.Err }

// NewFilter parses a query such as ".name:Copy /layout:transpose". Its errors, and
// those of all methods, are FilterErrors.
func NewFilter(query string) (*Filter, error) {
	filter, err := benchproc.NewFilter(query)
	switch {
	case err == nil:
	case bareWord().MatchString(query) && query != "OR" && query != "AND":
		err = fmt.Errorf("want key:value, such as .name:%s for all benchmarks of that name, or "+
			"/dtype:int32", cmp.Or(strings.TrimPrefix(query, "Benchmark"), query))
	case loneKey().MatchString(query):
		err = fmt.Errorf("want key:value, such as %s:VALUE", query)
	case suggested(query, nil, nil) != "":
		err = fmt.Errorf("want key:value: did you mean %s?", suggested(query, nil, nil))
	case strings.Contains(query, "=") && meant(query) != "":
		err = fmt.Errorf("want key:value: did you mean %s?", meant(query))
	}
	if err != nil {
		return nil, &FilterError{query, inLine(err)}
	}
	return &Filter{query, filter}, nil
}

// meant is what a name of a benchmark, or keys as names have them, would be as a query, "" where
// that cannot be told.
func meant(query string) string {
	var words []string
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool {
		return r == '/' || unicode.IsSpace(r)
	}) {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case ok && !plainValue().MatchString(value):
			words = append(words, "/"+key+":"+strconv.Quote(value))
		case ok:
			words = append(words, "/"+key+":"+value)
		case len(words) == 0 && bareWord().MatchString(part):
			words = append(words, ".name:"+part)
		default:
			words = append(words, part)
		}
	}
	text := strings.Join(words, " ")
	if _, err := benchproc.NewFilter(text); err != nil || text == query {
		return ""
	}
	return text
}

// inLine is an error of benchproc's in one line: it points to the place with a mark below the
// query.
func inLine(err error) error {
	lines := strings.Split(err.Error(), "\n")
	if at, marked := strings.CutSuffix(lines[len(lines)-1], "^"); marked && len(lines) == 3 {
		return fmt.Errorf("%s at byte %d", lines[0], len(strings.TrimPrefix(at, "\t"))+1)
	}
	return err
}

// loneKey is a query that names a key and no value.
var loneKey = compiled(`^[./][\pL\pN_-]+$`)

// bareWord is a query that names a value and no key.
var bareWord = compiled(`^[\pL_][\pL\pN_-]*$`)

// plainValue is one that no query has to quote.
var plainValue = compiled(`^[\pL\pN_.-]+$`)

// NamesUnit reports whether a term of the query is of units, which only what has run is chosen by.
func (f *Filter) NamesUnit() bool {
	return slices.ContainsFunc(looseWord().FindAllString(f.query, -1), func(word string) bool {
		term := looseTerm().FindStringSubmatch(word)
		return term != nil && term[2] == ".unit"
	})
}

// Match reports whether the filter selects a benchmark of this name, which has not run
// yet and may have all [Units].
func (f *Filter) Match(name string) (bool, error) {
	return f.match(withUnits(name))
}

func (f *Filter) match(r *benchfmt.Result) (bool, error) {
	match, err := f.filter.Match(r)
	if err != nil {
		return false, &FilterError{f.query, err}
	}
	return match.Any(), nil
}

// Nothing returns the error for a filter that selects nothing, with what there is.
func (f *Filter) Nothing(why string, names []string) error {
	var all, keys []string
	for _, name := range names {
		base, parts := benchfmt.Name(name).Parts()
		all = append(all, string(base))
		for _, part := range parts {
			if key, _, ok := bytes.Cut(part, []byte("=")); ok {
				keys = append(keys, string(key))
			}
		}
	}
	v := vocabularyOf(names)
	if query := suggested(f.query, v, names); query != "" {
		return &FilterError{f.query, fmt.Errorf("%s: did you mean %s?", why, query)}
	}
	why = fmt.Sprintf("%s; names: %s", why, some(all))
	if len(keys) > 0 {
		why += "; keys: " + some(keys)
	}
	why += v.apart(f.query, names)
	return &FilterError{f.query, errors.New(why)}
}

// some lists what is in a list, each once, up to the first dozen.
func some(words []string) string {
	slices.Sort(words)
	words = slices.Compact(words)
	if most := 12; len(words) > most {
		words = append(words[:most:most], "...")
	}
	return strings.Join(words, ", ")
}

// Keep removes the results that do not match a query, and of the others the units that do not. It
// returns an error with the name of the set if none match.
func (s *Set) Keep(query, name string) error {
	f, err := NewFilter(query)
	if err != nil {
		return err
	}
	kept, names := s.Results[:0], slices.Collect(maps.Keys(s.Names()))
	for _, r := range s.Results {
		match, err := f.filter.Match(r)
		if err != nil {
			return &FilterError{f.query, err}
		}
		if match.Apply(r) {
			kept = append(kept, r)
		}
	}
	if s.Results = kept; len(kept) == 0 {
		return f.Nothing(fmt.Sprintf("no result of %s matches", name), names)
	}
	return nil
}

// Names returns the names of the results, without the word Benchmark.
func (s *Set) Names() map[string]bool {
	names := map[string]bool{}
	for _, r := range s.Results {
		names[r.Name.String()] = true
	}
	return names
}
