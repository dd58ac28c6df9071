"""Options of tasks. `->` names the option of the message where it is not the last."""

from tests.faults.golden import table

CASES = table("""
task.nll.stride=0
task.nll.documents=0
task.nll.documents=5000 -> data.corpus.path
task.nll.batch_tokens=0
task.nll.multiples=[]
task.nll.multiples=[1,1.001]
task.nll.multiples=[1,x]
task.kv.multiples=[2,4]
task.kv.multiples=[1,16] -> data.vocabulary.keys
task.kv.depths=[0,1]
task.kv.depths=[0,0.5,1.5]
task.kv.trials=0
task.kv.trials=2.5
task.kv.pairs=0
task.kv.pairs=32
task={kv: 3} -> task.kv
task={kv: {_target_: os.system}} -> task.kv._target_
task=kv-query | task.kv-query.ask=[]
task=kv-wide | task.kv-wide.width=0
task=kv-wide | task.kv-wide.pool=1
task=kv-wide | task.kv-wide.pool=300
task=kv-wide | task.kv-wide.multiples=[1,256] -> task.kv-wide.pool
task=kv-several | task.kv-several.queries=0
task=kv-several | task.kv-several.queries=17
task=kv-several | task.kv-several.multiples=[4]
task=multidoc | task.multidoc.facts=0
task=multidoc | task.multidoc.hit=0
task=multidoc | task.multidoc.top=[0]
task=multidoc | task.multidoc.top=[256]
task=multidoc | task.multidoc.multiples=[1,64] -> data.vocabulary.keys
task=multidoc | task.multidoc.multiples=[2]
task=haystack | task.haystack.needles=1
task=haystack | task.haystack.needles=17
task=haystack | task.haystack.distances=1
task=haystack | task.haystack.passkey_trials=0
task=lost-in-the-middle | task.lost-in-the-middle.pairs=[]
task=lost-in-the-middle | task.lost-in-the-middle.characters=0
task=lost-in-the-middle | task.lost-in-the-middle.depths=[]
task=lost-in-the-middle | task.lost-in-the-middle.query=[middle]
task=lost-in-the-middle | task.lost-in-the-middle.query=[last,last]
task=lost-in-the-middle | task.lost-in-the-middle.indices=[4]
task=lost-in-the-middle | task.lost-in-the-middle.indices=[-1]
task=lost-in-the-middle | task.lost-in-the-middle.generate=-1
task=lost-in-the-middle | task.lost-in-the-middle.path=nothing.jsonl
task=repeat | task.repeat.period=0
task=repeat | task.repeat.period=8
task=repeat | task.repeat.multiples=[0.5]
task=repeat | task.repeat.documents=5000 -> data.corpus.path
task=algorithmic | task.algorithmic.ask=[]
task=algorithmic | task.algorithmic.ask=[shout]
task=algorithmic | task.algorithmic.multiples=[2,3]
task=algorithmic | task.algorithmic.multiples=[1,1.01]
task=algorithmic | task.algorithmic.longest=0
task=algorithmic | data.vocabulary.keys=3
task=context-gain | task.context-gain.multiples=[2]
task=context-gain | task.context-gain.documents=9999 -> data.corpus.path
task=nll-position | task.nll-position.multiples=[1]
task=nll-position | task.nll-position.bins=0
task=nll-position | task.nll-position.multiples=[1000] -> data.corpus.path
task=diagnostics | task.diagnostics.multiples=[2]
task=diagnostics | task.diagnostics.contents=[]
task=diagnostics | task.diagnostics.inputs=1
task=diagnostics | task.diagnostics.places=1
task=diagnostics | task.diagnostics.slots=1
task=diagnostics | task.diagnostics.probes=0
task=diagnostics | task.diagnostics.layers=[0]
task=diagnostics | task.diagnostics.multiples=[1,64]
task.nll.stride=nan
task.kv.depths=[0,0.5,nan,1]
task.nll.documents=1000000000000000000000
task=repeat | task.repeat.period=inf
task=multidoc | task.multidoc.hit=nan
task=lost-in-the-middle | task.lost-in-the-middle.characters=1 | \
task.lost-in-the-middle.pairs=[10] -> task.lost-in-the-middle.pairs
""")
