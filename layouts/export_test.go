package layouts

// NoViewError is a name of the package's own that tests use.
type NoViewError = noViewError

// ParseExpression returns the tensor that an expression makes, where its elements are known, and
// its layout and dtype.
func ParseExpression(text string) (x *Tensor, l Layout, d DType, err error) {
	e, err := parseExpression(text)
	if err != nil {
		return nil, l, d, err
	}
	r, err := e.result()
	if err != nil {
		return nil, l, d, e.fault(err)
	}
	if r.known && r.layout.Numel() <= 1000 && r.storage <= 1000 {
		if x, err = e.made.tensor(); err == nil {
			x, err = x.Apply(e.chain)
		}
	}
	return x, r.layout, r.dtype, err
}

// HasChannelsLastStrides is the older rule of channels_last.
func (l Layout) HasChannelsLastStrides() bool { return l.hasFormatStrides(channelsLast2d) }
