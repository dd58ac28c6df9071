"""Options of tasks. `->` names the option of the message where it is not the last."""

from tests.faults.golden import table

CASES = table("""
task.nll.stride=0
task.nll.documents=0
task.nll.documents=5000 -> data.corpus.path
task.nll.multiples=[]
task.nll.multiples=[1,1.001]
task.kv.multiples=[2,4]
task.kv.multiples=[1,16] -> data.vocabulary.keys
task.kv.depths=[0,1]
task.kv.pairs=32
task={kv: 3} -> task.kv
task={kv: {_target_: os.system}} -> task.kv._target_
task=kv-wide | task.kv-wide.pool=300
task=kv-wide | task.kv-wide.multiples=[1,256] -> task.kv-wide.pool
task=kv-several | task.kv-several.queries=17
task=kv-several | task.kv-several.multiples=[4]
task=multidoc | task.multidoc.top=[256]
task=multidoc | task.multidoc.multiples=[1,64] -> data.vocabulary.keys
task=multidoc | task.multidoc.multiples=[2]
task=haystack | task.haystack.needles=17
task=lost-in-the-middle | task.lost-in-the-middle.indices=[4]
task=lost-in-the-middle | task.lost-in-the-middle.path=nothing.jsonl
task=repeat | task.repeat.period=8
task=repeat | task.repeat.multiples=[0.5]
task=repeat | task.repeat.documents=5000 -> data.corpus.path
task=algorithmic | task.algorithmic.ask=[shout]
task=algorithmic | task.algorithmic.multiples=[2,3]
task=algorithmic | task.algorithmic.multiples=[1,1.01]
task=algorithmic | data.vocabulary.keys=3
task=context-gain | task.context-gain.multiples=[2]
task=context-gain | task.context-gain.documents=9999 -> data.corpus.path
task=nll-position | task.nll-position.multiples=[1]
task=nll-position | task.nll-position.multiples=[1000] -> data.corpus.path
task=diagnostics | task.diagnostics.multiples=[2]
task=diagnostics | task.diagnostics.multiples=[1,64]
task.nll.stride=nan
task.kv.depths=[0,0.5,nan,1]
task=lost-in-the-middle | task.lost-in-the-middle.characters=1 | \
task.lost-in-the-middle.pairs=[10] -> task.lost-in-the-middle.pairs
""")
