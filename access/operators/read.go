package operators

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A File is a profile to be read.
type File struct {
	Name string // in messages
	io.Reader
}

// howToRecord is what someone can do whose trace has no strides.
const howToRecord = "record it with PyTorch 2.4 or later and torch.profiler.profile(record_shapes=True), " +
	"or with scripts/capture/capture.py (PyTorch 1.13 and later)"

// Read reads profiles, each gzipped or not, and told apart by what is in them.
// One execution trace and one Kineto trace are of the same run, and joined by
// their record function ids: the operators are the former's, their times the
// latter's. All other files are counted together.
//
// What of a file cannot be read is in Skipped and Warnings. An error is of a
// file of which nothing can: one that is no profile, or has no strides.
func Read(files ...File) (*Profile, error) {
	sigs := newSignatures()
	var traces []*trace
	for _, file := range files {
		t, err := readFile(file, sigs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		traces = append(traces, t)
	}
	b := &bill{signatures: sigs, index: map[uint64]int{}, profile: Profile{Operators: []Operator{}, Skipped: []Skipped{}}}
	traces, err := b.join(traces)
	if err != nil {
		return nil, err
	}
	for _, t := range traces {
		if err := t.usable(); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	b.weigh(traces)
	for _, t := range traces {
		before := b.profile.Calls
		b.add(t, len(traces) == 1)
		b.profile.Sources = append(b.profile.Sources, fmt.Sprintf("%s: %s, %s", t.name, t.kind, inCalls(b.profile.Calls-before)))
		b.profile.Warnings = append(b.profile.Warnings, t.warnings...)
		b.profile.OnDevice = b.profile.OnDevice || t.onDevice
	}
	p := b.done()
	if n, first := unreadCalls(p.Skipped); n > 0 && n == p.Calls {
		return nil, fmt.Errorf("%s: none of its operators can be read, such as %s: %s", traces[0].name, first.Op, first.Reason)
	}
	return p, nil
}

// ReadFiles is Read of the files of these names, of which - is stdin, unless that is nil. It refuses a file that is given twice,
// whose calls would count twice, and ends soon after ctx does, with its error.
func ReadFiles(ctx context.Context, stdin io.Reader, step func(bytes int), names ...string) (*Profile, error) {
	var files []File
	var infos []os.FileInfo
	for _, name := range names {
		if name == "-" && stdin != nil {
			infos = append(infos, nil)
			files = append(files, File{Name: name, Reader: told{stdin, step, ctx.Err}})
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		if same := slices.IndexFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) }); same >= 0 {
			return nil, fmt.Errorf("%s is the same file as %s: its calls would count twice", name, names[same])
		}
		infos = append(infos, info)
		files = append(files, File{Name: name, Reader: told{file, step, ctx.Err}})
	}
	p, err := Read(files...)
	if ctx.Err() != nil { // to Read, the file is cut off
		return nil, ctx.Err()
	}
	return p, err
}

// A told reader tells of each read, and ends where it is to.
type told struct {
	io.Reader
	step func(bytes int)
	done func() error
}

func (t told) Read(text []byte) (int, error) {
	if err := t.done(); err != nil {
		return 0, err
	}
	n, err := t.Reader.Read(text)
	if t.step != nil {
		t.step(n)
	}
	return n, err
}

// The kinds of files.
const (
	kinetoTrace    = "a Kineto trace"
	executionTrace = "an execution trace"
	verboseLog     = "a oneDNN log"
)

// usable refuses a trace that has nothing to tell of layouts.
func (t *trace) usable() error {
	switch {
	case t.kind == verboseLog:
		return nil
	case t.calls.Len() == 0 && len(t.skipped) == 0:
		return errors.New("it has no operators (events of category cpu_op, or nodes of an execution trace)")
	case t.hasStrides || t.hasShapes && !t.hasTensors, t.calls.Len() == 0: // of which is said why none could be read
		return nil
	case t.kind == executionTrace:
		return fmt.Errorf("its schema %q has no strides (1.1.1-chakra.0.0.4 and later have); %s", t.schema, howToRecord)
	case !t.hasShapes:
		return fmt.Errorf("its operators have no shapes; %s", howToRecord)
	}
	return fmt.Errorf("its operators have no strides; %s", howToRecord)
}

// readFile reads one file.
func readFile(file File, sigs *signatures) (*trace, error) {
	in := bufio.NewReaderSize(file, 1<<16)
	zipped := false
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1F, 0x8B}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, unreadable(err)
		}
		in, zipped = bufio.NewReaderSize(unzipped, 1<<16), true
	}
	t := &trace{name: file.Name}
	start, err := firstByte(in)
	if err != nil {
		return nil, err
	}
	if start != '{' && start != '[' {
		err = t.readVerbose(in, sigs)
	} else {
		err = t.readJSON(in, sigs)
	}
	if zipped && err == nil && len(t.warnings) == 0 {
		// Its end says whether all that came was right.
		if _, wrong := io.Copy(io.Discard, in); wrong != nil {
			t.warnings = append(t.warnings, fmt.Sprintf("%s: all calls were read, but the end of the file is damaged (%s)", t.name, plain(wrong)))
		}
	}
	return t, err
}

// firstByte returns the first byte that is no white space, and leaves it unread.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		c, err := in.ReadByte()
		if err == io.EOF {
			return 0, errors.New("it is empty")
		}
		if err != nil {
			return 0, unreadable(err)
		}
		if bytes.IndexByte([]byte(" \t\r\n\xEF\xBB\xBF"), c) < 0 { // white space, and what marks UTF-8
			return c, in.UnreadByte()
		}
	}
}

