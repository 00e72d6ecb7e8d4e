"""stridebench as a ReFrame test: a performance variable for each benchmark.

The suite is run by `bench run`; times are its medians in ns of a pass.
"""

import collections
import re
import statistics

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable

LINE = re.compile(r'^Benchmark(\S+) \d+ ([0-9.]+) ns/op', re.MULTILINE)


def times(text):
    """The median time of each benchmark in a text of results, by name."""
    samples = collections.defaultdict(list)
    for name, ns in LINE.findall(text):
        samples[name].append(float(ns))
    return {name: statistics.median(all) for name, all in samples.items()}


def reader(name, path):
    """A deferred performance function that reads one benchmark."""
    @sn.deferrable
    def ns():
        with open(path) as results:
            return times(results.read())[name]

    return ns


@rfm.simple_test
class StridebenchTest(rfm.RunOnlyRegressionTest):
    descr = 'What memory layouts cost on a node'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'bench'
    flags = variable(str, value='--quick')
    exclusive_access = True
    num_tasks = 1

    @run_before('run')
    def set_options(self):
        self.executable_opts = ['run', self.flags, '--label', 'host=$(hostname)', '-o', 'results.txt']

    @sanity_function
    def complete(self):
        return sn.assert_found(r'^# end: \d+ results$', 'results.txt')

    @run_before('performance')
    def set_variables(self):
        path = str(self.stagedir) + '/results.txt'
        with open(path) as results:
            names = list(times(results.read()))
        self.perf_variables = {
            name: sn.make_performance_function(reader(name, path)(), 'ns') for name in names
        }
