"""Checks stridebench.py where ReFrame is not installed, against stubs of what it uses.

python3 deploy/reframe/test_stridebench.py
"""

import os
import sys
import tempfile
import types
import unittest


def stubs():
    """Modules with the names that stridebench.py imports."""
    def same(function):
        return function

    def module(name, **names):
        found = types.ModuleType(name)
        found.__dict__.update(names)
        sys.modules[name] = found
        return found

    sanity = module('reframe.utility.sanity', deferrable=same, assert_found=lambda *words: words,
                    make_performance_function=lambda function, unit: (function, unit))
    builtins = module('reframe.core.builtins', run_before=lambda stage: same, sanity_function=same,
                      variable=lambda kind, value: value)
    module('reframe.utility', sanity=sanity)
    module('reframe.core', builtins=builtins)
    module('reframe', simple_test=same, RunOnlyRegressionTest=object)


try:
    import reframe  # noqa: F401
except ImportError:
    stubs()
import stridebench  # noqa: E402


class TestStridebench(unittest.TestCase):
    TEXT = ('Unit ns/op better=lower\nBenchmarkA/n=1 10 5 ns/op 1 D-refs/op\nBenchmarkA/n=1 10 7.5 ns/op\n'
            'BenchmarkA/n=1 10 6 ns/op\nBenchmarkSets/x=1 1 3 misses/op\nBenchmarkB 1 2 ns/op\n# end: 5 results\n')

    def test_times(self):
        self.assertEqual(stridebench.times(self.TEXT), {'A/n=1': 6, 'B': 2})

    @unittest.skipIf(hasattr(sys.modules['reframe'], 'VERSION'), 'ReFrame makes tests itself')
    def test_variables(self):
        test = stridebench.StridebenchTest()
        with tempfile.TemporaryDirectory() as test.stagedir:
            with open(os.path.join(test.stagedir, 'results.txt'), 'w') as results:
                results.write(self.TEXT)
            test.set_variables()
        self.assertEqual(test.perf_variables, {'A/n=1': (6, 'ns'), 'B': (2, 'ns')})
        test.set_options()
        self.assertEqual(test.executable_opts[:2], ['run', '--quick'])


if __name__ == '__main__':
    unittest.main()
