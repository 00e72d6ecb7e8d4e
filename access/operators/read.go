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

	"github.com/stridebench/stridebench/simcache/explain"
)

// A File is a profile to read.
type File struct {
	Name string // in messages
	io.Reader
}

// howToRecord is advice for traces without strides.
const howToRecord = "record it with PyTorch 2.4 or later and " +
	"torch.profiler.profile(record_shapes=True), " +
	"or with scripts/capture/capture.py (PyTorch 1.13 and later)"

// Read reads profiles, gzipped or not, and counts them together. Their content decides their kind.
// An execution trace beside a Kineto trace is an error, because both may be of one run.
//
// Skipped and Warnings have what cannot be read of a file. A file without a profile, or without
// strides, is an error.
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
	b := &bill{signatures: sigs, index: map[uint64]int{},
		profile: Profile{Operators: []Operator{}, Skipped: []Skipped{}}}
	named := map[string]string{} // by kind
	for _, t := range traces {
		if named[t.kind] = t.name; named[kinetoTrace] != "" && named[executionTrace] != "" {
			return nil, fmt.Errorf("%s and %s may be of one run, whose calls would count twice: "+
				"give them one at a time", named[executionTrace], named[kinetoTrace])
		}
		if err := t.usable(); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	b.weigh(traces)
	for _, t := range traces {
		before := b.profile.Calls
		b.add(t, len(traces) == 1)
		b.profile.Sources = append(b.profile.Sources,
			fmt.Sprintf("%s: %s, %s", t.name, t.kind,
				explain.Counted(b.profile.Calls-before, "call")))
		b.profile.Warnings = append(b.profile.Warnings, t.warnings...)
		b.profile.OnDevice = b.profile.OnDevice || t.onDevice
	}
	p := b.done()
	if n, first := unreadCalls(p.Skipped); n > 0 && n == p.Calls {
		return nil, fmt.Errorf("%s: none of its operators can be read, such as %s: %s",
			traces[0].name, first.Op, first.Reason)
	}
	return p, nil
}

// ReadFiles reads the files of these names, where - is stdin unless that is nil. It calls step, if
// not nil, with the bytes of each read. A file that is given twice is an error, because its calls
// would count twice. Once ctx is done, ReadFiles returns its error.
func ReadFiles(ctx context.Context, stdin io.Reader, step func(bytes int),
	names ...string) (*Profile, error) {
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
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if i := slices.IndexFunc(infos, same); i >= 0 {
			return nil, fmt.Errorf("%s is the same file as %s: its calls would count twice",
				name, names[i])
		}
		infos = append(infos, info)
		files = append(files, File{Name: name, Reader: told{file, step, ctx.Err}})
	}
	p, err := Read(files...)
	if ctx.Err() != nil { // Read saw a file that is cut short
		return nil, ctx.Err()
	}
	return p, err
}

// A told reader calls step after each read, and ends once done returns an error.
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

const (
	kinetoTrace    = "a Kineto trace"
	executionTrace = "an execution trace"
	verboseLog     = "a oneDNN log"
)

// usable returns an error if a trace has no layouts.
func (t *trace) usable() error {
	switch {
	case t.kind == verboseLog:
		return nil
	case t.calls.Len() == 0 && len(t.skipped) == 0:
		return errors.New("it has no operators (events of category cpu_op, or nodes of an " +
			"execution trace)")
	case t.hasStrides || t.hasShapes && !t.hasTensors, t.calls.Len() == 0:
		return nil // an error of a call follows
	case t.kind == executionTrace:
		return fmt.Errorf("its schema %q has no strides (1.1.1-chakra.0.0.4 and later have); %s",
			t.schema, howToRecord)
	case !t.hasShapes:
		return fmt.Errorf("its operators have no shapes; %s", howToRecord)
	}
	return fmt.Errorf("its operators have no strides; %s", howToRecord)
}

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
	begin, err := in.Peek(1 << 10)
	start := bytes.TrimLeft(begin, " \t\r\n\xEF\xBB\xBF") // white space, and a mark of UTF-8
	switch _, _ = in.Discard(len(begin) - len(start)); {
	case len(start) == 0 && err == io.EOF:
		return nil, errors.New("it is empty")
	case len(start) == 0 && err != nil:
		return nil, unreadable(err)
	case len(start) == 0 || start[0] != '{' && start[0] != '[':
		err = t.readVerbose(in, sigs)
	default:
		err = t.readJSON(in, sigs)
	}
	if zipped && err == nil && len(t.warnings) == 0 {
		// gzip's trailer has the checksum.
		if _, wrong := io.Copy(io.Discard, in); wrong != nil {
			t.warn("all calls were read, but the end of the file is damaged (%s)", plain(wrong))
		}
	}
	return t, err
}

// lenient allows what profilers get wrong.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true)}

// maxValue is the most bytes of an event or a node. Tests change it.
var maxValue int64 = 16 << 20

// A bounded reader fails if its decoder would keep more than maxValue.
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

func (t *trace) readJSON(in io.Reader, sigs *signatures) error {
	limit := &bounded{Reader: in}
	dec := jsontext.NewDecoder(limit, lenient...)
	limit.dec = dec
	err := t.readDocument(dec, sigs)
	if t.kind == kinetoTrace {
		t.calls.nest()
	} else if t.adopt != nil {
		t.adopt()
	}
	if t.onDevice {
		t.warn("its operators ran on a device and are priced as if on a CPU")
	}
	switch {
	case err == nil && t.kind == "":
		return errors.New("it is not a profile: a JSON object with neither traceEvents nor nodes")
	case err == nil:
		at := dec.InputOffset()
		_, more := dec.ReadToken()
		if _, garbage := errors.AsType[*jsontext.SyntacticError](more); garbage || more == nil {
			t.warn("all calls were read; what follows byte %d is ignored", at)
		}
	case t.calls.Len() == 0:
		return unreadable(err)
	default:
		t.cut(err)
	}
	return nil
}

func (t *trace) cut(err error) {
	t.warn("cut short or broken (%s); the calls before are counted", plain(err))
}

func unreadable(err error) error { return fmt.Errorf("it cannot be read: %s", plain(err)) }

// plain returns the message of an error in one line.
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
	if of, ok := errors.AsType[*fs.PathError](err); ok { // the caller names the file
		return of.Err.Error()
	}
	return err.Error()
}

// readDocument reads an object with a list of events or nodes, or the list of events itself, as
// older versions write it.
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

// elements calls each with every element of the next list.
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