// jsonOptions lets pass what profilers get wrong and what does not matter.
var jsonOptions = jsontext.Options(jsontext.AllowDuplicateNames(true))

// lenient is jsonOptions, for a decoder.
func lenient() []jsontext.Options {
	return []jsontext.Options{jsonOptions, jsontext.AllowInvalidUTF8(true)}
}

// maxValue is the most bytes of one value in a file: an event, or a node. It is a
// variable for tests.
var maxValue int64 = 16 << 20

// A bounded reader fails where a decoder would have to keep more than maxValue.
type bounded struct {
	io.Reader
	dec  *jsontext.Decoder
	read int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read-b.dec.InputOffset() > maxValue {
		return 0, fmt.Errorf("one value of more than %d MiB", maxValue>>20)
	}
	n, err := b.Reader.Read(p)
	b.read += int64(n)
	return n, err
}

// readJSON reads a chrome trace or an execution trace.
func (t *trace) readJSON(in io.Reader, sigs *signatures) error {
	limit := &bounded{Reader: in}
	dec := jsontext.NewDecoder(limit, lenient()...)
	limit.dec = dec
	err := t.readDocument(dec, sigs)
	if t.kind == kinetoTrace {
		t.calls.nest()
	} else if t.adopt != nil {
		t.adopt()
	}
	if t.onDevice {
		t.warnings = append(t.warnings, t.name+": its operators ran on a device and are priced as if on a CPU; their recorded times are of the thread that started them")
	}
	switch {
	case err == nil && t.kind == "":
		return errors.New("it is not a profile: a JSON object with neither traceEvents nor nodes")
	case err == nil:
		at := dec.InputOffset()
		_, more := dec.ReadToken()
		if _, garbage := errors.AsType[*jsontext.SyntacticError](more); garbage || more == nil {
			t.warnings = append(t.warnings, fmt.Sprintf("%s: all calls were read; what follows byte %d is ignored", t.name, at))
		}
	case t.calls.Len() == 0:
		return unreadable(err)
	default:
		t.warnings = append(t.warnings, fmt.Sprintf("%s: cut short or broken after %s (%s); the rest is unknown",
			t.name, inCalls(t.counted(sigs)), plain(err)))
	}
	return nil
}

// counted is how many calls bill.add counts of the file: those that cannot be used too, and no stretches of the program.
func (t *trace) counted(sigs *signatures) int {
	n := 0
	for i := range t.calls.Len() {
		if !sigs.all[t.calls.at(i).signature].stretch {
			n++
		}
	}
	for _, s := range t.skipped {
		n += s.Calls
	}
	return n
}

// inCalls is "1 call" or "2 calls".
func inCalls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprint(n, " calls")
}

// unreadable is the error of a file of which nothing was read.
func unreadable(err error) error { return fmt.Errorf("it cannot be read: %s", plain(err)) }

// plain is the message of an error of the decoder or of what it read from, in
// one line.
func plain(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("it ends early, at byte %d", syntax.ByteOffset)
	} else if errors.As(err, &syntax) {
		return fmt.Sprintf("byte %d is not JSON: %s", syntax.ByteOffset, syntax.Err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends early"
	}
	if of, ok := errors.AsType[*fs.PathError](err); ok { // of the file, which stands before it
		return of.Err.Error()
	}
	return err.Error()
}

// readDocument reads the top level: an object with a list of events or nodes,
// or from older versions the list of events itself.
func (t *trace) readDocument(dec *jsontext.Decoder, sigs *signatures) error {
	if dec.PeekKind() == '[' {
		t.kind = kinetoTrace
		return elements(dec, newKineto(t, sigs).event)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		switch key := name.String(); {
		case key == "traceEvents" && t.kind == "" && dec.PeekKind() == '[':
			t.kind = kinetoTrace
			err = elements(dec, newKineto(t, sigs).event)
		case key == "nodes" && t.kind == "" && dec.PeekKind() == '[':
			t.kind = executionTrace
			err = elements(dec, newExecution(t, sigs).node)
		case key == "schema" && dec.PeekKind() == '"':
			var schema jsontext.Token
			schema, err = dec.ReadToken()
			t.schema = schema.String()
		default:
			err = dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// elements calls each with every element of the list that comes next.
func elements(dec *jsontext.Decoder, each func(jsontext.Value)) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		each(value)
	}
	_, err := dec.ReadToken()
	return err
}

// join puts the times of the Kineto trace into the execution trace, if there is
// one of each.
func (b *bill) join(traces []*trace) ([]*trace, error) {
	kineto := slices.IndexFunc(traces, func(t *trace) bool { return t.kind == kinetoTrace })
	execution := slices.IndexFunc(traces, func(t *trace) bool { return t.kind == executionTrace })
	if len(traces) != 2 || kineto < 0 || execution < 0 {
		return traces, nil
	}
	k, e := traces[kineto], traces[execution]
	took := map[uint64]int64{}
	for i := range k.calls.Len() {
		if c := k.calls.at(i); c.record != 0 {
			took[c.record] = c.took
		}
	}
	found := 0
	for i := range e.calls.Len() {
		c := e.calls.at(i)
		if ns, ok := took[c.record]; ok && c.record != 0 {
			c.took = ns
			found++
		}
	}
	if found == 0 {
		return nil, fmt.Errorf("%s and %s share no record function id, so they are not of one run: give them one at a time", e.name, k.name)
	}
	e.warnings = append(e.warnings, k.warnings...)
	e.kind = fmt.Sprintf("%s with the times of %d of its calls from %s", executionTrace, found, k.name)
	return []*trace{e}, nil
}
