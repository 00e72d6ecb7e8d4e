// Package keys is the program's own and promises nothing. It has the keys of the lines of a file of
// results, and says which of them are labels.
package keys

// Keys of configuration lines. What is simulated begins with "sim-".
const (
	Family = "family" // of a name, the part before its first key
	Caches = "caches" // the machine's: "L1d=32768,8,64 L3=33554432,16,64"
	D1     = "sim-d1" // simulated, the first level: "32768,8,64"
	LL     = "sim-ll" // simulated, the last level
	TLB    = "sim-tlb"

	LLCores = "sim-ll-cores" // cores that share the last level, if not all do

	// Levels has the simulated levels of bench sim, without the TLB. It is a hash of the
	// description, and whether lines are written back, which changes misses after the first level.
	Levels = "sim-levels"

	// Swept has the named caches of a sweep: "small=1024,2,64+65536,8,64
	// large=32768,8,64+1048576,16,64". A benchmark names them by "/caches=small".
	Swept = "sim-caches"
)

// Beginnings of keys. Those that say how kernels were tuned, such as tuning-avx512, count as
// labels, since nodes may differ in them, but users cannot set them.
const (
	Kernel = "kernel"
	Tuning = "tuning-"
)

// Keys of comments that relate files, see package merge.
const (
	Suite   = "suite"          // hash of the suite, the same for all shards: "3f2a90c1d04e"
	Shard   = "shard"          // the file's share of the suite: "2/8"
	Part    = "part"           // of a shard: the place in the suite of the results that follow
	Partial = "partial"        // what the merged parts lacked
	End     = "end"            // the last line of a complete file: "412 results"
	History = "history-sha256" // the line after it in an entry of a history
	Node    = "node"           // name of the machine
	// "others=0.10 steal=0.002": CPUs busy with others, share of time the host took
	Activity = "activity"
)
