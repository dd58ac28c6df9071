"""Tables of results/bench say on which processor they were measured."""

from benchmarks.measure import processor


def test_a_processor_is_named_with_its_family(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    core = "processor\t: 0\ncpu family\t: 23\nmodel\t\t: 1\nmodel name\t: AMD EPYC\nflags\t:\n\n"
    cpuinfo.write_text(core * 2)
    assert processor(cpuinfo) == "AMD EPYC family 23"
    cpuinfo.write_text("processor\t: 0\nCPU part\t: 0xd0c\n")
    assert "family" not in processor(cpuinfo)
    assert processor(tmp_path / "none")
