// Arrays and numbers that log the accesses which a C++ compiler's program makes.
// A value carries the reads that computing it takes, in the order of the text, so
// that the order in which the compiler evaluates operands does not matter.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <vector>

static std::vector<uint64_t> logged; // address, bytes << 48, write << 63
static const uint64_t outside = ~0ull, ended = outside - 1, endless = outside - 2;
static long ticks;

static void put(uint64_t access)
{
	logged.push_back(access);
	if (access == outside || access == endless)
		throw 1;
}

static void tick(void) // of an iteration
{
	if (++ticks > 1000000)
		put(endless);
}

struct E { // a value
	std::vector<uint64_t> reads;
	bool first = false; // it comes before the left side of a compound assignment is read, as functions do that set errno
	E() {}
	template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type> E(T) {}
	E &add(const E &b) { first = first || b.first; reads.insert(reads.end(), b.reads.begin(), b.reads.end()); return *this; }
	void run() const { for (uint64_t a : reads) put(a); }
};

struct I { // an integer of a table
	long v;
	std::vector<uint64_t> reads;
	operator long() const { for (uint64_t a : reads) put(a); return v; }
};
static I operator+(const I &a, int b) { return I{a.v + b, a.reads}; }
static I operator+(int a, const I &b) { return I{a + b.v, b.reads}; }

struct V { // an array, a part of one, or an element
	uint64_t at;
	const long *extents;
	int left, width;
	bool in;
	std::vector<uint64_t> before; // reads of its subscripts
	V operator[](const I &i) const
	{
		V v = (*this)[i.v];
		v.before.insert(v.before.end(), i.reads.begin(), i.reads.end());
		return v;
	}
	V operator[](int i) const { return (*this)[(long)i]; }
	V operator[](unsigned i) const { return (*this)[(long)i]; }
	V operator[](long i) const
	{
		long stride = width;
		for (int d = 1; d < left; d++)
			stride *= extents[d];
		return V{at + i * stride, extents + 1, left - 1, width, in && i >= 0 && i < extents[0], before};
	}
	uint64_t access(bool write) const
	{
		if (left != 0)
			abort();
		return in ? at | (uint64_t)width << 48 | (uint64_t)write << 63 : outside;
	}
	void run() const { for (uint64_t a : before) put(a); }
	operator E() const { E e; e.reads = before; e.reads.push_back(access(false)); return e; }
	E operator=(const E &e) const { run(); e.run(); put(access(true)); return E(); }
	E operator=(const V &v) const { return *this = E(v); }
	E change(const E &e) const
	{
		if (e.first)
			e.run();
		run();
		put(access(false));
		if (!e.first)
			e.run();
		put(access(true));
		return E();
	}
	E operator+=(const E &e) const { return change(e); }
	E operator-=(const E &e) const { return change(e); }
	E operator*=(const E &e) const { return change(e); }
	E operator/=(const E &e) const { return change(e); }
	E operator++() const { return change(E()); }
	E operator++(int) const { return change(E()); }
	E operator--(int) const { return change(E()); }
};

struct S { // a scalar
	S() {}
	S(const E &e) { e.run(); }
	template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type> S(T) {}
	S(const V &v) { E(v).run(); }
	operator E() const { return E(); }
	S &operator=(const E &e) { e.run(); return *this; }
	S &operator=(const V &v) { return *this = E(v); }
	S &operator=(const S &) { return *this; }
	template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type> S &operator=(T) { return *this; }
	S &operator+=(const E &e) { e.run(); return *this; }
	S &operator-=(const E &e) { e.run(); return *this; }
	S &operator*=(const E &e) { e.run(); return *this; }
};

static uint64_t next_base;
static long *extents_of(std::initializer_list<long> list)
{
	long *e = (long *)malloc(sizeof(long) * (list.size() + 1)), *p = e;
	for (long n : list)
		*p++ = n;
	return e;
}

struct Array : V {
	Array(int width, std::initializer_list<long> list) : V{next_base, extents_of(list), (int)list.size(), width, true}
	{
		uint64_t bytes = width;
		for (long n : list)
			bytes *= n;
		next_base += (bytes + 63) / 64 * 64;
	}
};
struct Begin { Begin() { next_base = 1ull << 32; } };

#define BINARY(op) \
	static E operator op(const E &a, const E &b) { E e(a); return e.add(b); }
BINARY(+) BINARY(-) BINARY(*) BINARY(/) BINARY(<) BINARY(<=) BINARY(>) BINARY(>=) BINARY(==) BINARY(!=) BINARY(&&) BINARY(||)
static E operator-(const E &a) { return a; }
static E operator!(const E &a) { return a; }
static E errs(E a) { a.first = true; return a; }
static E sqrt(const E &a) { return errs(a); }
static E expf(const E &a) { return errs(a); }
static E powf(const E &a, const E &b) { return errs(b + a); }
static E fmax(const E &a, const E &b) { return b + a; } // of arguments the last one comes first
static E both(const E &c, const E &a, const E &b) { E e(c); return e.add(a).add(b); }

static void finish(void)
{
	logged.push_back(ended);
	fwrite(logged.data(), 8, logged.size(), stdout);
	logged.clear();
	ticks = 0;
}
