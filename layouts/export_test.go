package layouts

// Names of the package's own that tests use.
type (
	NoViewError = noViewError
	TagError    = tagFault
)

const (
	COO = coo
	CSR = csr
	CSC = csc
	BSR = bsr
	BSC = bsc
)

// Kind returns the recorders' name of how the order of the walk was found.
func (it Iteration) Kind() string {
	return [...]string{"sorted", "contiguous", "channels_last", "same_strides"}[it.setUp]
}

// Result returns the tensor that an expression makes, where its elements are known, and its layout
// and dtype.
func (e Expression) Result() (x *Tensor, l Layout, d DType, err error) {
	s, known, err := e.site()
	if err != nil || !known || s.layout.Numel() > 1000 || s.storage > 1000 {
		return nil, s.layout, s.dtype, err
	}
	first, err := e.made.tensor()
	if err == nil {
		x, err = first.Apply(e.chain)
	}
	return x, s.layout, s.dtype, err
}

// HasChannelsLastStrides is the older rule of channels_last.
func (l Layout) HasChannelsLastStrides() bool { return l.hasChannelsLastStrides() }
